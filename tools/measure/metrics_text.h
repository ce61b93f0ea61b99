/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * How times, threads and names of measurements are written.
 */
#ifndef METRICS_TEXT_H
#define METRICS_TEXT_H

#include <stdint.h>
#include <sys/types.h>
#include <posixtrace/metrics.h>

#include "common/format_option.h"

/* Rounded, and the nearest number that there is where a double is beyond them. */
int64_t metrics_rounded(double ns);

/* "12.345": ns in us with three decimals; one of eight static buffers, reused in turn. */
const char *metrics_us(int64_t ns);
/* The same of an upper bound: "unlimited" from POSIXTRACE_NO_BOUND on. */
const char *metrics_us_at_most(int64_t ns);
/* "12.345 us", "unlimited" */
const char *metrics_us_or_unlimited(int64_t ns);
/* "up to 12.345 us", "any length" */
const char *metrics_up_to(int64_t ns);
/* An upper bound with three digits and a unit. */
const char *metrics_time_at_most(int64_t ns);
/* The same for a lower and an upper bound: "12.345" or "12.345..99.000". */
const char *metrics_us_range(int64_t ns, int64_t at_most_ns);
/* How a thread is called in tables: its kernel id, else its pthread_t. */
const char *metrics_thread(pid_t tid, uint64_t thread_id);
/* A name as it is shown; for free(). */
char *metrics_shown(enum output_format format, const char *name);
/* "# Period: from one begin ..."; for free(). */
char *metrics_caption(const posixtrace_metric_t *metric);
/* A name, written, in csv and jsonl with its quotes. */
void metrics_put_name(enum output_format format, const char *name);

#endif
