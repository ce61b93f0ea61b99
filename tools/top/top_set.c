/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * All streams that are watched, and the processor time that watching them takes; see top_stream.h.
 */
#include "top/top_stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <posixtrace/attach.h>
#include <posixtrace/metrics.h>

#include "common/tool.h"
#include "input/stream_find.h"

enum {
    FIRST_BUDGET_NS = 3000000,
    FIRST_OTHER_NS = 2000000,
    LEAST_BUDGET_NS = 1000000, /* some thousand events; refreshes are then fewer */
    STATES = 48,
    NS = 1000000000,
    KEEP_S = 10,
    LEAST_PERIOD_NS = 50000000
};

#define FORGETS 0.9 /* a refresh */

static void add(struct top_set *set, const struct posixtrace_stream *info, trace_id_t trid)
{
    struct top_stream *s = top_stream_new(info, trid, &set->sites);

    s->wants = set->wants;
    set->streams = tool_grow(set->streams, set->count + 1, sizeof *set->streams);
    set->streams[set->count++] = s;
}

/* ---- all streams of the user ---- */

static bool has(const struct top_set *set, const struct posixtrace_stream *info)
{
    for (size_t i = 0; i < set->count; i++)
        if (memcmp(set->streams[i]->info.id, info->id, sizeof info->id) == 0)
            return true;
    return false;
}

static int look_for(void *context, const struct posixtrace_stream *info)
{
    struct top_set *set = context;
    trace_id_t trid;
    int error;

    if (info->liveness == POSIXTRACE_LIVENESS_DEAD || has(set, info))
        return 0;
    error = posixtrace_attach(info->file, &trid);
    if (error == 0)
        add(set, info, trid);
    else
        set->refused += error != ENXIO && error != ENOENT;
    return 0;
}

/* Streams that have ended are shown for some seconds, the last one for ever. */
static void drop_ended(struct top_set *set)
{
    for (size_t i = set->count; i > 0 && set->count > 1; i--) {
        struct top_stream *s = set->streams[i - 1];

        if (!s->ended || s->ended_ns == 0 || set->look_ns - s->ended_ns < KEEP_S * (int64_t)NS)
            continue;
        top_stream_free(s);
        set->streams[i - 1] = set->streams[--set->count];
    }
}

/* Without a directory nothing has traced yet. */
static int check_directory(struct top_set *set)
{
    int error = posixtrace_stream_list(look_for, set);

    return error == 0 || error == ENOENT
               ? EXIT_DONE
               : tool_error("cannot list %s: %s", quote(posixtrace_stream_directory()),
                            failure_reason(error));
}

int top_set_open(struct top_set *set, const char *word)
{
    struct posixtrace_stream info;
    trace_id_t trid;
    int status;

    set->word = word;
    status = word ? stream_attach(word, &info, &trid) : check_directory(set);
    if (word && status == EXIT_DONE)
        add(set, &info, trid);
    if (status == EXIT_DONE && posixtrace_event_cost(&set->event_ns) != 0)
        set->event_ns = 0;
    set->begun_ns = top_clock(CLOCK_MONOTONIC);
    set->cpu_ns = top_clock(CLOCK_PROCESS_CPUTIME_ID);
    set->left_ns = TOP_PLANNED * TOP_SHARE_LOW * NS - (double)set->cpu_ns;
    set->other_ns = FIRST_OTHER_NS;
    return status;
}

/* ---- a refresh ---- */

/* What may be used of a processor: more for many events or threads. */
static double allowed(const struct top_set *set)
{
    double share = set->rate / TOP_RATE, threads = (double)set->threads / TOP_FEW_THREADS;

    share = TOP_SHARE_LOW * (share > threads ? share : threads);
    return share < TOP_SHARE_LOW ? TOP_SHARE_LOW : share > TOP_SHARE_HIGH ? TOP_SHARE_HIGH : share;
}

/* A refresh may have names to look up, and another one none: the most of the last ones counts.
 * Time that was not used is kept, but for no more than a second. */
static void count_used(struct top_set *set, double cpu_ns)
{
    double read = 0, planned = TOP_PLANNED * allowed(set) * NS;
    double most = planned * (set->seconds > 1 ? set->seconds : 1);

    for (size_t i = 0; i < set->count; i++) {
        read += set->streams[i]->used_ns;
        set->streams[i]->used_ns = 0;
    }
    set->other_ns *= FORGETS;
    set->other_ns = cpu_ns - read > set->other_ns ? cpu_ns - read : set->other_ns;
    set->left_ns += planned * set->seconds - cpu_ns;
    set->left_ns = set->left_ns < 0 ? 0 : set->left_ns > most ? most : set->left_ns;
}

