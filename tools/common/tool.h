/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The common part of all verbs of posixtrace: exit statuses, the verb table's rows, and messages.
 *
 * Results are written to stdout, through stdout_buffer.h.  Each message is written to stderr as one
 * line, "posixtrace: VERB: what happened", with the thing, its value and if possible what to do.
 * Text from outside (file names, names in logs) is passed through quote() first, so that it cannot
 * control a terminal.
 */
#ifndef TOOL_H
#define TOOL_H

#include <stdbool.h>
#include <stddef.h>

struct options;
struct option_spec;

enum {
    EXIT_DONE = 0,
    EXIT_FAILED = 1,    /* check: salvaged */
    EXIT_NOT_A_LOG = 2, /* check only */
    EXIT_LOST = 3,      /* --strict, and something was lost */
    EXIT_USAGE = 64,
    EXIT_PIPE = 141 /* the reader of stdout went away: as the shell reports SIGPIPE */
};

struct verb {
    const char *name;
    const char *help; /* at most 24 lines of 80 columns */
    const struct option_spec *options;
    int (*run)(struct options *options);
};

extern const struct verb verb_record, verb_info, verb_print, verb_export, verb_import, verb_check,
    verb_recover, verb_list, verb_btf, verb_metrics, verb_rta, verb_report, verb_why, verb_start,
    verb_stop, verb_top, verb_load, verb_sync, verb_flush, verb_filter, verb_snapshot, verb_doctor,
    verb_selftest;

/* The verb named in messages; NULL before one is known. */
void tool_set_verb(const char *name);
const char *tool_verb(void);

/* "posixtrace: VERB: " and a line; returns EXIT_FAILED. */
__attribute__((format(printf, 1, 2))) int tool_error(const char *format, ...);

/* As tool_error(), with a second line that leads to --help; returns EXIT_USAGE. */
__attribute__((format(printf, 1, 2))) int tool_usage(const char *format, ...);

/* "posixtrace: " and a line: news that are not an error of the verb. */
__attribute__((format(printf, 1, 2))) void tool_note(const char *format, ...);

/* 'text' in quotes, control characters escaped, shortened where very long.
 * One of eight static buffers, reused in turn. */
const char *quote(const char *text);
/* The same as one word of a shell, for a command that a message names; not shortened, and good
 * until the next call. */
const char *quote_word(const char *text);
/* The text of strerror(), or the limit of address space or files that was reached; valid until the
 * next call. */
const char *failure_reason(int error);

/* The same without the quotes; the same buffers. */
const char *unquoted(const char *text);

/* As quote(), to be freed. */
char *quote_copy(const char *text);

/* realloc() that ends the program with a message where there is no memory. */
void *tool_grow(void *block, size_t count, size_t size);
void *tool_zeroed(size_t size); /* the same for calloc() */

#endif
