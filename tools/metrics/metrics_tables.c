/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Statistics by metric and thread, and the largest measurement of each thread as in
 * the paper's figure 4; see metrics_view.h.
 */
#include "metrics/metrics_rows.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/units.h"
#include "common/utf8.h"
#include "common/stdout_buffer.h"
#include "common/table.h"
#include "common/tool.h"
#include "input/logs.h"
#include "measure/metrics_text.h"

enum { LARGEST_THREAD = 8 + 2 + METRICS_THREAD_NAME };

/* ---- statistics ---- */

static size_t statistics_columns(const struct metrics_view *v, struct table_column *to)
{
    bool optional = v->form.percent_count == 4; /* as by default */
    size_t count = 0;

    to[count++] = (struct table_column){ .title = "#  TASK" };
    to[count++] = (struct table_column){ .title = "COUNT" };
    to[count++] = (struct table_column){ .title = "MIN" };
    to[count++] = (struct table_column){ .title = "MEAN" };
    to[count++] = (struct table_column){ .title = "DEV", .optional = true };
    count = metrics_row_columns(v, to, count, optional);
    to[count++] = (struct table_column){ .title = "MAX" };
    to[count++] = (struct table_column){ .title = "UNKNOWN",
                                         .hidden = true,
                                         .colour = COLOUR_ALARM };
    to[count++] = (struct table_column){
        .title = "LOG", .hidden = true, .left = true, .flexible = !v->keys
    };
    to[count++] = (struct table_column){
        .title = "THREAD", .colour = COLOUR_THREAD, .left = true, .flexible = true
    };
    return count;
}

static void table_row(struct table *t, const struct metrics_view *v, const char *task,
                      const struct metrics_row *r)
{
    const struct metrics_group *g = r->group;
    bool bound = g->bounds > 0;
    char *name = metrics_shown(OUTPUT_TEXT, g->thread);

    table_add_row(t);
    table_cell(t, task);
    table_cell(t, units_count(r->s.count));
    if (r->s.count > 0) {
        metrics_time_cell(t, r->s.min_ns, bound);
        metrics_time_cell(t, r->mean, bound);
        table_cell(t, bound ? "-" : units_time(r->deviation));
    }
    for (int i = 0; r->s.count == 0 && i < 3; i++)
        table_cell(t, "-");
    metrics_row_percentiles(t, v, r);
    metrics_time_cell(t, r->worst, bound || r->sure < r->worst || r->s.count == 0);
    table_cell(t, g->unknown > 0 ? units_count(g->unknown) : "-");
    table_cell(t, !v->several                        ? "-"
                  : g->tid == 0 && g->thread_id == 0 ? ""
                                                     : metrics_view_label(v, g->where));
    table_cell(t, name);
    free(name);
}

/* Before the first row of a metric. */
static void add_caption(struct table *t, const struct metrics_view *v, size_t place)
{
    char *text = metrics_caption(v->pick->metrics[place]);

    table_add_caption(t, text);
    free(text);
}

/* After the rows of several threads. */
static void add_all(struct table *t, const struct metrics_view *v, size_t metric)
{
    struct metrics_group all = { .metric = metric };
    struct metrics_row r;

    if (metrics_view_merge(v, metric, &all) == 0) {
        strcpy(all.thread, "(all)");
        metrics_row_fill(&r, v, &all);
        table_row(t, v, "all", &r);
    }
    posixtrace_statistics_free(all.statistics);
}

static void add_threads(struct table *t, const struct metrics_view *v, size_t metric)
{
    struct metrics_row r;
    size_t count = 0;

    for (size_t i = 0; i < v->groups.count; i++) {
        const struct metrics_group *g = &v->groups.rows[i];

        if (g->metric != metric || !metrics_view_shows(v, g))
            continue;
        metrics_row_fill(&r, v, g);
        if (v->form.format == OUTPUT_CSV)
            metrics_row_csv(v, &r);
        else if (v->form.format == OUTPUT_JSONL)
            metrics_row_jsonl(v, &r);
        else if (count == 0)
            add_caption(t, v, metric);
        if (v->form.format == OUTPUT_TEXT)
            table_row(t, v, metrics_thread(g->tid, g->thread_id), &r);
        count++;
    }
    if (count > 1 && v->form.format == OUTPUT_TEXT)
        add_all(t, v, metric);
}

void metrics_print_statistics(const struct metrics_view *v)
{
    struct table_column columns[TABLE_COLUMNS];
    struct table t;

    table_init(&t, columns, statistics_columns(v, columns));
    for (size_t i = 0; i < v->pick->count; i++)
        add_threads(&t, v, i);
    table_print(&t);
    table_free(&t);
}

/* ---- figure 4 ---- */

/* The cell of a group, which may be NULL. */
static const char *largest_of(const struct metrics_view *v, const struct metrics_group *g)
{
    struct metrics_row r;

    if (!g || !metrics_view_shows(v, g))
        return "-";
    metrics_row_fill(&r, v, g);
    return metrics_us_range(r.sure, r.worst);
}

