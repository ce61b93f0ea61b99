/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See engine.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include "metrics/bounds.h"
#include "metrics/engine.h"
#include "metrics/step.h"

/* ---- gaps ---- */

static void bound_doubt(struct pt_machine *m, int64_t longest)
{
    if (longest > m->doubt.at_most_ns)
        m->doubt.at_most_ns = longest;
}

void pt_engine_gap_begin(struct pt_engine *e, enum pt_gap why, int64_t ns)
{
    bool goes_on = e->in_gap != 0;

    e->in_gap |= why;
    if (goes_on)
        return;
    e->gap_first = e->gap++ == 0 ? ns : e->gap_first;
    pt_gaps_add(&e->gaps, e->gap, ns);
    e->gap_from = e->gap_to = ns;
    pt_bounds_settle(e);
}

void pt_engine_gap_goes_on(struct pt_engine *e)
{
    e->gap++;
}

void pt_engine_gap_end(struct pt_engine *e, enum pt_gap why, int64_t ns)
{
    if (!(e->in_gap & why))
        return;
    e->in_gap &= ~(unsigned)why;
    e->gap_to = ns;
    if (e->in_gap)
        return;
    if (pt_ns_from(e->gap_from, ns) > e->gap_longest)
        e->gap_longest = pt_ns_from(e->gap_from, ns);
    for (size_t i = 0; i < e->count; i++)
        bound_doubt(&e->machines[i], e->gap_longest);
}

void pt_engine_gap_is_end(struct pt_engine *e)
{
    e->gap -= e->in_gap != 0;
    e->in_gap = 0;
}

/* When a measurement that is unknown now began, at the earliest. */
static int64_t doubt_begins(const struct pt_engine *e, const struct pt_machine *m,
                            const struct pt_automaton *a)
{
    if (a->hot->measuring)
        return a->begin;
    return m->at_due ? a->stamp : pt_gaps_begin(&e->gaps, a->hot->gap + 1);
}

void pt_automaton_notice_gap(struct pt_engine *e, struct pt_machine *m, struct pt_automaton *a)
{
    if (a->hot->measuring) {
        m->doubt.unknown++;
        a->was_measuring = true;
    }
    if (!a->hot->doubtful || a->hot->measuring)
        a->doubt_from = doubt_begins(e, m, a);
    a->hot->doubtful = true;
    a->doubt_to = e->gap_to;
    a->hot->gap = e->gap;
    a->hot->measuring = a->has_before = false;
    a->segment = PT_SEGMENT_NONE;
    pt_step_place(m, a, 0);
}

void pt_automaton_resolve_doubt(struct pt_engine *e, struct pt_machine *m,
                                struct pt_automaton *a)
{
    int64_t longest;

    if (!a->hot->doubtful)
        return;
    a->doubt_to = m->other_end > a->doubt_to ? m->other_end : a->doubt_to;
    longest = a->doubt_to - a->doubt_from;
    bound_doubt(m, longest);
    if (a->was_measuring)
        pt_step_report(e, m, a, &(struct posixtrace_measurement){
            .begin_ns = a->doubt_from, .end_ns = a->doubt_to, .length_ns = longest,
            .unknown = true });
    a->hot->doubtful = a->was_measuring = false;
}

void pt_automaton_settle(struct pt_engine *e, struct pt_machine *m, struct pt_automaton *a)
{
    if (a->hot->gap != e->gap)
        pt_automaton_notice_gap(e, m, a);
    pt_automaton_resolve_doubt(e, m, a);
    m->doubt.unfinished += a->hot->measuring;
    a->hot->measuring = false;
}

/* ---- all that an event concerns ---- */

static int step_object(struct pt_engine *e, const struct pt_meaning *meaning,
                       const struct pt_tuple *tuple)
{
    bool leads = meaning->own.ways[0].target != PT_NOWHERE;
    struct pt_machine *m = meaning->machine;
    struct pt_object *o;
    uint64_t object = 0;

    if (tuple->event->data_len >= sizeof object)
        memcpy(&object, tuple->event->data, sizeof object);
    o = pt_engine_object(e, m, tuple->thread, object, leads);
    if (!o && !leads && e->gap && meaning->own.ends)
        bound_doubt(m, pt_ns_from(e->gap_first, tuple->ns));   /* begun in a gap, perhaps */
    if (!o)
        return leads ? ENOMEM : 0;
    pt_step(e, m, &o->automaton, &meaning->own, tuple);
    if (o->hot.state == 0 && !o->hot.measuring && !o->hot.doubtful &&
        !o->automaton.has_before)
        pt_engine_drop_object(e, o);
    return 0;
}

