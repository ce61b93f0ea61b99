/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * See step.h.  A segment is states of type in, with those of type cond before them that
 * led to them.  Leaving in for cond ends it at that moment; coming back from there begins
 * the next one where cond was entered: nothing is lost in between, and all of it is if
 * cond leads out.
 */
#include "metrics/step.h"

void pt_step_place(struct pt_machine *m, struct pt_automaton *a, int state)
{
    if (m->in_state && state != a->hot->state) {
        LIST_REMOVE(a, same_state);
        LIST_INSERT_HEAD(&m->in_state[state], a, same_state);
    }
    a->hot->state = (int16_t)state;
}

/* Before the current one: it is stored after its time. */
static uint64_t events_seen(const struct pt_engine *e, const struct pt_machine *m,
                            const struct pt_automaton *a)
{
    if (m->metric->count_all)
        return e->stored - 1;
    return a->thread->events - (e->current == a->thread);
}

void pt_step_report(struct pt_engine *e, const struct pt_machine *m,
                    const struct pt_automaton *a, struct posixtrace_measurement *measurement)
{
    const struct pt_thread *t = a->thread;

    if (!e->measured || e->stopped)
        return;
    measurement->metric = m->metric;
    measurement->pid = (pid_t)t->key.pid;
    measurement->tid = (pid_t)t->key.tid;
    measurement->thread_id = t->thread_id;
    if (m->metric->by_object)
        measurement->key = ((const struct pt_object *)(const void *)
            ((const char *)a - offsetof(struct pt_object, automaton)))->key.object;
    e->stopped = e->measured(e->context, measurement);
}

static void finish(struct pt_engine *e, struct pt_machine *m, struct pt_automaton *a)
{
    struct posixtrace_measurement measurement = {
        .begin_ns = a->begin, .end_ns = a->stamp, .length_ns = a->length,
        .intermediate_events = a->events };
    bool first = m->metric->change && !a->has_before;
    int64_t before = a->before;

    a->has_before = m->metric->change;
    a->before = a->length;
    m->longest = a->length > m->longest ? a->length : m->longest;
    if (first)
        return;
    if (m->metric->change)
        measurement.length_ns = a->length < before ? before - a->length : a->length - before;
    if (!m->metric->positive || measurement.length_ns > 0)
        pt_step_report(e, m, a, &measurement);
}

static void begin_segment(const struct pt_engine *e, const struct pt_machine *m,
                          struct pt_automaton *a, enum pt_segment segment)
{
    a->segment = (uint8_t)segment;
    a->segment_begin = a->stamp;
    a->segment_events = events_seen(e, m, a);
}

void pt_step_enter(struct pt_engine *e, struct pt_machine *m, struct pt_automaton *a,
                   int64_t stamp)
{
    enum pt_kind kind = m->metric->states[a->hot->state].kind;

    a->stamp = stamp;
    if (a->segment == PT_SEGMENT_IN && kind != PT_KIND_IN) {
        a->length += stamp - a->segment_begin;
        a->events += events_seen(e, m, a) - a->segment_events;
        a->segment = PT_SEGMENT_NONE;
    }
    switch (kind) {
    case PT_KIND_IN:
        if (a->segment == PT_SEGMENT_NONE)
            begin_segment(e, m, a, PT_SEGMENT_IN);
        a->segment = PT_SEGMENT_IN;
        return;
    case PT_KIND_COND:
        if (a->segment == PT_SEGMENT_NONE)
            begin_segment(e, m, a, PT_SEGMENT_COND);
        return;
    case PT_KIND_BEGIN:
        m->doubt.restarted += a->hot->measuring;
        a->hot->measuring = true;
        a->begin = stamp;
        a->length = 0;
        a->events = 0;
        break;
    case PT_KIND_END:
        if (a->hot->measuring)
            finish(e, m, a);
        a->hot->measuring = false;
        break;
    case PT_KIND_CANCEL:
        m->doubt.discarded += a->hot->measuring;
        a->hot->measuring = false;
        break;
    case PT_KIND_OUT:
        break;
    }
    a->segment = PT_SEGMENT_NONE;
}
