/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Bounds of measurements that leave out the time in which the thread had no processor, for streams
 * without context switches.  Such a stream has samples of the CPU time of threads instead (events
 * POSIXTRACE_CPU_TIME).
 *
 * In such a metric a context switch leads from a state that counts to one that does not.  Time in
 * the former counts only while the thread runs; call all time in it counted.  Between two samples
 * that are L ns apart the thread ran T ns.  During c ns of counted time between them it ran
 *
 *   at least  c - (L - T)      if all its time off the processor was in them
 *   at most   min(c, T)        if all its run time was in them
 *
 * and L and T alone give no better bounds.  They are computed twice: for each piece between two
 * samples, whose bounds are added, and for the whole measurement, from the last sample before it to
 * the first one after it.  The pieces give better bounds if samples are exact, the whole if they
 * are not.
 *
 * A sample is an interval, too: the thread had run for run to run + more ns.  The samples before
 * and after it narrow it, since run time neither decreases nor grows faster than time.  So a piece
 * is final when the sample that ends it has a successor.  A thread that has run less than before is
 * another thread with the same number.
 *
 * A measurement waits in a queue for the first sample after it, and later ones wait for it, so that
 * they are delivered in their order.  At most QUEUE_MAX_WAITING measurements wait, for at most
 * WAIT_NS of the trace's time; then the bounds known so far count.  A gap ends the wait of all, the
 * end of a thread that of its own measurements.
 *
 * If a context switch leads from a state to an end, the measurement may have ended there at any
 * time since the state was entered.  So its least length is 0.
 */
#ifndef PT_METRICS_BOUNDS_H
#define PT_METRICS_BOUNDS_H

#include "analysis/metrics/engine/engine.h"

/* Bits of pt_machine.leaves. */
enum { PT_LEAVES_OUT = 1, PT_LEAVES_END = 2 };

/* How the current state of an automaton counts: not at all; as described above; only if it leads to
 * a state of type in. */
enum pt_counting { PT_COUNTS_NOT, PT_COUNTS, PT_COUNTS_PERHAPS };

/* The bounds of a measurement so far. */
struct pt_share {
    LIST_ENTRY(pt_share) of_thread;
    struct pt_ran first; /* the last sample before the measurement's start */
    int64_t from;        /* start of the time that counts now */
    int64_t counted;     /* counted time before from */
    int64_t in_piece;    /* part of counted that is after the last sample */
    int64_t in_before;   /* part of counted in the piece that the last sample ended */
    int64_t least, most; /* bounds of the run time in the rest of counted */
    int64_t open;        /* time that counts, but with an unknown run time; not in counted */
    uint8_t counts;      /* enum pt_counting */
    bool ends;           /* it may have ended at a context switch */
    bool whole;          /* all of it was seen */
};

/* Finds the states that leave out time without a processor; false: no memory. */
bool pt_bounds_learn(struct pt_machine *m);

/* Called for a CPU-time sample, and for a context switch, after which no bounds are needed.
 * thread: NULL if the event belongs to none. */
void pt_bounds_event(struct pt_engine *e, struct pt_traced_thread *thread,
                     const struct posixtrace_event *event, bool is_switch);
/* The automaton has entered its state; the machine has leaves. */
void pt_bounds_enter(struct pt_engine *e, struct pt_machine *m, struct pt_automaton *a,
                     int64_t stamp);
/* For a metric that reports changes.  before: the length of the measurement before. */
void pt_bounds_of_change(const struct pt_engine *e, const struct pt_machine *m,
                         const struct pt_automaton *a, int64_t before,
                         struct posixtrace_measurement *measurement);
/* Delivers a measurement, in order. */
void pt_bounds_deliver(struct pt_engine *e, const struct pt_machine *m,
                       const struct pt_automaton *a, struct posixtrace_measurement *measurement);

/* Ends the wait of all measurements. */
void pt_bounds_settle(struct pt_engine *e);
/* Ends the wait of that thread's measurements, and frees its shares. */
void pt_bounds_forget(struct pt_engine *e, struct pt_traced_thread *thread);
void pt_bounds_drop(struct pt_automaton *a);
void pt_bounds_deinit(struct pt_engine *e);

#endif
