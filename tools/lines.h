/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Lines of a file that may have to be read more than once.  A regular file is
 * read where it is.  What cannot be read twice, a pipe, is copied to an
 * unlinked temporary file while it is read the first time.
 *
 * Lines are addressed by the offset of their first byte.  A line pointer is
 * good until the next call.
 */
#ifndef LINES_H
#define LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct lines {
    int      fd;          /* what is read now */
    int      spool;       /* the copy, or -1 */
    off_t    start;       /* where the first line begins */
    off_t    next;        /* offset of the line behind the one returned last */
    uint64_t size;        /* bytes in all, 0 if not known */
    uint64_t number;      /* of the line returned last, from 1 */
    size_t   max;         /* longest line */
    char    *window;      /* holds [window_at, window_at + filled) of the file */
    size_t   filled, room;
    size_t   ahead;       /* how much to read at a time */
    off_t    window_at;
    bool     piped;       /* still the first reading of a pipe */
    bool     ended;       /* of a pipe */
};

/* fd is not consumed.  spool_folder is where the copy of a pipe goes. */
int lines_open(struct lines *l, int fd, size_t max, const char *spool_folder);
void lines_close(struct lines *l);

/* 1: a line, without its newline; 0: the end; -E2BIG: longer than max; other
 * negative errno. */
int lines_next(struct lines *l, const char **line, size_t *length);

/* Begins again; reads the rest of a pipe first. */
int lines_rewind(struct lines *l);

/* The line at an offset that lines_next() has returned one from; what follows
 * in the file is not next.  As lines_next(), without counting. */
int lines_at(struct lines *l, off_t offset, const char **line, size_t *length);

#endif
