/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The first screen: what was recorded, and the first lines of each section, in at most 23 lines of
 * 80 columns.
 */
#include "report/report.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/colour.h"
#include "common/stdout_buffer.h"
#include "common/table.h"
#include "common/tool.h"
#include "common/units.h"
#include "common/utf8.h"

enum { LABEL = 13, LINES = 3, NAME_MIN = 12 };

/* A line after a label, which is shown before the first line of several; the name is cut where the
 * line is too long. */
__attribute__((format(printf, 4, 5))) static void item(const char *label, size_t i,
                                                       const char *name, const char *format, ...)
{
    size_t room = out_columns() - LABEL, width, used;
    char text[1024];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    width = utf8_columns(text, strlen(text));
    out_format("%-*s", LABEL, i == 0 ? label : "");
    used = table_put_cut(name, room > width + NAME_MIN ? room - width : NAME_MIN);
    table_put_cut(text, room - used);
    out_text("\n");
}

static size_t lines(const struct report_view *v, enum report_section section)
{
    size_t count = report_shown(v, section),
           most = select_is_any(v->parts[0].select) ? LINES - 1 : LINES;

    return count < most ? count : most;
}

static bool is_empty(const struct report_view *v, enum report_section section, const char *label)
{
    const char *why = report_why_empty(v, section);

    if (!why)
        return false;
    out_format("%-*s", LABEL, label);
    out_wrapped(why, LABEL, LABEL);
    return true;
}

static const char *plural(uint64_t count, const char *one, const char *more)
{
    return count == 1 ? one : more;
}

static void print_head(const struct report_view *v)
{
    const struct posixtrace_report_summary *s = &v->summary;
    uint64_t threads = v->rows[REPORT_THREADS].count;

    report_line(0, 0, "%s: %s%s in %s thread%s of %s process%s", v->shown,
                v->several_clocks ? "about " : "",
                units_time(s->events ? s->last_ns - s->first_ns : 0), units_count(threads),
                plural(threads, "", "s"), units_count(v->processes),
                plural(v->processes, "", "es"));
    report_line(0, 0, "%s event%s: %s of %scalls, %s context switches, %s CPU times, %s pairs",
                units_count(s->events), plural(s->events, "", "s"), units_count(s->calls),
                s->long_calls_only ? "long " : "", units_count(s->switches),
                units_count(s->cpu_times), units_count(s->pairs));
    if (select_is_any(v->parts[0].select)) {
        out_text("selected: ");
        out_wrapped(select_text(v->parts[0].select), 10, 10);
    }
}

/* As many of the largest shares as fit. */
static void print_thread(const struct report_view *v, size_t i)
{
    const struct posixtrace_report_thread *t = report_thread(v, REPORT_THREADS, i);
    const char *label = report_thread_label(report_part(v, REPORT_THREADS, i), t), *shares = "";
    size_t room, used = utf8_columns(label, strlen(label));
    char time[32];

    snprintf(time, sizeof time, "%s", units_time(t->total_ns));
    room = out_columns() - LABEL - strlen(time) - 4;
    for (size_t most = LINES + 1; most > 0; most--) {
        shares = report_shares(t, true, most);
        if (used + strlen(shares) <= room)
            break;
    }
    item("threads", i, label, ": %s, %s", time, shares);
}

static void print_threads(const struct report_view *v)
{
    if (is_empty(v, REPORT_THREADS, "threads"))
        return;
    for (size_t i = 0; i < lines(v, REPORT_THREADS); i++)
        print_thread(v, i);
}

/* What says how long threads waited stays whole: of the names each is cut. */
static void print_waits(const struct report_part *p, const char *label, size_t i, const char *name,
                        const struct posixtrace_report_object *o)
{
    const char *holder = o->holder_tid ? report_tid_label(p, o->pid, o->holder_tid) : "";
    size_t width = utf8_columns(holder, strlen(holder)), room, used;
    char text[160];

    room = out_columns() - LABEL -
           (size_t)snprintf(text, sizeof text, ": %s in %s wait%s, longest %s%s",
                            units_time(o->total_ns), units_count(o->waits),
                            plural(o->waits, "", "s"), units_time(o->longest_ns),
                            *holder ? ", held by " : "");
    out_format("%-*s", LABEL, i == 0 ? label : "");
    used = table_put_cut(name, room > width + NAME_MIN ? room - width : NAME_MIN);
    out_text(text);
    table_put_cut(holder, room - used);
    out_text("\n");
}

