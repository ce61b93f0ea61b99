/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * What the printers of measurements share: how times, threads and names are written, and
 * which groups are shown.  See metrics_view.h.
 */
#include "metrics/metrics_view.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/utf8.h"
#include "metrics/metrics_jobs.h"
#include "common/stdout_buffer.h"
#include "common/tool.h"
#include "common/time_parse.h"
#include "common/units.h"

/* ---- words ---- */

static char *next_buffer(void)
{
    static char buffers[8][64];
    static unsigned next;

    return buffers[next++ % 8];
}

/* NUL-terminated; the end. */
static char *put_us(char *to, int64_t ns)
{
    uint64_t size_ns = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;

    if (ns < 0)
        *to++ = '-';
    to = pt_number_u64(to, size_ns / 1000);
    *to++ = '.';
    for (unsigned unit = 100, left = (unsigned)(size_ns % 1000); unit > 0; unit /= 10)
        *to++ = (char)('0' + left / unit % 10);
    *to = '\0';
    return to;
}

static const char unlimited[] = "unlimited";

static void put_at_most(char *to, int64_t ns)
{
    if (ns >= POSIXTRACE_NO_BOUND)
        strcpy(to, unlimited);
    else
        put_us(to, ns);
}

const char *metrics_us_or_unlimited(int64_t ns)
{
    char *buffer = next_buffer();

    if (ns >= POSIXTRACE_NO_BOUND)
        return unlimited;
    strcpy(put_us(buffer, ns), " us");
    return buffer;
}

const char *metrics_up_to(int64_t ns)
{
    char *buffer = next_buffer();

    if (ns >= POSIXTRACE_NO_BOUND)
        strcpy(buffer, "any length");
    else
        strcpy(put_us(put_text(buffer, "up to ", 6), ns), " us");
    return buffer;
}

const char *metrics_time_at_most(int64_t ns)
{
    return ns >= POSIXTRACE_NO_BOUND ? unlimited : units_time(ns);
}

int64_t metrics_rounded(double ns)
{
    if (ns >= 0x1p63)
        return INT64_MAX;
    return ns <= -0x1p63 ? INT64_MIN : (int64_t)llround(ns);
}

const char *metrics_us(int64_t ns)
{
    char *buffer = next_buffer();

    put_us(buffer, ns);
    return buffer;
}

const char *metrics_us_at_most(int64_t ns)
{
    char *buffer = next_buffer();

    put_at_most(buffer, ns);
    return buffer;
}

const char *metrics_us_range(int64_t ns, int64_t at_most_ns)
{
    char *buffer = next_buffer(), *end = put_us(buffer, ns);

    if (at_most_ns > ns)
        put_at_most(put_text(end, "..", 2), at_most_ns);
    return buffer;
}

const char *metrics_thread(pid_t tid, uint64_t thread_id)
{
    char *buffer = next_buffer();

    if (tid != 0)
        snprintf(buffer, 64, "%d", (int)tid);
    else if (thread_id != 0)
        snprintf(buffer, 64, "0x%" PRIx64, thread_id);
    else
        strcpy(buffer, "-");
    return buffer;
}

char *metrics_shown(enum output_format format, const char *name)
{
    static int utf8 = -1;
    char *shown = tool_grow(NULL, strlen(name) + 1, UTF8_MAX_ESCAPE);
    enum utf8_style style;

    if (utf8 < 0)
        utf8 = utf8_is_safe(STDOUT_FILENO);
    if (format == OUTPUT_TEXT)
        style = utf8 ? UTF8_TERMINAL : UTF8_TERMINAL_ASCII;
    else if (format == OUTPUT_CSV)
        style = utf8 ? UTF8_CSV : UTF8_CSV_ASCII;
    else
        style = utf8 ? UTF8_JSON : UTF8_JSON_ASCII;
    *utf8_show(shown, name, style) = '\0';
    return shown;
}

char *metrics_caption(const posixtrace_metric_t *metric)
{
    const char *about = posixtrace_metric_about(metric);
    char *name = metrics_shown(OUTPUT_TEXT, posixtrace_metric_name(metric));
    char *shown = metrics_shown(OUTPUT_TEXT, about);
    size_t size = strlen(name) + strlen(shown) + 5;
    char *text = tool_grow(NULL, size, 1);

    snprintf(text, size, "# %s%s%s", name, *about ? ": " : "", shown);
    free(name);
    free(shown);
    return text;
}

void metrics_put_name(enum output_format format, const char *name)
{
    char *shown = metrics_shown(format, name);

    if (format != OUTPUT_TEXT)
        out_text("\"");
    out_text(shown);
    if (format != OUTPUT_TEXT)
        out_text("\"");
    free(shown);
}

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
