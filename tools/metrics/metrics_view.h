/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * What posixtrace metrics shows: measurements as they come (the paper's figure 1), or
 * statistics of them by thread; the largest of each thread (figure 4); and what could
 * not be measured and why.
 */
#ifndef METRICS_VIEW_H
#define METRICS_VIEW_H

#include <stdbool.h>
#include <stdint.h>
#include <posixtrace/metrics.h>
#include <posixtrace/pair.h>

#include "common/format_option.h"
#include "input/log_file.h"
#include "common/sites.h"
#include "measure/metrics_cost.h"
#include "measure/metrics_groups.h"
#include "measure/metrics_pick.h"
#include "measure/metrics_form.h"
#include "measure/pair_bounds.h"
#include "metrics/metrics_select.h"

/* A measurement that is not shown yet. */
struct metrics_waiting {
    struct metrics_where where;
    struct posixtrace_measurement m;
};

/* A log of the view: it is measured by itself, since its gaps, threads and objects are of no
 * other. */
struct metrics_part {
    struct metrics_view *view;
    uint32_t place; /* among the logs */
    struct log_file *log;
    const char *label; /* "" where it is the only one */
    struct metrics_select *select;
    struct sites *sites; /* names of locks and awaited threads */
    posixtrace_metric_run_t *run;
    bool has_switches, has_calls; /* so far; metrics_time.h */
    /* By place of the metric, of several logs: has it one of its types?  After the end: is what is
     * unknown of it a result? */
    bool *knows, *hears;
    struct metrics_waiting *queue; /* in the order of their ends; metrics_several.c */
    size_t queue_first, queue_count, queue_room;
};

struct metrics_view {
    const struct metrics_pick *pick;
    struct metrics_part *parts;
    size_t part_count;
    posixtrace_pair_run_t *keys; /* of --pair: in place of the runs of the parts */
    struct pair_bounds pair_bounds;
    int64_t *pair_widest; /* by place, at the end: pair_bounds_widest() */
    const char *shown;    /* the log or the logs, for messages */
    bool several;         /* rows and lines name their logs */
    struct metrics_groups groups;
    struct metrics_cost cost;
    struct metrics_form form;
    bool has_origin;
    int64_t origin;               /* times of tables count from here */
    size_t last;                  /* place of the metric measured last */
    uint64_t *withheld;           /* by place; metrics_time.h */
    struct metrics_waiting *held; /* unknown ones of metrics that were not heard of yet */
    size_t held_count, held_room;
    bool *heard; /* by place: metrics_view_hears(), after the end of the runs */
};

/* A sum over the groups of a metric, and what the run says of it. */
struct metrics_sum {
    uint64_t count;
    int64_t max_ns;
    uint64_t bounds; /* of them, and what the least of all would be */
    int64_t least_max_ns;
    double sum_ns, least_sum_ns;
    int64_t at_most_ns;                    /* of an unknown one of a thread that has events */
    size_t shown, hidden;                  /* groups; hidden: metrics_view_leaves_out() */
    uint64_t hidden_count, hidden_unknown; /* the same of the hidden ones: measurements, places */
    int64_t hidden_at_most_ns;
    struct posixtrace_doubt doubt; /* unknown is without the hidden groups, the rest of all */
    bool of_log;                   /* the rest is of the whole log, not of the selection */
};

/* The callback of posixtrace_metric_run_create(); context is a part. */
int metrics_view_measured(void *context, const struct posixtrace_measurement *m);

/* Is each measurement shown as it comes? */
static inline bool metrics_view_shows_each(const struct metrics_view *v)
{
    return v->form.rows == METRICS_EACH && v->form.worst == 0;
}
/* Shows it, now or at the end. */
void metrics_view_show(struct metrics_view *v, struct metrics_where where,
                       const struct posixtrace_measurement *m);

/* Headings. */
void metrics_view_begin(struct metrics_view *v);
/* metrics_several.c.  Several logs: each is measured by itself; its measurements, in the order of
 * their ends, are merged with those of the others.  In memory is what each log's own measuring
 * needs, and the measurements that one batch of its events ended. */
/* A measurement that is shown in its place among those of other logs. */
void metrics_several_queue(struct metrics_part *part, struct metrics_where where,
                           const struct posixtrace_measurement *m);
/* Takes the logs of the view to their ends; their runs are begun.  EXIT_DONE, or another status
 * after a message. */
int metrics_several_take(struct metrics_view *v);

/* What follows the measurements; after the end of the run. */
void metrics_view_end(struct metrics_view *v);
/* Frees what waits to be shown. */
void metrics_view_drop(struct metrics_view *v);

/* Is the group of a thread for which the summary and the statistics do not show the metric?
 * True for a metric of jobs of a thread that is not periodic, if all metrics of a set are
 * measured. */
bool metrics_view_leaves_out(const struct metrics_view *v, const struct metrics_group *g);

/* Is what is unknown of the metric a result?  Where the run has an event that it looks at, or
 * where it was asked for: a gap may hide all of its events. */
bool metrics_view_hears(const struct metrics_view *v, size_t metric);

/* Has the group a measurement, or may it have had one?  Not of a metric that is not heard. */
bool metrics_view_shows(const struct metrics_view *v, const struct metrics_group *g);

/* Has that log an event that the metric looks at, or a type of it, or was the metric asked for? */
bool metrics_view_hears_in(const struct metrics_view *v, size_t metric, uint32_t log);

/* The same for any group of the metric. */
bool metrics_view_has(const struct metrics_view *v, size_t metric);

/* A line of the table of measurements; times count from the first one. */
void metrics_print_line(struct metrics_view *v, struct metrics_where where,
                        const struct posixtrace_measurement *m);
/* The heading of that table. */
void metrics_print_line_heading(const struct metrics_view *v);

void metrics_print_summary(const struct metrics_view *v);
/* A cell with a time, of three digits. */
struct table;
void metrics_time_cell(struct table *t, int64_t ns, bool at_most);
void metrics_print_statistics(const struct metrics_view *v);
/* By object. */
void metrics_print_objects(const struct metrics_view *v);
/* What --histogram and --worst add. */
void metrics_print_histograms(const struct metrics_view *v);
void metrics_print_worst(struct metrics_view *v);
/* A measurement, as a line of the format. */
void metrics_view_put(struct metrics_view *v, struct metrics_where where,
                      const struct posixtrace_measurement *m);

/* ---- metrics_parts.c: of all logs of the view ---- */

/* Has a run seen an event of that name?  Those that the metric needs?  One that it looks at? */
bool metrics_view_saw(const struct metrics_view *v, const char *event);
bool metrics_view_hears_needed(const struct metrics_view *v, const posixtrace_metric_t *metric);
bool metrics_view_hears_any(const struct metrics_view *v, const posixtrace_metric_t *metric);
/* Sums; at_most_ns is the greatest. */
void metrics_view_doubt(const struct metrics_view *v, size_t metric,
                        struct posixtrace_doubt *doubt);
uint64_t metrics_view_events(const struct metrics_view *v);
/* "A.ptl"; "A.ptl > B.ptl" of a pair of two logs; "-" where there is one log.  In one of four
 * static buffers, as text of a terminal. */
const char *metrics_view_label(const struct metrics_view *v, struct metrics_where where);
/* The members "log" and, of a pair of two logs, "begin_log"; nothing where there is one log. */
void metrics_view_put_logs(const struct metrics_view *v, struct metrics_where where);
/* The same as columns of csv, "" where there is one log: in the heading, and in a row. */
const char *metrics_view_csv_logs(const struct metrics_view *v);
void metrics_view_put_csv_logs(const struct metrics_view *v, struct metrics_where where);
/* For each part: which metrics it has types of.  EXIT_DONE, or another status after a message. */
int metrics_view_learn(struct metrics_view *v);
/* The event types of all logs, each name once; *types is for free(). */
int metrics_view_types(const struct metrics_view *v, struct log_type **types, size_t *count);
/* Was anything selected?  In words. */
bool metrics_view_is_selected(const struct metrics_view *v);
const char *metrics_view_selection(const struct metrics_view *v);
void metrics_print_json(const struct metrics_view *v);
/* The groups of the metric that are shown, as one; statistics are for free().  0 or ENOMEM. */
int metrics_view_merge(const struct metrics_view *v, size_t metric, struct metrics_group *all);
void metrics_print_largest(const struct metrics_view *v);

void metrics_view_sum(const struct metrics_view *v, size_t metric, struct metrics_sum *sum);

/* Lines about measurements that are not known, and about metrics without any. */
void metrics_print_doubts(const struct metrics_view *v);
/* The same below the summary and the statistics, where the table has the counts. */
void metrics_print_brief(const struct metrics_view *v);

/* A sentence of the result: in a table below it, wrapped, else on stderr. */
__attribute__((format(printf, 2, 3))) void metrics_remark(const struct metrics_view *v,
                                                          const char *format, ...);

/* A table was written: a blank line is due before the next remark. */
void metrics_remarks_below(void);

#endif
