/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Statistics by metric and thread, and the largest measurement of each thread as in
 * the paper's figure 4; see metrics_view.h.
 */
#include "metrics/metrics_view.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/units.h"
#include "common/utf8.h"
#include "common/stdout_buffer.h"
#include "common/table.h"
#include "common/tool.h"

enum { PERCENTILES = 4, LARGEST_THREAD = 8 + 2 + METRICS_THREAD_NAME };

struct row {
    const char *metric;
    const struct metrics_group *group;
    struct posixtrace_summary s;
    int64_t percentile[PERCENTILES];
    int64_t worst;
    int64_t sure; /* the longest lasted that long at least */
    int64_t mean, deviation;
    int64_t least_mean;
};

static void fill(struct row *r, const struct metrics_view *v, const struct metrics_group *g)
{
    static const double percents[PERCENTILES] = { 50, 90, 99, 99.9 };

    r->metric = posixtrace_metric_name(v->pick->metrics[g->metric]);
    r->group = g;
    posixtrace_statistics_summary(g->statistics, &r->s, sizeof r->s);
    for (int i = 0; i < PERCENTILES; i++)
        r->percentile[i] = posixtrace_statistics_percentile(g->statistics, percents[i]);
    r->sure = g->bounds ? g->least_max_ns : r->s.max_ns;
    /* A double has no neighbours of the largest numbers: a mean is within the extremes. */
    r->mean = metrics_rounded(r->s.mean_ns);
    r->mean = r->mean < r->s.min_ns ? r->s.min_ns : r->mean > r->s.max_ns ? r->s.max_ns : r->mean;
    r->deviation = metrics_rounded(r->s.deviation_ns);
    r->least_mean = g->bounds ? metrics_rounded(g->least_sum_ns / (double)g->least_count) : r->mean;
    r->worst = g->unknown > 0 && g->at_most_ns > r->s.max_ns ? g->at_most_ns : r->s.max_ns;
}

/* ---- statistics ---- */

static const struct table_column columns[] = {
    { .title = "#  TASK" },
    { .title = "COUNT" },
    { .title = "MIN" },
    { .title = "MEAN" },
    { .title = "DEV", .optional = true },
    { .title = "P50" },
    { .title = "P90", .optional = true },
    { .title = "P99" },
    { .title = "P99.9", .optional = true },
    { .title = "MAX" },
    { .title = "UNKNOWN", .hidden = true, .colour = COLOUR_ALARM },
    { .title = "THREAD", .colour = COLOUR_THREAD, .left = true, .flexible = true }
};

enum { COLUMN_COUNT = sizeof columns / sizeof columns[0] };

static void table_row(struct table *t, const struct row *r)
{
    const struct metrics_group *g = r->group;
    bool bound = g->bounds > 0;
    char *name = metrics_shown(OUTPUT_TEXT, g->thread);

    table_add_row(t);
    table_cell(t, metrics_thread(g->tid, g->thread_id));
    table_cell(t, units_count(r->s.count));
    if (r->s.count > 0) {
        metrics_time_cell(t, r->s.min_ns, bound);
        metrics_time_cell(t, r->mean, bound);
        metrics_time_cell(t, r->deviation, false);
        for (int i = 0; i < PERCENTILES; i++)
            metrics_time_cell(t, r->percentile[i], bound);
    }
    for (int i = 0; r->s.count == 0 && i < PERCENTILES + 3; i++)
        table_cell(t, "-");
    metrics_time_cell(t, r->worst, bound || r->sure < r->worst || r->s.count == 0);
    table_cell(t, g->unknown > 0 ? units_count(g->unknown) : "-");
    table_cell(t, name);
    free(name);
}

static void csv_row(const struct row *r)
{
    metrics_put_name(OUTPUT_CSV, r->metric);
    out_format(",%d,", (int)r->group->tid);
    metrics_put_name(OUTPUT_CSV, r->group->thread);
    out_format(",%" PRIu64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64, r->s.count, r->s.min_ns,
               r->s.max_ns, r->mean, r->deviation);
    for (int i = 0; i < PERCENTILES; i++)
        out_format(",%" PRId64, r->percentile[i]);
    out_format(",%" PRIu64 ",%" PRId64 ",%" PRIu64 ",%" PRId64 ",%" PRId64 ",%d\r\n",
               r->group->unknown, r->worst, r->group->bounds, r->least_mean, r->sure,
               (int)r->group->pid);
}

static void jsonl_row(const struct row *r)
{
    static const char *const names[PERCENTILES] = { "p50_ns", "p90_ns", "p99_ns", "p99_9_ns" };

    out_text("{\"metric\":");
    metrics_put_name(OUTPUT_JSONL, r->metric);
    out_format(",\"pid\":%d,\"tid\":%d,\"thread_id\":\"0x%" PRIx64 "\",\"thread\":",
               (int)r->group->pid, (int)r->group->tid, r->group->thread_id);
    metrics_put_name(OUTPUT_JSONL, r->group->thread);
    out_format(",\"count\":%" PRIu64 ",\"min_ns\":%" PRId64 ",\"max_ns\":%" PRId64
               ",\"mean_ns\":%" PRId64 ",\"deviation_ns\":%" PRId64,
               r->s.count, r->s.min_ns, r->s.max_ns, r->mean, r->deviation);
    for (int i = 0; i < PERCENTILES; i++)
        out_format(",\"%s\":%" PRId64, names[i], r->percentile[i]);
    out_format(",\"unknown\":%" PRIu64 ",\"worst_ns\":%" PRId64 ",\"bounds\":%" PRIu64
               ",\"least_mean_ns\":%" PRId64 ",\"least_max_ns\":%" PRId64 "}\n",
               r->group->unknown, r->worst, r->group->bounds, r->least_mean, r->sure);
}

/* Before the first thread of a metric. */
static void add_caption(struct table *t, const struct metrics_view *v, size_t place)
{
    char *text = metrics_caption(v->pick->metrics[place]);

    table_add_caption(t, text);
    free(text);
}

void metrics_print_statistics(const struct metrics_view *v)
{
    const struct metrics_group *rows = v->groups.rows, *last = NULL;
    struct table t;

    table_init(&t, columns, COLUMN_COUNT);
    for (size_t i = 0; i < v->groups.count; i++) {
        struct row r;

        if (!metrics_view_shows(v, &rows[i]))
            continue;
        fill(&r, v, &rows[i]);
        if (v->format == OUTPUT_CSV) {
            csv_row(&r);
        } else if (v->format == OUTPUT_JSONL) {
            jsonl_row(&r);
        } else {
            if (!last || rows[i].metric != last->metric)
                add_caption(&t, v, rows[i].metric);
            table_row(&t, &r);
            last = &rows[i];
        }
    }
    table_print(&t);
    table_free(&t);
}

/* ---- figure 4 ---- */

/* The cell of a group, which may be NULL. */
static const char *largest_of(const struct metrics_view *v, const struct metrics_group *g)
{
    struct row r;

    if (!g || !metrics_view_shows(v, g))
        return "-";
    fill(&r, v, g);
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
    size_t used = LARGEST_THREAD, count = 0;

    memset(chosen, 0, v->pick->count * sizeof *chosen);
    for (; *next < v->pick->count && count + 2 < TABLE_COLUMNS; ++*next) {
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
        table_init(&t, shown, count + 2);
        largest_rows(&t, v, chosen);
        out_text("\n# largest, in us\n");
        table_print(&t);
        table_free(&t);
        for (size_t i = 0; i < TABLE_COLUMNS; i++)
            free(titles[i]);
    }
    free(chosen);
}
