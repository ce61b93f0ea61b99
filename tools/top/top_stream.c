/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* One stream; see top_stream.h. */
#include "top/top_stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <posixtrace/attach.h>
#include <posixtrace/attr.h>
#include <posixtrace/system.h>

#include "common/tool.h"

enum { BATCH = 256, FIRST_COST_NS = 120, ENDED = 4096 };

int64_t top_clock(int clock)
{
    struct timespec t;

    clock_gettime((clockid_t)clock, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static void read_attributes(struct top_stream *s)
{
    trace_attr_t attr;
    size_t size = 0;

    if (posix_trace_get_attr(s->trid, &attr) != 0)
        return;
    posix_trace_attr_getstreamfullpolicy(&attr, &s->policy);
    if (posix_trace_attr_getstreamsize(&attr, &size) == 0)
        s->size = size;
    posixtrace_attr_geteventcost(&attr, &s->event_ns);
    posix_trace_attr_destroy(&attr);
}

struct top_stream *top_stream_new(const struct posixtrace_stream *info, trace_id_t trid,
                                  const struct sites *sites)
{
    struct top_stream *s = tool_grow(NULL, 1, sizeof *s);

    memset(s, 0, sizeof *s);
    s->info = *info;
    s->trid = trid;
    s->cost_ns = FIRST_COST_NS;
    s->share = 1;
    s->running = info->running;
    s->sites = *sites;
    sites_open(&s->sites, trid);
    posixtrace_attach_lost(trid, s->lost_before);
    read_attributes(s);
    return s;
}

void top_stream_free(struct top_stream *s)
{
    sites_close(&s->sites);
    posixtrace_detach(s->trid);
    top_engine_free(s);
    free(s);
}

void top_stream_renew(struct top_stream *s)
{
    size_t ended = 0;
    trace_id_t trid;

    for (size_t i = 0; i < s->threads.count; i++)
        ended += ((const struct top_thread *)(const void *)s->threads.items[i])->ended;
    if (ended < ENDED || ended < s->threads.count / 2 ||
        posixtrace_attach(s->info.file, &trid) != 0)
        return;
    posixtrace_detach(s->trid);
    s->trid = trid;
    sites_close(&s->sites);
    sites_open(&s->sites, trid);
    posixtrace_attach_lost(trid, s->lost_before);
    posixtrace_seek(trid, INT64_MAX);
    top_forget_ended(s);
    top_gap(s);
    s->hard_gap = s->gap;
    posixtrace_get_info(trid, &s->now, sizeof s->now);
}

/* ---- counters ---- */

/* What an onlooker misses, or the log takes from it, counts as overwritten: not as a loss here. */
static void count_losses(struct top_stream *s, double seconds)
{
    for (unsigned c = 0; c < POSIXTRACE_LOSS_CAUSES; c++) {
        uint64_t more = s->now.lost[c] > s->before.lost[c] ? s->now.lost[c] - s->before.lost[c] : 0;

        s->lost_rate[c] = c == POSIXTRACE_LOST_OVERWRITTEN ? 0 : (double)more / seconds;
    }
}

static int count_process(void *count, pid_t pid)
{
    (void)pid;
    ++*(unsigned *)count;
    return 0;
}

static void read_counters(struct top_stream *s, bool first, double seconds)
{
    struct posix_trace_status_info status;

    s->before = s->now;
    if (posixtrace_get_info(s->trid, &s->now, sizeof s->now) != 0)
        return;
    s->due = s->now.events > s->before.events ? s->now.events - s->before.events : 0;
    s->rate = first ? 0 : (double)s->due / seconds;
    if (!first)
        count_losses(s, seconds);
    if (posix_trace_get_status(s->trid, &status) == 0)
        s->running = status.posix_stream_status == POSIX_TRACE_RUNNING;
    s->processes = 0;
    posixtrace_stream_traced(s->info.file, count_process, &s->processes);
}

/* ---- threads ---- */

/* Overwritten ones are among those that were recorded. */
static uint64_t lost_of(const struct posixtrace_thread_info *info)
{
    uint64_t lost = 0;

    for (unsigned c = 0; c < POSIXTRACE_LOSS_CAUSES; c++)
        lost += c == POSIXTRACE_LOST_OVERWRITTEN ? 0 : info->lost[c];
    return lost;
}

/* A thread that traces while it ends has two entries. */
static void take_entry(struct top_stream *s, const struct posixtrace_thread_info *info,
                       uint64_t refresh)
{
    struct top_thread *t = info->pid ? top_thread_of(s, info->pid, info->tid) : NULL;

    if (!t)
        return;
    if (t->listed != refresh) {
        t->before = t->recorded + t->lost;
        t->recorded = t->lost = 0;
        t->idle_before = t->idle;
        t->idle = t->listed + 1 == refresh;
        t->listed = refresh;
        t->now = *info;
    } else if (info->wait_type) {
        t->now = *info;
    }
    t->recorded += info->recorded;
    t->lost += lost_of(info);
    t->thread_id = info->thread_id;
    memcpy(t->name, info->name, sizeof t->name);
}

static void settle_thread(struct top_thread *t, uint64_t refresh, double seconds)
{
    uint64_t now = t->recorded + t->lost;

    if (t->listed != refresh) {
        t->idle = false;
        t->rate = 0;
        return;
    }
    t->rate = refresh > 1 && now > t->before ? (double)(now - t->before) / seconds : 0;
    t->idle = t->idle && now == t->before;
}

void top_stream_list(struct top_stream *s, uint64_t refresh, double seconds)
{
    struct posixtrace_thread_info info;
    int unavailable = 0;

    read_counters(s, s->now.reserved_bytes == 0, seconds);
    posixtrace_threadlist_rewind(s->trid);
    while (posixtrace_threadlist_getnext(s->trid, &info, sizeof info, &unavailable) == 0 &&
           !unavailable)
        take_entry(s, &info, refresh);
    for (size_t i = 0; i < s->threads.count; i++)
        settle_thread((struct top_thread *)(void *)s->threads.items[i], refresh, seconds);
}

/* ---- events ---- */

/* Filters may leave out the events that say which thread has a lock. */
static bool records_locks(trace_id_t trid)
{
    static const trace_event_id_t types[] = { POSIXTRACE_MUTEX_LOCKED, POSIXTRACE_MUTEX_UNLOCK,
                                              POSIXTRACE_RWLOCK_LOCKED, POSIXTRACE_RWLOCK_UNLOCK };
    char text[POSIXTRACE_EXPRESSION_MAX + 1] = "";
    posixtrace_expression_t *expression = NULL;
    trace_event_set_t set;
    bool all = posix_trace_get_filter(trid, &set) == 0 &&
               posixtrace_get_expression(trid, text, sizeof text) == 0;

    if (all && text[0])
        all = posixtrace_expression_parse(text, &expression, NULL) == 0;
    for (size_t i = 0; all && i < sizeof types / sizeof types[0]; i++) {
        int member = 0;

        all = (posix_trace_eventset_ismember(types[i], &set, &member) == 0 && !member) &&
              (!expression || posixtrace_expression_decide(
                                  expression, posixtrace_system_text(types[i]), NULL) == 1);
    }
    posixtrace_expression_free(expression);
    return all;
}

/* Skips to the stretch that can be read.  How many events there may be then. */
static uint64_t skip(struct top_stream *s, uint64_t most, int64_t now, double seconds)
{
    s->stretch_ns = 0;
    if (s->due <= most)
        return 2 * most + BATCH;
    s->stretch_ns = (int64_t)(seconds * 1e9 * (double)most / (double)s->due);
    posixtrace_seek(s->trid, now - s->stretch_ns);
    top_gap(s);
    return most + BATCH;
}

/* Reads until the event at now.  True: it came there. */
static bool take_all(struct top_stream *s, uint64_t most, int64_t now)
{
    struct posixtrace_event e;
    uint64_t taken = 0;
    int none = 0, error = 0;

    while (taken < most && error == 0) {
        error = posixtrace_next_event(s->trid, &e, sizeof e, &none);
        if (error != 0 || none)
            break;
        top_take(s, &e);
        taken++;
        if (e.ns >= now)
            return true;
    }
    s->ended = error == ENXIO;
    return none != 0 || error == ENXIO;
}

void top_stream_read(struct top_stream *s, int64_t budget_ns, double seconds)
{
    int64_t cpu = top_clock(CLOCK_PROCESS_CPUTIME_ID), now = top_clock(CLOCK_REALTIME);
    uint64_t most = (uint64_t)((double)budget_ns / s->cost_ns), missed;
    bool complete;

    missed = s->before.lost[POSIXTRACE_LOST_OVERWRITTEN];
    s->taken = 0;
    s->locks_unfiltered = records_locks(s->trid);
    if (!s->locks_unfiltered) {
        top_gap(s);
        s->hard_gap = s->gap;
    }
    most = skip(s, most, now, seconds);
    top_idle_threads(s);
    complete = take_all(s, most, now);
    top_read_ends(s, complete);
    cpu = top_clock(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    if (s->taken > BATCH)
        s->cost_ns = 0.7 * s->cost_ns + 0.3 * (double)cpu / (double)s->taken;
    s->share = 1;
    if ((s->stretch_ns || !complete || s->now.lost[POSIXTRACE_LOST_OVERWRITTEN] > missed) &&
        s->taken < s->due)
        s->share = (double)s->taken / (double)s->due;
}
