/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Several logs, printed in one order of time.  Each keeps its order; among logs the time of their
 * clocks decides (CLOCK_REALTIME), and for equal times the order in which they were named.  One
 * batch of events of each log is in memory.
 */
#ifndef SEVERAL_H
#define SEVERAL_H

#include "print/print.h"
#include "input/select.h"

enum { SEVERAL_BATCH = 128 };

struct several_log {
    struct log_file log;
    struct sites sites;
    struct selection select;
    struct print_source *source;
    char *label;
    bool may_stop; /* after the window no event of it is inside */
    struct posixtrace_event batch[SEVERAL_BATCH];
    size_t at, count;
    size_t index; /* in the order of the logs */
    int64_t key;  /* the time of its next event, not before that of the one before */
};

struct several {
    struct several_log **logs;
    size_t count;
    struct several_log **heap; /* of those that have events left, the earliest first */
    size_t heap_count;
    uint64_t read; /* events */
};

/* The paths of a verb: files, and of a folder the *.ptl in it, in the order of their names.  Each
 * text and the list are for free().  EXIT_DONE, or another status after a message. */
int several_paths(const char *const *given, size_t count, char ***paths, size_t *path_count);

/* Opens them.  EXIT_DONE, or another status after a message. */
int several_open(struct several *s, char *const *paths, size_t count);
void several_close(struct several *s);

/* Names the logs: by their file's name; for_programs: by their path. */
void several_label(struct several *s, bool for_programs);

/* Prints what the selections want, which are made; the status. */
int several_print(struct several *s, struct print *p, bool strict);

#endif
