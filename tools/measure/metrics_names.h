/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Event names that metrics ask for and no system event has: probably misspelt, since the
 * prefixes "posixtrace_" and "posix_trace_" are the system's.
 */
#ifndef METRICS_NAMES_H
#define METRICS_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <posixtrace/metrics.h>

/* All that an automaton can meet, NULL at the end. */
const char *const *metrics_system_names(void);

/* Has it the prefix of a system event, and is none? */
bool metrics_name_is_wrong(const char *event);

/* Calls say for each wrong name of the metric, with a sentence; how many there are. */
unsigned metrics_names_check(const posixtrace_metric_t *metric,
                             void (*say)(void *context, const char *sentence), void *context);

#endif
