/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Measurements, one a line; see metrics_view.h.
 */
#include "metrics/metrics_view.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/utf8.h"
#include "metrics/metrics_jobs.h"
#include "metrics/metrics_measure.h"
#include "metrics/metrics_pairs.h"
#include "metrics/metrics_time.h"
#include "common/stdout_buffer.h"
#include "common/table.h"
#include "common/tool.h"
#include "common/time_parse.h"

enum { REMARK_INDENT = 2 };

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
    to = put_u64(to, size_ns / 1000);
    *to++ = '.';
    for (unsigned unit = 100, left = (unsigned)(size_ns % 1000); unit > 0; unit /= 10)
        *to++ = (char)('0' + left / unit % 10);
    *to = '\0';
    return to;
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

const char *metrics_us_range(int64_t ns, int64_t at_most_ns)
{
    char *buffer = next_buffer(), *end = put_us(buffer, ns);

    if (at_most_ns > ns)
        put_us(put_text(end, "..", 2), at_most_ns);
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

void metrics_remark(const struct metrics_view *v, const char *format, ...)
{
    char *text = NULL;
    va_list args;
    int length;

    va_start(args, format);
    length = vasprintf(&text, format, args);
    va_end(args);
    if (length < 0)
        return;
    if (v->format == OUTPUT_TEXT && blank_due)
        out_text("\n");
    blank_due = false;
    if (v->format == OUTPUT_TEXT)
        out_wrapped(text, 0, REMARK_INDENT);
    else
        tool_note("%s", text);
    free(text);
}

/* ---- measurements ---- */

#define PUT(to, literal) put_text(to, literal, sizeof literal - 1)

enum { HELD_MAX = 65536 };
enum { LINE_ROOM = 256 }; /* more than the numbers of a line can be, with separators */

static void print_csv_line(struct metrics_view *v, const struct posixtrace_measurement *m)
{
    char *to;

    metrics_put_name(OUTPUT_CSV, posixtrace_metric_name(m->metric));
    to = out_room(LINE_ROOM);
    to = put_i64(PUT(to, ","), m->tid);
    to = put_i64(PUT(to, ","), m->begin_ns);
    to = put_i64(PUT(to, ","), m->end_ns);
    to = put_i64(PUT(to, ","), metrics_groups_length(&v->groups, m));
    to = put_u64(PUT(to, ","), m->intermediate_events);
    to = put_i64(PUT(to, ","), m->pid);
    to = PUT(to, ",");
    if (m->key != 0)
        to = put_hex(to, m->key);
    to = put_i64(PUT(to, ","), metrics_groups_least(&v->groups, m));
    to = put_u64(PUT(to, ","), m->unknown);
    out_taken(PUT(to, "\r\n"));
}

static void print_jsonl_line(struct metrics_view *v, const struct posixtrace_measurement *m)
{
    char *to;

    out_text("{\"metric\":");
    metrics_put_name(OUTPUT_JSONL, posixtrace_metric_name(m->metric));
    to = out_room(LINE_ROOM);
    to = put_i64(PUT(to, ",\"pid\":"), m->pid);
    to = put_i64(PUT(to, ",\"tid\":"), m->tid);
    to = put_hex(PUT(to, ",\"thread_id\":\""), m->thread_id);
    to = put_i64(PUT(to, "\",\"begin_ns\":"), m->begin_ns);
    to = put_i64(PUT(to, ",\"end_ns\":"), m->end_ns);
    to = put_i64(PUT(to, ",\"length_ns\":"), metrics_groups_length(&v->groups, m));
    to = put_u64(PUT(to, ",\"intermediate_events\":"), m->intermediate_events);
    if (m->key != 0)
        to = PUT(put_hex(PUT(to, ",\"object\":\""), m->key), "\"");
    if (m->bound || m->unknown) {
        to = m->unknown ? PUT(to, ",\"unknown\":true") : PUT(to, ",\"bound\":true");
        to = put_i64(PUT(to, ",\"least_ns\":"), metrics_groups_least(&v->groups, m));
    }
    out_taken(PUT(to, "}\n"));
}

static size_t place_of(struct metrics_view *v, const posixtrace_metric_t *metric)
{
    for (size_t i = 0; v->pick->metrics[v->last] != metric && i < v->pick->count; i++)
        v->last = (v->last + 1) % v->pick->count;
    return v->last;
}

static void print_line(struct metrics_view *v, const struct posixtrace_measurement *m)
{
    if (v->format == OUTPUT_TEXT)
        metrics_print_line(v, m);
    else if (v->format == OUTPUT_CSV)
        print_csv_line(v, m);
    else
        print_jsonl_line(v, m);
}

bool metrics_view_hears(const struct metrics_view *v, size_t metric)
{
    const struct metrics_picked *picked = &v->pick->list[metric];

    return picked->named || picked->own || metrics_hears_any(v->run, picked->metric);
}

/* The log may have no event of the metric at all, which the end shows: then it is no result. */
static void hold(struct metrics_view *v, const struct posixtrace_measurement *m)
{
    if (v->held_count == HELD_MAX) {
        print_line(v, m);
        return;
    }
    if (v->held_count == v->held_room) {
        v->held_room = v->held_room ? 2 * v->held_room : 64;
        v->held = tool_grow(v->held, v->held_room, sizeof *v->held);
    }
    v->held[v->held_count++] = *m;
}

static void print_held(struct metrics_view *v)
{
    for (size_t i = 0; i < v->held_count; i++)
        if (metrics_view_hears(v, place_of(v, v->held[i].metric)))
            print_line(v, &v->held[i]);
    metrics_view_drop(v);
}

void metrics_view_drop(struct metrics_view *v)
{
    free(v->held);
    v->held = NULL;
    v->held_count = v->held_room = 0;
}

int metrics_view_measured(void *context, const struct posixtrace_measurement *m)
{
    struct metrics_view *v = context;
    size_t place = place_of(v, m->metric);
    int error;

    if (!metrics_selects(v->select, m) || !metrics_time_holds(v, place, m))
        return 0;
    error = metrics_groups_add(&v->groups, place, m);
    if (error == 0 && v->rows == METRICS_EACH) {
        if (!m->unknown || metrics_view_hears(v, place))
            print_line(v, m);
        else
            hold(v, m);
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
    if (v->format == OUTPUT_TEXT)
        out_comment(text, out_columns());
    else
        tool_note("%s", text);
}

static void print_selection(const struct metrics_view *v)
{
    char *text = NULL;

    if (!select_is_any(&v->select->s) ||
        asprintf(&text, "selected: %s", select_text(&v->select->s)) < 0)
        return;
    if (v->format == OUTPUT_TEXT)
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
    if (v->format == OUTPUT_CSV)
        out_text(v->rows == METRICS_STATS
                     ? "metric,tid,thread,count,min_ns,max_ns,mean_ns,deviation_ns,p50_ns,p90_ns,"
                       "p99_ns,p99_9_ns,unknown,worst_ns,bounds,least_mean_ns,least_max_ns,pid\r\n"
                     : "metric,tid,begin_ns,end_ns,length_ns,intermediate_events,pid,object,"
                       "least_ns,unknown\r\n");
    if (v->format != OUTPUT_TEXT || v->rows != METRICS_EACH)
        return;
    print_abouts(v);
    if (v->has_origin)
        out_format("# us; BEGIN and END since %s\n", when_iso(v->origin));
    else
        out_text("# us; BEGIN and END since the first BEGIN\n");
    out_text("#  TASK        LENGTH         BEGIN           END EVENTS  METRIC\n");
}

static void print_remarks(const struct metrics_view *v)
{
    for (size_t i = 0; i < v->pick->count; i++)
        blank_due |= metrics_view_has(v, i);
    metrics_print_brief(v);
}

void metrics_view_end(struct metrics_view *v)
{
    print_held(v);
    metrics_groups_name(&v->groups, v->log->trid);
    v->heard = tool_grow(NULL, v->pick->count, sizeof *v->heard);
    for (size_t i = 0; i < v->pick->count; i++)
        v->heard[i] = metrics_view_hears(v, i);
    if (v->rows == METRICS_SUMMARY)
        metrics_print_summary(v);
    if (v->rows == METRICS_STATS)
        metrics_print_statistics(v);
    if (v->rows == METRICS_EACH && v->format == OUTPUT_TEXT)
        metrics_print_largest(v);
    if (v->rows == METRICS_EACH || v->format != OUTPUT_TEXT)
        metrics_print_doubts(v);
    else
        print_remarks(v);
    if (metrics_select_crossing(v->select))
        metrics_remark(v, "%s", metrics_select_crossing(v->select));
    metrics_pairs_report(v);
    free(v->heard);
    v->heard = NULL;
}

bool metrics_view_leaves_out(const struct metrics_view *v, const struct metrics_group *g)
{
    const struct metrics_picked *picked = &v->pick->list[g->metric];

    /* A selection may have too few jobs of a thread that is periodic. */
    if (select_is_any(&v->select->s))
        return false;
    return v->pick->all && v->rows != METRICS_EACH && v->format == OUTPUT_TEXT && !picked->own &&
           metrics_is_of_jobs(picked->metric) && !metrics_is_periodic(v, g);
}

bool metrics_view_has(const struct metrics_view *v, size_t metric)
{
    for (size_t i = 0; i < v->groups.count; i++) {
        if (v->groups.rows[i].metric == metric && metrics_view_shows(v, &v->groups.rows[i]))
            return true;
    }
    return false;
}

bool metrics_view_shows(const struct metrics_view *v, const struct metrics_group *g)
{
    struct posixtrace_summary s;

    if (metrics_view_leaves_out(v, g))
        return false;
    posixtrace_statistics_summary(g->statistics, &s, sizeof s);
    return s.count > 0 || (g->unknown > 0 && v->heard[g->metric]);
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
    posixtrace_metric_run_doubt(v->run, metric, &sum->doubt, sizeof sum->doubt);
    sum->of_log = select_is_any(&v->select->s);
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
