/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See bounds.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "metrics/bounds.h"

/* As many tellings come in a second as a thread makes calls, or a hundred. */
#define WAIT_NS INT64_C(1000000000)
#define NS_MAX (INT64_MAX / 4)
/* A telling that is known no better than to a part of its piece does not end it; and one
 * between others that are much better only if that part is small. */
#define WORTH 4
#define WORTH_BETWEEN 128
#define MUCH 16

enum { LINE_MAX_WAITING = 65536 };

struct pt_pending {
    TAILQ_ENTRY(pt_pending) in_line;
    LIST_ENTRY(pt_pending) of_thread;
    struct posixtrace_measurement m;
    struct pt_share share;
    struct pt_thread *thread;   /* while it waits */
    bool waits;
};

/* b - a, kept small enough to be added to others: hostile times. */
static int64_t span(int64_t a, int64_t b)
{
    int64_t d;

    if (__builtin_sub_overflow(b, a, &d))
        return b > a ? NS_MAX : -NS_MAX;
    return d > NS_MAX ? NS_MAX : d < -NS_MAX ? -NS_MAX : d;
}

static void add(int64_t *to, int64_t ns)
{
    if (__builtin_add_overflow(*to, ns, to) || *to > NS_MAX)
        *to = NS_MAX;
}

static int64_t min(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t max(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* ---- which states ---- */

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
                m->leaves[s] |= leaves_by(metric, pt_machine_way(metric, e, PT_OWN, s));
            any |= m->leaves[s] != 0;
        }
    if (any)
        return true;
    free(m->leaves);
    m->leaves = NULL;
    return true;
}

/* ---- what counts ---- */

static bool holds(const struct pt_engine *e, const struct pt_ran *ran)
{
    return ran->known && ran->gap == e->gap;
}

/* The state has counted until then.  Before the last telling, where a time in the past
 * was taken from the data of an event, nothing is known any more. */
