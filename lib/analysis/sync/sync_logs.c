/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See sync_logs.h. */
#include "analysis/sync/sync_logs.h"

#include <errno.h>
#include <math.h>
#include <posixtrace/clock.h>
#include <posixtrace/info.h>
#include <stdlib.h>

#define LEAST_TICKS \
    UINT64_C(1000000000) /* else the slope of the table is better than that of two points */
#define READING_NS 1000  /* how far apart the two clocks of a reading may be read */
#define MOST_NS    INT64_C(4000000000000000000)

/* ---- axes ---- */

static double slope_of(const struct pt_sync_axis *a)
{
    return (double)(a->line[1].ns - a->line[0].ns) / (double)(a->line[1].ticks - a->line[0].ticks);
}

/* Of an imported log the times themselves. */
static bool is_plain(const struct pt_sync_axis *a)
{
    return a->host.clock == POSIXTRACE_CLOCK_REALTIME || !a->any;
}

int64_t pt_sync_axis_at(const struct pt_sync_axis *a, uint64_t ticks)
{
    if (is_plain(a))
        return (int64_t)ticks;
    return a->line[0].ns + llrint((double)(int64_t)(ticks - a->line[0].ticks) * slope_of(a));
}

uint64_t pt_sync_ticks(const struct pt_sync_axis *a, int64_t at)
{
    if (is_plain(a))
        return (uint64_t)at;
    return a->line[0].ticks + (uint64_t)llrint((double)(at - a->line[0].ns) / slope_of(a));
}

/* The points of one log: the first, the last, and the steps between. */
static void add_points(struct pt_sync_axis *a, trace_id_t trid)
{
    struct posixtrace_clock_point p, first = { .ticks = 0 }, last = { .ticks = 0 };
    int64_t steps = 0;
    size_t n = 0;

    for (; posixtrace_clock_point(trid, n, &p, sizeof p) == 0; last = p, n++) {
        if (n == 0)
            first = p;
        else if (p.step)
            steps += p.ns - last.ns -
                     llrint((double)(p.ticks - last.ticks) * ((double)last.slope / 4294967296.0));
    }
    if (n == 0 || llabs(last.ns) > MOST_NS || llabs(first.ns) > MOST_NS || llabs(steps) > MOST_NS)
        return;
    if (!a->any || first.ticks < a->first_ticks) {
        a->first_ticks = first.ticks;
        a->first_ns = first.ns + steps;
    }
    if (!a->any || last.ticks >= a->last_ticks) {
        a->last_ticks = last.ticks;
        a->last_ns = last.ns;
        a->slope = last.slope;
    }
    a->any = true;
}

/* A line that a clock can have, or EINVAL. */
static int make_line(struct pt_sync_axis *a)
{
    double slope = (double)a->slope / 4294967296.0;

    if (is_plain(a)) {
        a->line[0] = (struct posixtrace_clock_knot){ 1, 1 };
        a->line[1] = (struct posixtrace_clock_knot){ (uint64_t)MOST_NS, MOST_NS };
        return 0;
    }
    if (a->last_ticks - a->first_ticks >= LEAST_TICKS && a->last_ns > a->first_ns) {
        double all = (double)(a->last_ns - a->first_ns) / (double)(a->last_ticks - a->first_ticks);

        slope = fabs(all / slope - 1) < 0.002 ? all : slope;
    }
    if (!(slope > 1e-6 && slope < 4096))
        return EINVAL;
    a->line[0] = (struct posixtrace_clock_knot){ a->last_ticks, a->last_ns };
    a->line[1] = (struct posixtrace_clock_knot){ a->last_ticks + (uint64_t)llrint(1e15 / slope),
                                                 a->last_ns + INT64_C(1000000000000000) };
    return a->line[1].ticks > a->line[0].ticks ? 0 : EINVAL;
}

