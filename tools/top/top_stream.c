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

enum { BATCH = 64, CHECK = 8, LEAST = 256, FIRST_COST_NS = 120, ENDED = 4096, SKIP_NS = 6 };
#define MORE          1.3  /* of the number that was planned: rates change */
#define MORE_TIME     1.15 /* of the time */
#define LEAST_STEP_NS INT64_C(5000000)
#define SET_NS        INT64_C(60000000000)

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
    s->read_ns = top_clock(CLOCK_MONOTONIC);
    s->watched_ns = top_clock(CLOCK_REALTIME);
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
    s->listed = false;
    s->now.reserved_bytes = 0;
}

/* ---- counters and threads ---- */

static int count_process(void *stream, pid_t pid)
{
    struct top_stream *s = stream;

    s->pid = pid;
    s->processes++;
    return 0;
}

static void read_state(struct top_stream *s)
{
    struct posix_trace_status_info status;

    if (posix_trace_get_status(s->trid, &status) == 0)
        s->running = status.posix_stream_status == POSIX_TRACE_RUNNING;
    s->processes = 0;
    posixtrace_stream_traced(s->info.file, count_process, s);
}

/* What an onlooker misses, or the log takes from it, counts as overwritten: not as a loss here,
 * and those events are among the recorded ones. */
static uint64_t lost_of(const struct posixtrace_thread_info *info)
{
    uint64_t lost = 0;

    for (unsigned c = 0; c < POSIXTRACE_LOSS_CAUSES; c++)
        lost += c == POSIXTRACE_LOST_OVERWRITTEN ? 0 : info->lost[c];
    return lost;
}

/* A thread that traces while it ends has two entries. */
static void take_entry(struct top_stream *s, const struct posixtrace_thread_info *info)
{
    struct top_thread *t = info->pid ? top_thread_of(s, info->pid, info->tid) : NULL;

    s->events += info->recorded;
    s->missed += info->lost[POSIXTRACE_LOST_OVERWRITTEN];
    if (!t)
        return;
    if (t->listed != s->refresh) {
        t->before = t->count;
        t->count = 0;
        t->was_listed = t->listed + 1 == s->refresh;
        t->listed = s->refresh;
        t->now = *info;
    } else if (info->wait_type) {
        t->now = *info;
    }
    t->count += info->recorded + lost_of(info);
    t->thread_id = info->thread_id;
    memcpy(t->name, info->name, sizeof t->name);
}

static bool is_same_wait(const struct top_thread *t, const struct posixtrace_thread_info *info)
{
    return info->wait_type == t->now.wait_type && info->wait_object == t->now.wait_object &&
           info->wait_since_ns == t->now.wait_since_ns;
}

static void take_again(struct top_stream *s, const struct posixtrace_thread_info *info)
{
    struct top_thread *t = top_map_find(&s->threads, (uint64_t)info->pid, (uint64_t)info->tid);

    if (!t)
        return;
    if (t->again != s->refresh) {
        t->again = s->refresh;
        t->after = 0;
        t->same_wait = false;
    }
    t->after += info->recorded + lost_of(info);
    t->same_wait |= is_same_wait(t, info);
}

static void list(struct top_stream *s,
                 void (*take)(struct top_stream *s, const struct posixtrace_thread_info *info))
{
    struct posixtrace_thread_info info;
    int unavailable = 0;

    posixtrace_threadlist_rewind(s->trid);
    while (posixtrace_threadlist_getnext(s->trid, &info, sizeof info, &unavailable) == 0 &&
           !unavailable)
        take(s, &info);
}

static void settle_thread(const struct top_stream *s, struct top_thread *t, double seconds)
{
    bool more = t->listed == s->refresh && s->listed && t->count > t->before;

    t->rate = more ? (double)(t->count - t->before) / seconds : 0;
}

