/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * What the targets of foreign formats have in common: bytes to a log, the log looked at,
 * and to bytes again.  Options are those of struct posixtrace_conversion.
 */
#ifndef TEST_FUZZ_FOREIGN_H
#define TEST_FUZZ_FOREIGN_H

#include <stddef.h>
#include <stdint.h>

/* Imports the bytes; returns the log, to be closed.  *events: the number that import reports.
 * Import succeeds, or reports the error with EILSEQ or ENOSPC. */
int fuzz_import(const char *format, const char *const *options, const void *bytes, size_t size,
                uint64_t *events, int *error);
/* Reads the log, whose events are in order of time; how many there are, and in *named how
 * many of a type. */
uint64_t fuzz_walk(int log, const char *name, uint64_t *named);
/* To be freed.  How many events were left out; it works always. */
uint64_t fuzz_export(int log, const char *format, const char *const *options, char **text,
                     size_t *size);

/* What an import came to.  At the end of a replay: some were good, some were not. */
void fuzz_count(int error, uint64_t events);
void fuzz_counted(void);

#endif
