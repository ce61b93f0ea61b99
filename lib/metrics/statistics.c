/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Statistics of lengths in bounded memory.  Values below 128 ns have a bar each; above,
 * each power of two has 64 bars, made when the first value falls into it.  A bar's middle
 * is off by 1/128 of the value at most.  Mean and deviation by Welford's recurrence,
 * and Chan's for sums of two.
 */
#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <posixtrace/metrics.h>

enum { BARS = 64, SMALL = 2 * BARS, POWERS = 64 - 7 };   /* POWERS: 2^7 to 2^63 */

struct posixtrace_statistics {
    uint64_t count;
    int64_t  min, max;
    double   mean, squares;      /* sum of squared differences to the mean */
    uint64_t small[SMALL];
    uint64_t *bars[POWERS];
};

int posixtrace_statistics_create(posixtrace_statistics_t **statistics)
{
    *statistics = calloc(1, sizeof **statistics);
    return *statistics ? 0 : ENOMEM;
}

void posixtrace_statistics_free(posixtrace_statistics_t *statistics)
{
    for (unsigned i = 0; statistics && i < POWERS; i++)
        free(statistics->bars[i]);
    free(statistics);
}

static unsigned power_of(uint64_t value)
{
    return 63u - (unsigned)__builtin_clzll(value);
}

/* Apart, so that what comes again and again is short. */
__attribute__((noinline)) static bool make_bars(posixtrace_statistics_t *s, unsigned power)
{
    s->bars[power - 7] = calloc(BARS, sizeof(uint64_t));
    return s->bars[power - 7] != NULL;
}

static inline uint64_t *bar_of(posixtrace_statistics_t *s, int64_t ns)
{
    uint64_t value = ns > 0 ? (uint64_t)ns : 0;
    unsigned power;

    if (value < SMALL)
        return &s->small[value];
    power = power_of(value);
    if (!s->bars[power - 7] && !make_bars(s, power))
        return NULL;
    return &s->bars[power - 7][value >> (power - 6) & (BARS - 1)];
}

int posixtrace_statistics_add(posixtrace_statistics_t *s, int64_t ns)
{
    uint64_t *bar = bar_of(s, ns);
    double difference = (double)ns - s->mean;

    if (!bar)
        return ENOMEM;
    ++*bar;
    s->min = s->count == 0 || ns < s->min ? ns : s->min;
    s->max = s->count == 0 || ns > s->max ? ns : s->max;
    s->count++;
    s->mean += difference / (double)(int64_t)s->count;   /* signed: one instruction */
    s->squares += difference * ((double)ns - s->mean);
    return 0;
}

static bool has_room_for(posixtrace_statistics_t *to, const posixtrace_statistics_t *from)
{
    for (unsigned i = 0; i < POWERS; i++)
        if (from->bars[i] && !to->bars[i] &&
            !(to->bars[i] = calloc(BARS, sizeof(uint64_t))))
            return false;
    return true;
}

int posixtrace_statistics_merge(posixtrace_statistics_t *to, const posixtrace_statistics_t *from)
{
    double difference = from->mean - to->mean;
    double all = (double)to->count + (double)from->count;

    if (from->count == 0)
        return 0;
    if (!has_room_for(to, from))
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
    return 0;
}

void posixtrace_statistics_summary(const posixtrace_statistics_t *s,
                                   struct posixtrace_summary *summary)
{
    *summary = (struct posixtrace_summary){ .count = s->count };
    if (s->count == 0)
        return;
    summary->min_ns = s->min;
    summary->max_ns = s->max;
    summary->mean_ns = s->mean;
    summary->deviation_ns = sqrt(s->squares / (double)s->count);
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

bool posixtrace_statistics_bar(const posixtrace_statistics_t *statistics, size_t *cursor,
                               int64_t *from_ns, int64_t *to_ns, uint64_t *count)
{
    while (*cursor < SMALL + (size_t)(POWERS - 1) * BARS) {
        *count = read_bar(statistics, (*cursor)++, from_ns, to_ns);
        if (*count > 0)
            return true;
    }
    return false;
}

int64_t posixtrace_statistics_percentile(const posixtrace_statistics_t *s, double percent)
{
    /* A percent is rarely a binary fraction (99.9): what reaches the rank but for the
     * rounding of these reaches it, in whatever precision they are computed. */
    double wanted = percent / 100 * (double)s->count * (1 - 4 * DBL_EPSILON);
    int64_t from, to, middle;
    uint64_t seen = 0, n;
    size_t cursor = 0;

    if (s->count == 0 || !(percent > 0))
        return s->min;
    while (posixtrace_statistics_bar(s, &cursor, &from, &to, &n)) {
        seen += n;
        if ((double)seen < wanted)
            continue;
        middle = from + (to - from) / 2;
        return middle < s->min ? s->min : middle > s->max ? s->max : middle;
    }
    return s->max;
}
