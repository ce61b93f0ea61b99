/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * See metrics_jobs.h.
 */
#include "metrics/metrics_jobs.h"

#include <string.h>

enum { PERIODS_MIN = 3 };

static const char released[] = "Response Time";
static const char *const others[] = { "Execution Time", "Job System Time", "Period",
                                      "Jitter",         "Deadline Miss",   NULL };

bool metrics_is_of_jobs(const posixtrace_metric_t *metric)
{
    const char *name = posixtrace_metric_name(metric);
    const char *const *other = others;

    while (*other && strcmp(*other, name) != 0)
        other++;
    return *other || strcmp(name, released) == 0;
}

size_t metrics_jobs_released(const struct metrics_pick *p)
{
    for (size_t i = 0; i < p->count; i++) {
        if (!p->list[i].own && strcmp(posixtrace_metric_name(p->metrics[i]), released) == 0)
            return i;
    }
    return SIZE_MAX;
}

bool metrics_is_periodic(const struct metrics_view *v, const struct metrics_group *g)
{
    const struct metrics_group *jobs = v->groups.begins == SIZE_MAX
                                           ? NULL
                                           : metrics_groups_find(&v->groups, v->groups.begins, g);
    struct posixtrace_summary s;
    double median;

    if (!jobs || !jobs->apart)
        return false;
    posixtrace_statistics_summary(jobs->apart, &s, sizeof s);
    median = (double)posixtrace_statistics_percentile(jobs->apart, 50);
    return s.count >= PERIODS_MIN &&
           (double)posixtrace_statistics_percentile(jobs->apart, 25) >= 0.9 * median &&
           (double)posixtrace_statistics_percentile(jobs->apart, 75) <= 1.1 * median;
}
