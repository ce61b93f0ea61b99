/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Statistics of lengths in bounded memory.  Values below 512 ns have a bar each; above,
 * each power of two has 256 bars, made when the first value falls into it.  A bar's middle
 * is off by 1/512 of the value at most.  The first values are kept as well: percentiles are
 * exact as long as all are there.  Mean and deviation by Welford's recurrence, and Chan's for
 * sums of two.
 */
#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <posixtrace/metrics.h>
#include "base/assert.h"

enum { LOW = 9, BARS = 1 << (LOW - 1), SMALL = 2 * BARS, POWERS = 64 - LOW, KEPT_MAX = 1024 };

#define ALL_BARS (SMALL + (size_t)(POWERS - 1) * BARS) /* no value has the last power */

struct posixtrace_statistics {
    uint64_t count;
    int64_t min, max;
    double mean, squares; /* sum of squared differences to the mean */
    uint64_t small[SMALL];
    uint64_t *bars[POWERS]; /* of values from 2^LOW on, by powers of two */
    int64_t *kept;          /* all values, while there are at most KEPT_MAX; else NULL */
    size_t kept_room;
};

int posixtrace_statistics_create(posixtrace_statistics_t **statistics)
{
    if (!statistics)
        return EINVAL;
    *statistics = calloc(1, sizeof **statistics);
    return *statistics ? 0 : ENOMEM;
}

void posixtrace_statistics_free(posixtrace_statistics_t *statistics)
{
    for (unsigned i = 0; statistics && i < POWERS; i++)
        free(statistics->bars[i]);
    if (statistics)
        free(statistics->kept);
    free(statistics);
}

/* Do the bars hold as many values as were added, and are all kept while they are few? */
PT_VALIDATOR bool bars_are_valid(const posixtrace_statistics_t *s)
{
    uint64_t count = 0;

    for (unsigned i = 0; i < SMALL; i++)
        count += s->small[i];
    for (unsigned i = 0; i < POWERS; i++)
        for (unsigned k = 0; s->bars[i] && k < BARS; k++)
            count += s->bars[i][k];
    return count == s->count && (s->kept == NULL) == (s->count == 0 || s->count > KEPT_MAX);
}

static unsigned power_of(uint64_t value)
{
    return 63u - (unsigned)__builtin_clzll(value);
}

/* Out of line, so that the frequent path is short. */
__attribute__((noinline)) static bool make_bars(posixtrace_statistics_t *s, unsigned power)
{
    s->bars[power - LOW] = calloc(BARS, sizeof(uint64_t));
    return s->bars[power - LOW] != NULL;
}

static inline uint64_t *bar_of(posixtrace_statistics_t *s, int64_t ns)
{
    uint64_t value = ns > 0 ? (uint64_t)ns : 0;
    unsigned power;

    if (value < SMALL)
        return &s->small[value];
    power = power_of(value);
    pt_assert(power >= LOW && power - LOW < POWERS);
    if (!s->bars[power - LOW] && !make_bars(s, power))
        return NULL;
    return &s->bars[power - LOW][value >> (power - LOW + 1) & (BARS - 1)];
}

static bool make_room(posixtrace_statistics_t *s, size_t count)
{
    size_t room = s->kept_room ? s->kept_room : 16;
    int64_t *more;

    while (room < count)
        room *= 2;
    more = realloc(s->kept, room * sizeof *more);
    if (!more)
        return false;
    s->kept = more;
    s->kept_room = room;
    return true;
}

static void keep_none(posixtrace_statistics_t *s)
{
    free(s->kept);
    s->kept = NULL;
    s->kept_room = 0;
}

/* Apart, as make_bars(): of many values it is the first ones that are kept. */
__attribute__((noinline)) static bool keep(posixtrace_statistics_t *s, int64_t ns)
{
    if (s->count == KEPT_MAX) {
        keep_none(s);
        return true;
    }
    if (s->count == s->kept_room && !make_room(s, s->count + 1))
        return false;
    pt_assert(s->count < KEPT_MAX && s->count < s->kept_room);
    s->kept[s->count] = ns;
    return true;
}

int posixtrace_statistics_add(posixtrace_statistics_t *s, int64_t ns)
{
    uint64_t *bar = bar_of(s, ns);
    double difference = (double)ns - s->mean;

    if (!bar || (s->count <= KEPT_MAX && !keep(s, ns)))
        return ENOMEM;
    ++*bar;
    s->min = s->count == 0 || ns < s->min ? ns : s->min;
    s->max = s->count == 0 || ns > s->max ? ns : s->max;
    s->count++;
    s->mean += difference / (double)(int64_t)s->count; /* signed: one instruction */
    s->squares += difference * ((double)ns - s->mean);
    return 0;
}

