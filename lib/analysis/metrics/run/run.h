/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * A run whose caller reads the events, since it needs them for something else, too.
 */
#ifndef PT_METRICS_RUN_H
#define PT_METRICS_RUN_H

#include <posixtrace/event.h>
#include <posixtrace/metrics.h>

/* In place of posixtrace_metric_run_take(): the next event.  0, ENOMEM or the result of
 * measured. */
int pt_metric_run_event(posixtrace_metric_run_t *run, const struct posixtrace_event *event);
/* The reader left events out before the next one. */
void pt_metric_run_unread(posixtrace_metric_run_t *run);

#endif
