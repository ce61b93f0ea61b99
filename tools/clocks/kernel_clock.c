/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * See kernel_clock.h.  A bound holds where the kernel gave it.  With the distance from there it
 * grows by 500 ppm, as the kernel's own does between two adjustments.
 */
#include "clocks/kernel_clock.h"

#include <posixtrace/clock.h>
#include <stdlib.h>
#include <string.h>

#include "common/tool.h"

enum {
    PPM = 1000000,
    GROWTH_PPM = 500,
    READING_NS = 1000 /* how far apart the clocks of a reading are read */
};

struct clock_table {
    struct posixtrace_clock_point *points;
    size_t count, last_step; /* SIZE_MAX: the clock was not set */
};

static struct clock_table table_of(trace_id_t trid)
{
    struct clock_table t = { .last_step = SIZE_MAX };
    struct posixtrace_clock_point p;

    while (posixtrace_clock_point(trid, t.count, &p, sizeof p) == 0) {
        t.points = tool_grow(t.points, t.count + 1, sizeof *t.points);
        if (p.step)
            t.last_step = t.count;
        t.points[t.count++] = p;
    }
    return t;
}

static uint64_t distance(int64_t a, int64_t b)
{
    return a > b ? (uint64_t)a - (uint64_t)b : (uint64_t)b - (uint64_t)a;
}

/* INT64_MAX where it is more. */
static int64_t sum(uint64_t a, uint64_t b)
{
    uint64_t both;

    return __builtin_add_overflow(a, b, &both) || both > INT64_MAX ? INT64_MAX : (int64_t)both;
}

/* ticks * slope >> 32; UINT64_MAX where it is more. */
static uint64_t ns_of(uint64_t ticks, uint64_t slope)
{
    uint64_t fraction = slope & UINT32_MAX, ns,
             less = (ticks >> 32) * fraction + ((ticks & UINT32_MAX) * fraction >> 32);

    if (__builtin_mul_overflow(ticks, slope >> 32, &ns) || __builtin_add_overflow(ns, less, &ns))
        return UINT64_MAX;
    return ns;
}

/* The log's time at these ticks. */
static int64_t time_at(const struct clock_table *t, uint64_t ticks)
{
    const struct posixtrace_clock_point *p = t->points;
    int64_t ns;

    if (t->count == 0)
        return sum(ticks, 0);
    for (size_t i = 1; i < t->count && t->points[i].ticks <= ticks; i++)
        p = &t->points[i];
    if (ticks < p->ticks)
        return __builtin_sub_overflow(p->ns, ns_of(p->ticks - ticks, p->slope), &ns) ? INT64_MIN
                                                                                     : ns;
    return __builtin_add_overflow(p->ns, ns_of(ticks - p->ticks, p->slope), &ns) ? INT64_MAX : ns;
}

static int by_time(const void *a, const void *b)
{
    const struct kernel_reading *x = a, *y = b;

    return x->ns < y->ns ? -1 : x->ns > y->ns;
}

void kernel_clock_make(struct kernel_clock *k, trace_id_t trid)
{
    struct clock_table t = table_of(trid);
    struct posixtrace_clock_reading r;

    *k = (struct kernel_clock){ .from_ns = INT64_MIN };
    if (t.last_step != SIZE_MAX)
        k->from_ns = t.points[t.last_step].ns;
    for (size_t i = 0; posixtrace_clock_reading(trid, i, &r, sizeof r) == 0; i++) {
        int64_t ns = time_at(&t, r.ticks);

        if (!r.synchronised || r.most_error_ns < 0 ||
            (t.last_step != SIZE_MAX && r.ticks < t.points[t.last_step].ticks))
            continue;
        k->at = tool_grow(k->at, k->count + 1, sizeof *k->at);
        k->at[k->count++] = (struct kernel_reading){
            ns, sum(distance(r.ns, ns), sum((uint64_t)r.most_error_ns, READING_NS))
        };
    }
    free(t.points);
    if (k->count > 0)
        qsort(k->at, k->count, sizeof *k->at, by_time);
}

void kernel_clock_free(struct kernel_clock *k)
{
    free(k->at);
    *k = (struct kernel_clock){ .at = NULL };
}

static int64_t error_from(const struct kernel_reading *r, int64_t ns)
{
    uint64_t apart = distance(r->ns, ns), whole = apart / PPM, rest = apart % PPM;

    return sum((uint64_t)r->error_ns, whole * GROWTH_PPM + (rest * GROWTH_PPM + PPM - 1) / PPM);
}

int64_t kernel_clock_error(const struct kernel_clock *k, int64_t ns)
{
    size_t low = 0, high = k->count;
    int64_t before = INT64_MAX, after = INT64_MAX;

    if (k->count == 0 || ns < k->from_ns)
        return INT64_MAX;
    while (low < high) { /* the first one after that time */
        size_t middle = low + (high - low) / 2;

        if (k->at[middle].ns <= ns)
            low = middle + 1;
        else
            high = middle;
    }
    if (low > 0)
        before = error_from(&k->at[low - 1], ns);
    if (low < k->count)
        after = error_from(&k->at[low], ns);
    return before < after ? before : after;
}
