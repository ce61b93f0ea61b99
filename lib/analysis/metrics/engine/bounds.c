/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Measurements whose lengths are bounds, see bounds.h: the time that counts, the CPU-time samples
 * of their threads, and the queue in which they wait.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/metrics/engine/bounds_share.h"
#include "base/assert.h"
#include "analysis/metrics/engine/bounds.h"

/* A thread has a sample at each of its calls, or a hundred samples a second. */
#define WAIT_NS INT64_C(1000000000)

enum { QUEUE_MAX_WAITING = 65536 };

struct pt_pending {
    TAILQ_ENTRY(pt_pending) in_queue;
    LIST_ENTRY(pt_pending) of_thread;
    struct posixtrace_measurement m;
    struct pt_share share;
    struct pt_traced_thread *thread; /* while it waits */
    bool waits;
};

/* Do as many measurements wait as are in the queue, and does each have a thread that knows it? */
PT_VALIDATOR bool queue_is_valid(const struct pt_engine *e)
{
    const struct pt_pending *p;
    size_t count = 0;

    TAILQ_FOREACH(p, &e->queue, in_queue)
    {
        count++;
        if (p->waits && (!p->thread || p->share.counts != PT_COUNTS_NOT))
            return false;
    }
    return count == e->waiting;
}

/* ---- time that counts ---- */

static bool holds(const struct pt_engine *e, const struct pt_ran *ran)
{
    return ran->known && ran->gap == e->gap;
}

/* Counts the state's time up to to.  A state can have been entered before the last sample, at a
 * time in the past that came from an event's data; nothing is known of that part, so it is open. */
static void count(const struct pt_engine *e, const struct pt_ran *ran, struct pt_share *s,
                  int64_t to)
{
    if (holds(e, ran) && s->from < ran->ns) {
        pt_ns_add(&s->open, pt_ns_max(pt_ns_span(s->from, pt_ns_min(to, ran->ns)), 0));
        s->from = ran->ns;
    }
    if (to <= s->from)
        return;
    pt_ns_add(&s->counted, pt_ns_span(s->from, to));
    pt_ns_add(&s->in_piece, pt_ns_span(s->from, to));
    pt_assert(s->in_piece <= s->counted);
    s->from = to;
}

static struct pt_share *share_of(struct pt_engine *e, struct pt_automaton *a)
{
    if (!a->share) {
        a->share = calloc(1, sizeof *a->share);
        if (a->share)
            LIST_INSERT_HEAD(&a->thread->shares, a->share, of_thread);
        else
            e->stopped = e->stopped ? e->stopped : ENOMEM;
    }
    return a->share;
}

static void begin(struct pt_engine *e, struct pt_automaton *a)
{
    struct pt_share *s = share_of(e, a);

    if (!s)
        return;
    s->first = a->thread->ran;
    s->first.known = holds(e, &a->thread->ran);
    s->counted = s->in_piece = s->in_before = s->least = s->most = s->open = 0;
    s->ends = false;
    s->whole = true;
}

void pt_bounds_enter(struct pt_engine *e, struct pt_machine *m, struct pt_automaton *a,
                     int64_t stamp)
{
    enum pt_kind kind = m->metric->states[a->hot->state].kind;
    uint8_t leaves = m->leaves[a->hot->state];
    struct pt_share *s = a->share;

    pt_assert_call(!a->hot->doubtful && e->bounds);
    if (s && s->counts == PT_COUNTS_PERHAPS && kind == PT_KIND_COND)
        return;
    if (s && s->counts == PT_COUNTS)
        count(e, &a->thread->ran, s, stamp);
    else if (s && s->counts == PT_COUNTS_PERHAPS && kind == PT_KIND_IN)
        pt_ns_add(&s->open, pt_ns_max(pt_ns_span(s->from, stamp), 0));
    if (s)
        s->counts = PT_COUNTS_NOT;
    if (kind == PT_KIND_BEGIN)
        begin(e, a);
    if (!s || !leaves || !a->hot->measuring)
        return;
    s->counts = kind == PT_KIND_IN ? PT_COUNTS : PT_COUNTS_PERHAPS;
    s->from = stamp;
    s->ends |= (leaves & PT_LEAVES_END) != 0;
}

/* ---- samples ---- */

