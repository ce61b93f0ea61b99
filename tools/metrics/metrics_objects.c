/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * metrics --by=object: a row for each object of a process, of the metrics by object, those with the
 * largest sum first.
 */
#include "metrics/metrics_rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/stdout_buffer.h"
#include "common/table.h"
#include "common/tool.h"
#include "common/units.h"
#include "measure/metrics_text.h"

enum { LABEL = 64 };

static size_t columns_of(const struct metrics_view *v, struct table_column *to)
{
    size_t count = 0;

    to[count++] = (struct table_column){ .title = "# OBJECT", .left = true, .flexible = true };
    to[count++] = (struct table_column){
        .title = "LOG", .hidden = true, .left = true, .flexible = true
    };
    to[count++] = (struct table_column){ .title = "PROCESS", .optional = true };
    to[count++] = (struct table_column){ .title = "COUNT" };
    to[count++] = (struct table_column){ .title = "TOTAL" };
    to[count++] = (struct table_column){ .title = "MEAN" };
    count = metrics_row_columns(v, to, count, false);
    to[count++] = (struct table_column){ .title = "MAX" };
    to[count++] = (struct table_column){ .title = "UNKNOWN",
                                         .hidden = true,
                                         .colour = COLOUR_ALARM };
    to[count++] = (struct table_column){
        .title = "LONGEST IN", .colour = COLOUR_THREAD, .left = true, .flexible = true
    };
    return count;
}

static const char *object_label(const struct metrics_view *v, const struct metrics_group *g)
{
    static char text[SITES_TEXT];

    if (!g->of_object)
        snprintf(text, sizeof text, "all");
    else if (g->others)
        snprintf(text, sizeof text, "(others)");
    else if (g->object == 0 && g->least_count == 0)
        snprintf(text, sizeof text, "(any)");
    else
        snprintf(text, sizeof text, "%s",
                 metrics_object_name(v, g->where, g->pid, g->longest_at_ns, g->object));
    return text;
}

static void thread_cell(struct table *t, const struct metrics_group *g)
{
    char *name = metrics_shown(OUTPUT_TEXT, g->longest_thread);
    size_t size = strlen(name) + LABEL;
    char *text = tool_grow(NULL, size, 1);

    snprintf(text, size, "%s %s", metrics_thread(g->longest_tid, g->longest_thread_id), name);
    table_cell(t, text);
    free(text);
    free(name);
}

static void table_row(struct table *t, const struct metrics_view *v, const struct metrics_row *r)
{
    const struct metrics_group *g = r->group;
    bool bound = g->bounds > 0;

    table_add_row(t);
    table_cell(t, object_label(v, g));
    table_cell(t, g->of_object ? metrics_view_label(v, g->where) : v->several ? "" : "-");
    table_cell(t, g->of_object ? metrics_thread(g->pid, 0) : "");
    table_cell(t, units_count(r->s.count));
    if (r->s.count > 0) {
        metrics_time_cell(t, r->total, bound);
        metrics_time_cell(t, r->mean, bound);
    }
    for (int i = 0; r->s.count == 0 && i < 2; i++)
        table_cell(t, "-");
    metrics_row_percentiles(t, v, r);
    metrics_time_cell(t, r->worst, bound || r->sure < r->worst || r->s.count == 0);
    table_cell(t, g->unknown > 0 ? units_count(g->unknown) : "-");
    thread_cell(t, g);
}

/* ---- rows in order ---- */

struct shown {
    const struct metrics_group *group;
    double total;
};

static int by_total(const void *a, const void *b)
{
    const struct shown *x = a, *y = b;

    if (x->total != y->total)
        return x->total > y->total ? -1 : 1;
    return x->group < y->group ? -1 : x->group > y->group;
}

/* The groups of the metric, to be freed. */
static size_t groups_of(const struct metrics_view *v, size_t metric, struct shown **list)
{
    size_t count = 0;

    *list = tool_grow(NULL, v->groups.count + 1, sizeof **list);
    for (size_t i = 0; i < v->groups.count; i++) {
        const struct metrics_group *g = &v->groups.rows[i];
        struct posixtrace_summary s;

        if (g->metric != metric || !metrics_view_shows(v, g))
            continue;
        posixtrace_statistics_summary(g->statistics, &s, sizeof s);
        (*list)[count++] = (struct shown){ g, s.mean_ns * (double)s.count };
    }
    if (count > 0)
        qsort(*list, count, sizeof **list, by_total);
    return count;
}

static void put_row(struct table *t, const struct metrics_view *v, const struct metrics_group *g)
{
    struct metrics_row r;

    metrics_row_fill(&r, v, g);
    if (v->form.format == OUTPUT_CSV)
        metrics_row_csv(v, &r);
    else if (v->form.format == OUTPUT_JSONL)
        metrics_row_jsonl(v, &r);
    else
        table_row(t, v, &r);
}

static void add_all(struct table *t, const struct metrics_view *v, size_t metric)
{
    struct metrics_group all = { .metric = metric };

    if (metrics_view_merge(v, metric, &all) == 0)
        put_row(t, v, &all);
    posixtrace_statistics_free(all.statistics);
}

static size_t add_metric(struct table *t, const struct metrics_view *v, size_t metric)
{
    bool text = v->form.format == OUTPUT_TEXT;
    struct shown *list;
    size_t count = groups_of(v, metric, &list);
    char *caption = metrics_caption(v->pick->metrics[metric]);

    if (text && count > 0)
        table_add_caption(t, caption);
    for (size_t i = 0; i < count; i++)
        put_row(t, v, list[i].group);
    if (text && count > 1)
        add_all(t, v, metric);
    free(caption);
    free(list);
    return count;
}

void metrics_print_objects(const struct metrics_view *v)
{
    struct table_column columns[TABLE_COLUMNS];
    struct table t;
    size_t count = 0;

    table_init(&t, columns, columns_of(v, columns));
    for (size_t i = 0; i < v->pick->count; i++)
        if (posixtrace_metric_by_object(v->pick->metrics[i]))
            count += add_metric(&t, v, i);
    table_print(&t);
    table_free(&t);
    if (count > 0)
        metrics_remarks_below();
    else
        metrics_remark(v,
                       "no metric by object has a measurement in %s; 'posixtrace record "
                       "--system=locks,io -- CMD' records what those of the set \"linux\" need",
                       v->shown);
}
