/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Beside what metrics_view.h declares of it: do the events of the user's own metrics
 * exist?
 */
#ifndef METRICS_DOUBTS_H
#define METRICS_DOUBTS_H

#include "metrics/metrics_view.h"

/* EXIT_DONE, or a message named the one that the log has no type for, and similar names.  A
 * log without any events has nothing to compare with: EXIT_DONE. */
int metrics_check_events(const struct metrics_view *v);

/* A sentence about a metric that has measurements, or may have; and why one has none. */
void metrics_say_sum(const struct metrics_view *v, size_t metric, const struct metrics_sum *sum);
void metrics_say_why(const struct metrics_view *v, size_t metric, const struct metrics_sum *sum);

/* How many events the log has lost: a type without events may have had some of them. */
uint64_t metrics_lost(const struct metrics_view *v);

/* Has the run an event of those that 'record --system=calls' records? */
bool metrics_saw_calls(const struct metrics_view *v);

/* All that it needs is there, and it has measured something, for all that is known. */
bool metrics_is_unknown(const struct metrics_view *v, size_t metric, const struct metrics_sum *sum);

/* Which metrics without any event in the log a gap may hide, and for how long at most; all: also
 * those that no gap hides. */
void metrics_say_unheard(const struct metrics_view *v, bool all);

/* Names the metrics that leave out time off the processor, in a log that does not have it. */
void metrics_say_waits(const struct metrics_view *v);

#endif
