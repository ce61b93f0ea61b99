/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * metrics --histogram: how many measurements of each metric are from 1 to 2, 2 to 5, 5 to 10 of
 * each power of ten.  Each bar of the statistics, whose width is 1/256 of its value, is counted
 * where its middle lies.
 */
#include "metrics/metrics_view.h"

#include <inttypes.h>
#include <stdlib.h>

#include "common/draw.h"
#include "common/stdout_buffer.h"
#include "common/units.h"

enum { STEPS = 58, BAR = 40 }; /* 0, then three for each power of ten that an int64_t has */

static int64_t step_ns(unsigned step)
{
    static const int64_t within[] = { 1, 2, 5 };
    int64_t power = 1;

    if (step == 0)
        return 0;
    for (unsigned i = 0; i < (step - 1) / 3; i++)
        power *= 10;
    return within[(step - 1) % 3] > INT64_MAX / power ? INT64_MAX : within[(step - 1) % 3] * power;
}

static unsigned step_of(int64_t ns)
{
    unsigned step = 0;

    while (step + 1 < STEPS && ns >= step_ns(step + 1))
        step++;
    return step;
}

static void print_steps(const uint64_t counts[STEPS], bool utf8)
{
    unsigned first = 0, last = STEPS - 1;
    uint64_t most = 0;

    while (counts[first] == 0)
        first++;
    while (counts[last] == 0)
        last--;
    for (unsigned i = first; i <= last; i++)
        most = counts[i] > most ? counts[i] : most;
    for (unsigned i = first; i <= last; i++) {
        unsigned end = i;

        while (counts[end] == 0)
            end++;
        if (end - i > 2) {
            out_text("      ...\n");
            i = end;
        }
        out_format("%9s to %6s %12s", units_time(step_ns(i)),
                   i + 1 < STEPS ? units_time(step_ns(i + 1)) : "", units_count(counts[i]));
        out_text(counts[i] > 0 ? "  " : "");
        draw_bar((int64_t)counts[i], (int64_t)most, BAR, utf8);
        out_text("\n");
    }
}

static void print_histogram(const struct metrics_view *v, const struct metrics_group *all,
                            bool utf8)
{
    const posixtrace_metric_t *metric = v->pick->metrics[all->metric];
    char *name = metrics_shown(OUTPUT_TEXT, posixtrace_metric_name(metric));
    uint64_t counts[STEPS] = { 0 }, count, sum = 0;
    int64_t from, to;

    for (size_t i = 0; posixtrace_statistics_bar(all->statistics, i, &from, &to, &count) == 0;
         i++) {
        if (count > 0)
            counts[step_of(from + (to - from) / 2)] += count;
        sum += count;
    }
    if (sum > 0) {
        out_format("\n# %s: %s measurement%s%s\n", name, units_count(sum), sum == 1 ? "" : "s",
                   all->bounds > 0 ? ", the upper bounds of them" : "");
        print_steps(counts, utf8);
    }
    free(name);
}

void metrics_print_histograms(const struct metrics_view *v)
{
    bool utf8 = draw_is_utf8();

    for (size_t i = 0; i < v->pick->count; i++) {
        struct metrics_group all = { .metric = i };

        if (metrics_view_merge(v, i, &all) == 0)
            print_histogram(v, &all, utf8);
        posixtrace_statistics_free(all.statistics);
    }
}
