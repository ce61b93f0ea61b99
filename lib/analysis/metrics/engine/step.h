/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* One step of an automaton, by the paper's rules for measurements and segments. */
#ifndef PT_METRICS_STEP_H
#define PT_METRICS_STEP_H

#include "analysis/metrics/engine/engine.h"
#include "base/assert.h"

/* Moves an automaton into a state, and into the list of that state. */
static inline void pt_step_place(struct pt_machine *m, struct pt_automaton *a, int state)
{
    pt_assert(state >= 0 && (size_t)state < m->metric->state_count);
    if (m->in_state && state != a->hot->state) {
        LIST_REMOVE(a, same_state);
        LIST_INSERT_HEAD(&m->in_state[state], a, same_state);
    }
    a->hot->state = (int16_t)state;
}

/* The due time of a sleep, when that was first seen and last. */
struct pt_due {
    int64_t ns, from, seen;
};
/* Does a sleep continue one that a signal ended before it was due?  It does if it is due at the
 * same time, or at that of a relative sleep for the rest, which is later by the time of the
 * handler.  Either is shorter than the interrupted sleep; one of the same length is a new one. */
bool pt_step_continues(const struct pt_due *before, int64_t due, int64_t ns);

/* The edge from that state for the event, or NULL.  stamp: the time of the state that it leads
 * to. */
const struct pt_way *pt_step_way(const struct pt_label *label, size_t state,
                                 const struct pt_automaton *a, const struct pt_tuple *tuple,
                                 int64_t *stamp);
/* Makes the transitions for a thread's own events, by event and state; NULL: no memory. */
struct pt_transition *pt_transitions_new(const posixtrace_metric_t *metric);
/* Fills in process, thread and object of a measurement, and delivers it. */
void pt_step_report(struct pt_engine *e, const struct pt_machine *m, const struct pt_automaton *a,
                    struct posixtrace_measurement *measurement);

#endif
