/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * A row for each metric that has measurements, over all threads; see metrics_view.h.
 * "<=" stands before an upper bound: of metrics with only bounds known, and of the longest
 * where events were lost in measurements that may have been longer.
 */
#include "metrics/metrics_rows.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/units.h"
#include "common/stdout_buffer.h"
#include "common/table.h"
#include "common/tool.h"
#include "measure/metrics_text.h"

struct sum {
    posixtrace_statistics_t *statistics; /* of all threads */
    double total_ns;
    bool bound;                                    /* these are upper bounds */
    int64_t at_most_ns;                            /* an unknown one */
    const struct metrics_group *longest, *at_most; /* the groups of the longest and of that */
};

static int add_group(struct sum *sum, const struct metrics_group *g)
{
    struct posixtrace_summary all, s;

    posixtrace_statistics_summary(sum->statistics, &all, sizeof all);
    posixtrace_statistics_summary(g->statistics, &s, sizeof s);
    if (s.count > 0 && (all.count == 0 || s.max_ns > all.max_ns))
        sum->longest = g;
    sum->total_ns += s.mean_ns * (double)s.count;
    sum->bound |= g->bounds > 0;
    if (g->unknown > 0 && (!sum->at_most || g->at_most_ns > sum->at_most_ns)) {
        sum->at_most_ns = g->at_most_ns;
        sum->at_most = g;
    }
    return posixtrace_statistics_merge(sum->statistics, g->statistics);
}

static int sum_up(const struct metrics_view *v, size_t metric, struct sum *sum)
{
    int error = posixtrace_statistics_create(&sum->statistics);

    for (size_t i = 0; error == 0 && i < v->groups.count; i++) {
        const struct metrics_group *g = &v->groups.rows[i];

        if (g->metric == metric && metrics_view_shows(v, g))
            error = add_group(sum, g);
    }
    return error;
}

static void name_cell(struct table *t, const char *before, const char *name)
{
    char *text = metrics_shown(OUTPUT_TEXT, name);
    size_t size = strlen(before) + strlen(text) + 2;
    char *both = tool_grow(NULL, size, 1);

    snprintf(both, size, "%s%s%s", before, *before && *text ? " " : "", text);
    table_cell(t, both);
    free(both);
    free(text);
}

static void add_row(struct table *t, const struct metrics_view *v, size_t metric,
                    const struct sum *sum)
{
    struct metrics_group all = { .metric = metric,
                                 .statistics = sum->statistics,
                                 .bounds = sum->bound };
    const struct metrics_group *g = sum->longest;
    struct metrics_row r;

    metrics_row_fill(&r, v, &all);
    table_add_row(t);
    name_cell(t, "", posixtrace_metric_name(v->pick->metrics[metric]));
    table_cell(t, units_count(r.s.count));
    if (r.s.count == 0) {
        table_cell(t, "-");
        table_cell(t, "-");
    } else {
        metrics_time_cell(t, metrics_rounded(sum->total_ns), sum->bound);
        metrics_time_cell(t, r.mean, sum->bound);
    }
    metrics_row_percentiles(t, v, &r);
    if (sum->at_most && (sum->at_most_ns > r.s.max_ns || r.s.count == 0)) {
        metrics_time_cell(t, sum->at_most_ns, true);
        g = sum->at_most;
    } else {
        metrics_time_cell(t, r.s.max_ns, sum->bound);
    }
    table_cell(t, !v->several ? "-" : !g || g->others ? "" : metrics_view_label(v, g->where));
    name_cell(t,
              !g          ? "-"
              : g->others ? ""
                          : metrics_thread(g->tid, g->thread_id),
              g ? g->thread : "");
}

static void add_caption(struct table *t, const char *about)
{
    char text[400];

    snprintf(text, sizeof text, "# %s", about);
    table_add_caption(t, text);
}

/* Rows of the metrics with this text about them, or of those of the set. */
static void add_block(struct table *t, const struct metrics_view *v, size_t first)
{
    const struct metrics_pick *p = v->pick;
    const char *about = posixtrace_metric_about(p->metrics[first]);
    bool own = p->list[first].own != NULL, any = false;

    for (size_t i = first; i < p->count; i++) {
        struct sum sum = { .statistics = NULL };

        if ((p->list[i].own != NULL) != own ||
            (own && strcmp(posixtrace_metric_about(p->metrics[i]), about) != 0))
            continue;
        if (metrics_view_has(v, i) && sum_up(v, i, &sum) == 0) {
            if (!any && p->has_own)
                add_caption(t, own ? about : "metrics of the set");
            any = true;
            add_row(t, v, i, &sum);
        }
        posixtrace_statistics_free(sum.statistics);
    }
}

/* Is it the first one of its block? */
static bool begins_block(const struct metrics_pick *p, size_t place)
{
    for (size_t i = 0; i < place; i++) {
        if ((p->list[i].own != NULL) == (p->list[place].own != NULL) &&
            (!p->list[place].own || strcmp(posixtrace_metric_about(p->metrics[i]),
                                           posixtrace_metric_about(p->metrics[place])) == 0))
            return false;
    }
    return true;
}

/* Rows of csv or jsonl. */
static void print_rows(const struct metrics_view *v)
{
    for (size_t i = 0; i < v->pick->count; i++) {
        struct metrics_group all = { .metric = i };
        struct metrics_row r;

        if (metrics_view_has(v, i) && metrics_view_merge(v, i, &all) == 0) {
            metrics_row_fill(&r, v, &all);
            if (v->form.format == OUTPUT_CSV)
                metrics_row_csv(v, &r);
            else
                metrics_row_jsonl(v, &r);
        }
        posixtrace_statistics_free(all.statistics);
    }
}

static size_t summary_columns(const struct metrics_view *v, struct table_column *to)
{
    size_t count = 0;

    to[count++] = (struct table_column){
        .title = "# METRIC", .colour = COLOUR_NAME, .left = true, .flexible = true
    };
    to[count++] = (struct table_column){ .title = "COUNT" };
    to[count++] = (struct table_column){ .title = "TOTAL" };
    to[count++] = (struct table_column){ .title = "MEAN" };
    count = metrics_row_columns(v, to, count, false);
    to[count++] = (struct table_column){ .title = "MAX" };
    to[count++] = (struct table_column){
        .title = "LOG", .hidden = true, .left = true, .flexible = !v->keys
    };
    to[count++] = (struct table_column){
        .title = "LONGEST IN", .colour = COLOUR_THREAD, .left = true, .flexible = true
    };
    return count;
}

void metrics_print_summary(const struct metrics_view *v)
{
    struct table_column columns[TABLE_COLUMNS];
    const struct metrics_pick *p = v->pick;
    struct table t;

    if (v->form.format != OUTPUT_TEXT) {
        print_rows(v);
        return;
    }
    table_init(&t, columns, summary_columns(v, columns));
    for (int own = 1; own >= 0; own--) {
        for (size_t i = 0; i < p->count; i++) {
            if ((p->list[i].own != NULL) == own && begins_block(p, i))
                add_block(&t, v, i);
        }
    }
    table_print(&t);
    table_free(&t);
}
