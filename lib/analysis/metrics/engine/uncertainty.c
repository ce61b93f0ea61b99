/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See uncertainty.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/metrics/engine/bounds_share.h"
#include "analysis/metrics/engine/uncertainty.h"
#include "analysis/metrics/engine/step.h"
#include "base/assert.h"

static bool counts(const struct pt_machine *m, size_t state)
{
    enum pt_kind kind = m->metric->states[state].kind;

    return kind == PT_KIND_IN || kind == PT_KIND_COND;
}

static int64_t span(int64_t from, int64_t to)
{
    return pt_ns_max(pt_ns_span(from, to), 0);
}

/* ---- reports ---- */

/* Is there a possibility left, and has no measurement a length below 0? */
PT_VALIDATOR bool set_is_valid(const struct pt_machine *m, const struct pt_uncertainty *d)
{
    bool any = false;

    for (size_t s = 0; s < m->metric->state_count; s++) {
        any |= d->now[s].none || d->now[s].some;
        if (d->now[s].some && d->now[s].length < 0)
            return false;
    }
    return any;
}

static void report(struct pt_engine *e, struct pt_machine *m, const struct pt_automaton *a,
                   int64_t from, int64_t to, int64_t longest)
{
    m->doubt.unknown++;
    m->doubt.at_most_ns = pt_ns_max(m->doubt.at_most_ns, longest);
    pt_step_report(e, m, a,
                   &(struct posixtrace_measurement){
                       .begin_ns = from, .end_ns = to, .length_ns = longest, .unknown = true });
}

void pt_uncertainty_of_change(struct pt_engine *e, struct pt_machine *m, struct pt_automaton *a,
                              int64_t end)
{
    if (a->unsure_before)
        report(e, m, a, a->begin, end, pt_ns_max(a->length, a->before));
    a->unsure_before = false;
}

/* The difference of two lengths is not more than the greater one. */
static void end_change(struct pt_automaton *a, const struct pt_uncertainty *d, int64_t *longest)
{
    bool before = a->has_before || a->unsure_before;

    *longest = pt_ns_max(*longest, before ? a->before : 0);
    if (d->ends || before)
        a->before = *longest;
    a->unsure_before = d->ends || before;
    a->has_before = false;
}

static void move_to_list(struct pt_machine *m, struct pt_automaton *a, size_t list)
{
    if (!m->in_state)
        return;
    LIST_REMOVE(a, same_state);
    LIST_INSERT_HEAD(&m->in_state[list], a, same_state);
}

/* The automaton is in that state, for sure, and measures nothing. */
static void resolve(struct pt_engine *e, struct pt_machine *m, struct pt_automaton *a, size_t state)
{
    const struct pt_uncertainty *d = a->doubts;
    int64_t longest = d->longest;

    pt_assert_call(a->hot->doubtful && !a->hot->measuring && state < m->metric->state_count);
    pt_assert(!d->ends || d->longest >= 0);
    if (m->metric->change)
        end_change(a, d, &longest);
    if (d->ends)
        report(e, m, a, d->from, d->to, longest);
    a->sure_from = d->at;
    pt_uncertainty_free(a);
    a->hot->doubtful = false;
    a->hot->state = (int16_t)state;
    move_to_list(m, a, state);
}

void pt_uncertainty_end(struct pt_engine *e, struct pt_machine *m, struct pt_automaton *a)
{
    if (a->hot->doubtful)
        resolve(e, m, a, 0);
}

void pt_uncertainty_free(struct pt_automaton *a)
{
    free(a->doubts);
    a->doubts = NULL;
}

/* ---- sets ---- */

/* The state that all of the set is in; PT_NOWHERE: there are several. */
static int only_state(const struct pt_machine *m, const struct pt_uncertainty *d)
{
    int only = PT_NOWHERE;

    if (d->absent)
        return PT_NOWHERE;
    for (size_t s = 0; s < m->metric->state_count; s++) {
        if (!d->now[s].none && !d->now[s].some)
            continue;
        if (only != PT_NOWHERE)
            return PT_NOWHERE;
        only = (int)s;
    }
    return only;
}

