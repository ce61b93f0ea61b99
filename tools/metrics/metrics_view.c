/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Measurements, one a line; see metrics_view.h.
 */
#include "metrics/metrics_rows.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "measure/metrics_text.h"
#include "metrics/metrics_doubts.h"
#include "metrics/metrics_jobs.h"
#include "measure/metrics_measure.h"
#include "metrics/metrics_pairs.h"
#include "metrics/metrics_time.h"
#include "common/stdout_buffer.h"
#include "common/table.h"
#include "common/tool.h"
#include "common/time_parse.h"

enum { HELD_MAX = 65536 };

static size_t place_of(struct metrics_view *v, const posixtrace_metric_t *metric)
{
    for (size_t i = 0; v->pick->metrics[v->last] != metric && i < v->pick->count; i++)
        v->last = (v->last + 1) % v->pick->count;
    return v->last;
}

bool metrics_view_hears(const struct metrics_view *v, size_t metric)
{
    const struct metrics_picked *picked = &v->pick->list[metric];

    return picked->named || picked->own || metrics_view_hears_any(v, picked->metric);
}

/* The log may have no event of the metric at all, which the end shows: then it is no result. */
static void hold(struct metrics_view *v, struct metrics_where where,
                 const struct posixtrace_measurement *m)
{
    if (v->held_count == HELD_MAX) {
        metrics_view_put(v, where, m);
        return;
    }
    if (v->held_count == v->held_room) {
        v->held_room = v->held_room ? 2 * v->held_room : 64;
        v->held = tool_grow(v->held, v->held_room, sizeof *v->held);
    }
    v->held[v->held_count++] = (struct metrics_waiting){ where, *m };
}

static void print_held(struct metrics_view *v)
{
    for (size_t i = 0; i < v->held_count; i++)
        if (metrics_view_hears(v, place_of(v, v->held[i].m.metric)) &&
            metrics_view_hears_in(v, v->last, v->held[i].where.log))
            metrics_view_put(v, v->held[i].where, &v->held[i].m);
    metrics_view_drop(v);
}

void metrics_view_drop(struct metrics_view *v)
{
    free(v->held);
    v->held = NULL;
    v->held_count = v->held_room = 0;
}

void metrics_view_show(struct metrics_view *v, struct metrics_where where,
                       const struct posixtrace_measurement *m)
{
    size_t place = place_of(v, m->metric);

    if (!m->unknown || (metrics_view_hears(v, place) && metrics_view_hears_in(v, place, where.log)))
        metrics_view_put(v, where, m);
    else
        hold(v, where, m);
}

int metrics_view_measured(void *context, const struct posixtrace_measurement *m)
{
    struct metrics_part *part = context;
    struct metrics_view *v = part->view;
    struct metrics_where where = { part->place, part->place };
    size_t place = place_of(v, m->metric);
    int error;

    if (!metrics_selects(part->select, m) || !metrics_time_holds(part, place, m))
        return 0;
    error = metrics_groups_add(&v->groups, place, where, m);
    if (error == 0 && metrics_view_shows_each(v)) {
        if (v->part_count > 1)
            metrics_several_queue(part, where, m);
        else
            metrics_view_show(v, where, m);
    }
    return error == 0 && out_failed() ? ECANCELED : error;
}

/* ---- before and after them ---- */

static void print_cost(const struct metrics_view *v)
{
    const struct metrics_cost *cost = &v->cost;
    char text[120];

    if (!(cost->ns > 0))
        return;
    snprintf(text, sizeof text, "%.4g ns are taken off for each intermediate event (%s)", cost->ns,
             metrics_cost_text(cost));
    if (v->form.format == OUTPUT_TEXT)
        out_comment(text, out_columns());
    else
        tool_note("%s", text);
}

static void print_selection(const struct metrics_view *v)
{
    char *text = NULL;

    if (!metrics_view_is_selected(v) ||
        asprintf(&text, "selected: %s", metrics_view_selection(v)) < 0)
        return;
    if (v->form.format == OUTPUT_TEXT)
        out_comment(text, out_columns());
    else
        tool_note("%s", text);
    free(text);
}

