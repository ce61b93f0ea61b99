/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Metrics about the jobs of periodic threads.  Any thread that sleeps twice has them, and
 * of most they mean nothing: the summary and the statistics show them for threads that are
 * periodic.
 */
#ifndef METRICS_JOBS_H
#define METRICS_JOBS_H

#include "metrics/metrics_view.h"

/* By its name: those of the set "linux" that are about jobs. */
bool metrics_is_of_jobs(const posixtrace_metric_t *metric);

/* Whose measurements begin when a job is released: its place, or SIZE_MAX. */
size_t metrics_jobs_released(const struct metrics_pick *p);

/* Has the thread of the group released at least four jobs, and are half of the times from one
 * release to the next within a tenth of their median?  After metrics_groups_name(). */
bool metrics_is_periodic(const struct metrics_view *v, const struct metrics_group *g);

#endif
