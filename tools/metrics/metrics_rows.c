/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See metrics_rows.h. */
#include "metrics/metrics_rows.h"

#include <inttypes.h>
#include <stdio.h>

#include "common/json_out.h"
#include "common/stdout_buffer.h"
#include "common/table.h"
#include "common/units.h"
#include "measure/metrics_text.h"

void metrics_row_fill(struct metrics_row *r, const struct metrics_view *v,
                      const struct metrics_group *g)
{
    r->metric = posixtrace_metric_name(v->pick->metrics[g->metric]);
    r->group = g;
    posixtrace_statistics_summary(g->statistics, &r->s, sizeof r->s);
    for (size_t i = 0; i < v->form.percent_count; i++)
        r->percentile[i] = posixtrace_statistics_percentile(g->statistics, v->form.percents[i]);
    r->sure = g->bounds ? g->least_max_ns : r->s.max_ns;
    /* A double has no neighbours of the largest numbers: a mean is within the extremes. */
    r->total = metrics_rounded(r->s.mean_ns * (double)r->s.count);
    r->mean = metrics_rounded(r->s.mean_ns);
    r->mean = r->mean < r->s.min_ns ? r->s.min_ns : r->mean > r->s.max_ns ? r->s.max_ns : r->mean;
    r->deviation = metrics_rounded(r->s.deviation_ns);
    r->least_mean = g->bounds ? metrics_rounded(g->least_sum_ns / (double)g->least_count) : r->mean;
    r->worst = g->unknown > 0 && g->at_most_ns > r->s.max_ns ? g->at_most_ns : r->s.max_ns;
}

static const char *key_of(const struct metrics_view *v, size_t i)
{
    static char keys[METRICS_PERCENTILES][48];

    snprintf(keys[i], sizeof keys[i], "p%s_ns", metrics_form_percent(v->form.percents[i], '_'));
    return keys[i];
}

/* ---- csv ---- */

void metrics_row_csv_heading(const struct metrics_view *v)
{
    out_text(metrics_view_csv_logs(v));
    out_text(v->form.rows == METRICS_STATS     ? "metric,tid,thread,"
             : v->form.rows == METRICS_OBJECTS ? "metric,object,longest_tid,longest_thread,"
                                               : "metric,longest_tid,longest_thread,");
    out_text("count,min_ns,max_ns,mean_ns,deviation_ns,");
    for (size_t i = 0; i < v->form.percent_count; i++)
        out_format("%s,", key_of(v, i));
    out_text("unknown,worst_ns,bounds,least_mean_ns,least_max_ns");
    out_text(v->form.rows == METRICS_SUMMARY ? "\r\n" : ",pid\r\n");
}

static void csv_thread(pid_t tid, const char *thread)
{
    out_format(",%d,", (int)tid);
    metrics_put_name(OUTPUT_CSV, thread);
}

void metrics_row_csv(const struct metrics_view *v, const struct metrics_row *r)
{
    const struct metrics_group *g = r->group;

    metrics_view_put_csv_logs(v, v->form.rows == METRICS_SUMMARY ? g->longest_where : g->where);
    metrics_put_name(OUTPUT_CSV, r->metric);
    if (v->form.rows == METRICS_OBJECTS)
        out_format(",0x%" PRIx64, g->object);
    if (v->form.rows == METRICS_STATS)
        csv_thread(g->tid, g->thread);
    else
        csv_thread(g->longest_tid, g->longest_thread);
    out_format(",%" PRIu64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64, r->s.count, r->s.min_ns,
               r->s.max_ns, r->mean, r->deviation);
    for (size_t i = 0; i < v->form.percent_count; i++)
        out_format(",%" PRId64, r->percentile[i]);
    out_format(",%" PRIu64 ",%" PRId64 ",%" PRIu64 ",%" PRId64 ",%" PRId64, g->unknown, r->worst,
               g->bounds, r->least_mean, r->sure);
    if (v->form.rows != METRICS_SUMMARY)
        out_format(",%d", (int)g->pid);
    out_text("\r\n");
}

const char *metrics_object_name(const struct metrics_view *v, struct metrics_where where, pid_t pid,
                                int64_t ns, uint64_t object)
{
    static char text[SITES_TEXT];
    struct sites *sites = v->parts[where.log].sites;

    if (sites_thread(sites, pid, object, text) == 0)
        snprintf(text, sizeof text, "%s", sites_object(sites, pid, ns, object));
    return text;
}