/* What the user's metrics measure. */
static void print_abouts(const struct metrics_view *v)
{
    for (size_t i = 0; i < v->pick->count; i++) {
        const posixtrace_metric_t *metric = v->pick->metrics[i];
        char *caption;

        if (!v->pick->list[i].own)
            continue;
        caption = metrics_caption(metric);
        table_put_cut(caption, out_columns());
        out_text("\n");
        free(caption);
    }
}

void metrics_view_begin(struct metrics_view *v)
{
    print_selection(v);
    print_cost(v);
    if (v->form.format == OUTPUT_CSV && v->form.rows != METRICS_EACH)
        metrics_row_csv_heading(v);
    else if (v->form.format == OUTPUT_CSV)
        out_format("%smetric,tid,begin_ns,end_ns,length_ns,intermediate_events,pid,object,least_ns,"
                   "unknown\r\n",
                   metrics_view_csv_logs(v));
    if (v->form.format != OUTPUT_TEXT || v->form.rows != METRICS_EACH)
        return;
    print_abouts(v);
    if (v->has_origin)
        out_format("# us; BEGIN and END since %s\n", when_iso(v->origin));
    else
        out_text("# us; BEGIN and END since the first BEGIN\n");
    metrics_print_line_heading(v);
}

static void print_remarks(const struct metrics_view *v)
{
    for (size_t i = 0; i < v->pick->count; i++)
        if (metrics_view_has(v, i))
            metrics_remarks_below();
    metrics_print_brief(v);
}

static void print_result(struct metrics_view *v)
{
    if (v->form.json) {
        metrics_print_json(v);
        return;
    }
    switch (v->form.rows) {
    case METRICS_SUMMARY: metrics_print_summary(v); break;
    case METRICS_STATS: metrics_print_statistics(v); break;
    case METRICS_OBJECTS: metrics_print_objects(v); break;
    case METRICS_EACH:
        if (v->form.format == OUTPUT_TEXT)
            metrics_print_largest(v);
        break;
    }
    if (v->form.histogram)
        metrics_print_histograms(v);
    if (v->form.worst > 0)
        metrics_print_worst(v);
}

static void note_hears(const struct metrics_view *v, struct metrics_part *part)
{
    bool *hears = tool_zeroed(v->pick->count * sizeof *hears);

    for (size_t m = 0; m < v->pick->count; m++)
        hears[m] = metrics_view_hears_in(v, m, part->place);
    part->hears = hears;
}

static void print_crossing(const struct metrics_view *v)
{
    struct metrics_select all = { .crossing = 0 };

    for (size_t i = 0; i < v->part_count; i++) {
        const struct metrics_select *one = v->parts[i].select;

        all.crossing += one->crossing;
        all.crossing_bound |= one->crossing_bound;
        if (one->longest_crossing_ns > all.longest_crossing_ns)
            all.longest_crossing_ns = one->longest_crossing_ns;
    }
    if (metrics_select_crossing(&all))
        metrics_remark(v, "%s", metrics_select_crossing(&all));
}

void metrics_view_end(struct metrics_view *v)
{
    print_held(v);
    for (size_t i = 0; i < v->part_count; i++)
        metrics_groups_name_threads(&v->groups, (uint32_t)i, v->parts[i].log->trid);
    metrics_groups_sort(&v->groups);
    for (size_t i = 0; v->several && i < v->part_count; i++)
        note_hears(v, &v->parts[i]);
    v->heard = tool_grow(NULL, v->pick->count, sizeof *v->heard);
    for (size_t i = 0; i < v->pick->count; i++)
        v->heard[i] = metrics_view_hears(v, i);
    print_result(v);
    if (v->form.rows == METRICS_EACH || v->form.format != OUTPUT_TEXT)
        metrics_print_doubts(v);
    else
        print_remarks(v);
    if (v->form.format != OUTPUT_TEXT)
        metrics_say_unheard(v, false);
    print_crossing(v);
    metrics_keys_report(v);
    metrics_pairs_report(v);
    free(v->heard);
    v->heard = NULL;
}
