/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Which file was at an address of a process at some time, by the texts of docs/log-format.md.
 * They come from a file and may be anything.
 *
 * A process has an image for each text '=' or '<', the latest first.  An image has mappings with
 * their times; one of '<' also has those of its parent at that time, but for those
 * that it has unmapped itself.
 */
#ifndef PT_SYMBOLS_MAPPED_H
#define PT_SYMBOLS_MAPPED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pt_symbol_file {
    char *build_id; /* hexadecimal; "": none */
    char *path;     /* NULL: there is no such file */
    void *module;   /* of find.c */
};

struct pt_mapped;

struct pt_mapped *pt_mapped_new(void);
void pt_mapped_free(struct pt_mapped *m);
/* 0, -ENOMEM, or -EINVAL: the text is none, or there are too many mappings. */
int pt_mapped_add(struct pt_mapped *m, uint32_t number, const char *text);
/* NULL: none is known.  *offset: of the address from the start of the file in memory. */
struct pt_symbol_file *pt_mapped_find(struct pt_mapped *m, int32_t pid, int64_t ns,
                                      uint64_t address, uint64_t *offset);
/* The i-th file that was named; NULL: after the last one. */
struct pt_symbol_file *pt_mapped_file(struct pt_mapped *m, uint32_t i);

#endif