/* Computes the final bounds.  last: the sample after the measurement, or NULL. */
static void resolve(struct pt_pending *p, const struct pt_ran *last)
{
    struct pt_share *s = &p->share;
    int64_t least;

    if (!p->waits)
        return;
    if (last) {
        pt_share_narrow(s, last);
    } else {
        pt_share_end_piece(s, s->in_before, &p->thread->before, &p->thread->ran);
        pt_ns_add(&s->most, s->in_piece);
    }
    s->most = pt_ns_max(pt_ns_min(s->most, s->counted), 0);
    s->least = pt_ns_min(s->least, s->most);
    least = p->m.length_ns - (s->counted - s->least) - s->open;
    p->m.length_ns -= s->counted - s->most;
    if (s->ends && (s->least < s->counted || s->open > 0))
        least = 0;
    p->m.least_ns = pt_ns_min(pt_ns_max(least, 0), p->m.length_ns);
    p->m.bound = p->m.least_ns < p->m.length_ns;
    pt_assert(s->least <= s->most && s->most <= s->counted);
    pt_assert(p->m.least_ns <= p->m.length_ns);
    LIST_REMOVE(p, of_thread);
    p->waits = false;
}

static void release(struct pt_engine *e)
{
    struct pt_pending *p;

    pt_assert_valid(queue_is_valid(e));
    while ((p = TAILQ_FIRST(&e->queue)) != NULL) {
        if (p->waits && e->waiting <= QUEUE_MAX_WAITING &&
            pt_ns_span(p->m.end_ns, e->now) <= WAIT_NS)
            return;
        resolve(p, NULL);
        pt_assert(!p->waits && e->waiting > 0);
        TAILQ_REMOVE(&e->queue, p, in_queue);
        e->waiting--;
        if (!e->stopped)
            e->stopped = e->measured(e->context, &p->m);
        free(p);
    }
}

/* Computes the bounds with and without last as the end of a piece, and takes the better of each.
 * now is after the measurement, so they are final. */
static void sample_pending(struct pt_pending *p, const struct pt_ran *before,
                           const struct pt_ran *last, const struct pt_ran *now)
{
    struct pt_share *s = &p->share, other = *s;

    pt_share_add_sample(s, before, last, now, false);
    pt_share_end_piece(s, s->in_before, last, now);
    pt_share_add_sample(&other, before, last, now, true);
    pt_share_end_piece(&other, other.in_before, before, now);
    s->least = pt_ns_max(s->least, other.least);
    s->most = pt_ns_min(s->most, other.most);
    pt_assert(p->waits && now->known);
    resolve(p, now);
}

/* Adds a sample to a thread: narrows its earlier samples, the shares of its automata, and its
 * measurements that wait. */
static void add_sample(struct pt_engine *e, struct pt_traced_thread *t, struct pt_ran now)
{
    struct pt_ran last = t->ran;
    struct pt_pending *p, *next;
    struct pt_share *s;
    bool dropped;

    last.known = holds(e, &last);
    t->before.known = t->before.known && holds(e, &t->before);
    if (last.known && now.ns < last.ns)
        return;
    if (last.known && !pt_ran_follow(&now, &last))
        last.known = false;
    else if (last.known)
        pt_ran_precede(&last, &now);
    dropped = t->before.known && last.known && !pt_ran_is_worth(&t->before, &last);
    LIST_FOREACH(s, &t->shares, of_thread)
    {
        if (s->counts == PT_COUNTS)
            count(e, &t->ran, s, now.ns);
        s->first.known &= last.known;
        pt_share_add_sample(s, &t->before, &last, &now, dropped);
    }
    for (p = LIST_FIRST(&t->pending); p; p = next) {
        next = LIST_NEXT(p, of_thread);
        p->share.first.known &= last.known;
        sample_pending(p, &t->before, &last, &now);
    }
    if (!dropped)
        t->before = last;
    t->ran = now;
    release(e);
}

void pt_bounds_event(struct pt_engine *e, struct pt_traced_thread *thread,
                     const struct posixtrace_event *event, bool is_switch)
{
    uint64_t data[2];
    int64_t more;

    if (is_switch && !e->switches) {
        e->switches = true;
        e->bounds = false;
        pt_bounds_settle(e);
    }
    if (e->switches)
        return;
    e->bounds = true;
    if (!thread || event->data_len < sizeof data)
        return;
    memcpy(data, event->data, sizeof data);
    if (data[0] > (uint64_t)PT_NS_MAX)
        return;
    more = data[1] < (uint64_t)PT_NS_MAX ? (int64_t)data[1] : PT_NS_MAX;
    add_sample(e, thread,
               (struct pt_ran){ .ns = event->ns,
                                .least = (int64_t)data[0],
                                .most = (int64_t)data[0] + more,
                                .gap = e->gap,
                                .known = true });
}

/* ---- measurements ---- */

static bool is_bounded(const struct pt_engine *e, const struct pt_machine *m,
                       const struct posixtrace_measurement *measurement)
{
    return e->bounds && m->leaves && !measurement->unknown;
}