static void print_object(const struct report_view *v, const char *label, size_t i,
                         enum report_section section, const struct posixtrace_report_object *o)
{
    const struct report_part *p = report_part(v, section, i);
    const char *name = report_object_name(v, p, section, o, section != REPORT_LOCKS);

    if (o->waits > 0 && o->is_descriptor)
        item(label, i, name, ": %s in %s call%s, longest %s", units_time(o->total_ns),
             units_count(o->waits), plural(o->waits, "", "s"), units_time(o->longest_ns));
    else if (o->waits > 0)
        print_waits(p, label, i, name, o);
    else if (o->open > 0)
        item(label, i, name, ": %s wait%s not ended", units_count(o->open),
             plural(o->open, " has", "s have"));
    else
        item(label, i, name, ": unknown, events were lost");
}

static void print_objects(const struct report_view *v, enum report_section section,
                          const char *label)
{
    if (is_empty(v, section, label))
        return;
    for (size_t i = 0; i < lines(v, section); i++) {
        const struct posixtrace_report_object *o = report_object(v, section, i);

        print_object(v, label, i, section, o);
    }
}

static void print_pairs(const struct report_view *v)
{
    if (is_empty(v, REPORT_PAIRS, "pairs"))
        return;
    for (size_t i = 0; i < lines(v, REPORT_PAIRS); i++) {
        const struct posixtrace_report_pair *p = report_pair(v, i);

        if (p->statistics)
            item("pairs", i, unquoted(p->name), ": %s time%s, p50 %s, p99 %s, max %s",
                 units_count(p->count), plural(p->count, "", "s"),
                 units_time(posixtrace_statistics_percentile(p->statistics, 50)),
                 units_time(posixtrace_statistics_percentile(p->statistics, 99)),
                 units_time(p->longest_ns));
        else
            item("pairs", i, unquoted(p->name), ": unknown, events were lost");
    }
}

/* The first one, and what ran besides the threads of the log. */
static void print_preemptors(const struct report_view *v)
{
    static const char label[] = "preempted by";
    const struct posixtrace_report_summary *s = &v->summary;
    size_t i = 0;

    if (s->preempted_by_others == 0 && is_empty(v, REPORT_PREEMPTORS, label))
        return;
    for (; i < report_shown(v, REPORT_PREEMPTORS) && i < 1; i++) {
        const struct posixtrace_report_thread *t = report_thread(v, REPORT_PREEMPTORS, i);

        item(label, i, report_thread_label(report_part(v, REPORT_PREEMPTORS, i), t),
             ": %s time%s, others waited %s, longest %s", units_count(t->preempted),
             plural(t->preempted, "", "s"), units_time(t->preempted_ns),
             units_time(t->preempted_longest_ns));
    }
    if (s->preempted_by_others > 0)
        item(label, i, "not in the log", ": %s time%s, %s, longest %s",
             units_count(s->preempted_by_others), plural(s->preempted_by_others, "", "s"),
             units_time(s->preempted_by_others_ns), units_time(s->preempted_by_others_longest_ns));
}

static void print_losses(const struct report_view *v)
{
    const struct posixtrace_report_summary *s = &v->summary;
    uint64_t lost = log_file_lost(v->info.lost);

    if (lost > 0)
        item("losses", 0, "", "%s event%s: %s", units_count(lost), plural(lost, "", "s"),
             log_file_causes(&v->info));
    else
        item("losses", 0, "", "%s",
             v->has_unread ? "a part of the log cannot be read"
             : s->gaps > 0 ? "none are counted"
                           : "none");
    if (s->unmarked)
        item("", 0, "", "the log does not say where, so all times are unknown");
    else if (s->gaps > 0)
        item("", 0, "", "%s place%s where nothing is known, %s", units_count(s->gaps),
             plural(s->gaps, "", "s"), units_time(s->gap_ns));
}

static void print_cost(const struct report_view *v)
{
    if (v->has_cost)
        item("tracing cost", 0, "", "%s at least: %s events of threads, %.0fns each",
             units_time((int64_t)(v->cost_ns + 0.5)), units_count(v->events),
             v->events > 0 ? v->cost_ns / (double)v->events : v->parts[0].event_ns);
    else
        item("tracing cost", 0, "", "unknown: the log does not say what an event costs");
}

void report_print_summary(const struct report_view *v)
{
    print_head(v);
    out_text("\n");
    print_threads(v);
    print_objects(v, REPORT_LOCKS, "locks");
    print_objects(v, REPORT_WAITS, "other waits");
    print_pairs(v);
    print_objects(v, REPORT_DESCRIPTORS, "descriptors");
    print_preemptors(v);
    print_losses(v);
    print_cost(v);
}
