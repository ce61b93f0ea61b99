/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The selection of events for a verb: one or more texts of posixtrace-filter(5), each a pattern or
 * an expression.  It is the same for every verb and option: matching events are recorded or shown.
 * If the type's name decides, the result is computed once for each type.
 */
#ifndef FILTER_OPTION_H
#define FILTER_OPTION_H

#include <posixtrace/filter.h>
#include <posixtrace/format.h>

#include "input/log_file.h"

enum { FILTER_OPTION_TYPES = TRACE_USER_EVENT_MAX + 1024 };

struct filter_option {
    const char *option; /* how it was given, for messages */
    const char **texts;
    size_t count;
    char *text;                          /* all texts as one expression; NULL: none was given */
    posixtrace_expression_t *expression; /* NULL: every event matches */
    /* By type: 0 not evaluated, 1 no event matches, 2 all do, 3 it depends on the event. */
    signed char known[FILTER_OPTION_TYPES];
};

/* One more text.  EXIT_DONE, or another status after an error message. */
int filter_option_add(struct filter_option *w, const char *option, const char *text);
/* The last was added.  The same. */
int filter_option_make(struct filter_option *w);
void filter_option_free(struct filter_option *w);

/* Settled by the type: 1 meant, 0 not; -1: filter_option_wants() has to look at the event. */
int filter_option_settled(struct filter_option *w, const struct posixtrace_event *e);

/* layout: of the event's data, or NULL. */
bool filter_option_wants(const struct filter_option *w, const struct posixtrace_event *e,
                         const posixtrace_layout_t *layout);

/* filter_option_warn.c: reports names in it that no event type of the log or stream has, with
 * similar names. */
void filter_option_warn(const struct filter_option *w, const struct log_file *log);
/* The same for names that none of several logs has, which are called shown. */
void filter_option_warn_all(const struct filter_option *w, const struct log_file *const *logs,
                            size_t count, const char *shown);

#endif
