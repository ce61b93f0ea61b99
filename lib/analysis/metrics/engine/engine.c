/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See engine.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include "analysis/metrics/engine/bounds.h"
#include "analysis/metrics/engine/bounds_share.h"
#include "analysis/metrics/engine/uncertainty.h"
#include "analysis/metrics/engine/engine.h"
#include "analysis/metrics/engine/step.h"
#include "base/assert.h"

enum { OBJECTS_KEPT = 65536 };

/* ---- gaps ---- */

void pt_engine_gap_begin(struct pt_engine *e, enum pt_gap why, int64_t ns)
{
    bool goes_on = e->in_gap != 0;

    e->in_gap |= why;
    if (goes_on)
        return;
    e->gap_first = e->gap++ == 0 ? ns : e->gap_first;
    pt_gaps_add(&e->gaps, e->gap, ns);
    e->gap_to_before = e->gap_to;
    e->gap_to = ns;
    pt_bounds_settle(e);
    for (size_t i = 0; i < e->count; i++)
        if (!e->machines[i].edges && !(e->machines[i].edges = pt_edges_new(e->machines[i].metric)))
            e->stopped = e->stopped ? e->stopped : ENOMEM;
}

void pt_engine_gap_goes_on(struct pt_engine *e)
{
    pt_assert_call(e->in_gap && e->gap > 0);
    e->gap++;
}

void pt_engine_gap_end(struct pt_engine *e, enum pt_gap why, int64_t ns)
{
    if (!(e->in_gap & why))
        return;
    e->in_gap &= ~(unsigned)why;
    e->gap_to = ns;
}

void pt_engine_gap_is_end(struct pt_engine *e)
{
    if (e->in_gap) {
        pt_assert(e->gap > 0);
        e->gap--;
        e->gap_to = e->gap_to_before;
    }
    e->in_gap = 0;
}

void pt_automaton_settle(struct pt_engine *e, struct pt_machine *m, struct pt_automaton *a)
{
    if (a->hot->gap != e->gap)
        pt_uncertainty_notice(e, m, a);
    pt_uncertainty_end(e, m, a);
    pt_assert(a->hot->gap == e->gap && !a->hot->doubtful);
    m->doubt.unfinished += a->hot->measuring;
    a->hot->measuring = false;
}

/* An object that was idle before the gap and had no event since is reported with its thread's
 * unseen objects, unless the gap may contain a change since its last measurement. */
void pt_engine_settle_object(struct pt_engine *e, struct pt_object *o)
{
    if (o->hot.gap == e->gap || o->hot.measuring || o->hot.doubtful || o->automaton.has_before ||
        o->automaton.unsure_before)
        pt_automaton_settle(e, &e->machines[o->key.machine], &o->automaton);
}

void pt_engine_settle_thread(struct pt_engine *e, struct pt_machine *m, struct pt_traced_thread *t)
{
    if (t->items != m->metric->by_item)
        return;
    if (m->metric->by_object)
        pt_uncertainty_unseen(e, m, t);
    else
        pt_automaton_settle(e, m, &t->automata[m->index]);
}

/* ---- the automata that an event steps ---- */

/* May the object be freed?  After a gap it is kept while there are few objects: then a later gap is
 * the first one that it has not noticed. */
static bool is_as_new(const struct pt_engine *e, const struct pt_object *o)
{
    return o->hot.state == 0 && !o->hot.measuring && !o->hot.doubtful && !o->automaton.has_before &&
           !o->automaton.unsure_before && (e->gap == 0 || HASH_COUNT(e->objects) > OBJECTS_KEPT);
}

static int step_object(struct pt_engine *e, const struct pt_meaning *meaning,
                       const struct pt_tuple *tuple, struct pt_traced_thread *thread)
{
    bool leads = e->gap ? meaning->own.leads : meaning->own.ways[0].target != PT_NOWHERE;
    struct pt_machine *m = meaning->machine;
    struct pt_object *o;
    uint32_t bytes = m->metric->key_bytes, at = m->metric->key_at;
    uint64_t object = 0;

    pt_assert(bytes <= sizeof object);
    if (tuple->event->data_len >= at + bytes)
        memcpy(&object, (const char *)tuple->event->data + at, bytes);
    o = thread ? pt_engine_object(e, m, thread, object, leads) : NULL;
    if (!o)
        return leads ? ENOMEM : 0;
    pt_step(e, m, &o->automaton, &meaning->own, tuple);
    if (is_as_new(e, o))
        pt_engine_drop_object(e, o);
    return 0;
}

/* After a gap the lists by state are out of date: puts all automata in doubt. */
static void notice_gap(struct pt_engine *e, struct pt_machine *m)
{
    for (struct pt_traced_thread *t = e->threads; t; t = t->hh.next)
        if (!t->items && t->hot[m->index].gap != e->gap)
            pt_uncertainty_notice(e, m, &t->automata[m->index]);
    m->gap = e->gap;
}

