/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* metrics --histogram: how many measurements of each metric have which length. */
#include "metrics/metrics_view.h"

#include <stdlib.h>

#include "common/draw.h"
#include "common/stdout_buffer.h"
#include "common/units.h"
#include "measure/metrics_text.h"

static void print_histogram(const struct metrics_view *v, const struct metrics_group *all,
                            bool utf8)
{
    char *name = metrics_shown(OUTPUT_TEXT, posixtrace_metric_name(v->pick->metrics[all->metric]));
    struct posixtrace_summary s;

    posixtrace_statistics_summary(all->statistics, &s, sizeof s);
    if (s.count > 0) {
        out_format("\n# %s: %s measurement%s%s\n", name, units_count(s.count),
                   s.count == 1 ? "" : "s", all->bounds > 0 ? ", the upper bounds of them" : "");
        draw_steps(all->statistics, utf8);
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