static void count(const struct pt_engine *e, const struct pt_ran *ran, struct pt_share *s,
                  int64_t to)
{
    if (holds(e, ran) && s->from < ran->ns) {
        add(&s->open, max(span(s->from, min(to, ran->ns)), 0));
        s->from = ran->ns;
    }
    if (to <= s->from)
        return;
    add(&s->counted, span(s->from, to));
    add(&s->in_piece, span(s->from, to));
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

    if (s && s->counts == PT_COUNTS_PERHAPS && kind == PT_KIND_COND)
        return;
    if (s && s->counts == PT_COUNTS)
        count(e, &a->thread->ran, s, stamp);
    else if (s && s->counts == PT_COUNTS_PERHAPS && kind == PT_KIND_IN)
        add(&s->open, max(span(s->from, stamp), 0));
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

/* ---- tellings ---- */

/* c ns of a piece from one telling to another; of what is not known, nothing is. */
static void end_piece(struct pt_share *s, int64_t c, const struct pt_ran *from,
                      const struct pt_ran *to)
{
    int64_t off;

    if (!from->known || !to->known) {
        add(&s->most, c);
        return;
    }
    off = span(from->ns, to->ns) - max(span(from->most, to->least), 0);
    add(&s->least, max(c - max(off, 0), 0));
    add(&s->most, max(min(c, span(from->least, to->most)), 0));
}

/* The whole of it, from the telling before it to that one. */
static void narrow(struct pt_share *s, const struct pt_ran *last)
{
    int64_t off = span(s->first.ns, last->ns) - max(span(s->first.most, last->least), 0);

    if (!s->first.known)
        return;
    s->least = max(s->least, s->counted - max(off, 0));
    s->most = min(s->most, max(span(s->first.least, last->most), 0));
}

/* last: NULL if there is none behind it. */
static void resolve(struct pt_pending *p, const struct pt_ran *last)
{
    struct pt_share *s = &p->share;
    int64_t least;

    if (!p->waits)
        return;
    if (last) {
        narrow(s, last);
    } else {
        end_piece(s, s->in_before, &p->thread->before, &p->thread->ran);
        add(&s->most, s->in_piece);
    }
    s->most = max(min(s->most, s->counted), 0);
    s->least = min(s->least, s->most);
    least = p->m.length_ns - (s->counted - s->least) - s->open;
    p->m.length_ns -= s->counted - s->most;
    if (s->ends && (s->least < s->counted || s->open > 0))
        least = 0;
    p->m.least_ns = min(max(least, 0), p->m.length_ns);
    p->m.bound = p->m.least_ns < p->m.length_ns;
    LIST_REMOVE(p, of_thread);
    p->waits = false;
}

static void release(struct pt_engine *e)
{
    struct pt_pending *p;

    while ((p = TAILQ_FIRST(&e->line)) != NULL) {
        if (p->waits && e->waiting <= LINE_MAX_WAITING && span(p->m.end_ns, e->now) <= WAIT_NS)
            return;
        resolve(p, NULL);
        TAILQ_REMOVE(&e->line, p, in_line);
        e->waiting--;
        if (!e->stopped)
            e->stopped = e->measured(e->context, &p->m);
        free(p);
    }
}

/* A telling as the one before it has it; false: that was of another thread. */
static bool follow(struct pt_ran *now, const struct pt_ran *last)
{
    if (now->most < last->least)
        return false;
    now->least = max(now->least, last->least);
    now->most = min(now->most, last->most + span(last->ns, now->ns));
    now->most = max(now->most, now->least);
    return true;
}

/* And as the next one has it. */
static void precede(struct pt_ran *last, const struct pt_ran *now)
{
    last->least = max(last->least, now->least - span(last->ns, now->ns));
    last->most = max(min(last->most, now->most), last->least);
}

static bool is_worth(const struct pt_ran *before, const struct pt_ran *last)
{
    int64_t doubt = last->most - last->least, doubt_before = before->most - before->least;
    int64_t worth = doubt / MUCH > doubt_before ? WORTH_BETWEEN : WORTH;

    return doubt <= span(before->ns, last->ns) / worth;
}

/* before, last and now follow each other.  dropped: last is not worth ending a piece. */
static void tell_share(struct pt_share *s, const struct pt_ran *before,
                       const struct pt_ran *last, const struct pt_ran *now, bool dropped)
{
    if (s->first.known && s->first.ns == last->ns)
        s->first = *last;
    if (!dropped) {
        end_piece(s, s->in_before, before, last);
        s->in_before = 0;
    }
    add(&s->in_before, s->in_piece);
    s->in_piece = 0;
    if (!last->known) {
        end_piece(s, s->in_before, last, now);
        s->in_before = 0;
    }
}

/* Nothing of it comes behind now: the better of both ways. */
static void tell_pending(struct pt_pending *p, const struct pt_ran *before,
                         const struct pt_ran *last, const struct pt_ran *now)
{
    struct pt_share *s = &p->share, other = *s;

    tell_share(s, before, last, now, false);
    end_piece(s, s->in_before, last, now);
    tell_share(&other, before, last, now, true);
    end_piece(&other, other.in_before, before, now);
    s->least = max(s->least, other.least);
    s->most = min(s->most, other.most);
    resolve(p, now);
}

/* Of the thread, its automata and its measurements that wait. */
static void tell(struct pt_engine *e, struct pt_thread *t, struct pt_ran now)
{
    struct pt_ran last = t->ran;
    struct pt_pending *p, *next;
    struct pt_share *s;
    bool dropped;

    last.known = holds(e, &last);
    t->before.known = t->before.known && holds(e, &t->before);
    if (last.known && now.ns < last.ns)
        return;
    if (last.known && !follow(&now, &last))
        last.known = false;
    else if (last.known)
        precede(&last, &now);
    dropped = t->before.known && last.known && !is_worth(&t->before, &last);
    LIST_FOREACH(s, &t->shares, of_thread) {
        if (s->counts == PT_COUNTS)
            count(e, &t->ran, s, now.ns);
        s->first.known &= last.known;
        tell_share(s, &t->before, &last, &now, dropped);
    }
    for (p = LIST_FIRST(&t->pending); p; p = next) {
        next = LIST_NEXT(p, of_thread);
        p->share.first.known &= last.known;
        tell_pending(p, &t->before, &last, &now);
    }
    if (!dropped)
        t->before = last;
    t->ran = now;
    release(e);
}

void pt_bounds_event(struct pt_engine *e, struct pt_thread *thread,
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
    if (data[0] > (uint64_t)NS_MAX)
        return;
    more = data[1] < (uint64_t)NS_MAX ? (int64_t)data[1] : NS_MAX;
    tell(e, thread, (struct pt_ran){ .ns = event->ns, .least = (int64_t)data[0],
                                     .most = (int64_t)data[0] + more, .gap = e->gap,
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
    measurement->length_ns = max(a->length, before);
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
    TAILQ_INSERT_TAIL(&e->line, p, in_line);
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
    measurement->least_ns = measurement->bound || measurement->unknown ? 0
                                                                       : measurement->length_ns;
    if (waits || !TAILQ_EMPTY(&e->line))
        join(e, measurement, a, waits);
    else
        e->stopped = e->measured(e->context, measurement);
}

void pt_bounds_settle(struct pt_engine *e)
{
    struct pt_pending *p;

    TAILQ_FOREACH(p, &e->line, in_line)
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

void pt_bounds_forget(struct pt_engine *e, struct pt_thread *thread)
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

    while ((p = TAILQ_FIRST(&e->line)) != NULL) {
        if (p->waits)
            LIST_REMOVE(p, of_thread);
        TAILQ_REMOVE(&e->line, p, in_line);
        free(p);
    }
}
