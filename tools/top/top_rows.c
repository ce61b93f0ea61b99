/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The rows of a picture.  Each table is in the order that was asked for; rows of a deadlock come
 * first.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <posixtrace/system.h>

#include "common/tool.h"
#include "top/top.h"

/* SCREEN: with that many names, rows after these have no text. */
enum { NS = 1000000000, LATEST_S = 10, TRIES = 8, SCREEN = 100 };

const int top_windows[TOP_WINDOWS] = { 1, 10, 60 };

static void *more(void *rows, size_t count, size_t size)
{
    /* At powers of two. */
    return count & (count - 1) ? rows : tool_grow(rows, count ? 2 * count : 1, size);
}

/* The calls in a second that is not over are left out. */
static int64_t last_second(const struct top_model *m)
{
    return m->now / NS;
}

/* The seconds before the present one that the last ten have events of. */
static double covered(const struct top_model *m, const struct top_stream *s)
{
    int64_t seconds = last_second(m) - s->first_ns / NS;

    return seconds < 1 ? 1 : seconds > LATEST_S ? LATEST_S : (double)seconds;
}

/* Were events of so many seconds before the present one not read, or are they lost? */
static bool is_partial(const struct top_model *m, const struct top_stream *s, int seconds)
{
    return s->partial_ns != 0 && m->now - s->partial_ns < (seconds + 1) * (int64_t)NS;
}

struct rate {
    double per_s, busy;
    bool at_least;
};

/* Of calls or pairs, last: in the last ten seconds.  Of what was before it was watched, a stream
 * with a log may hold any part. */
static struct rate rate_of(const struct top_model *m, const struct top_stream *s,
                           const struct top_recent *r, const struct top_total *last)
{
    double seconds = (double)(m->now - s->watched_ns) / NS;
    const struct top_total *of = &r->since;

    if (s->policy == POSIX_TRACE_LOOP || seconds > LATEST_S + 1 || seconds <= 0) {
        seconds = covered(m, s);
        of = last;
    }
    return (struct rate){ .per_s = (double)of->count / seconds,
                          .busy = (double)of->busy_ns / NS / seconds,
                          .at_least = is_partial(m, s, LATEST_S) };
}

/* ---- pairs ---- */

void top_rows_pairs(struct top_model *m, struct top_stream *s, const struct top_stream_row *row)
{
    int64_t now = last_second(m);

    for (size_t i = 0; i < s->pair_count; i++) {
        const struct top_recent *recent = &s->pairs[i]->recent;
        struct top_pair_row p = { .stream = row, .name = s->pairs[i]->name };
        struct top_total latest = top_recent_total(recent, now, LATEST_S);
        struct rate rate = rate_of(m, s, recent, &latest);

        for (int w = 0; w < TOP_WINDOWS; w++) {
            struct top_total t = top_recent_total(recent, now, top_windows[w]);

            p.of[w].count = t.count;
            p.of[w].at_least = is_partial(m, s, top_windows[w]);
            p.of[w].max = t.max_ns;
            top_recent_percentiles(recent, now, top_windows[w], &p.of[w].p50, &p.of[w].p99);
        }
        if (p.of[TOP_WINDOWS - 1].count == 0)
            continue;
        p.per_s = rate.per_s;
        p.at_least = rate.at_least;
        m->pairs = more(m->pairs, m->pair_count, sizeof *m->pairs);
        m->pairs[m->pair_count++] = p;
    }
}

static int order(double x, double y)
{
    return x > y ? -1 : x < y;
}

static enum top_sort sorted_by;

static int compare_pairs(const void *a, const void *b)
{
    const struct top_pair_row *x = a, *y = b;
    int by = 0;

    if (sorted_by == TOP_BY_TIME)
        by = order((double)x->of[1].p99, (double)y->of[1].p99);
    else if (sorted_by == TOP_BY_RATE)
        by = order((double)x->of[1].count, (double)y->of[1].count);
    return by ? by : strcmp(x->name, y->name);
}

/* ---- threads ---- */

static const char *call_text(uint32_t type, uint32_t call)
{
    const char *text = posixtrace_call_text(call), *system = posixtrace_system_text(type);

    return text ? text : system ? system + strlen("posixtrace_") : "?";
}

static enum top_state state_of(const struct top_thread *t)
{
    if (t->now.wait_type)
        return TOP_WAITING;
    if (t->state == 'R')
        return t->ready_share > t->run_share ? TOP_RUNNABLE : TOP_RUNNING;
    return t->state ? TOP_BLOCKED : TOP_UNKNOWN;
}

/* The filter of the screen means threads by events that they recorded in the last minute, or by
 * their numbers and names. */