static bool add_none(struct pt_maybe *to)
{
    bool is_new = !to->none;

    to->none = true;
    return is_new;
}

static bool add_some(struct pt_maybe *to, int64_t length)
{
    bool is_new = !to->some || length > to->length;

    to->length = to->some ? pt_ns_max(to->length, length) : length;
    to->some = true;
    to->sure = false;
    return is_new;
}

static void add_sure(struct pt_maybe *to, int64_t length, int64_t begin, int16_t first)
{
    bool sure = !to->some || (to->sure && to->begin == begin && to->first == first);

    add_some(to, length);
    to->sure = sure;
    to->begin = begin;
    to->first = first;
}

static void end_one(struct pt_uncertainty *d, int64_t length, int64_t end)
{
    d->longest = d->ends ? pt_ns_max(d->longest, length) : length;
    d->to = d->ends ? pt_ns_max(d->to, end) : end;
    d->ends = true;
}

static void advance(const struct pt_machine *m, struct pt_uncertainty *d, int64_t to)
{
    for (size_t s = 0; s < m->metric->state_count; s++)
        if (d->now[s].some && counts(m, s))
            pt_ns_add(&d->now[s].length, span(d->at, to));
    d->at = pt_ns_max(d->at, to);
}

/* ---- gaps ---- */

/* Adds the effect of a lost event.  begun: the greatest length of a measurement that it began; end:
 * of the gap.  True: the set has grown. */
static bool add_edge(struct pt_uncertainty *d, const struct pt_maybe *from,
                     const struct pt_edge *edge, int64_t begun, int64_t end)
{
    struct pt_maybe *to = &d->now[edge->to];
    bool grown = false;

    pt_assert(edge->to >= 0 && (edge->after != PT_AFTER_BEGUN || begun >= 0));
    if (from->some && edge->ends)
        end_one(d, from->length, end);
    if (edge->ends_begun)
        end_one(d, begun, end);
    if (edge->after == PT_AFTER_BEGUN)
        return add_some(to, begun);
    if (from->none || edge->after == PT_AFTER_NONE)
        grown |= add_none(to);
    if (from->some && edge->after == PT_AFTER_KEPT)
        grown |= add_some(to, from->length);
    return grown;
}

static bool add_lost(const struct pt_machine *m, struct pt_uncertainty *d, int64_t begun,
                     int64_t end)
{
    const struct pt_edges *edges = m->edges;
    bool grown = false;

    for (size_t s = 0; s < m->metric->state_count; s++) {
        if (!d->now[s].none && !d->now[s].some)
            continue;
        for (size_t i = edges->first[s]; i < edges->first[s + 1]; i++) {
            const struct pt_maybe from = d->now[s];

            grown |= add_edge(d, &from, &edges->at[i], begun, end);
        }
    }
    return grown;
}

/* Nothing limits measurements in the latest gap. */
static bool has_no_bound(const struct pt_engine *e, const struct pt_machine *m)
{
    return m->loose || e->endless;
}

/* When a measurement that began in a gap from then on began at the earliest. */
static int64_t earliest(const struct pt_engine *e, const struct pt_machine *m,
                        const struct pt_automaton *a, int64_t from)
{
    if (!m->at_due)
        return from;
    if (!a || !a->has_due || m->due_of_others)
        return pt_ns_min(from, e->first_ns);
    return pt_ns_min(from, pt_ns_min(a->due, a->due_seen));
}

static void add_gap(const struct pt_engine *e, const struct pt_machine *m, struct pt_automaton *a,
                    int64_t from, int64_t to)
{
    struct pt_uncertainty *d = a->doubts;
    int64_t begun, low;

    from = pt_ns_max(from, d->at);
    low = earliest(e, m, a, from);
    advance(m, d, from);
    begun = has_no_bound(e, m) ? PT_NS_MAX : span(low, to);
    for (size_t s = 0; s < m->metric->state_count; s++)
        if (d->now[s].some) {
            pt_ns_add(&d->now[s].length, has_no_bound(e, m) ? PT_NS_MAX : span(from, to));
            d->now[s].sure = false;
        }
    d->from = pt_ns_min(d->from, low);
    add_none(&d->now[0]);
    d->absent = m->metric->looks_at_others;
    while (add_lost(m, d, begun, to))
        ;
    d->at = pt_ns_max(d->at, to);
    pt_assert(d->now[0].none && d->from <= d->at);
    pt_assert_valid(set_is_valid(m, d));
}

