/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Events that an expression means (posixtrace-filter(5)).  What the type's name settles
 * is found once for each type.
 */
#ifndef WHERE_H
#define WHERE_H

#include <posixtrace/filter.h>

enum { WHERE_TYPES = TRACE_USER_EVENT_MAX + 1024 };

struct where {
    posixtrace_expression_t *expression;   /* NULL: every event is meant */
    signed char known[WHERE_TYPES];        /* by type: 0 not looked at, 1 none is meant, 2 all
                                            * are, 3 it depends */
};

/* EXIT_DONE, or EXIT_USAGE and it was said what is wrong.  option: how it was given. */
int where_set(struct where *w, const char *option, const char *text);
void where_free(struct where *w);

/* Settled by the type: 1 meant, 0 not; -1: where_wants() has to look at the event. */
int where_settled(struct where *w, const struct posixtrace_event *e);

/* layout: of the event's data, or NULL. */
bool where_wants(const struct where *w, const struct posixtrace_event *e,
                 const posixtrace_layout_t *layout);

#endif