/* Processor time for the events of so much time, in ns. */
static double reading(const struct top_set *set, double passed_ns)
{
    double share = TOP_PLANNED * allowed(set) - set->other_ns / NS / set->seconds;
    double least = TOP_READS_LEAST * allowed(set);

    return (share < least ? least : share) * passed_ns;
}

static void count_cost(struct top_set *set)
{
    int64_t look = top_clock(CLOCK_MONOTONIC), cpu = top_clock(CLOCK_PROCESS_CPUTIME_ID);

    set->seconds = (double)(look - (set->look_ns ? set->look_ns : set->begun_ns)) / NS;
    if (set->look_ns && set->seconds > 0)
        set->cost = (double)(cpu - set->cpu_ns) / NS / set->seconds;
    if (set->seconds < 0.001)
        set->seconds = 0.001;
    if (set->refresh > 0)
        count_used(set, (double)(cpu - set->cpu_ns));
    set->look_ns = look;
    set->wall_ns = top_clock(CLOCK_REALTIME);
    set->cpu_ns = cpu;
    set->refresh++;
}

/* Each stream gets a part by its last rate. */
static double part_of(const struct top_set *set, const struct top_stream *s, double all)
{
    return set->rate > 0 ? all * s->rate / set->rate : all / (double)set->count;
}

static double budget_of(const struct top_set *set, const struct top_stream *s)
{
    double passed = (double)(top_clock(CLOCK_MONOTONIC) - s->read_ns);

    return part_of(set, s, reading(set, passed));
}

/* At a refresh. */
static double full_budget_of(const struct top_set *set, const struct top_stream *s)
{
    double usual = budget_of(set, s), rest = part_of(set, s, set->left_ns - set->other_ns);

    if (set->refresh == 1)
        return part_of(set, s, FIRST_BUDGET_NS);
    usual = usual > rest ? usual : rest;
    return usual > LEAST_BUDGET_NS ? usual : LEAST_BUDGET_NS;
}

static void look_at(struct top_set *set, struct top_stream *s)
{
    top_stream_list(s, set->refresh, set->seconds);
    top_stream_read(s, full_budget_of(set, s), set->seconds);
    if (s->ended)
        s->ended_ns = set->look_ns;
}

static void look_further(struct top_set *set, struct top_stream *s, size_t *deadlock)
{
    if (!set->frozen)
        top_stream_renew(s);
    top_proc_look(s, set->refresh, STATES);
    top_graph_make(s, deadlock);
}

void top_set_look(struct top_set *set)
{
    size_t deadlock = 1;
    double rate = 0;
    size_t threads = 0;

    if (!set->word && !set->frozen)
        drop_ended(set);
    count_cost(set);
    set->refused = 0;
    if (!set->word)
        posixtrace_stream_list(look_for, set);
    for (size_t i = 0; i < set->count; i++) {
        struct top_stream *s = set->streams[i];

        if (s->ended)
            continue;
        look_at(set, s);
        rate += s->ended ? 0 : s->rate;
        threads += s->threads.count;
    }
    set->rate = rate;
    set->threads = threads;
    for (size_t i = 0; i < set->count; i++)
        if (!set->streams[i]->ended)
            look_further(set, set->streams[i], &deadlock);
}

int64_t top_set_pause(const struct top_set *set)
{
    double used = (double)(top_clock(CLOCK_PROCESS_CPUTIME_ID) - set->cpu_ns);

    /* No rate is known yet. */
    return (int64_t)(used / (set->refresh > 1 ? allowed(set) : TOP_SHARE_HIGH));
}

int64_t top_set_period(const struct top_set *set)
{
    double least = 1e9;

    for (size_t i = 0; i < set->count; i++) {
        double period = top_stream_period(set->streams[i]);

        least = period < least ? period : least;
    }
    return least * NS < LEAST_PERIOD_NS ? LEAST_PERIOD_NS : (int64_t)(least * NS);
}

void top_set_read_more(struct top_set *set)
{
    if (top_clock(CLOCK_MONOTONIC) - set->look_ns < top_set_pause(set))
        return;
    for (size_t i = 0; i < set->count; i++) {
        struct top_stream *s = set->streams[i];

        if (!s->ended)
            top_stream_read_more(s, budget_of(set, s));
        if (s->ended && s->ended_ns == 0)
            s->ended_ns = top_clock(CLOCK_MONOTONIC);
    }
}

void top_set_filter(struct top_set *set, posixtrace_expression_t *wants)
{
    posixtrace_expression_free(set->wants);
    set->wants = wants;
    for (size_t i = 0; i < set->count; i++)
        set->streams[i]->wants = wants;
}

void top_set_close(struct top_set *set)
{
    for (size_t i = 0; i < set->count; i++)
        top_stream_free(set->streams[i]);
    free(set->streams);
    posixtrace_expression_free(set->wants);
    memset(set, 0, sizeof *set);
}
