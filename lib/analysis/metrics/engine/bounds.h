/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Lengths of measurements that leave out the time in which the thread had no processor,
 * where the stream has no context switches but tells now and then for how long threads
 * have run (POSIXTRACE_CPU_TIME).
 *
 * Such a metric has states that count and from which a switch leads to one that does
 * not: time in them counts as far as the thread ran.  Call that time counted.  Between
 * two tellings with L ns in between the thread ran T ns.  Of c ns counted there, it
 * ran
 *
 *   at least  c - (L - T)      all that it was off falls into them
 *   at most   min(c, T)        all that it ran does
 *
 * and nothing better can be said from L and T alone, wherever in L the c lie.  This is
 * done twice: for each piece between two tellings, whose bounds add up, and for the
 * whole of the measurement from the last telling before it to the first one behind it.
 * The pieces are better where tellings are exact, the whole is where they are not.
 *
 * A telling is an interval, too: the thread had run for run to run + more ns.  It is
 * narrowed by the one before and the one behind it: a thread runs no faster than time
 * goes, and not backwards.  So a piece is settled when the telling that ends it has a
 * next one.  Who has run less than before is another thread with the same number.
 *
 * A measurement waits for the first telling behind it; those that end later wait for
 * it, so that they come out in their order.  Not for long: LINE_MAX of them and
 * WAIT_NS at most, then what is known has to do.  A gap or the thread's end lets
 * none of them wait.
 *
 * A state that a switch leads out of to an end would have ended there, at any time
 * since it was entered, so nothing is known of the least that such a measurement lasted.
 */
#ifndef PT_METRICS_BOUNDS_H
#define PT_METRICS_BOUNDS_H

#include "analysis/metrics/engine/engine.h"

/* Bits of pt_machine.leaves. */
enum { PT_LEAVES_OUT = 1, PT_LEAVES_END = 2 };

/* How the current state of an automaton counts: not here; as above; if it leads to in. */
enum pt_counting { PT_COUNTS_NOT, PT_COUNTS, PT_COUNTS_PERHAPS };

/* The bounds of a measurement so far. */
struct pt_share {
    LIST_ENTRY(pt_share) of_thread;
    struct pt_ran first; /* the last telling before it began */
    int64_t from;        /* what counts now does since then */
    int64_t counted;     /* all of it before from */
    int64_t in_piece;    /* of that, what is behind the last telling, */
    int64_t in_before;   /* and what is in the piece that it ended */
    int64_t least, most; /* how long it ran in the rest of it */
    int64_t open;        /* counted, and nothing is known of it; not in counted */
    uint8_t counts;      /* enum pt_counting */
    bool ends;           /* it may have ended at a switch */
    bool whole;          /* all of it was seen */
};

/* Which of its states leave the processor's absence out; false: no memory. */
bool pt_bounds_learn(struct pt_machine *m);

/* An event that tells how long the thread ran, or a context switch: from then on there
 * is nothing to bound.  thread NULL: of none. */
void pt_bounds_event(struct pt_engine *e, struct pt_thread *thread,
                     const struct posixtrace_event *event, bool is_switch);
/* The automaton has entered its state, of a machine with leaves. */
void pt_bounds_enter(struct pt_engine *e, struct pt_machine *m, struct pt_automaton *a,
                     int64_t stamp);
/* Of a metric that reports changes: before was the length of the one before. */
void pt_bounds_of_change(const struct pt_engine *e, const struct pt_machine *m,
                         const struct pt_automaton *a, int64_t before,
                         struct posixtrace_measurement *measurement);
/* Hands a measurement over, in its turn. */
void pt_bounds_deliver(struct pt_engine *e, const struct pt_machine *m,
                       const struct pt_automaton *a, struct posixtrace_measurement *measurement);

/* Nothing waits any more. */
void pt_bounds_settle(struct pt_engine *e);
/* Nothing of that thread does, and it has no shares any more. */
void pt_bounds_forget(struct pt_engine *e, struct pt_thread *thread);
void pt_bounds_drop(struct pt_automaton *a);
void pt_bounds_deinit(struct pt_engine *e);

#endif