/* ---- JSON ---- */

void metrics_put_symbol(const struct metrics_view *v, struct metrics_where where, pid_t pid,
                        int64_t ns, uint64_t object)
{
    struct sites *sites = v->parts[where.log].sites;
    char text[SITES_TEXT];

    if (object >= 65536 && sites_find(sites, pid, ns, object, POSIXTRACE_ADDRESS_DATA, text) > 0)
        json_text("object_symbol", text);
    else if (sites_thread(sites, pid, object, text) > 0)
        json_text("object_thread", text);
}

static void put_longest(const struct metrics_view *v, const struct metrics_group *g)
{
    if (v->several && v->form.rows == METRICS_SUMMARY)
        json_text("longest_log", v->parts[g->longest_where.log].log->path);
    if (g->longest_tid != 0)
        json_integer("longest_tid", g->longest_tid);
    if (g->longest_thread[0])
        json_text("longest_thread", g->longest_thread);
}

static void put_whose(const struct metrics_view *v, const struct metrics_row *r)
{
    const struct metrics_group *g = r->group;
    char text[32];

    if (v->form.rows != METRICS_SUMMARY)
        metrics_view_put_logs(v, g->where);
    if (v->form.rows != METRICS_SUMMARY)
        json_integer("pid", g->pid);
    if (v->form.rows == METRICS_STATS) {
        json_integer("tid", g->tid);
        snprintf(text, sizeof text, "0x%" PRIx64, g->thread_id);
        json_text("thread_id", text);
        json_text("thread", g->thread);
        return;
    }
    if (v->form.rows == METRICS_OBJECTS) {
        snprintf(text, sizeof text, "0x%" PRIx64, g->object);
        json_text("object", text);
        metrics_put_symbol(v, g->where, g->pid, g->longest_at_ns, g->object);
    }
    put_longest(v, g);
}

void metrics_row_members(const struct metrics_view *v, const struct metrics_row *r)
{
    const struct metrics_group *g = r->group;

    json_count("count", r->s.count);
    json_integer("min_ns", r->s.min_ns);
    json_integer("max_ns", r->s.max_ns);
    json_integer("mean_ns", r->mean);
    json_integer("deviation_ns", r->deviation);
    for (size_t i = 0; i < v->form.percent_count; i++)
        json_integer(key_of(v, i), r->percentile[i]);
    json_count("unknown", g->unknown);
    json_integer("worst_ns", r->worst);
    json_count("bounds", g->bounds);
    json_integer("least_mean_ns", r->least_mean);
    json_integer("least_max_ns", r->sure);
}

void metrics_row_jsonl(const struct metrics_view *v, const struct metrics_row *r)
{
    json_open(NULL, '{');
    json_text("metric", r->metric);
    put_whose(v, r);
    metrics_row_members(v, r);
    json_close();
}

/* ---- tables ---- */

enum { CELL = 64 };

void metrics_time_cell(struct table *t, int64_t ns, bool at_most)
{
    char text[CELL];

    snprintf(text, sizeof text, "%s%s", at_most && ns < POSIXTRACE_NO_BOUND ? "<=" : "",
             at_most ? metrics_time_at_most(ns) : units_time(ns));
    table_cell(t, text);
}

size_t metrics_row_columns(const struct metrics_view *v, struct table_column *to, size_t count,
                           bool optional)
{
    static char titles[METRICS_PERCENTILES][40];

    for (size_t i = 0; i < v->form.percent_count; i++) {
        double percent = v->form.percents[i];

        snprintf(titles[i], sizeof titles[i], "P%s", metrics_form_percent(percent, '.'));
        to[count++] = (struct table_column){
            .title = titles[i], .optional = optional && percent != 50 && percent != 99
        };
    }
    return count;
}

void metrics_row_percentiles(struct table *t, const struct metrics_view *v,
                             const struct metrics_row *r)
{
    for (size_t i = 0; i < v->form.percent_count; i++) {
        if (r->s.count > 0)
            metrics_time_cell(t, r->percentile[i], r->group->bounds > 0);
        else
            table_cell(t, "-");
    }
}