/* How many events there is room for: a LOOP stream has as many at any moment, after a while. */
static void learn_room(struct top_stream *s)
{
    struct posixtrace_info info;

    if (posixtrace_get_info(s->trid, &info, sizeof info) == 0 && info.bytes > 0)
        s->holds = (double)s->events * (double)info.reserved_bytes / (double)info.bytes;
}

void top_stream_list(struct top_stream *s, uint64_t refresh, double seconds)
{
    uint64_t before = s->events;

    s->missed_before = s->missed;
    s->events = s->missed = 0;
    s->refresh = refresh;
    list(s, take_entry);
    for (size_t i = 0; i < s->threads.count; i++)
        settle_thread(s, (struct top_thread *)(void *)s->threads.items[i], seconds);
    s->due = s->events > before ? s->events - before : 0;
    s->rate = s->listed ? (double)s->due / seconds : 0;
    if (!s->listed)
        learn_room(s);
    s->listed = true;
    read_state(s);
}

/* Losses without a thread are among these. */
static void read_counters(struct top_stream *s, double seconds)
{
    bool first = s->now.reserved_bytes == 0;

    s->before = s->now;
    if (posixtrace_get_info(s->trid, &s->now, sizeof s->now) != 0)
        return;
    for (unsigned c = 0; c < POSIXTRACE_LOSS_CAUSES; c++) {
        bool more = !first && c != POSIXTRACE_LOST_OVERWRITTEN &&
                    s->now.lost[c] > s->before.lost[c];

        s->lost_rate[c] = more ? (double)(s->now.lost[c] - s->before.lost[c]) / seconds : 0;
    }
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

/* By the last rate, where there was one. */
static double expected(const struct top_stream *s, double seconds)
{
    struct posixtrace_info info;

    if (s->rate > 0 || posixtrace_get_info(s->trid, &info, sizeof info) != 0)
        return s->rate * seconds;
    return info.events > s->events ? (double)(info.events - s->events) : 0;
}

/* How many events before the present can be read before the writers overwrite them: they write
 * while others are skipped and read. */
static double within_reach(const struct top_stream *s, double due)
{
    double skipped = due < s->holds ? due : s->holds, rate = s->rate / 1e9;
    double reach = s->holds / 2 / (1 + rate * s->cost_ns) - rate * skipped * SKIP_NS;

    return s->holds <= 0 ? 1e18 : reach > 0 ? reach : 0;
}

/* Skips events that cannot be read in so much processor time, or before they are overwritten. */
static void skip(struct top_stream *s, double budget_ns)
{
    int64_t now = top_clock(CLOCK_MONOTONIC);
    double seconds = (double)(now - s->read_ns) / 1e9, most = budget_ns / s->cost_ns;
    double due = s->listed ? expected(s, seconds) : 0, reach = within_reach(s, due);

    s->skips = false;
    if (due > reach && reach < most)
        most = reach;
    if (due <= most && !s->cut)
        return;
    most = due < most ? due : most;
    s->cut = false;
    posixtrace_seek(s->trid, top_clock(CLOCK_REALTIME) -
                                 (int64_t)(due > 0 ? seconds * 1e9 * most / due : 0));
    s->skips = s->skipped = true;
    top_gap(s);
}

double top_stream_period(const struct top_stream *s)
{
    return s->ended || s->rate <= 0 ? 1e9 : within_reach(s, 0) / s->rate;
}

/* A step of CLOCK_REALTIME comes into the times of a stream with the next events, a second later at
 * the earliest.  No times before and after that are compared; to read events so costs twice as
 * much. */
static bool was_set(struct top_stream *s)
{
    int64_t now = top_clock(CLOCK_MONOTONIC), apart = top_clock(CLOCK_REALTIME) - now;

    if (s->apart_ns != 0 && llabs(apart - s->apart_ns) > LEAST_STEP_NS)
        s->set_until_ns = now + SET_NS;
    s->apart_ns = apart;
    return now < s->set_until_ns;
}

static int take_some(struct top_stream *s, struct posixtrace_event e[BATCH], bool set,
                     size_t *count)
{
    bool gap = false;
    int error = set ? posixtrace_next_whole_events(s->trid, e, sizeof e[0], BATCH, count, &gap)
                    : posixtrace_next_events(s->trid, e, sizeof e[0], BATCH, count);

    if (error == 0 && gap) {
        top_gap(s);
        s->hard_gap = s->gap;
    }
    return error;
}

/* Every so many batches: an event may cost more than the last ones did. */
static bool has_used(unsigned batch, int64_t until_cpu)
{
    return batch % CHECK == 0 && top_clock(CLOCK_PROCESS_CPUTIME_ID) > until_cpu;
}

/* Reads until the event at now, or the processor time.  True: it came there. */
static bool take_all(struct top_stream *s, uint64_t most, int64_t now, int64_t until_cpu)
{
    static struct posixtrace_event e[BATCH];
    int64_t first = 0, last = 0;
    uint64_t taken = 0;
    bool set = was_set(s);
    unsigned batch = 0;
    size_t count = 1;
    int error = 0;

    while (taken < most) {
        error = take_some(s, e, set, &count);
        if (error != 0 || count == 0)
            break;
        for (size_t i = 0; i < count; i++) {
            top_take(s, &e[i]);
            first = e[i].tid == 0 ? 0 : first ? first : e[i].ns;
        }
        last = e[count - 1].ns;
        taken += count;
        if (last >= now)
            break;
        s->cut = has_used(++batch, until_cpu);
        if (s->cut)
            break;
    }
    s->stretch_ns = s->skips && first && last > first ? last - first : 0;
    s->ended = error == ENXIO;
    return count == 0 || last >= now || error == ENXIO;
}

/* True: it came to the present. */
static bool read_events(struct top_stream *s, double budget_ns)
{
    int64_t cpu = top_clock(CLOCK_PROCESS_CPUTIME_ID);
    uint64_t before = s->taken;
    bool complete = take_all(s, (uint64_t)(budget_ns * MORE / s->cost_ns) + LEAST,
                             top_clock(CLOCK_REALTIME), cpu + (int64_t)(budget_ns * MORE_TIME));

    cpu = top_clock(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    s->used_ns += (double)cpu;
    if (s->taken - before > LEAST)
        s->cost_ns = 0.7 * s->cost_ns + 0.3 * (double)cpu / (double)(s->taken - before);
    s->read_ns = top_clock(CLOCK_MONOTONIC);
    return complete;
}

void top_stream_read_more(struct top_stream *s, double budget_ns)
{
    skip(s, budget_ns);
    read_events(s, budget_ns);
    /* The last picture has the last numbers. */
    if (s->ended)
        read_counters(s, 1);
}

/* An event that was overwritten may have been read before. */
static bool loses(const struct top_stream *s)
{
    for (unsigned c = 0; c < POSIXTRACE_LOSS_CAUSES; c++)
        if (c != POSIXTRACE_LOST_OVERWRITTEN && s->lost_rate[c] > 0)
            return true;
    return false;
}

void top_stream_read(struct top_stream *s, double budget_ns, double seconds)
{
    bool complete;

    s->locks_unfiltered = records_locks(s->trid);
    if (!s->locks_unfiltered) {
        top_gap(s);
        s->hard_gap = s->gap;
    }
    skip(s, budget_ns);
    complete = read_events(s, budget_ns);
    list(s, take_again);
    top_idle_threads(s, complete);
    s->share = 1;
    if ((s->skipped || !complete || s->missed > s->missed_before) && s->taken < s->due)
        s->share = (double)s->taken / (double)s->due;
    s->taken = 0;
    s->skipped = false;
    read_counters(s, seconds);
    if (s->share < 1 || loses(s))
        s->partial_ns = top_clock(CLOCK_REALTIME);
}