static void add_range(struct pt_sync_axis *a, trace_id_t trid)
{
    struct posixtrace_info info;

    if (posixtrace_get_info(trid, &info, sizeof info) != 0 || info.events == 0 ||
        info.first_ns < 0 || info.last_ns > MOST_NS || info.last_ns < info.first_ns)
        return;
    a->begin = !a->has_events || info.first_ns < a->begin ? info.first_ns : a->begin;
    a->end = !a->has_events || info.last_ns > a->end ? info.last_ns : a->end;
    a->has_events = true;
}

static int find_clock(struct pt_sync_logs *l, size_t log)
{
    struct posixtrace_info info;
    int error = posixtrace_get_info(l->trids[log], &info, sizeof info);
    size_t i = 0;

    while (!error && i < l->clocks && !pt_sync_is_of(&l->axes[i].host, &info))
        i++;
    if (!error && i == PT_SYNC_HOSTS)
        error = E2BIG;
    if (error)
        return error;
    if (i == l->clocks)
        pt_sync_identify(&l->axes[l->clocks++].host, &info);
    l->clock[log] = i;
    add_points(&l->axes[i], l->trids[log]);
    return 0;
}

int pt_sync_logs_open(struct pt_sync_logs *l)
{
    int error = 0;

    l->clock = calloc(l->count, sizeof *l->clock);
    l->axes = calloc(PT_SYNC_HOSTS, sizeof *l->axes);
    if (!l->clock || !l->axes)
        return ENOMEM;
    for (size_t i = 0; i < l->count && !error; i++)
        error = find_clock(l, i);
    for (size_t i = 0; i < l->clocks && !error; i++)
        error = make_line(&l->axes[i]);
    for (size_t i = 0; i < l->count && !error; i++) {
        error = posixtrace_set_clock_map(l->trids[i], l->axes[l->clock[i]].line, 2);
        if (!error)
            error = posix_trace_rewind(l->trids[i]);
        if (!error)
            add_range(&l->axes[l->clock[i]], l->trids[i]);
    }
    return error;
}

void pt_sync_logs_close(struct pt_sync_logs *l)
{
    for (size_t i = 0; l->clock && i < l->count; i++) {
        posixtrace_set_clock_map(l->trids[i], NULL, 0);
        posix_trace_rewind(l->trids[i]);
    }
    free(l->clock);
    free(l->axes);
}

/* ---- the kernel ---- */

/* Readings after the last step: before it the clock was wrong by more than it was known to be. */
static uint64_t last_step(trace_id_t trid)
{
    struct posixtrace_clock_point p;
    uint64_t ticks = 0;

    for (size_t i = 0; posixtrace_clock_point(trid, i, &p, sizeof p) == 0; i++)
        if (p.step)
            ticks = p.ticks;
    return ticks;
}

int pt_sync_logs_kernel(struct pt_sync_logs *l, size_t clock, struct pt_sync_channel *from_utc,
                        struct pt_sync_channel *to_utc)
{
    struct pt_sync_axis *a = &l->axes[clock];
    struct posixtrace_clock_reading r;
    uint64_t step = 0;
    int error = 0;

    for (size_t i = 0; i < l->count; i++)
        if (l->clock[i] == clock && last_step(l->trids[i]) > step)
            step = last_step(l->trids[i]);
    for (size_t i = 0; i < l->count && !error; i++)
        for (size_t k = 0; l->clock[i] == clock && !error &&
                           posixtrace_clock_reading(l->trids[i], k, &r, sizeof r) == 0;
             k++) {
            int64_t at = pt_sync_axis_at(a, r.ticks), by = r.most_error_ns + READING_NS;

            if (!r.synchronised || r.ticks < step || r.ns < 0 || r.ns > MOST_NS || at < 0 ||
                at > MOST_NS)
                continue;
            a->kernel++;
            a->error_ns = by > a->error_ns ? by : a->error_ns;
            error = pt_sync_channel_add(from_utc, r.ns - by, at);
            if (!error)
                error = pt_sync_channel_add(to_utc, at, r.ns + by);
        }
    return error;
}