/* Collects the automata before it steps them, because a step moves an automaton to another list. */
static int step_others(struct pt_engine *e, const struct pt_meaning *meaning,
                       const struct pt_tuple *tuple)
{
    struct pt_machine *m = meaning->machine;
    size_t states = m->metric->state_count, n = 0;

    if (m->gap != e->gap)
        notice_gap(e, m);
    for (size_t s = 0; s <= states; s++) {
        struct pt_automaton *a;

        if (s < states ? meaning->other.ways[s].target == PT_NOWHERE : !meaning->other.leads)
            continue;
        LIST_FOREACH(a, &m->in_state[s], same_state)
        {
            pt_assert(s < states ? a->hot->state == (int16_t)s && !a->hot->doubtful
                                 : a->hot->doubtful);
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
    pt_assert(n <= e->scratch_room);
    for (size_t i = 0; i < n; i++)
        pt_step(e, m, e->scratch[i], &meaning->other, tuple);
    return 0;
}

int pt_engine_feed(struct pt_engine *e, const struct pt_meaning *meaning,
                   const struct pt_tuple *tuple)
{
    struct pt_machine *m = meaning->machine;

    if (m->metric->by_item)
        return step_object(e, meaning, tuple, pt_engine_items(e, tuple->event));
    if (tuple->thread && m->metric->by_object)
        return step_object(e, meaning, tuple, tuple->thread);
    if (tuple->thread)
        pt_step(e, m, &tuple->thread->automata[m->index], &meaning->own, tuple);
    return m->metric->looks_at_others ? step_others(e, meaning, tuple) : 0;
}

/* ---- begin and end ---- */

/* Does the edge, or a lambda after it, lead to a state of that kind? */
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
        .machine = m,
        .alone = !metric->by_object && !metric->looks_at_others,
        .own.ways = pt_machine_way(metric, index, PT_OWN, 0),
        .own.otherwise = pt_machine_way(metric, pt_machine_otherwise(metric, index), PT_OWN, 0),
        .own.transitions = m->transitions ? &m->transitions[index * metric->state_count] : NULL,
        .other.ways = pt_machine_way(metric, index, PT_OTHER, 0),
        .other.otherwise = pt_machine_way(metric, pt_machine_otherwise(metric, index), PT_OTHER, 0)
    };

    meaning.own.begins = comes_to(metric, meaning.own.ways, PT_KIND_BEGIN);
    meaning.own.due = m->has_due && index < metric->event_count &&
                      strncmp(metric->events[index], "posixtrace_sleep", 16) == 0;
    for (size_t s = 0; s < metric->state_count; s++) {
        meaning.own.leads |= meaning.own.ways[s].target != PT_NOWHERE;
        meaning.own.due |= pt_way_is_due(&meaning.own.ways[s]) ||
                           pt_way_is_due(&meaning.own.otherwise[s]);
        meaning.other.leads |= meaning.other.ways[s].target != PT_NOWHERE;
    }
    meaning.alone &= !meaning.own.due;
    return meaning;
}

static void learn_due(struct pt_machine *m, const struct pt_way *way, enum pt_who who)
{
    m->has_due |= way->only > PT_ONLY_OK;
    if (way->target == PT_NOWHERE || !pt_way_is_due(way))
        return;
    m->has_due = true;
    m->due_of_others |= who == PT_OTHER;
    m->at_due = true;
    m->loose |= m->metric->states[way->target].kind != PT_KIND_BEGIN;
}

static bool init_machine(struct pt_machine *m, const posixtrace_metric_t *metric, size_t index)
{
    *m = (struct pt_machine){ .metric = metric, .index = index };
    if (metric->looks_at_others)
        m->in_state = calloc(metric->state_count + 1, sizeof *m->in_state);
    else
        m->transitions = pt_transitions_new(metric);
    for (size_t i = 0; i < pt_machine_rows(metric) * PT_WHO * metric->state_count; i++)
        learn_due(m, &metric->ways[i], (enum pt_who)(i / metric->state_count % PT_WHO));
    for (size_t e = 0; e <= metric->event_count; e++)
        m->woken_by_others |= pt_machine_way(metric, e, PT_OTHER, 0)->target != PT_NOWHERE;
    return (m->in_state || m->transitions) && pt_bounds_learn(m);
}

int pt_engine_init(struct pt_engine *e, const posixtrace_metric_t *const *metrics, size_t count)
{
    memset(e, 0, sizeof *e);
    if (getrandom(&e->factor, sizeof e->factor, GRND_NONBLOCK) != sizeof e->factor)
        e->factor = 0x9e3779b97f4a7c15u ^ (uintptr_t)e;
    e->factor |= 1;
    TAILQ_INIT(&e->queue);
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

void pt_engine_end(struct pt_engine *e, int64_t last_ns, bool endless)
{
    e->endless = endless && e->in_gap;
    for (unsigned why = PT_GAP_STOPPED; why <= PT_GAP_UNMARKED; why <<= 1)
        pt_engine_gap_end(e, (enum pt_gap)why, pt_ns_max(last_ns, e->now));
    for (struct pt_traced_thread *t = e->threads; t; t = t->hh.next)
        for (size_t i = 0; i < e->count; i++)
            pt_engine_settle_thread(e, &e->machines[i], t);
    for (struct pt_object *o = e->objects; o; o = o->hh.next)
        pt_engine_settle_object(e, o);
    pt_bounds_settle(e);
}
