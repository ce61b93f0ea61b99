/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * See step.h.  A segment consists of states of type in, with states of type cond before them.  A
 * change from in to cond ends the segment; a return from cond to in starts the next one at the time
 * when cond was entered.  So the time in cond counts, unless cond leads to a state that does not
 * count.
 */
#include <string.h>
#include "analysis/metrics/engine/bounds.h"
#include "analysis/metrics/engine/bounds_share.h"
#include "analysis/metrics/engine/uncertainty.h"
#include "analysis/metrics/engine/step.h"

/* The longest time of a signal handler that ends a sleep. */
#define HANDLER_NS 1000000

void pt_step_report(struct pt_engine *e, const struct pt_machine *m, const struct pt_automaton *a,
                    struct posixtrace_measurement *measurement)
{
    const struct pt_traced_thread *t = a->thread;

    if (!e->measured || e->stopped || (a->unwanted && !measurement->unknown))
        return;
    measurement->metric = m->metric;
    measurement->pid = (pid_t)t->key.pid;
    measurement->tid = t->items ? 0 : (pid_t)t->key.tid;
    measurement->thread_id = t->thread_id;
    if (m->metric->by_object)
        measurement->key = ((const struct pt_object *)(const void *)((const char *)a -
                                                                     offsetof(struct pt_object,
                                                                              automaton)))
                               ->key.object;
    pt_bounds_deliver(e, m, a, measurement);
}

/* For a metric that reports changes: computes the change.  False: there is none for the first
 * measurement. */
static bool take_change(struct pt_automaton *a, int64_t *length)
{
    bool first = !a->has_before;

    *length = a->length < a->before ? pt_ns_from(a->length, a->before)
                                    : pt_ns_from(a->before, a->length);
    a->has_before = true;
    a->before = a->length;
    return !first;
}

static void finish(struct pt_engine *e, struct pt_machine *m, struct pt_automaton *a, int64_t stamp)
{
    struct posixtrace_measurement measurement = { .begin_ns = a->begin,
                                                  .end_ns = stamp,
                                                  .length_ns = a->length,
                                                  .intermediate_events = a->events };
    int64_t before = a->before;

    pt_assert_call(a->hot->measuring && !a->hot->doubtful);
    if (a->length < 0) /* it would end before it begins, at a due time to come */
        return;
    if (m->metric->change)
        pt_uncertainty_of_change(e, m, a, stamp);
    if (m->metric->change && !take_change(a, &measurement.length_ns))
        return;
    pt_bounds_of_change(e, m, a, before, &measurement);
    if (!m->metric->positive || measurement.length_ns > 0)
        pt_step_report(e, m, a, &measurement);
}

/* The number of events before the current one, which is stored after its time. */
static inline uint64_t events_seen(const struct pt_engine *e, const struct pt_machine *m,
                                   const struct pt_traced_thread *thread)
{
    return m->metric->count_all ? e->stored - 1 : thread->events - (e->current == thread);
}

static inline void begin_segment(struct pt_automaton *a, uint8_t segment, int64_t stamp,
                                 uint64_t seen)
{
    if (a->segment == PT_SEGMENT_NONE) {
        a->segment_begin = stamp;
        a->segment_events = seen;
    }
    a->segment = segment;
}

static inline void end_segment(struct pt_automaton *a, int64_t stamp, uint64_t seen)
{
    pt_assert(a->segment == PT_SEGMENT_NONE || seen >= a->segment_events);
    if (a->segment == PT_SEGMENT_IN) {
        a->length = (int64_t)((uint64_t)a->length + (uint64_t)pt_ns_from(a->segment_begin, stamp));
        a->events += seen - a->segment_events;
    }
    a->segment = PT_SEGMENT_NONE;
}

/* A measurement begins. */
static inline void begin(struct pt_engine *e, struct pt_machine *m, struct pt_automaton *a,
                         int64_t stamp)
{
    pt_assert(!a->hot->doubtful && a->segment != PT_SEGMENT_IN);
    m->doubt.restarted += a->hot->measuring;
    a->hot->measuring = true;
    a->begin = stamp;
    a->length = 0;
    a->events = 0;
    if (e->wants)
        a->unwanted = !e->wants(e->wants_context, e->event);
}

