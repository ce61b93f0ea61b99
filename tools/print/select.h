/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Which events print shows: a window of time, processes, threads.  Several values
 * of one option are alternatives; different options must all agree.
 */
#ifndef SELECT_H
#define SELECT_H

#include <stdbool.h>
#include <posixtrace/event.h>

#include "common/time_parse.h"

struct selection {
    struct when from, to;
    int64_t from_ns, to_ns; /* both inclusive; after select_resolve() */
    int32_t *pids, *tids;
    size_t pid_count, tid_count;
};

void select_init(struct selection *s);
void select_free(struct selection *s);

/* Each takes one value of an option; EXIT_DONE, or EXIT_USAGE after an error message. */
int select_add_pid(struct selection *s, const char *number);
int select_add_tid(struct selection *s, const char *number);
int select_set_from(struct selection *s, const char *moment);
int select_set_to(struct selection *s, const char *moment);

/* Fixes the window, with the log's first event at first. */
int select_resolve(struct selection *s, int64_t first);

bool select_wants_other(const struct selection *s, const struct posixtrace_event *e);

static inline bool select_wants(const struct selection *s, const struct posixtrace_event *e)
{
    if (e->ns < s->from_ns || e->ns > s->to_ns)
        return false;
    return s->pid_count + s->tid_count == 0 || select_wants_other(s, e);
}

#endif
