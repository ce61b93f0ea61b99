/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * What a metric of the user's measures: elapsed time, or elapsed time less the time off
 * the processor and in system calls.  Only context switches and the events of calls show
 * the latter.  Until the first of these has come the automaton would measure elapsed time:
 * such measurements are withheld and counted.
 */
#ifndef METRICS_TIME_H
#define METRICS_TIME_H

#include "metrics/metrics_view.h"

/* Before the first event.  v->withheld is for free(). */
void metrics_time_begin(struct metrics_view *v);

/* Can the time of the metric at that place have been measured?  Else the measurement is
 * counted as withheld.  One that is unknown has an upper bound, which elapsed time is, too. */
bool metrics_time_holds(struct metrics_part *part, size_t place,
                        const struct posixtrace_measurement *m);

/* Says, in a table or to stderr, how many were withheld and why. */
void metrics_time_report(const struct metrics_view *v, size_t place);

#endif
