/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The selection of events by the function of the program that made a call (--caller): one or more
 * patterns, as those of names of events, alternatives.  A pattern is compared with the name of the
 * function, and with the whole text that print shows, "work (app.c:12)"; where no name is known,
 * with that text alone.
 *
 * An event is kept by its field 'caller'.  So is the event that ends the call, which has no such
 * field, and the stack after it; a stack also by any function in it.  A call that began before the
 * selected time, or in a place where events were lost, has no end here.
 */
#ifndef CALLER_OPTION_H
#define CALLER_OPTION_H

#include <posixtrace/event.h>
#include <posixtrace/filter.h>

#include "common/sites.h"
#include "input/log_file.h"

struct caller_thread { /* the calls of a thread */
    pid_t pid, tid;
    uint64_t thread_id; /* where tid is 0 */
    uint64_t kept;      /* a bit for each event type that begins a call: the last one was kept */
    uint64_t functions; /* the same for the functions it is in, bit 0 for the innermost; of 64 */
    bool used, last;    /* last: of the call that ended last */
};

struct caller_option {
    const char **texts;
    posixtrace_expression_t **patterns;
    size_t count; /* of both; 0: every event is meant */
    struct sites *sites;
    struct caller_thread *threads; /* a hash table of room places, a power of 2 */
    size_t thread_count, room;
    uint64_t callers, mapped, found; /* addresses seen; those in a known file; those that match */
    char example[SITES_TEXT];        /* one that does not match */
};

/* One more pattern.  EXIT_DONE, or EXIT_USAGE after a message. */
int caller_option_add(struct caller_option *o, const char *text);
void caller_option_free(struct caller_option *o);

/* Is this event of a stream kept?  All events of a thread are to be asked for in their order. */
bool caller_option_wants(struct caller_option *o, trace_id_t trid,
                         const struct posixtrace_event *e);

/* The events were read: says on standard error why no caller was found, and what to do. */
void caller_option_warn(const struct caller_option *o, const struct log_file *log);

#endif