void pt_bounds_of_change(const struct pt_engine *e, const struct pt_machine *m,
                         const struct pt_automaton *a, int64_t before,
                         struct posixtrace_measurement *measurement)
{
    if (!m->metric->change || !is_bounded(e, m, measurement))
        return;
    measurement->length_ns = pt_ns_max(a->length, before);
    measurement->bound = measurement->length_ns > 0;
}

static void join(struct pt_engine *e, const struct posixtrace_measurement *m,
                 const struct pt_automaton *a, bool waits)
{
    struct pt_pending *p = calloc(1, sizeof *p);

    if (!p) {
        e->stopped = ENOMEM;
        return;
    }
    p->m = *m;
    p->waits = waits;
    p->thread = a->thread;
    if (waits) {
        p->share = *a->share;
        p->share.counts = PT_COUNTS_NOT;
        LIST_INSERT_HEAD(&a->thread->pending, p, of_thread);
    }
    TAILQ_INSERT_TAIL(&e->queue, p, in_queue);
    e->waiting++;
    release(e);
}

void pt_bounds_deliver(struct pt_engine *e, const struct pt_machine *m,
                       const struct pt_automaton *a, struct posixtrace_measurement *measurement)
{
    const struct pt_share *s = a->share;
    bool waits = false;

    if (is_bounded(e, m, measurement) && !measurement->bound) {
        waits = s && s->whole && (s->counted > 0 || s->open > 0);
        measurement->bound = !(s && s->whole) && measurement->length_ns > 0;
    }
    measurement->least_ns = measurement->bound || measurement->unknown ? 0 : measurement->length_ns;
    pt_assert(measurement->least_ns <= measurement->length_ns);
    pt_assert(!waits || (s->whole && !measurement->unknown));
    if (waits || !TAILQ_EMPTY(&e->queue))
        join(e, measurement, a, waits);
    else
        e->stopped = e->measured(e->context, measurement);
}

void pt_bounds_settle(struct pt_engine *e)
{
    struct pt_pending *p;

    TAILQ_FOREACH(p, &e->queue, in_queue)
    resolve(p, NULL);
    release(e);
}

void pt_bounds_drop(struct pt_automaton *a)
{
    if (a->share)
        LIST_REMOVE(a->share, of_thread);
    free(a->share);
    a->share = NULL;
}

void pt_bounds_forget(struct pt_engine *e, struct pt_traced_thread *thread)
{
    struct pt_pending *p;

    while ((p = LIST_FIRST(&thread->pending)) != NULL)
        resolve(p, NULL);
    for (size_t i = 0; i < e->count; i++)
        pt_bounds_drop(&thread->automata[i]);
    release(e);
}

void pt_bounds_deinit(struct pt_engine *e)
{
    struct pt_pending *p;

    while ((p = TAILQ_FIRST(&e->queue)) != NULL) {
        if (p->waits)
            LIST_REMOVE(p, of_thread);
        TAILQ_REMOVE(&e->queue, p, in_queue);
        free(p);
    }
}

/* ---- states that leave out the time without a processor: those from which a context switch
 * leads to a state that does not count ---- */

static uint8_t leaves_by(const posixtrace_metric_t *m, const struct pt_way *way)
{
    enum pt_kind kind = PT_KIND_IN;
    uint8_t leaves = 0;

    for (; way->target != PT_NOWHERE; way = &m->states[way->target].lambda) {
        kind = m->states[way->target].kind;
        if (kind == PT_KIND_END || kind == PT_KIND_BEGIN || kind == PT_KIND_CANCEL)
            leaves = PT_LEAVES_OUT | PT_LEAVES_END;
    }
    return kind == PT_KIND_OUT ? leaves | PT_LEAVES_OUT : leaves;
}

static bool is_away(const char *event)
{
    return strcmp(event, "posixtrace_switch_out") == 0 ||
           strcmp(event, "posixtrace_switch_preempted") == 0;
}

bool pt_bounds_learn(struct pt_machine *m)
{
    const posixtrace_metric_t *metric = m->metric;
    bool any = false;

    m->leaves = calloc(metric->state_count, sizeof *m->leaves);
    if (!m->leaves)
        return false;
    for (size_t e = 0; e < metric->event_count; e++)
        for (size_t s = 0; is_away(metric->events[e]) && s < metric->state_count; s++) {
            enum pt_kind kind = metric->states[s].kind;

            if (kind == PT_KIND_IN || kind == PT_KIND_COND)
                m->leaves[s] |= leaves_by(metric, pt_machine_way(metric, e, PT_OWN, s)) |
                                leaves_by(metric,
                                          pt_machine_way(metric, pt_machine_otherwise(metric, e),
                                                         PT_OWN, s));
            any |= m->leaves[s] != 0;
        }
    if (any)
        return true;
    free(m->leaves);
    m->leaves = NULL;
    return true;
}
