/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* The result of a response-time analysis, as a table, csv or jsonl. */
#ifndef RTA_PRINT_H
#define RTA_PRINT_H

#include "metrics/metrics_view.h"
#include "rta/rta_log.h"

struct rta_result {
    const struct rta_task *tasks;
    const struct rta_seen *seen; /* NULL: there was no log */
    size_t count;
    const struct metrics_cost *cost;
    struct metrics_select *select;
    int64_t switch_ns;               /* of a context switch */
    bool ceiling;                    /* B is of priority ceilings */
    const struct rta_growth *growth; /* or NULL */
    bool at_most;                    /* values are upper bounds of measurements */
    size_t capped;                   /* tasks whose DUW was longer than that of the first: */
    const struct rta_task *first;
};

void rta_print(const struct rta_result *result, enum output_format format);

#endif
