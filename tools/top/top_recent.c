/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See top_recent.h. */
#include "top/top_recent.h"

#include <stdlib.h>
#include <string.h>

#include "common/tool.h"
#include "text/sum.h"

enum { NS = 1000000000, STEPS = 16, LOW_BITS = 4 };

/* 0 to 15 have a bar each; then each power of two has 16. */
static unsigned bar_of(int64_t length)
{
    uint64_t value = length > 0 ? (uint64_t)length : 0;
    unsigned shift;

    if (value < STEPS)
        return (unsigned)value;
    shift = 63 - LOW_BITS - (unsigned)__builtin_clzll(value);
    return STEPS * (shift + 1) + (unsigned)(value >> shift) - STEPS;
}

/* The middle of a bar. */
static int64_t length_of(unsigned bar)
{
    unsigned shift = bar / STEPS > 0 ? bar / STEPS - 1 : 0;
    uint64_t low = bar < STEPS ? bar : (uint64_t)(STEPS + bar % STEPS) << shift;

    return (int64_t)(low + (shift > 0 ? UINT64_C(1) << (shift - 1) : 0));
}

/* NULL: it is before the last minute. */
static struct top_second *second_for(struct top_recent *r, int64_t second)
{
    unsigned i = (unsigned)((uint64_t)second % TOP_SECONDS);
    struct top_second *s = &r->of[i];

    if (second < 0 || second < s->second)
        return NULL;
    if (second > s->second) {
        *s = (struct top_second){ .second = second };
        if (r->bars)
            memset(r->bars[i], 0, sizeof r->bars[i]);
    }
    return s;
}

/* The seconds of the last minute each get their part of that time. */
static void add_busy(struct top_recent *r, int64_t begin, int64_t end)
{
    int64_t second = end / NS, to = end;
    struct top_second *s;

    while (to > begin && (s = second_for(r, second)) != NULL) {
        int64_t from = begin > second * NS ? begin : second * NS;

        pt_sum_add(&s->busy_ns, to - from);
        to = from;
        second--;
    }
}

void top_recent_add(struct top_recent *r, int64_t ns, int64_t length, int64_t watched_ns,
                    int with_bars)
{
    struct top_second *s;

    if (with_bars && !r->bars) {
        r->bars = tool_grow(NULL, TOP_SECONDS, sizeof *r->bars);
        memset(r->bars, 0, TOP_SECONDS * sizeof *r->bars);
    }
    s = ns < 0 ? NULL : second_for(r, ns / NS);
    if (!s)
        return;
    s->count++;
    pt_sum_add(&s->total_ns, length);
    if (length > s->max_ns)
        s->max_ns = length;
    if (r->bars)
        r->bars[s - r->of][bar_of(length)]++;
    add_busy(r, ns - length, ns);
    if (ns < watched_ns)
        return;
    r->since.count++;
    pt_sum_add(&r->since.busy_ns, length < ns - watched_ns ? length : ns - watched_ns);
}

static const struct top_second *second_at(const struct top_recent *r, int64_t second)
{
    const struct top_second *s = &r->of[(uint64_t)second % TOP_SECONDS];

    return s->second == second ? s : NULL;
}

struct top_total top_recent_total(const struct top_recent *r, int64_t now, int seconds)
{
    struct top_total sum = { .count = 0 };

    for (int64_t second = now - seconds; second < now; second++) {
        const struct top_second *s = second_at(r, second);

        if (!s)
            continue;
        sum.count += s->count;
        pt_sum_add(&sum.total_ns, s->total_ns);
        pt_sum_add(&sum.busy_ns, s->busy_ns);
        if (s->max_ns > sum.max_ns)
            sum.max_ns = s->max_ns;
    }
    return sum;
}

/* The least length that 'rank' of the counted ones do not exceed. */
static int64_t at_rank(const uint64_t bars[TOP_BARS], uint64_t rank)
{
    uint64_t before = 0;
    unsigned bar = 0;

    while (bar < TOP_BARS - 1 && before + bars[bar] < rank)
        before += bars[bar++];
    return length_of(bar);
}

void top_recent_percentiles(const struct top_recent *r, int64_t now, int seconds, int64_t *p50,
                            int64_t *p99)
{
    struct top_total sum = top_recent_total(r, now, seconds);
    uint64_t bars[TOP_BARS] = { 0 };

    *p50 = *p99 = 0;
    if (sum.count == 0 || !r->bars)
        return;
    for (int64_t second = now - seconds; second < now; second++) {
        const struct top_second *s = second_at(r, second);

        for (unsigned i = 0; s && i < TOP_BARS; i++)
            bars[i] += r->bars[s - r->of][i];
    }
    *p50 = at_rank(bars, sum.count - sum.count / 2);
    *p99 = at_rank(bars, sum.count - sum.count / 100);
    /* The middle of the last bar may lie above all lengths in it. */
    *p50 = *p50 < sum.max_ns ? *p50 : sum.max_ns;
    *p99 = *p99 < sum.max_ns ? *p99 : sum.max_ns;
}

void top_recent_free(struct top_recent *r)
{
    free(r->bars);
    r->bars = NULL;
}
