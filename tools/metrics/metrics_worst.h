/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The longest measurements of a metric, over all groups that are shown.
 */
#ifndef METRICS_WORST_H
#define METRICS_WORST_H

#include "metrics/metrics_view.h"

struct metrics_worst {
    const struct posixtrace_measurement *m;
    const struct metrics_group *group;
};

/* The longest first, as many as were asked for at most; how many.  For free(). */
size_t metrics_worst_of(const struct metrics_view *v, size_t metric, struct metrics_worst **list);

/* 'posixtrace print --from=... LOG' for the time of the measurement; for free(). */
char *metrics_worst_command(const struct metrics_view *v, struct metrics_where where,
                            const struct posixtrace_measurement *m);

#endif
