/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The events that a verb is about: one or more texts of posixtrace-filter(5), each a pattern
 * or an expression.  The same for every verb and option: what matches is recorded or shown.
 * What the type's name settles is found once for each type.
 */
#ifndef WHERE_H
#define WHERE_H

#include <posixtrace/filter.h>
#include <posixtrace/format.h>

#include "log_file.h"

enum { WHERE_TYPES = TRACE_USER_EVENT_MAX + 1024 };

struct where {
    const char  *option;                   /* how it was given, for messages */
    const char **texts;
    size_t       count;
    char        *text;                     /* what they mean together; NULL: none was given */
    posixtrace_expression_t *expression;   /* NULL: every event is meant */
    signed char  known[WHERE_TYPES];       /* by type: 0 not looked at, 1 none is meant, 2 all
                                            * are, 3 it depends */
};

/* One more text.  EXIT_DONE, or another status and it was said what is wrong. */
int where_add(struct where *w, const char *option, const char *text);
/* The last was added.  The same. */
int where_make(struct where *w);
void where_free(struct where *w);

/* Settled by the type: 1 meant, 0 not; -1: where_wants() has to look at the event. */
int where_settled(struct where *w, const struct posixtrace_event *e);

/* layout: of the event's data, or NULL. */
bool where_wants(const struct where *w, const struct posixtrace_event *e,
                 const posixtrace_layout_t *layout);

/* where_warn.c: says which names in it no event type of the log or stream has, with what is
 * near. */
void where_warn(const struct where *w, const struct log_file *log);

#endif
