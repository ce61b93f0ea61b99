/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Automata that gaps have left in doubt, by abstract interpretation (Cousot and Cousot 1977).
 *
 * The rule.  Where events were lost, any event of any kind may have come, in any number.  An
 * automaton in doubt is a set: of each state, whether it may be in it without a measurement,
 * whether it may be in it with one, and the greatest length that such a one may have by now.
 *
 *   gap a..b   What any sequence of events leads to is added to the set.  A measurement
 *              that was there before may go on to count: its length grows by b - a, after what
 *              it counted until a.  One that begins inside has at most b - a, or begins at a
 *              due time that was lost: at the last due time that the automaton has seen, or at
 *              the time of that event if that is earlier, or where the stream begins (also
 *              where due times of other threads' events are taken), or at the earliest due time
 *              that an event of the stream has, if that is before its begin.  Due times of one
 *              thread are taken not to go back beyond that.
 *              An end that can come inside bounds a measurement by its length at b.
 *   event      Each state of the set is stepped.  What counts has grown by the time since
 *              the event before.  An end bounds a measurement by its length now.
 *   sure       When all of the set is one state without a measurement, or one with a
 *              measurement that this event began, nothing is in doubt any more.
 *
 * A thread may have ended and another one have its number: the first state is always part of
 * the set.  Until the next event of its own there may be none, which others' events would lead
 * on, so they do not make the set sure.  So no trace that has lost nothing but what is in the
 * gaps has a measurement that is neither reported as it is nor within one that is reported as
 * unknown.
 *
 * An unknown one stands for all that may have ended during one doubt: from the earliest begin
 * to the latest end, with the greatest length as its bound.  None is reported where none can
 * have ended.  Threads without any event, and objects of a thread without any, are those in
 * their first state since the first gap.
 */
#ifndef PT_METRICS_UNCERTAINTY_H
#define PT_METRICS_UNCERTAINTY_H

#include "analysis/metrics/engine/engine.h"

/* What one event can do in a state, as far as a measurement is concerned. */
enum pt_after { PT_AFTER_KEPT, PT_AFTER_NONE, PT_AFTER_BEGUN };

struct pt_edge {
    int16_t to;
    uint8_t after;   /* enum pt_after */
    bool ends;       /* one that was there before */
    bool ends_begun; /* one that the event began */
};

struct pt_edges {
    struct pt_edge *at;
    size_t *first; /* of each state; one more for the end */
};

/* What may be in one state. */
struct pt_maybe {
    int64_t length; /* the greatest, of a measurement */
    int64_t begin;  /* with sure: when all of them began, */
    int16_t first;  /* and in which state */
    bool none, some, sure;
};

struct pt_uncertainty {
    int64_t from, to; /* the earliest begin and the latest end */
    int64_t at;       /* when the lengths were that */
    int64_t longest;  /* of those that may have ended, with ends */
    bool ends;
    bool absent;                 /* the thread may have ended, and the next one not have come */
    struct pt_maybe *now, *next; /* by state */
    struct pt_maybe of[];
};

/* uncertainty_edges.c: what events can do; NULL without memory. */
struct pt_edges *pt_edges_new(const posixtrace_metric_t *metric);
void pt_edges_free(struct pt_edges *edges);

/* The automaton has not been touched since the last gap: begins or widens its doubt. */
void pt_uncertainty_notice(struct pt_engine *e, struct pt_machine *m, struct pt_automaton *a);
/* The same for one that may have been there, and missed events of others, until now. */
void pt_uncertainty_notice_late(struct pt_engine *e, struct pt_machine *m, struct pt_automaton *a);
/* It is in doubt from now on, as it is: what the next event does is not known. */
void pt_uncertainty_begin(struct pt_engine *e, struct pt_machine *m, struct pt_automaton *a);
/* Steps an automaton in doubt.  True: it is sure to begin a measurement in that state at that
 * time, which the caller enters. */
bool pt_uncertainty_step(struct pt_engine *e, struct pt_machine *m, struct pt_automaton *a,
                         const struct pt_label *label, const struct pt_tuple *tuple, int *state,
                         int64_t *stamp);
/* Nothing more comes of it: reports what may have ended. */
void pt_uncertainty_end(struct pt_engine *e, struct pt_machine *m, struct pt_automaton *a);
/* Of a metric by object: the thread's objects that no event was seen of. */
void pt_uncertainty_unseen(struct pt_engine *e, struct pt_machine *m, struct pt_thread *thread);
/* Of a metric that reports changes: one that ends now, in a measurement of that length,
 * differs from one in doubt. */
void pt_uncertainty_of_change(struct pt_engine *e, struct pt_machine *m, struct pt_automaton *a,
                              int64_t end);
/* How long a measurement without any seen event may have lasted. */
int64_t pt_uncertainty_hidden(const struct pt_engine *e, const struct pt_machine *m);
void pt_uncertainty_free(struct pt_automaton *a);

#endif
