/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* Sets of metrics, and the texts that the library brings along. */
#ifndef PT_METRICS_SET_H
#define PT_METRICS_SET_H

#include "metrics/machine.h"

struct posixtrace_metric_set {
    posixtrace_metric_t **metrics;
    size_t count;
    char  *user;             /* the text of its metric $NAME, or NULL */
};

/* Made of the files in sets/; ends with a row of NULL. */
extern const struct pt_set_text {
    const char *name, *text;
} pt_set_texts[];

#endif
