/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The events of a log that a verb is about: a window of time, processes, threads, expressions
 * (posixtrace-filter(5)),
 * functions that made calls.  Several values of one option are alternatives; different options
 * must all agree.  One implementation for every verb that reads events.
 *
 * A verb has SELECT_OPTIONS among its options and SELECT_HELP in its help, hands each code
 * of select_is_option() to select_take_option(), and calls select_make() after the last one.
 */
#ifndef SELECT_H
#define SELECT_H

#include <stdbool.h>
#include <posixtrace/event.h>

#include "common/time_parse.h"
#include "input/caller_option.h"
#include "input/filter_option.h"
#include "input/layouts.h"

enum {
    SELECT_FROM = 700,
    SELECT_TO,
    SELECT_PID,
    SELECT_TID,
    SELECT_EVENT,
    SELECT_WHERE,
    SELECT_CALLER,
    SELECT_SYNC
};

/* clang-format off */
#define SELECT_OPTIONS \
    { "from", true, SELECT_FROM }, { "to", true, SELECT_TO }, { "pid", true, SELECT_PID }, \
    { "tid", true, SELECT_TID }, { "event", true, SELECT_EVENT }, \
    { "where", true, SELECT_WHERE }, { "caller", true, SELECT_CALLER }, \
    { "sync", true, SELECT_SYNC }
/* clang-format on */

/* A line of a help. */
#define SELECT_HELP "  --from --to --pid --tid --event --where --caller --sync=FILE  as for print\n"

struct selection {
    struct when from, to;
    int64_t from_ns, to_ns; /* both inclusive; after select_resolve() */
    int32_t *pids, *tids;
    size_t pid_count, tid_count;
    struct filter_option event, where;
    struct caller_option caller;
    struct layouts layouts;
    char *text; /* select_text() */
};

static inline bool select_is_option(int code)
{
    return code >= SELECT_FROM && code <= SELECT_SYNC;
}

/* sites: the verb's, for names of functions; select_free() closes it. */
void select_init(struct selection *s, struct sites *sites);
void select_free(struct selection *s);

/* An option with its value.  EXIT_DONE, or EXIT_USAGE after a message. */
int select_take_option(struct selection *s, int code, const char *value);
/* The last option was taken.  EXIT_DONE, or another status after a message. */
int select_make(struct selection *s);

/* Was anything selected? */
bool select_is_any(const struct selection *s);
/* Was anything but times, processes and threads? */
bool select_has_expression(const struct selection *s);

/* Fixes the window, with the first event of the log at first.  EXIT_DONE, or EXIT_USAGE after a
 * message. */
int select_resolve(struct selection *s, int64_t first);
/* The same where it is not known when the first event was: a time after it is refused. */
int select_resolve_absolute(struct selection *s);

/* What was selected, in words: "from ... to ..., process 5, event 'req:*'". */
const char *select_text(struct selection *s);

/* Says on standard error which names in the expressions no event type of the log has. */
void select_warn(const struct selection *s, const struct log_file *log);
/* All was read: says there why no caller was like those that are wanted. */
void select_warn_callers(const struct selection *s, const struct log_file *log);

bool select_wants_ids(const struct selection *s, pid_t pid, pid_t tid);
/* The expressions alone. */
bool select_wants_where(struct selection *s, trace_id_t trid, const struct posixtrace_event *e);
/* Of an event of that stream whose time and ids are wanted. */
bool select_wants_expression(struct selection *s, trace_id_t trid,
                             const struct posixtrace_event *e);

static inline bool select_wants(struct selection *s, trace_id_t trid,
                                const struct posixtrace_event *e)
{
    if (s->caller.count > 0 && !caller_option_wants(&s->caller, trid, e))
        return false; /* it follows calls through all events */
    if (e->ns < s->from_ns || e->ns > s->to_ns)
        return false;
    if (s->pid_count + s->tid_count > 0 && !select_wants_ids(s, e->pid, e->tid))
        return false;
    return (!s->event.expression && !s->where.expression) || select_wants_where(s, trid, e);
}

/* The same for a result that is read as a trace of its own: with the marks that say where
 * events are missing and where recording was stopped, of the window of time, whatever processes,
 * threads and events are selected.  A gap that began before the window has no mark in it: see
 * from_ns of struct posixtrace_conversion. */
bool select_keeps(struct selection *s, trace_id_t trid, const struct posixtrace_event *e);
/* Positions a log for that at the selected time; at its start if a gap may begin earlier.  0 or an
 * error number. */
int select_position(const struct selection *s, const struct log_file *log);

#endif
