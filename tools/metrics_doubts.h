/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Beside what metrics_view.h declares of it: do the events of the user's own metrics
 * exist?
 */
#ifndef METRICS_DOUBTS_H
#define METRICS_DOUBTS_H

#include "metrics_view.h"

/* EXIT_DONE, or it was said which one the log has no type for, and what is near.  A log
 * without any event types of a program has nothing to compare with: EXIT_DONE. */
int metrics_check_events(const struct metrics_view *v);

#endif
