/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * metrics --format=json: the tables as one object on one line; times in nanoseconds.  See
 * posixtrace-metrics(1).
 */
#include "metrics/metrics_rows.h"
#include "metrics/metrics_worst.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/json_out.h"

static void put_hex(const char *key, uint64_t value)
{
    char text[32];

    snprintf(text, sizeof text, "0x%" PRIx64, value);
    json_text(key, text);
}

static void put_group(const struct metrics_view *v, const struct metrics_group *g)
{
    struct metrics_row r;

    metrics_row_fill(&r, v, g);
    json_open(NULL, '{');
    metrics_view_put_logs(v, g->where);
    json_integer("pid", g->pid);
    if (g->of_object) {
        put_hex("object", g->object);
        metrics_put_symbol(v, g->where, g->pid, g->longest_at_ns, g->object);
        json_integer("longest_tid", g->longest_tid);
        json_text("longest_thread", g->longest_thread);
    } else {
        json_integer("tid", g->tid);
        put_hex("thread_id", g->thread_id);
        json_text("thread", g->thread);
    }
    metrics_row_members(v, &r);
    json_close();
}

/* The rows of a metric: its threads, or its objects. */
static void put_groups(const struct metrics_view *v, size_t metric)
{
    bool objects = v->form.rows == METRICS_OBJECTS &&
                   posixtrace_metric_by_object(v->pick->metrics[metric]);

    if (v->form.rows == METRICS_SUMMARY)
        return;
    json_open(objects ? "objects" : "threads", '[');
    for (size_t i = 0; i < v->groups.count; i++)
        if (v->groups.rows[i].metric == metric && metrics_view_shows(v, &v->groups.rows[i]))
            put_group(v, &v->groups.rows[i]);
    json_close();
}

static void put_worst(const struct metrics_view *v, const struct metrics_worst *w)
{
    const struct posixtrace_measurement *m = w->m;
    char *command = metrics_worst_command(v, w->group->where, m);

    json_open(NULL, '{');
    metrics_view_put_logs(v, w->group->where);
    json_integer("pid", m->pid);
    json_integer("tid", m->tid);
    put_hex("thread_id", m->thread_id);
    if (!w->group->of_object)
        json_text("thread", w->group->thread);
    if (posixtrace_metric_by_object(m->metric))
        put_hex("object", m->key);
    if (posixtrace_metric_by_object(m->metric))
        metrics_put_symbol(v, w->group->where, m->pid, m->begin_ns, m->key);
    json_integer("begin_ns", m->begin_ns);
    json_integer("end_ns", m->end_ns);
    json_integer("length_ns", metrics_groups_length(&v->groups, m));
    json_integer("least_ns", metrics_groups_least(&v->groups, m));
    json_count("intermediate_events", m->intermediate_events);
    json_text("print", command);
    json_close();
    free(command);
}

static void put_longest(const struct metrics_view *v, size_t metric)
{
    struct metrics_worst *list;
    size_t count = metrics_worst_of(v, metric, &list);

    json_open("worst", '[');
    for (size_t i = 0; i < count; i++)
        put_worst(v, &list[i]);
    json_close();
    free(list);
}

static void put_metric(const struct metrics_view *v, size_t metric)
{
    const posixtrace_metric_t *m = v->pick->metrics[metric];
    struct metrics_group all = { .metric = metric };
    struct posixtrace_doubt doubt;
    struct metrics_row r;

    metrics_view_doubt(v, metric, &doubt);
    json_open(NULL, '{');
    json_text("metric", posixtrace_metric_name(m));
    json_text("about", posixtrace_metric_about(m));
    if (metrics_view_merge(v, metric, &all) == 0) {
        metrics_row_fill(&r, v, &all);
        metrics_row_members(v, &r);
        if (v->several)
            json_text("longest_log", v->parts[all.longest_where.log].log->path);
        json_integer("longest_tid", all.longest_tid);
        json_text("longest_thread", all.longest_thread);
        if (v->form.histogram)
            json_bars("histogram", all.statistics);
    }
    json_count("unfinished", doubt.unfinished);
    json_count("restarted", doubt.restarted);
    json_count("discarded", doubt.discarded);
    put_groups(v, metric);
    if (v->form.worst > 0)
        put_longest(v, metric);
    json_close();
    posixtrace_statistics_free(all.statistics);
}

static void put_inputs(const struct metrics_view *v)
{
    if (!v->several) {
        json_text("log", v->parts[0].log->path);
        return;
    }
    json_open("logs", '[');
    for (size_t i = 0; i < v->part_count; i++)
        json_text(NULL, v->parts[i].log->path);
    json_close();
}

void metrics_print_json(const struct metrics_view *v)
{
    json_open(NULL, '{');
    put_inputs(v);
    json_text("selected", metrics_view_is_selected(v) ? metrics_view_selection(v) : "");
    json_number("cost_ns", v->cost.ns > 0 ? v->cost.ns : 0, 3);
    json_open("metrics", '[');
    for (size_t i = 0; i < v->pick->count; i++)
        if (v->pick->list[i].named || metrics_view_has(v, i))
            put_metric(v, i);
    json_close();
    json_close();
}
