/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* The ways of a metric as they are written, and their tables. */
#ifndef PT_METRICS_RESOLVE_H
#define PT_METRICS_RESOLVE_H

#include "analysis/metrics/language/parse.h"

enum pt_label { PT_LABEL_EVENT, PT_LABEL_LAMBDA, PT_LABEL_STAR };

struct pt_written {
    enum pt_label kind;
    size_t state; /* that it leaves */
    char event[PT_NAME_MAX], target[PT_NAME_MAX];
    bool of[PT_WHO];
    struct pt_way way; /* without its target */
    unsigned line, column, target_line, target_column;
};

struct pt_written_list {
    struct pt_written *at;
    size_t count, room;
};

/* Appends a zeroed one; NULL: no memory. */
struct pt_written *pt_written_add(struct pt_written_list *list);
/* Makes events and ways of m; false: p->error is set. */
bool pt_resolve(struct pt_parser *p, posixtrace_metric_t *m, struct pt_written_list *list);

#endif
