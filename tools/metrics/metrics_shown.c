/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * What the printers of measurements share: remarks, which groups are shown, and their sums.
 * See metrics_view.h.
 */
#include "metrics/metrics_view.h"

#include <stdarg.h>
#include <string.h>

#include "common/stdout_buffer.h"
#include "metrics/metrics_jobs.h"

/* ---- remarks ---- */

/* A blank line is due between a table and the first remark. */
static bool blank_due;

void metrics_remarks_below(void)
{
    blank_due = true;
}

void metrics_remark(const struct metrics_view *v, const char *format, ...)
{
    bool text = v->form.format == OUTPUT_TEXT;
    va_list args;

    if (text && blank_due)
        out_text("\n");
    blank_due = false;
    va_start(args, format);
    out_remark(text, format, args);
    va_end(args);
}

/* ---- groups ---- */

bool metrics_view_leaves_out(const struct metrics_view *v, const struct metrics_group *g)
{
    const struct metrics_picked *picked = &v->pick->list[g->metric];

    /* A selection may have too few jobs of a thread that is periodic. */
    if (metrics_view_is_selected(v))
        return false;
    return v->pick->all && v->form.rows != METRICS_EACH && v->form.format == OUTPUT_TEXT &&
           !picked->own && metrics_is_of_jobs(picked->metric) && !metrics_is_periodic(v, g);
}

bool metrics_view_has(const struct metrics_view *v, size_t metric)
{
    for (size_t i = 0; i < v->groups.count; i++) {
        if (v->groups.rows[i].metric == metric && metrics_view_shows(v, &v->groups.rows[i]))
            return true;
    }
    return false;
}

int metrics_view_merge(const struct metrics_view *v, size_t metric, struct metrics_group *all)
{
    int error = posixtrace_statistics_create(&all->statistics);

    all->metric = metric;
    for (size_t i = 0; error == 0 && i < v->groups.count; i++)
        if (v->groups.rows[i].metric == metric && metrics_view_shows(v, &v->groups.rows[i]))
            error = metrics_groups_merge(all, &v->groups.rows[i]);
    return error;
}

bool metrics_view_shows(const struct metrics_view *v, const struct metrics_group *g)
{
    struct posixtrace_summary s;

    if (metrics_view_leaves_out(v, g))
        return false;
    posixtrace_statistics_summary(g->statistics, &s, sizeof s);
    return s.count > 0 || (g->unknown > 0 && v->heard[g->metric] &&
                           metrics_view_hears_in(v, g->metric, g->where.log));
}

static void sum_hidden(struct metrics_sum *sum, const struct metrics_group *g, uint64_t count)
{
    sum->hidden++;
    sum->hidden_count += count;
    sum->hidden_unknown += g->unknown;
    if (g->at_most_ns > sum->hidden_at_most_ns)
        sum->hidden_at_most_ns = g->at_most_ns;
}

static void sum_shown(struct metrics_sum *sum, const struct metrics_group *g,
                      const struct posixtrace_summary *s)
{
    sum->shown++;
    if (g->at_most_ns > sum->at_most_ns)
        sum->at_most_ns = g->at_most_ns;
    if (s->count > 0 && (sum->count == 0 || s->max_ns > sum->max_ns))
        sum->max_ns = s->max_ns;
    if (s->count > 0 && (sum->count == 0 || g->least_max_ns > sum->least_max_ns))
        sum->least_max_ns = g->least_max_ns;
    sum->count += s->count;
    sum->bounds += g->bounds;
    sum->sum_ns += s->mean_ns * (double)s->count;
    sum->least_sum_ns += g->least_sum_ns;
}

void metrics_view_sum(const struct metrics_view *v, size_t metric, struct metrics_sum *sum)
{
    uint64_t unknown = 0;

    memset(sum, 0, sizeof *sum);
    metrics_view_doubt(v, metric, &sum->doubt);
    sum->of_log = metrics_view_is_selected(v);
    for (size_t i = 0; i < v->groups.count; i++) {
        const struct metrics_group *g = &v->groups.rows[i];
        struct posixtrace_summary s;

        if (g->metric != metric)
            continue;
        unknown += g->unknown;
        posixtrace_statistics_summary(g->statistics, &s, sizeof s);
        if (metrics_view_leaves_out(v, g))
            sum_hidden(sum, g, s.count);
        else
            sum_shown(sum, g, &s);
    }
    if (sum->of_log)
        sum->doubt.unknown = unknown;
    sum->doubt.unknown -= sum->hidden_unknown < sum->doubt.unknown ? sum->hidden_unknown
                                                                   : sum->doubt.unknown;
}