static bool is_meant(const struct top_model *m, const struct top_stream *s,
                     const struct top_thread *t)
{
    struct posixtrace_event e = { .thread_name = t->name,
                                  .name = t->now.wait_type
                                              ? posixtrace_system_text(t->now.wait_type)
                                              : "",
                                  .pid = t->pid,
                                  .tid = t->tid };

    return !s->wants || t->deadlock || m->now - t->matched_ns < TOP_SECONDS * (int64_t)NS ||
           posixtrace_expression_match(s->wants, &e, NULL);
}

static void fill_wait(const struct top_model *m, const struct top_thread *t,
                      struct top_thread_row *row)
{
    uint32_t type = t->now.wait_type;

    if (type == 0)
        return;
    row->call = call_text(type, t->now.wait_call);
    row->since = t->now.wait_since_ns;
    row->waited = row->since && m->now > row->since ? m->now - row->since : 0;
    row->wants_holder = type == POSIXTRACE_MUTEX_LOCK || type == POSIXTRACE_RWLOCK_LOCK ||
                        type == POSIXTRACE_THREAD_JOIN;
    row->brief = !t->same_wait;
    row->holder = t->waits_for ? t->waits_for->tid : 0;
    if (t->waits_for)
        memcpy(row->holder_name, t->waits_for->name, sizeof row->holder_name);
    row->deadlock = t->deadlock;
    row->place = t->next_place;
}

void top_rows_threads(struct top_model *m, struct top_stream *s, const struct top_stream_row *row)
{
    for (size_t i = 0; i < s->threads.count; i++) {
        const struct top_thread *t = (const struct top_thread *)(const void *)s->threads.items[i];
        struct top_thread_row *to;

        if (t->ended || t->listed == 0 || !is_meant(m, s, t))
            continue;
        m->threads = more(m->threads, m->thread_count, sizeof *m->threads);
        to = &m->threads[m->thread_count++];
        memset(to, 0, sizeof *to);
        to->stream = row;
        to->of = t;
        to->pid = t->pid;
        to->tid = t->tid;
        memcpy(to->name, t->name, sizeof to->name);
        to->rate = t->rate;
        to->run = t->run_share;
        to->ready = t->ready_share;
        to->state = state_of(t);
        fill_wait(m, t, to);
        m->by_state[to->state]++;
        if (to->deadlock > m->deadlocks)
            m->deadlocks = to->deadlock;
    }
}

static int by_deadlock(const struct top_thread_row *x, const struct top_thread_row *y)
{
    if ((x->deadlock != 0) != (y->deadlock != 0))
        return x->deadlock ? -1 : 1;
    if (x->deadlock != y->deadlock)
        return x->deadlock < y->deadlock ? -1 : 1;
    return x->place < y->place ? -1 : x->place > y->place;
}

/* By time: those first that run, then those that wait for a thread, the longest first. */
static int by_time(const struct top_thread_row *x, const struct top_thread_row *y)
{
    int by = order(x->wants_holder, y->wants_holder);

    if (by == 0)
        by = (x->state >= TOP_WAITING) - (y->state >= TOP_WAITING);
    if (by == 0)
        by = order(x->run, y->run);
    return by ? by : order((double)x->waited, (double)y->waited);
}

static int compare_threads(const void *a, const void *b)
{
    const struct top_thread_row *x = a, *y = b;
    int by = by_deadlock(x, y);

    if (by == 0 && sorted_by == TOP_BY_TIME)
        by = by_time(x, y);
    else if (by == 0 && sorted_by == TOP_BY_RATE)
        by = order(x->rate, y->rate);
    if (by == 0 && x->pid != y->pid)
        by = x->pid < y->pid ? -1 : 1;
    return by ? by : x->tid < y->tid ? -1 : x->tid > y->tid;
}

static bool is_number(const struct top_thread *t)
{
    return posixtrace_call_text(t->now.wait_call) != NULL;
}

static void name_thread(const struct top_model *m, struct top_thread_row *row, bool find)
{
    const struct top_thread *t = row->of;
    struct sites *sites = find ? &row->stream->of->sites : NULL;

    if (!row->call)
        return;
    if (t->now.wait_type == POSIXTRACE_SIGNAL_WAIT ||
        (is_number(t) && (int64_t)t->now.wait_object < 0))
        row->object[0] = '\0'; /* no number: signals, several descriptors or children */
    else if (is_number(t))
        snprintf(row->object, sizeof row->object, "%" PRId64, (int64_t)t->now.wait_object);
    else if (t->now.wait_object && t->now.wait_type != POSIXTRACE_THREAD_JOIN &&
             sites_find(sites, t->pid, m->now, t->now.wait_object, POSIXTRACE_ADDRESS_DATA,
                        row->object) == 0)
        snprintf(row->object, sizeof row->object, "0x%" PRIx64, t->now.wait_object);
    if (t->now.wait_caller && sites_find(sites, t->pid, m->now, t->now.wait_caller,
                                         POSIXTRACE_ADDRESS_RETURN, row->caller) == 0)
        snprintf(row->caller, sizeof row->caller, "0x%" PRIx64, t->now.wait_caller);
}