static bool begin(struct pt_engine *e, struct pt_machine *m, struct pt_automaton *a, int64_t at)
{
    size_t states = m->metric->state_count;
    struct pt_uncertainty *d = calloc(1, sizeof *d + 2 * states * sizeof d->of[0]);
    struct pt_maybe *is;

    if (!d) {
        e->stopped = e->stopped ? e->stopped : ENOMEM;
        return false;
    }
    pt_assert_call(!a->doubts && !a->hot->doubtful);
    *d = (struct pt_uncertainty){
        .from = at, .to = at, .at = at, .now = d->of, .next = d->of + states
    };
    is = &d->now[a->hot->state];
    is->none = !a->hot->measuring;
    is->some = a->hot->measuring;
    if (is->some) {
        is->length = a->length;
        if (a->segment != PT_SEGMENT_NONE)
            pt_ns_add(&is->length, span(a->segment_begin, at));
        d->from = pt_ns_min(at, a->begin);
    }
    a->doubts = d;
    return true;
}

/* False: no memory. */
static bool begin_doubt(struct pt_engine *e, struct pt_machine *m, struct pt_automaton *a,
                        int64_t at)
{
    if (!a->hot->doubtful && !begin(e, m, a, at))
        return false;
    a->hot->doubtful = true;
    a->hot->measuring = false;
    a->hot->state = 0;
    a->segment = PT_SEGMENT_NONE;
    if (a->share)
        a->share->counts = PT_COUNTS_NOT;
    return true;
}

void pt_uncertainty_begin(struct pt_engine *e, struct pt_machine *m, struct pt_automaton *a)
{
    if (begin_doubt(e, m, a, e->now))
        move_to_list(m, a, m->metric->state_count);
}

static void notice(struct pt_engine *e, struct pt_machine *m, struct pt_automaton *a, int64_t from,
                   int64_t to)
{
    int only;

    a->hot->gap = e->gap;
    if (!m->edges) /* the run has stopped, for want of memory */
        return;
    if (!begin_doubt(e, m, a, pt_ns_max(from, a->sure_from)))
        return;
    add_gap(e, m, a, from, to);
    only = only_state(m, a->doubts);
    if (only != PT_NOWHERE && !a->doubts->now[only].some)
        resolve(e, m, a, (size_t)only);
    else
        move_to_list(m, a, m->metric->state_count);
}

void pt_uncertainty_notice(struct pt_engine *e, struct pt_machine *m, struct pt_automaton *a)
{
    notice(e, m, a, pt_gaps_begin(&e->gaps, a->hot->gap + 1), e->gap_to);
}

void pt_uncertainty_notice_late(struct pt_engine *e, struct pt_machine *m, struct pt_automaton *a)
{
    notice(e, m, a, e->gap_first, e->now);
}

/* ---- events ---- */

struct trip {
    int64_t length; /* of the measurement, if there is one */
    int64_t begin;  /* of one that the event began */
    int16_t first;  /* and in which state */
    enum pt_after after;
};

static void enter(const struct pt_machine *m, struct pt_uncertainty *d, struct trip *t, int state,
                  int64_t stamp, int64_t ns, bool some)
{
    enum pt_kind kind = m->metric->states[state].kind;

    if (kind == PT_KIND_END && ((t->after == PT_AFTER_KEPT && some) || t->after == PT_AFTER_BEGUN))
        end_one(d, t->length, pt_ns_max(stamp, ns));
    if (kind == PT_KIND_END || kind == PT_KIND_CANCEL)
        t->after = PT_AFTER_NONE;
    if (kind != PT_KIND_BEGIN)
        return;
    *t = (struct trip){
        .length = span(stamp, ns), .begin = stamp, .first = (int16_t)state, .after = PT_AFTER_BEGUN
    };
    d->from = pt_ns_min(d->from, stamp);
}