/* Of a metric's column. */
static size_t width_of(const struct metrics_view *v, size_t metric)
{
    const char *name = posixtrace_metric_name(v->pick->metrics[metric]);
    size_t width = utf8_columns(name, strlen(name));

    for (size_t i = 0; i < v->groups.count; i++) {
        const struct metrics_group *g = &v->groups.rows[i];
        size_t cell = g->metric == metric ? strlen(largest_of(v, g)) : 0;

        width = cell > width ? cell : width;
    }
    return width;
}

/* Metrics from *next on that fit beside the threads; marks them, and moves *next on. */
static size_t choose(const struct metrics_view *v, size_t *next, bool *chosen)
{
    size_t used = LARGEST_THREAD + (v->several ? LOGS_LABEL + 2 : 0), count = 0;

    memset(chosen, 0, v->pick->count * sizeof *chosen);
    for (; *next < v->pick->count && count + 3 < TABLE_COLUMNS; ++*next) {
        if (!metrics_view_has(v, *next))
            continue;
        used += width_of(v, *next) + 2;
        if (count > 0 && used > out_columns())
            break;
        chosen[*next] = true;
        count++;
    }
    return count;
}

static void largest_row(struct table *t, const struct metrics_view *v, const bool *chosen,
                        const struct metrics_group *thread)
{
    char *name = metrics_shown(OUTPUT_TEXT, thread->thread);

    table_add_row(t);
    table_cell(t, metrics_thread(thread->tid, thread->thread_id));
    table_cell(t, metrics_view_label(v, thread->where));
    for (size_t m = 0; m < v->pick->count; m++) {
        if (chosen[m])
            table_cell(t, largest_of(v, metrics_groups_find(&v->groups, m, thread)));
    }
    table_cell(t, name);
    free(name);
}

/* Is there a group of the same thread and a chosen metric before that one? */
static bool is_repeated(const struct metrics_view *v, const bool *chosen, size_t place)
{
    const struct metrics_group *g = &v->groups.rows[place];

    for (size_t m = 0; m < g->metric; m++) {
        const struct metrics_group *other = chosen[m] ? metrics_groups_find(&v->groups, m, g)
                                                      : NULL;

        if (other && metrics_view_shows(v, other))
            return true;
    }
    return false;
}

static int by_thread(const void *a, const void *b)
{
    const struct metrics_group *x = *(const struct metrics_group *const *)a;
    const struct metrics_group *y = *(const struct metrics_group *const *)b;

    return metrics_groups_compare_threads(x, y);
}

/* A line for each thread that has one of the chosen metrics. */
static void largest_rows(struct table *t, const struct metrics_view *v, const bool *chosen)
{
    const struct metrics_group **threads = tool_grow(NULL, v->groups.count, sizeof *threads);
    size_t count = 0;

    for (size_t i = 0; i < v->groups.count; i++) {
        if (chosen[v->groups.rows[i].metric] && metrics_view_shows(v, &v->groups.rows[i]) &&
            !is_repeated(v, chosen, i))
            threads[count++] = &v->groups.rows[i];
    }
    qsort(threads, count, sizeof *threads, by_thread);
    for (size_t i = 0; i < count; i++)
        largest_row(t, v, chosen, threads[i]);
    free(threads);
}

/* The columns of the chosen metrics; the titles are for free(). */
static void largest_columns(const struct metrics_view *v, const bool *chosen,
                            struct table_column *to, char **titles)
{
    size_t count = 0;

    to[count++] = (struct table_column){ .title = "#   TASK" };
    to[count++] = (struct table_column){ .title = "LOG", .hidden = true, .left = true };
    for (size_t m = 0; m < v->pick->count; m++) {
        if (!chosen[m])
            continue;
        titles[count] = metrics_shown(OUTPUT_TEXT, posixtrace_metric_name(v->pick->metrics[m]));
        to[count] = (struct table_column){ .title = titles[count], .flexible = true };
        count++;
    }
    to[count] = (struct table_column){
        .title = "THREAD", .colour = COLOUR_THREAD, .left = true, .flexible = true
    };
}

void metrics_print_largest(const struct metrics_view *v)
{
    bool *chosen = tool_grow(NULL, v->pick->count, sizeof *chosen);
    size_t next = 0, count;

    while ((count = choose(v, &next, chosen)) > 0) {
        struct table_column shown[TABLE_COLUMNS];
        char *titles[TABLE_COLUMNS] = { NULL };
        struct table t;

        largest_columns(v, chosen, shown, titles);
        table_init(&t, shown, count + 3);
        largest_rows(&t, v, chosen);
        out_text("\n# largest, in us\n");
        table_print(&t);
        table_free(&t);
        for (size_t i = 0; i < TABLE_COLUMNS; i++)
            free(titles[i]);
    }
    free(chosen);
}
