/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* The pass that makes rows of measurements, and what its sources of rows share. */
#ifndef PT_TABLES_MEASUREMENTS_H
#define PT_TABLES_MEASUREMENTS_H

#include <posixtrace/symbols.h>
#include "analysis/report/report_state.h"
#include "analysis/tables/causes.h"
#include "analysis/tables/tables_state.h"

/* The metrics of a log: those of the set linux for which it has an event, then pairs. */
struct pt_tables_metrics {
    posixtrace_metric_set_t *set;
    const posixtrace_metric_t **list;
    size_t count, own; /* own: of count, at the end: pairs */
};

struct pt_tables_pass {
    posixtrace_tables_t *t;
    struct pt_table_row *row;
    struct pt_tables_metrics metrics;
    posixtrace_metric_run_t *run;
    posixtrace_report_t *report;
    posixtrace_symbols_t *symbols;        /* NULL: no sites */
    const struct posixtrace_event *event; /* that is taken; NULL: none */
    int64_t first_ns, last_ns;
    struct pt_tables_causes causes; /* if they are asked for */
    struct pt_report_map measured;  /* metric: its kind, and the greatest length */
};

/* ---- pairs.c ---- */

/* 0, ENOMEM or an error of the list of event types. */
int pt_tables_metrics_make(struct pt_tables_metrics *m, const posixtrace_tables_t *t);
void pt_tables_metrics_free(struct pt_tables_metrics *m);

/* ---- waits.c ---- */

/* Makes the report, whose waits become rows. */
int pt_tables_waits_begin(struct pt_tables_pass *p);
void pt_tables_waits_end(struct pt_tables_pass *p);

#endif
