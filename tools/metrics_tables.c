/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Statistics by metric and thread, and the largest measurement of each thread as in
 * the paper's figure 4; see metrics_view.h.
 */
#include "metrics_view.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "chars.h"
#include "out.h"
#include "tool.h"

enum { PERCENTILES = 4, COLUMNS = 100 /* that figure 4 fits its metrics to */ };

struct row {
    const char *metric;
    const struct metrics_group *group;
    struct posixtrace_summary s;
    int64_t percentile[PERCENTILES];
    int64_t worst;
    int64_t sure;        /* the longest lasted that long at least */
    int64_t mean, deviation;
    int64_t least_mean;
};

static void fill(struct row *r, const struct metrics_view *v, const struct metrics_group *g)
{
    static const double percents[PERCENTILES] = { 50, 90, 99, 99.9 };

    r->metric = posixtrace_metric_name(v->pick->metrics[g->metric]);
    r->group = g;
    posixtrace_statistics_summary(g->statistics, &r->s);
    for (int i = 0; i < PERCENTILES; i++)
        r->percentile[i] = posixtrace_statistics_percentile(g->statistics, percents[i]);
    r->sure = g->bounds ? g->least_max_ns : r->s.max_ns;
    /* A double has no neighbours of the largest numbers: a mean is within the extremes. */
    r->mean = metrics_rounded(r->s.mean_ns);
    r->mean = r->mean < r->s.min_ns ? r->s.min_ns : r->mean > r->s.max_ns ? r->s.max_ns : r->mean;
    r->deviation = metrics_rounded(r->s.deviation_ns);
    r->least_mean = g->bounds ? metrics_rounded(g->least_sum_ns / (double)g->least_count)
                              : r->mean;
    r->worst = g->unknown > 0 && g->at_most_ns > r->s.max_ns ? g->at_most_ns : r->s.max_ns;
}

/* ---- statistics ---- */

static void table_row(const struct row *r)
{
    const struct metrics_group *g = r->group;

    out_format("%8s %9" PRIu64 " %11s %11s %11s %11s %11s %11s %11s ",
               metrics_thread(g->tid, g->thread_id), r->s.count, metrics_us(r->s.min_ns),
               metrics_us_range(r->least_mean, r->mean),
               metrics_us(r->deviation),
               metrics_us(r->percentile[0]), metrics_us(r->percentile[1]),
               metrics_us(r->percentile[2]), metrics_us(r->percentile[3]));
    out_format("%11s %8" PRIu64 "  ", metrics_us_range(r->sure, r->worst), g->unknown);
    metrics_put_name(METRICS_TABLE, g->thread);
    out_text("\n");
}

static void csv_row(const struct row *r)
{
    metrics_put_name(METRICS_CSV, r->metric);
    out_format(",%d,", (int)r->group->tid);
    metrics_put_name(METRICS_CSV, r->group->thread);
    out_format(",%" PRIu64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64, r->s.count,
               r->s.min_ns, r->s.max_ns, r->mean, r->deviation);
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
    metrics_put_name(METRICS_JSONL, r->metric);
    out_format(",\"pid\":%d,\"tid\":%d,\"thread_id\":\"0x%" PRIx64 "\",\"thread\":",
               (int)r->group->pid, (int)r->group->tid, r->group->thread_id);
    metrics_put_name(METRICS_JSONL, r->group->thread);
    out_format(",\"count\":%" PRIu64 ",\"min_ns\":%" PRId64 ",\"max_ns\":%" PRId64
               ",\"mean_ns\":%" PRId64 ",\"deviation_ns\":%" PRId64, r->s.count, r->s.min_ns,
               r->s.max_ns, r->mean, r->deviation);
    for (int i = 0; i < PERCENTILES; i++)
        out_format(",\"%s\":%" PRId64, names[i], r->percentile[i]);
    out_format(",\"unknown\":%" PRIu64 ",\"worst_ns\":%" PRId64 ",\"bounds\":%" PRIu64
               ",\"least_mean_ns\":%" PRId64 ",\"least_max_ns\":%" PRId64 "}\n", r->group->unknown,
               r->worst, r->group->bounds, r->least_mean, r->sure);
}

