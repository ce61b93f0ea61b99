/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Automata in doubt after a gap, by abstract interpretation (Cousot and Cousot 1977).
 *
 * The rule.  In a gap events of any type may have come, in any number.  An automaton in doubt is a
 * set.  It holds for each state: may the automaton be in it without a measurement, may it be in it
 * with one, and how long can that one be by now.
 *
 *   gap a..b   The set gets each state that any sequence of events leads to.  A measurement
 *              that was open at a may have counted all the time: its length grows by b - a.
 *              One that begins inside has a length of at most b - a.  If the metric begins at
 *              due times, it can begin at a lost due time before a, but no earlier than the
 *              last due time that the automaton has seen, or the time of that event.  If there
 *              is none, or if due times of other threads count, the limit is the stream's first
 *              event, or the earliest due time of its events if that is earlier.  The due times
 *              of one thread are assumed not to go back beyond that.
 *              A measurement that can have ended inside is bounded by its length at b.
 *   event      Each state of the set takes its step.  In states that count, lengths grow by
 *              the time since the previous event.  A measurement that ends is bounded by its
 *              length now.
 *   sure       The doubt ends when the set is one state without a measurement, or one with a
 *              measurement that this event began.
 *
 * In a gap a thread may have ended, and another one may have got its number, so the set always has
 * the first state.  Until the next event of its own the thread may not exist; events of others
 * would not step it, so they do not end the doubt.  Invariant: if events are missing in gaps only,
 * each measurement is reported exactly, or lies within one that is reported as unknown.
 *
 * An unknown measurement represents all that may have ended during one doubt: it lasts from the
 * earliest start to the latest end, with the greatest length as its bound.  It is not reported if
 * none can have ended.  Threads without any event, and objects of a thread without any, count as in
 * their first state since the first gap.  The callers are engine.c, step.c and threads.c.
 */
#ifndef PT_METRICS_UNCERTAINTY_H
#define PT_METRICS_UNCERTAINTY_H

#include "analysis/metrics/engine/engine.h"

/* The effect of one event on the measurement in a state. */
enum pt_after { PT_AFTER_KEPT, PT_AFTER_NONE, PT_AFTER_BEGUN };

struct pt_edge {
    int16_t to;
    uint8_t after;   /* enum pt_after */
    bool ends;       /* ends the measurement that was open before */
    bool ends_begun; /* ends the one that the event began */
};

struct pt_edges {
    struct pt_edge *at;
    size_t *first; /* index of each state's first edge; one more for the end */
};

/* The possibilities for one state: without a measurement (none), with one (some). */
struct pt_maybe {
    int64_t length; /* the greatest length of a measurement */
    int64_t begin;  /* with sure: when all measurements in question began, */
    int16_t first;  /* and in which state */
    bool none, some, sure;
};

struct pt_uncertainty {
    int64_t from, to; /* the earliest begin and the latest end */
    int64_t at;       /* the time for which the lengths in now hold */
    int64_t longest;  /* the longest measurement that may have ended, valid with ends */
    bool ends;
    bool absent;                 /* the thread may have ended, and the next one with its number may
                                  * not exist yet */
    struct pt_maybe *now, *next; /* by state */
    struct pt_maybe of[];
};

/* uncertainty_edges.c: the effects of all events; NULL: no memory. */
struct pt_edges *pt_edges_new(const posixtrace_metric_t *metric);
void pt_edges_free(struct pt_edges *edges);

/* Called for an automaton that has not noticed the last gap: starts or widens its doubt. */
void pt_uncertainty_notice(struct pt_engine *e, struct pt_machine *m, struct pt_automaton *a);
/* The same for a thread that is seen for the first time: it may have existed since the first gap,
 * and missed events of others. */
void pt_uncertainty_notice_late(struct pt_engine *e, struct pt_machine *m, struct pt_automaton *a);
/* Starts a doubt without a gap: the effect of the next event is not known. */
void pt_uncertainty_begin(struct pt_engine *e, struct pt_machine *m, struct pt_automaton *a);
/* Steps an automaton in doubt.  True: it is sure to begin a measurement in that state at that
 * time, which the caller enters. */
bool pt_uncertainty_step(struct pt_engine *e, struct pt_machine *m, struct pt_automaton *a,
                         const struct pt_label *label, const struct pt_tuple *tuple, int *state,
                         int64_t *stamp);
/* Ends the doubt without a further event: reports what may have ended. */
void pt_uncertainty_end(struct pt_engine *e, struct pt_machine *m, struct pt_automaton *a);
/* For a metric by object: reports the thread's objects that had no event. */
void pt_uncertainty_unseen(struct pt_engine *e, struct pt_machine *m,
                           struct pt_traced_thread *thread);
/* For a metric that reports changes: reports the change from a previous measurement in doubt to the
 * one that ends at end. */
void pt_uncertainty_of_change(struct pt_engine *e, struct pt_machine *m, struct pt_automaton *a,
                              int64_t end);
/* How long a measurement without any seen event may have lasted. */
int64_t pt_uncertainty_hidden(const struct pt_engine *e, const struct pt_machine *m);
void pt_uncertainty_free(struct pt_automaton *a);

#endif
