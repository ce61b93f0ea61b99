/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * A line of the table of all measurements, as they come; see metrics_view.h.  A line whose
 * exact numbers do not fit has them with three digits and a unit.
 */
#include "metrics/metrics_view.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/colour.h"
#include "common/units.h"
#include "common/stdout_buffer.h"
#include "common/table.h"
#include "common/utf8.h"
#include "measure/metrics_text.h"

enum { NAME_MIN = 6 };

/* Imported times may be any numbers: the difference goes round instead of overflowing. */
static int64_t since(const struct metrics_view *v, int64_t ns)
{
    return (int64_t)((uint64_t)ns - (uint64_t)v->origin);
}

static int label_columns(const struct metrics_view *v)
{
    int columns = 3;

    for (size_t i = 0; i < v->part_count; i++) {
        const char *label = metrics_view_label(v,
                                               (struct metrics_where){ (uint32_t)i, (uint32_t)i });
        int wide = (int)utf8_columns(label, strlen(label));

        columns = wide > columns ? wide : columns;
    }
    return v->keys ? 2 * columns + 1 : columns;
}

/* Where there are several logs, a line has the name of its log in place of the number of events. */
static size_t put_place(char *to, size_t size, const struct metrics_view *v,
                        struct metrics_where where, uint64_t events)
{
    const char *label;
    int columns;

    if (!v->several)
        return (size_t)snprintf(to, size, " %6" PRIu64 "  ", events);
    label = metrics_view_label(v, where);
    columns = label_columns(v) - (int)utf8_columns(label, strlen(label));
    return (size_t)snprintf(to, size, " %s%*s  ", label, columns > 0 ? columns : 0, "");
}

void metrics_print_line_heading(const struct metrics_view *v)
{
    if (v->several)
        out_format("#  TASK        LENGTH         BEGIN           END %-*s  METRIC\n",
                   label_columns(v), "LOG");
    else
        out_text("#  TASK        LENGTH         BEGIN           END EVENTS  METRIC\n");
}

/* The numbers of a line; exact: in microseconds, else with three digits and a unit. */
static size_t put_numbers(char *to, size_t size, const struct metrics_view *v,
                          struct metrics_where where, const struct posixtrace_measurement *m,
                          bool exact)
{
    size_t used;
    int64_t least = metrics_groups_least(&v->groups, m);
    int64_t most = metrics_groups_length(&v->groups, m);
    int64_t begin = since(v, m->begin_ns), end = since(v, m->end_ns);
    char range[64];

    if (exact)
        snprintf(range, sizeof range, "%s", metrics_us_range(least, most));
    else if (least < most)
        snprintf(range, sizeof range, "%s..%s", units_time(least), metrics_time_at_most(most));
    else
        snprintf(range, sizeof range, "%s", units_time(most));
    used = (size_t)snprintf(to, size, "%7s %13s %13s %13s", metrics_thread(m->tid, m->thread_id),
                            range, exact ? metrics_us(begin) : units_time(begin),
                            exact ? metrics_us(end) : units_time(end));
    return used + put_place(to + used, size - used, v, where, m->intermediate_events);
}

void metrics_print_line(struct metrics_view *v, struct metrics_where where,
                        const struct posixtrace_measurement *m)
{
    const char *mark = m->unknown ? " (unknown)" : m->bound ? " (bound)" : "";
    char *name = metrics_shown(OUTPUT_TEXT, posixtrace_metric_name(m->metric));
    char text[256];
    size_t used;

    if (!v->has_origin) {
        v->origin = m->begin_ns;
        v->has_origin = true;
    }
    used = put_numbers(text, sizeof text, v, where, m, true) + strlen(mark);
    if (used + NAME_MIN > out_columns())
        used = put_numbers(text, sizeof text, v, where, m, false) + strlen(mark);
    out_text(text);
    out_text(colour_code(m->unknown ? COLOUR_ALARM : COLOUR_NAME));
    table_put_cut(name, used + NAME_MIN < out_columns() ? out_columns() - used : NAME_MIN);
    out_text(mark);
    out_text(colour_code(COLOUR_PLAIN));
    out_text("\n");
    free(name);
}

/* ---- csv and jsonl ---- */

#define PUT(to, literal) put_text(to, literal, sizeof literal - 1)

enum { LINE_ROOM = 256 }; /* more than the numbers of a line can be, with separators */

static void put_jsonl_log(const char *key, const struct metrics_view *v, uint32_t log)
{
    if (!v->several)
        return;
    out_format("\"%s\":", key);
    metrics_put_name(OUTPUT_JSONL, v->parts[log].log->path);
    out_text(",");
}

static void print_csv_line(struct metrics_view *v, struct metrics_where where,
                           const struct posixtrace_measurement *m)
{
    char *to;

    metrics_view_put_csv_logs(v, where);
    metrics_put_name(OUTPUT_CSV, posixtrace_metric_name(m->metric));
    to = out_room(LINE_ROOM);
    to = pt_number_i64(PUT(to, ","), m->tid);
    to = pt_number_i64(PUT(to, ","), m->begin_ns);
    to = pt_number_i64(PUT(to, ","), m->end_ns);
    to = pt_number_i64(PUT(to, ","), metrics_groups_length(&v->groups, m));
    to = pt_number_u64(PUT(to, ","), m->intermediate_events);
    to = pt_number_i64(PUT(to, ","), m->pid);
    to = PUT(to, ",");
    if (m->key != 0)
        to = pt_number_hex(to, m->key);
    to = pt_number_i64(PUT(to, ","), metrics_groups_least(&v->groups, m));
    to = pt_number_u64(PUT(to, ","), m->unknown);
    out_taken(PUT(to, "\r\n"));
}

static void print_jsonl_line(struct metrics_view *v, struct metrics_where where,
                             const struct posixtrace_measurement *m)
{
    char *to;

    out_text("{");
    put_jsonl_log("log", v, where.log);
    if (where.from != where.log)
        put_jsonl_log("begin_log", v, where.from);
    out_text("\"metric\":");
    metrics_put_name(OUTPUT_JSONL, posixtrace_metric_name(m->metric));
    to = out_room(LINE_ROOM);
    to = pt_number_i64(PUT(to, ",\"pid\":"), m->pid);
    to = pt_number_i64(PUT(to, ",\"tid\":"), m->tid);
    to = pt_number_hex(PUT(to, ",\"thread_id\":\""), m->thread_id);
    to = pt_number_i64(PUT(to, "\",\"begin_ns\":"), m->begin_ns);
    to = pt_number_i64(PUT(to, ",\"end_ns\":"), m->end_ns);
    to = pt_number_i64(PUT(to, ",\"length_ns\":"), metrics_groups_length(&v->groups, m));
    to = pt_number_u64(PUT(to, ",\"intermediate_events\":"), m->intermediate_events);
    if (m->key != 0)
        to = PUT(pt_number_hex(PUT(to, ",\"object\":\""), m->key), "\"");
    if (m->bound || m->unknown) {
        to = m->unknown ? PUT(to, ",\"unknown\":true") : PUT(to, ",\"bound\":true");
        to = pt_number_i64(PUT(to, ",\"least_ns\":"), metrics_groups_least(&v->groups, m));
    }
    out_taken(PUT(to, "}\n"));
}

void metrics_view_put(struct metrics_view *v, struct metrics_where where,
                      const struct posixtrace_measurement *m)
{
    if (v->form.format == OUTPUT_TEXT)
        metrics_print_line(v, where, m);
    else if (v->form.format == OUTPUT_CSV)
        print_csv_line(v, where, m);
    else
        print_jsonl_line(v, where, m);
}