static inline void enter(struct pt_engine *e, struct pt_machine *m, struct pt_automaton *a,
                         enum pt_kind kind, int64_t stamp, uint64_t seen)
{
    if (kind == PT_KIND_IN) {
        begin_segment(a, PT_SEGMENT_IN, stamp, seen);
        return;
    }
    if (kind != PT_KIND_COND || a->segment == PT_SEGMENT_IN)
        end_segment(a, stamp, seen);
    switch (kind) {
    case PT_KIND_COND: begin_segment(a, PT_SEGMENT_COND, stamp, seen); break;
    case PT_KIND_BEGIN: begin(e, m, a, stamp); break;
    case PT_KIND_END:
        if (a->hot->measuring)
            finish(e, m, a, stamp);
        a->hot->measuring = false;
        break;
    case PT_KIND_CANCEL:
        m->doubt.discarded += a->hot->measuring;
        a->hot->measuring = false;
        break;
    case PT_KIND_IN:
    case PT_KIND_OUT: break;
    }
}

bool pt_step_continues(const struct pt_due *before, int64_t due, int64_t ns)
{
    int64_t rest = pt_ns_span(ns, due);

    if (before->ns <= before->seen || due <= 0)
        return false;
    return pt_ns_span(before->ns, due) >= -HANDLER_NS &&
           rest <= pt_ns_span(before->seen, before->ns) + HANDLER_NS &&
           rest < pt_ns_span(before->from, before->ns);
}

static bool continues_from(const struct pt_automaton *a, int64_t from, int64_t due, int64_t ns)
{
    const struct pt_due before = { .ns = a->due, .from = from, .seen = a->due_seen };

    return a->has_due && pt_step_continues(&before, due, ns);
}

static bool continues(const struct pt_automaton *a, int64_t due, int64_t ns)
{
    return continues_from(a, a->due_from, due, ns);
}

/* Does a gap leave open whether the event continues a sleep?  Lost events may have changed the
 * due time, or when it was first seen: at any time until it was last seen. */
static bool may_continue(const struct pt_engine *e, const struct pt_label *label, size_t state,
                         const struct pt_automaton *a, const struct pt_tuple *tuple)
{
    int64_t due = 0;

    if (label->ways[state].only != PT_ONLY_AGAIN || e->gap == 0)
        return false;
    if (tuple->event->data_len >= 16)
        memcpy(&due, (const char *)tuple->event->data + 8, sizeof due);
    if (a->due_gap != e->gap)
        return due > 0;
    return a->unsure_due_from && continues_from(a, INT64_MIN, due, tuple->ns) !=
                                     continues_from(a, a->due_seen, due, tuple->ns);
}

static bool fits(enum pt_only only, const struct pt_automaton *a, int64_t value, int64_t ns)
{
    switch (only) {
    case PT_ONLY_OK: return value == 0;
    case PT_ONLY_DUE: return value > 0;
    case PT_ONLY_EARLY: return value > ns;
    case PT_ONLY_AGAIN: return continues(a, value, ns);
    case PT_ONLY_ANY: break;
    }
    return true;
}

const struct pt_way *pt_step_way(const struct pt_label *label, size_t state,
                                 const struct pt_automaton *a, const struct pt_tuple *tuple,
                                 int64_t *stamp)
{
    const struct pt_way *way = &label->ways[state];
    int64_t value = 0;

    if ((way->only || pt_way_is_due(way)) && tuple->event->data_len >= 16)
        memcpy(&value, (const char *)tuple->event->data + 8, sizeof value);
    if (way->only && !fits((enum pt_only)way->only, a, value, tuple->ns))
        way = &label->otherwise[state];
    *stamp = tuple->ns;
    if (pt_way_is_due(way) && value > 0 && (way->at == PT_AT_DUE || value < tuple->ns))
        *stamp = value;
    return way->target != PT_NOWHERE ? way : NULL;
}