/* Gathered before any is stepped: a step takes it to another list. */
static int step_others(struct pt_engine *e, const struct pt_meaning *meaning,
                       const struct pt_tuple *tuple)
{
    struct pt_machine *m = meaning->machine;
    size_t n = 0;

    for (size_t s = 0; s < m->metric->state_count; s++) {
        struct pt_automaton *a;

        if (meaning->other.ways[s].target == PT_NOWHERE)
            continue;
        LIST_FOREACH(a, &m->in_state[s], same_state) {
            if (a->thread == tuple->thread)
                continue;
            if (n == e->scratch_room) {
                size_t room = n * 2 + 64;
                struct pt_automaton **more = realloc(e->scratch, room * sizeof *more);

                if (!more)
                    return ENOMEM;
                e->scratch = more;
                e->scratch_room = room;
            }
            e->scratch[n++] = a;
        }
    }
    for (size_t i = 0; i < n; i++)
        pt_step(e, m, e->scratch[i], &meaning->other, tuple);
    return 0;
}

int pt_engine_feed(struct pt_engine *e, const struct pt_meaning *meaning,
                   const struct pt_tuple *tuple)
{
    struct pt_machine *m = meaning->machine;

    if (meaning->ends_others)
        m->other_end = tuple->ns;
    if (tuple->thread && m->metric->by_object)
        return step_object(e, meaning, tuple);
    if (tuple->thread)
        pt_step(e, m, &tuple->thread->automata[m->index], &meaning->own, tuple);
    return m->metric->looks_at_others ? step_others(e, meaning, tuple) : 0;
}

/* ---- begin and end ---- */

/* By lambdas from the state that way leads to: does it come to a state of that kind? */
static bool comes_to(const posixtrace_metric_t *m, const struct pt_way *way, enum pt_kind kind)
{
    for (; way->target != PT_NOWHERE; way = &m->states[way->target].lambda)
        if (m->states[way->target].kind == kind)
            return true;
    return false;
}

struct pt_meaning pt_engine_meaning(struct pt_machine *m, size_t index)
{
    const posixtrace_metric_t *metric = m->metric;
    struct pt_meaning meaning = {
        .machine = m, .alone = !metric->by_object && !metric->looks_at_others,
        .own.ways = pt_machine_way(metric, index, PT_OWN, 0),
        .own.moves = m->moves ? &m->moves[index * metric->state_count] : NULL,
        .other.ways = pt_machine_way(metric, index, PT_OTHER, 0) };

    meaning.own.begins = comes_to(metric, meaning.own.ways, PT_KIND_BEGIN);
    for (size_t s = 0; s < metric->state_count; s++) {
        meaning.own.ends |= comes_to(metric, &meaning.own.ways[s], PT_KIND_END);
        meaning.ends_others |= comes_to(metric, &meaning.other.ways[s], PT_KIND_END);
    }
    return meaning;
}

static bool init_machine(struct pt_machine *m, const posixtrace_metric_t *metric, size_t index)
{
    *m = (struct pt_machine){ .metric = metric, .index = index };
    if (metric->looks_at_others)
        m->in_state = calloc(metric->state_count, sizeof *m->in_state);
    else
        m->moves = pt_moves_new(metric);
    for (size_t e = 0; e <= metric->event_count; e++) {
        for (size_t s = 0; s < metric->state_count; s++)
            m->at_due |= pt_machine_way(metric, e, PT_OWN, s)->at == PT_AT_DUE;
        m->woken_by_others |= pt_machine_way(metric, e, PT_OTHER, 0)->target != PT_NOWHERE;
    }
    return (m->in_state || m->moves) && pt_bounds_learn(m);
}

int pt_engine_init(struct pt_engine *e, const posixtrace_metric_t *const *metrics, size_t count)
{
    memset(e, 0, sizeof *e);
    if (getrandom(&e->factor, sizeof e->factor, GRND_NONBLOCK) != sizeof e->factor)
        e->factor = 0x9e3779b97f4a7c15u ^ (uintptr_t)e;
    e->factor |= 1;
    TAILQ_INIT(&e->line);
    e->machines = calloc(count, sizeof *e->machines);
    if (!e->machines || pt_gaps_init(&e->gaps) != 0)
        return ENOMEM;
    for (size_t i = 0; i < count; i++) {
        e->count++;
        if (!init_machine(&e->machines[i], metrics[i], i))
            return ENOMEM;
    }
    return 0;
}

void pt_engine_end(struct pt_engine *e)
{
    for (unsigned why = PT_GAP_STOPPED; why <= PT_GAP_UNREAD; why <<= 1)
        pt_engine_gap_end(e, (enum pt_gap)why, e->now);
    for (struct pt_thread *t = e->threads; t; t = t->hh.next)
        for (size_t i = 0; i < e->count; i++)
            if (!e->machines[i].metric->by_object)
                pt_automaton_settle(e, &e->machines[i], &t->automata[i]);
    for (struct pt_object *o = e->objects; o; o = o->hh.next)
        pt_automaton_settle(e, &e->machines[o->key.machine], &o->automaton);
    pt_bounds_settle(e);
    /* The difference of two lengths is not more than the greater of them. */
    for (size_t i = 0; e->gap && i < e->count; i++)
        if (e->machines[i].metric->change)
            bound_doubt(&e->machines[i], e->machines[i].longest);
}