/* Before the first thread of a metric. */
static void table_heading(const struct metrics_view *v, const struct metrics_group *g)
{
    const posixtrace_metric_t *metric = v->pick->metrics[g->metric];
    const char *about = posixtrace_metric_about(metric);

    metrics_put_name(METRICS_TABLE, posixtrace_metric_name(metric));
    if (*about) {
        out_text(": ");
        metrics_put_name(METRICS_TABLE, about);
    }
    out_text("\n#   TASK     COUNT      MIN us        MEAN   DEVIATION         P50         P90"
             "         P99       P99.9         MAX  UNKNOWN  THREAD\n");
}

void metrics_print_statistics(const struct metrics_view *v)
{
    const struct metrics_group *rows = v->groups.rows;
    const struct metrics_group *last = NULL;

    for (size_t i = 0; i < v->groups.count; i++) {
        struct row r;

        if (!metrics_view_shows(v, &rows[i]))
            continue;
        fill(&r, v, &rows[i]);
        if (v->format == METRICS_CSV) {
            csv_row(&r);
        } else if (v->format == METRICS_JSONL) {
            jsonl_row(&r);
        } else {
            if (last && rows[i].metric != last->metric)
                out_text("\n");
            if (!last || rows[i].metric != last->metric)
                table_heading(v, &rows[i]);
            table_row(&r);
            last = &rows[i];
        }
    }
    if (last)
        out_text("\n");
}

/* ---- figure 4 ---- */

static size_t width_of(const struct metrics_view *v, size_t metric)
{
    const char *name = posixtrace_metric_name(v->pick->metrics[metric]);
    size_t width = chars_columns(name, strlen(name));

    return width < 13 ? 13 : width;
}

static bool has_group(const struct metrics_view *v, size_t metric)
{
    for (size_t i = 0; i < v->groups.count; i++) {
        if (v->groups.rows[i].metric == metric && metrics_view_shows(v, &v->groups.rows[i]))
            return true;
    }
    return false;
}

/* Metrics from *next on that fit; marks them and moves *next behind them. */
static bool choose(const struct metrics_view *v, size_t *next, bool *chosen)
{
    size_t used = 12;
    bool any = false;

    memset(chosen, 0, v->pick->count * sizeof *chosen);
    for (; *next < v->pick->count; ++*next) {
        if (!has_group(v, *next))
            continue;
        used += width_of(v, *next) + 2;
        if (any && used > COLUMNS)
            break;
        any = chosen[*next] = true;
    }
    return any;
}

static void largest_heading(const struct metrics_view *v, const bool *chosen)
{
    out_text("#   TASK");
    for (size_t m = 0; m < v->pick->count; m++) {
        const char *name = posixtrace_metric_name(v->pick->metrics[m]);

        if (!chosen[m])
            continue;
        out_spaces(2 + width_of(v, m) - chars_columns(name, strlen(name)));
        metrics_put_name(METRICS_TABLE, name);
    }
    out_text("  THREAD\n");
}

static void largest_row(const struct metrics_view *v, const bool *chosen,
                        const struct metrics_group *thread)
{
    out_format("%8s", metrics_thread(thread->tid, thread->thread_id));
    for (size_t m = 0; m < v->pick->count; m++) {
        const struct metrics_group *g = chosen[m] ? metrics_groups_find(&v->groups, m, thread)
                                                  : NULL;
        const char *text = "-";
        struct row r;

        if (g) {
            fill(&r, v, g);
            if (metrics_view_shows(v, g))
                text = metrics_us_range(r.sure, r.worst);
        }
        if (chosen[m])
            out_format("  %*s", (int)width_of(v, m), text);
    }
    out_text("  ");
    metrics_put_name(METRICS_TABLE, thread->thread);
    out_text("\n");
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
static void largest_rows(const struct metrics_view *v, const bool *chosen)
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
        largest_row(v, chosen, threads[i]);
    free(threads);
}

void metrics_print_largest(const struct metrics_view *v)
{
    bool *chosen = tool_grow(NULL, v->pick->count, sizeof *chosen), blank = !v->stats;
    size_t next = 0;

    while (choose(v, &next, chosen)) {
        out_text(blank ? "\n# largest, in us\n" : "# largest, in us\n");
        blank = true;
        largest_heading(v, chosen);
        largest_rows(v, chosen);
    }
    free(chosen);
}
