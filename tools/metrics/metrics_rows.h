/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The numbers of a row of statistics, and the row in csv and jsonl.
 */
#ifndef METRICS_ROWS_H
#define METRICS_ROWS_H

#include "metrics/metrics_view.h"

struct metrics_row {
    const char *metric;
    const struct metrics_group *group;
    struct posixtrace_summary s;
    int64_t percentile[METRICS_PERCENTILES];
    int64_t worst;
    int64_t sure; /* the longest lasted that long at least */
    int64_t total, mean, deviation;
    int64_t least_mean;
};

void metrics_row_fill(struct metrics_row *r, const struct metrics_view *v,
                      const struct metrics_group *g);

/* The row of a thread, an object or, where the group has neither, of all. */
void metrics_row_csv_heading(const struct metrics_view *v);
void metrics_row_csv(const struct metrics_view *v, const struct metrics_row *r);
void metrics_row_jsonl(const struct metrics_view *v, const struct metrics_row *r);
/* The members of its numbers, by json_out.h. */
void metrics_row_members(const struct metrics_view *v, const struct metrics_row *r);

/* The object as text: a thread, a variable, a number.  In a static buffer. */
const char *metrics_object_name(const struct metrics_view *v, struct metrics_where where, pid_t pid,
                                int64_t ns, uint64_t object);
/* "object_symbol", if there is a variable at the address; "object_thread", if it is one. */
void metrics_put_symbol(const struct metrics_view *v, struct metrics_where where, pid_t pid,
                        int64_t ns, uint64_t object);

/* The columns of percentiles: where they end.  The titles are in static buffers. */
struct table_column;
size_t metrics_row_columns(const struct metrics_view *v, struct table_column *to, size_t count,
                           bool optional);
/* Their cells, "-" without measurements. */
void metrics_row_percentiles(struct table *t, const struct metrics_view *v,
                             const struct metrics_row *r);

#endif
