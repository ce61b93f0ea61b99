/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Lines of an input that are read more than once.  A file that can be positioned is read directly.
 * A pipe is copied to an unlinked temporary file (in TMPDIR, or /var/tmp) while it is read the
 * first time.
 *
 * Lines are addressed by the offset of their first byte.  A line pointer is good until the
 * next call.  One window of the input is in memory.
 */
#ifndef PT_FORMAT_LINES_H
#define PT_FORMAT_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

enum { PT_LINE_MAX = 8 << 20 };

struct pt_lines {
    FILE *file;      /* the file to read now: the input, or the copy */
    FILE *spool;     /* the copy, or NULL */
    off_t start;     /* where the first line begins */
    off_t next;      /* offset of the line after the one returned last */
    off_t limit;     /* nothing after it is read; -1: none */
    uint64_t number; /* of the line returned last, from 1 */
    uint64_t within; /* newlines inside of it */
    bool quotes;     /* a newline between quotes does not end a line */
    bool piped;      /* still the first reading of a pipe */
    bool ended;      /* of a pipe */
    char *window;    /* holds [window_at, window_at + filled) of the file */
    size_t filled, room;
    size_t ahead; /* how much to read at a time */
    off_t window_at, file_at;
};

/* 0, or a positive errno: no copy can be made. */
int pt_lines_open(struct pt_lines *l, FILE *from, bool quotes);
void pt_lines_close(struct pt_lines *l);

/* 1: a line, without its newline; 0: the end; -E2BIG: longer than PT_LINE_MAX; other
 * negative errno. */
int pt_lines_next(struct pt_lines *l, const char **line, size_t *length);

/* Starts again from the first line, after a first reading; if ended is set, the second one ends
 * where the first one did. */
int pt_lines_rewind(struct pt_lines *l, bool ended);

/* The line at an offset from which pt_lines_next() has returned one; it does not change the next
 * line.  As pt_lines_next(), without counting. */
int pt_lines_at(struct pt_lines *l, off_t offset, const char **line, size_t *length);

#endif
