/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Metrics over all of a log, or over a stream or log while it is made.
 */
#ifndef METRICS_MEASURE_H
#define METRICS_MEASURE_H

#include <stdbool.h>
#include <posixtrace/metrics.h>

#include "input/follow.h"
#include "input/log_file.h"

/* Has the run seen the events without which the metric measures nothing?  Where none is
 * needed by itself, one of those that it looks at will do. */
bool metrics_hears(const posixtrace_metric_run_t *run, const posixtrace_metric_t *metric);
/* One of those that it looks at. */
bool metrics_hears_any(const posixtrace_metric_run_t *run, const posixtrace_metric_t *metric);

/* Takes so many events of the log; *ended: there are no more, and the run is at its end, too.
 * EXIT_DONE, or it was said. */
int metrics_take_some(posixtrace_metric_run_t *run, const struct log_file *log, uint64_t events,
                      bool *ended);

/* Takes the log to its end and shows how far it is.  EXIT_DONE, or it was said. */
int metrics_take_log(posixtrace_metric_run_t *run, const struct log_file *log);

/* Takes what comes until the stream, the log's writer or the user ends it; what was
 * printed is shown before each wait.  EXIT_DONE, or it was said. */
int metrics_take_live(posixtrace_metric_run_t *run, struct follow *f);

#endif
