/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Pairs of event types x:begin and x:end, which are measured as elapsed time without being
 * asked for: as --user=x:x\:begin:x\:end.
 */
#ifndef METRICS_PAIRS_H
#define METRICS_PAIRS_H

#include "metrics/metrics_view.h"

/* Adds those that the log knows now, if all of a set is measured, or those that are wanted by
 * name.  For each log.  EXIT_DONE, or it was said. */
int metrics_pairs_add(struct metrics_pick *p, const struct log_file *log);
/* After the last log: EXIT_DONE, or a message named one that is wanted and that no log has. */
int metrics_pairs_check(const struct metrics_pick *p);

/* Says which ones the log, a stream or a pipe, knew too late. */
void metrics_pairs_report(const struct metrics_view *v);

/* ---- --pair: metrics_keys.c ---- */

/* A pick of these pairs alone; the texts end with NULL.  EXIT_DONE, or it was said. */
int metrics_keys_pick(struct metrics_pick *pick, const char *set_word, const char *const *texts);
/* Begins the run of v->keys, and takes the logs to their ends.  EXIT_DONE, or it was said. */
int metrics_keys_begin(struct metrics_view *v);
int metrics_keys_take(struct metrics_view *v);
/* Remarks: what was not measured, and why. */
void metrics_keys_report(const struct metrics_view *v);

#endif
