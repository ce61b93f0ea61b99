/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Measuring several logs.  Each is measured by itself; its measurements, in the order of their
 * ends, are merged with those of the others.  In memory is what each log's own measuring needs, and
 * the measurements that one batch of its events ended.
 */
#ifndef METRICS_SEVERAL_H
#define METRICS_SEVERAL_H

#include "metrics/metrics_view.h"

/* A measurement that is shown in its place among those of other logs. */
void metrics_several_queue(struct metrics_part *part, struct metrics_where where,
                           const struct posixtrace_measurement *m);

/* Takes the logs of the view to their ends; their runs are begun.  EXIT_DONE, or another status
 * after a message. */
int metrics_several_take(struct metrics_view *v);

#endif