static inline void make_transition(struct pt_engine *e, struct pt_machine *m,
                                   struct pt_automaton *a, const struct pt_transition *transition,
                                   int64_t ns, uint64_t seen)
{
    struct pt_hot *hot = a->hot;

    if (transition->leaves) {
        if (a->segment == PT_SEGMENT_COND && transition->from_in)
            a->segment = PT_SEGMENT_IN;
        end_segment(a, ns, seen);
    }
    if (transition->ends) {
        if (hot->measuring)
            finish(e, m, a, ns);
        hot->measuring = false;
    }
    if (transition->begins)
        begin(e, m, a, ns);
    if (transition->segment != PT_SEGMENT_NONE)
        begin_segment(a, transition->segment, ns, seen);
    pt_assert(transition->state >= 0 && (size_t)transition->state < m->metric->state_count);
    hot->state = transition->state;
}

/* Stores the due time, for gaps that may hide due times; see uncertainty.h. */
static void note_due(const struct pt_engine *e, struct pt_automaton *a,
                     const struct pt_tuple *tuple)
{
    int64_t due;

    if (tuple->event->data_len < 16)
        return;
    memcpy(&due, (const char *)tuple->event->data + 8, sizeof due);
    if (due <= 0)
        return;
    if (a->due_gap != e->gap)
        a->unsure_due_from = true;
    else if (!a->has_due || a->due != due)
        a->unsure_due_from = false;
    if (!a->has_due || a->due != due)
        a->due_from = tuple->ns;
    a->due_gap = e->gap;
    a->due = due;
    a->due_seen = tuple->ns;
    a->has_due = true;
}

/* Enters the state, and those that its lambdas lead to. */
static void enter_all(struct pt_engine *e, struct pt_machine *m, struct pt_automaton *a, int state,
                      int64_t stamp, int64_t ns, uint64_t seen)
{
    const struct pt_state *states = m->metric->states;
    const bool bounds = m->leaves && e->bounds;

    for (; state != PT_NOWHERE; state = states[state].lambda.target) {
        pt_step_place(m, a, state);
        if (bounds)
            pt_bounds_enter(e, m, a, stamp);
        enter(e, m, a, states[state].kind, stamp, seen);
        if (states[state].lambda.at == PT_AT_EVENT)
            stamp = ns;
    }
}

static void step_in_doubt(struct pt_engine *e, struct pt_machine *m, struct pt_automaton *a,
                          const struct pt_label *label, const struct pt_tuple *tuple)
{
    int64_t stamp;
    int state;

    if (pt_uncertainty_step(e, m, a, label, tuple, &state, &stamp))
        enter_all(e, m, a, state, stamp, tuple->ns, events_seen(e, m, a->thread));
    if (label->due)
        note_due(e, a, tuple);
}

/* Would the event begin a measurement in the first state?  One that the label does not fit, such as
 * a failed trylock, would not. */
static bool would_begin(const struct pt_label *label, const struct pt_automaton *a,
                        const struct pt_tuple *tuple)
{
    int64_t stamp;

    return pt_step_way(label, 0, a, tuple, &stamp) == &label->ways[0];
}

void pt_step(struct pt_engine *e, struct pt_machine *m, struct pt_automaton *a,
             const struct pt_label *label, const struct pt_tuple *tuple)
{
    const uint64_t seen = events_seen(e, m, a->thread);
    const struct pt_way *way;
    struct pt_hot *hot = a->hot;
    int64_t stamp;

    if (hot->gap != e->gap)
        pt_uncertainty_notice(e, m, a);
    pt_assert(hot->gap == e->gap || e->stopped);
    pt_assert((size_t)hot->state < m->metric->state_count && hot->doubtful == (a->doubts != NULL));
    if (!hot->doubtful && may_continue(e, label, (size_t)hot->state, a, tuple))
        pt_uncertainty_begin(e, m, a);
    if (hot->doubtful) {
        step_in_doubt(e, m, a, label, tuple);
        return;
    }
    if (label->transitions && label->transitions[hot->state].whole && !(m->leaves && e->bounds)) {
        if (label->due)
            note_due(e, a, tuple);
        make_transition(e, m, a, &label->transitions[hot->state], tuple->ns, seen);
        return;
    }
    way = pt_step_way(label, (size_t)hot->state, a, tuple, &stamp);
    if (!way && hot->measuring && label->begins)
        m->doubt.restarted += would_begin(label, a, tuple);
    if (label->due)
        note_due(e, a, tuple);
    if (way)
        enter_all(e, m, a, way->target, stamp, tuple->ns, seen);
}