static bool has_room_for(posixtrace_statistics_t *to, const posixtrace_statistics_t *from)
{
    for (unsigned i = 0; i < POWERS; i++)
        if (from->bars[i] && !to->bars[i] && !(to->bars[i] = calloc(BARS, sizeof(uint64_t))))
            return false;
    return true;
}

static bool keep_all(posixtrace_statistics_t *to, const posixtrace_statistics_t *from)
{
    if (to->count + from->count > KEPT_MAX) {
        keep_none(to);
        return true;
    }
    if (to->count + from->count > to->kept_room && !make_room(to, to->count + from->count))
        return false;
    memcpy(to->kept + to->count, from->kept, from->count * sizeof *from->kept);
    return true;
}

int posixtrace_statistics_merge(posixtrace_statistics_t *to, const posixtrace_statistics_t *from)
{
    double difference = from->mean - to->mean;
    double all = (double)to->count + (double)from->count;

    if (from->count == 0)
        return 0;
    if (!has_room_for(to, from) || !keep_all(to, from))
        return ENOMEM;
    for (unsigned i = 0; i < SMALL; i++)
        to->small[i] += from->small[i];
    for (unsigned i = 0; i < POWERS; i++)
        for (unsigned k = 0; from->bars[i] && k < BARS; k++)
            to->bars[i][k] += from->bars[i][k];
    to->squares += from->squares +
                   difference * difference * (double)to->count * (double)from->count / all;
    to->mean += difference * (double)from->count / all;
    to->min = to->count == 0 || from->min < to->min ? from->min : to->min;
    to->max = to->count == 0 || from->max > to->max ? from->max : to->max;
    to->count += from->count;
    pt_assert(to->min <= to->max);
    pt_assert_valid(bars_are_valid(to));
    return 0;
}

void posixtrace_statistics_summary(const posixtrace_statistics_t *s,
                                   struct posixtrace_summary *summary, size_t size)
{
    struct posixtrace_summary all = { .count = s->count };

    if (s->count > 0) {
        all.min_ns = s->min;
        all.max_ns = s->max;
        all.mean_ns = s->mean;
        all.deviation_ns = sqrt(s->squares / (double)s->count);
    }
    memset(summary, 0, size);
    memcpy(summary, &all, size < sizeof all ? size : sizeof all);
}

/* Bars are numbered: the small ones, then those of each power. */
static uint64_t read_bar(const posixtrace_statistics_t *s, size_t n, int64_t *from, int64_t *to)
{
    size_t power, k;
    uint64_t width;

    if (n < SMALL) {
        *from = *to = (int64_t)n;
        return s->small[n];
    }
    power = (n - SMALL) / BARS;
    k = (n - SMALL) % BARS;
    width = UINT64_C(2) << power;
    *from = (int64_t)(width * (BARS + k));
    *to = (int64_t)(width * (BARS + k) + (width - 1));
    return s->bars[power] ? s->bars[power][k] : 0;
}

int posixtrace_statistics_bar(const posixtrace_statistics_t *statistics, size_t index,
                              int64_t *from_ns, int64_t *to_ns, uint64_t *count)
{
    if (!statistics || !from_ns || !to_ns || !count)
        return EINVAL;
    if (index >= ALL_BARS)
        return ENOENT;
    *count = read_bar(statistics, index, from_ns, to_ns);
    return 0;
}

static int by_size(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;

    return *x < *y ? -1 : *x > *y;
}

/* The rank-th value from below of a bar; values that are not positive are in the first bar. */
static int64_t pick_kept(const posixtrace_statistics_t *s, int64_t from, int64_t to, uint64_t rank)
{
    int64_t values[KEPT_MAX];
    size_t count = 0;

    for (size_t i = 0; i < s->count; i++)
        if ((from == 0 || s->kept[i] >= from) && s->kept[i] <= to)
            values[count++] = s->kept[i];
    qsort(values, count, sizeof values[0], by_size);
    pt_assert(rank > 0 && rank <= count);
    return values[rank - 1];
}

int64_t posixtrace_statistics_percentile(const posixtrace_statistics_t *s, double percent)
{
    /* A percentage is rarely a binary fraction (99.9).  The factor ignores its rounding error, so
     * that the rank is the same in any precision of the computation. */
    double wanted = percent / 100 * (double)s->count * (1 - 4 * DBL_EPSILON);
    int64_t from, to, middle;
    uint64_t before = 0, n;

    pt_assert_valid(bars_are_valid(s));
    if (s->count == 0 || !(percent > 0))
        return s->min;
    for (size_t i = 0; i < ALL_BARS; i++) {
        n = read_bar(s, i, &from, &to);
        before += n;
        if ((double)before < wanted)
            continue;
        before -= n;
        if (s->kept)
            return pick_kept(s, from, to, (uint64_t)ceil(wanted) - before);
        middle = from + (to - from) / 2;
        return middle < s->min ? s->min : middle > s->max ? s->max : middle;
    }
    return s->max;
}