/* Where the event leads to from that state, into the next set. */
static void lead(const struct pt_machine *m, struct pt_uncertainty *d, size_t s,
                 const struct pt_way *way, const struct pt_tuple *tuple, int64_t stamp)
{
    const struct pt_maybe *from = &d->now[s];
    struct trip t = { .length = from->length, .after = PT_AFTER_KEPT };
    struct pt_maybe *to = NULL;

    /* A time in the past or the future may have begun or ended a segment. */
    if (m->metric->states[way->target].kind != PT_KIND_BEGIN)
        pt_ns_add(&t.length, pt_ns_max(span(stamp, tuple->ns), span(tuple->ns, stamp)));
    for (; way->target != PT_NOWHERE; way = &m->metric->states[way->target].lambda) {
        if (way->at == PT_AT_EVENT)
            stamp = tuple->ns;
        enter(m, d, &t, way->target, stamp, tuple->ns, from->some);
        to = &d->next[way->target];
    }
    if (t.after == PT_AFTER_BEGUN) {
        add_sure(to, t.length, t.begin, t.first);
        return;
    }
    if (t.after == PT_AFTER_NONE || from->none)
        add_none(to);
    if (t.after == PT_AFTER_KEPT && from->some)
        add_some(to, t.length);
}

static void stay(struct pt_uncertainty *d, size_t s)
{
    if (d->now[s].none)
        add_none(&d->next[s]);
    if (d->now[s].some)
        add_some(&d->next[s], d->now[s].length);
}

bool pt_uncertainty_step(struct pt_engine *e, struct pt_machine *m, struct pt_automaton *a,
                         const struct pt_label *label, const struct pt_tuple *tuple, int *state,
                         int64_t *stamp)
{
    struct pt_uncertainty *d = a->doubts;
    struct pt_maybe *swap = d->next;
    const struct pt_way *way;
    struct pt_maybe only;

    pt_assert_call(a->hot->doubtful && d);
    advance(m, d, tuple->ns);
    if (d->absent && tuple->thread == a->thread) {
        add_none(&d->now[0]);
        d->absent = false;
    }
    memset(d->next, 0, m->metric->state_count * sizeof *d->next);
    for (size_t s = 0; s < m->metric->state_count; s++) {
        if (!d->now[s].none && !d->now[s].some)
            continue;
        way = pt_step_way(label, s, a, tuple, stamp);
        if (way)
            lead(m, d, s, way, tuple, *stamp);
        else
            stay(d, s);
        /* Whether it continues a sleep is unknown, since earlier events may be lost: takes both
         * ways. */
        if (label->ways[s].only != PT_ONLY_AGAIN)
            continue;
        if (way != &label->ways[s])
            lead(m, d, s, &label->ways[s], tuple, tuple->ns);
        else if (label->otherwise[s].target != PT_NOWHERE)
            lead(m, d, s, &label->otherwise[s], tuple, tuple->ns);
        else
            stay(d, s);
    }
    d->next = d->now;
    d->now = swap;
    pt_assert_valid(set_is_valid(m, d));
    *state = only_state(m, d);
    if (*state == PT_NOWHERE)
        return false;
    only = d->now[*state];
    if (only.some && (only.none || !only.sure))
        return false;
    resolve(e, m, a, (size_t)*state);
    *state = only.first;
    *stamp = only.begin;
    return only.some;
}

/* ---- threads and objects without an event ---- */

int64_t pt_uncertainty_hidden(const struct pt_engine *e, const struct pt_machine *m)
{
    if (e->gap == 0)
        return 0;
    return has_no_bound(e, m) ? PT_NS_MAX : span(earliest(e, m, NULL, e->gap_first), e->gap_to);
}

void pt_uncertainty_unseen(struct pt_engine *e, struct pt_machine *m,
                           struct pt_traced_thread *thread)
{
    struct pt_object none = { .automaton.thread = thread };

    if (e->gap > 0 && m->metric->by_object)
        report(e, m, &none.automaton, earliest(e, m, NULL, e->gap_first), e->gap_to,
               pt_uncertainty_hidden(e, m));
}