/* ---- locks and call sites ---- */

void top_rows_locks(struct top_model *m, struct top_stream *s)
{
    for (size_t i = 0; i < s->locks.count; i++) {
        struct top_lock *lock = (struct top_lock *)(void *)s->locks.items[i];
        struct top_total last = top_recent_total(&lock->recent, last_second(m), LATEST_S);
        const struct top_thread *holder = top_lock_holder(s, lock, NULL);
        struct rate rate = rate_of(m, s, &lock->recent, &last);
        struct top_lock_row *row;

        if (last.count == 0 && lock->waiters == 0)
            continue;
        m->locks = more(m->locks, m->lock_count, sizeof *m->locks);
        row = &m->locks[m->lock_count++];
        *row = (struct top_lock_row){ .stream = s,
                                      .of = lock,
                                      .pid = lock->pid,
                                      .last = last,
                                      .per_s = rate.per_s,
                                      .busy = rate.busy,
                                      .at_least = rate.at_least,
                                      .waiters = lock->waiters };
        if (!holder)
            continue;
        row->holder = holder->tid;
        memcpy(row->holder_name, holder->name, sizeof row->holder_name);
    }
}

void top_rows_sites(struct top_model *m, struct top_stream *s)
{
    for (size_t i = 0; i < s->sites_of.count; i++) {
        struct top_site *site = (struct top_site *)(void *)s->sites_of.items[i];
        struct top_total last = top_recent_total(&site->recent, last_second(m), LATEST_S);
        struct rate rate = rate_of(m, s, &site->recent, &last);

        if (last.count == 0)
            continue;
        m->sites = more(m->sites, m->site_count, sizeof *m->sites);
        m->sites[m->site_count++] = (struct top_site_row){ .stream = s,
                                                           .of = site,
                                                           .pid = site->pid,
                                                           .call = call_text(site->type,
                                                                             site->call),
                                                           .last = last,
                                                           .per_s = rate.per_s,
                                                           .busy = rate.busy,
                                                           .at_least = rate.at_least };
    }
}

static int by_total(const struct top_total *x, const struct top_total *y)
{
    return sorted_by == TOP_BY_RATE ? order((double)x->count, (double)y->count)
                                    : order((double)x->busy_ns, (double)y->busy_ns);
}

static int compare_locks(const void *a, const void *b)
{
    const struct top_lock_row *x = a, *y = b;
    int by = order(x->waiters, y->waiters);

    if (sorted_by == TOP_BY_NAME)
        return x->of->object < y->of->object ? -1 : x->of->object > y->of->object;
    return by ? by : by_total(&x->last, &y->last);
}

static int compare_sites(const void *a, const void *b)
{
    const struct top_site_row *x = a, *y = b;

    if (sorted_by == TOP_BY_NAME)
        return x->of->caller < y->of->caller ? -1 : x->of->caller > y->of->caller;
    return by_total(&x->last, &y->last);
}

/* The text of an address is kept once it has a name; *tries counts searches without one. */
static const char *name_of(struct top_stream *s, pid_t pid, int64_t now, uint64_t address,
                           enum posixtrace_address kind, char text[SITES_TEXT], unsigned *tries)
{
    if (*tries < TRIES && sites_find(&s->sites, pid, now, address, kind, text) == 0)
        ++*tries;
    else
        *tries = TRIES;
    if (!text[0])
        snprintf(text, SITES_TEXT, "0x%" PRIx64, address);
    return text;
}

void top_rows_end(struct top_model *m, size_t named)
{
    sorted_by = m->sort;
    if (m->pair_count)
        qsort(m->pairs, m->pair_count, sizeof *m->pairs, compare_pairs);
    if (m->thread_count)
        qsort(m->threads, m->thread_count, sizeof *m->threads, compare_threads);
    if (m->lock_count)
        qsort(m->locks, m->lock_count, sizeof *m->locks, compare_locks);
    if (m->site_count)
        qsort(m->sites, m->site_count, sizeof *m->sites, compare_sites);
    for (size_t i = 0; i < m->thread_count && (i < named || named > SCREEN); i++)
        name_thread(m, &m->threads[i], i < named);
    for (size_t i = 0; i < m->lock_count && i < named; i++) {
        struct top_lock *l = m->locks[i].of;

        snprintf(m->locks[i].name, SITES_TEXT, "%s",
                 name_of(m->locks[i].stream, l->pid, m->now, l->object, POSIXTRACE_ADDRESS_DATA,
                         l->text, &l->tries));
    }
    for (size_t i = 0; i < m->site_count && i < named; i++) {
        struct top_site *l = m->sites[i].of;

        snprintf(m->sites[i].where, SITES_TEXT, "%s",
                 name_of(m->sites[i].stream, l->pid, m->now, l->caller, POSIXTRACE_ADDRESS_RETURN,
                         l->text, &l->tries));
    }
}
