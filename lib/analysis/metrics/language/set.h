/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* Sets of metrics, and the texts that the library brings along. */
#ifndef PT_METRICS_SET_H
#define PT_METRICS_SET_H

#include "analysis/metrics/language/machine.h"

struct posixtrace_metric_set {
    posixtrace_metric_t **metrics;
    size_t count;
    char *user; /* the text of its metric $NAME, or NULL */
};

/* Made of the files in sets/; ends with a row of NULL. */
extern const struct pt_set_text {
    const char *name, *text;
} pt_set_texts[];

/* The metric that text, a metric $NAME, is with values: a name, an initial and a final event.
 * fault: or NULL. */
int pt_metric_fill(const char *text, const char *const values[3], posixtrace_metric_t **metric,
                   struct posixtrace_metric_fault *fault);

#endif
