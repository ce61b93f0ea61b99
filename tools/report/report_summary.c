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

enum { LABEL = 13, LINES = 3 };

/* A line after a label, which is shown before the first line of several. */
__attribute__((format(printf, 3, 4))) static void item(const char *label, size_t i,
                                                       const char *format, ...)
{
    char text[1024];
    va_list arguments;
    int n = snprintf(text, sizeof text, "%-*s", LABEL, i == 0 ? label : "");

    va_start(arguments, format);
    vsnprintf(text + n, sizeof text - (size_t)n, format, arguments);
    va_end(arguments);
    report_line("%s", text);
}

static size_t lines(const struct report_view *v, enum report_section section)
{
    size_t count = report_shown(v, section);

    return count < LINES ? count : LINES;
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
    const struct posixtrace_report_summary *s = v->summary;
    uint64_t threads = v->rows[REPORT_THREADS].count;

    report_line("%s: %s in %s thread%s of %s process%s", v->log->shown,
                units_time(s->events ? s->last_ns - s->first_ns : 0), units_count(threads),
                plural(threads, "", "s"), units_count(v->processes),
                plural(v->processes, "", "es"));
    report_line("%s event%s: %s of calls, %s context switches, %s CPU times, %s pairs",
                units_count(s->events), plural(s->events, "", "s"), units_count(s->calls),
                units_count(s->switches), units_count(s->cpu_times), units_count(s->pairs));
    if (select_is_any(v->select)) {
        out_text("selected: ");
        out_wrapped(select_text(v->select), 10, 10);
    }
}

static void print_threads(const struct report_view *v)
{
    if (is_empty(v, REPORT_THREADS, "threads"))
        return;
    for (size_t i = 0; i < lines(v, REPORT_THREADS); i++) {
        const struct posixtrace_report_thread *t = report_thread(v, REPORT_THREADS, i);

        item("threads", i, "%s: %s, %s", report_thread_label(t), units_time(t->total_ns),
             report_shares(t, true, LINES));
    }
}

static void print_objects(const struct report_view *v, enum report_section section,
                          const char *label)
{
    if (is_empty(v, section, label))
        return;
    for (size_t i = 0; i < lines(v, section); i++) {
        const struct posixtrace_report_object *o = report_object(v, section, i);
        const char *kind = section == REPORT_WAITS ? posixtrace_wait_text(o->kind) : "";

        if (o->waits == 0) {
            item(label, i, "%s%s%s: unknown, events were lost", kind, *kind ? " " : "",
                 report_object_label(o));
            continue;
        }
        item(label, i, "%s%s%s: waited %s %s time%s, longest %s%s%s", kind, *kind ? " " : "",
             report_object_label(o), units_time(o->total_ns), units_count(o->waits),
             plural(o->waits, "", "s"), units_time(o->longest_ns),
             o->holder_tid ? ", held by " : "",
             o->holder_tid ? report_tid_label(v, o->pid, o->holder_tid) : "");
    }
}

static void print_pairs(const struct report_view *v)
{
    if (is_empty(v, REPORT_PAIRS, "pairs"))
        return;
    for (size_t i = 0; i < lines(v, REPORT_PAIRS); i++) {
        const struct posixtrace_report_pair *p = report_pair(v, i);

        if (!p->statistics) {
            item("pairs", i, "%s: unknown, events were lost", unquoted(p->name));
            continue;
        }
        item("pairs", i, "%s: %s time%s, p50 %s, p99 %s, max %s at %s", unquoted(p->name),
             units_count(p->count), plural(p->count, "", "s"),
             units_time(posixtrace_statistics_percentile(p->statistics, 50)),
             units_time(posixtrace_statistics_percentile(p->statistics, 99)),
             units_time(p->longest_ns), report_when(v, p->longest_at_ns));
    }
}

static void print_preemptors(const struct report_view *v)
{
    if (is_empty(v, REPORT_PREEMPTORS, "preempted by"))
        return;
    for (size_t i = 0; i < lines(v, REPORT_PREEMPTORS) && i < 2; i++) {
        const struct posixtrace_report_thread *t = report_thread(v, REPORT_PREEMPTORS, i);

        item("preempted by", i, "%s: %s time%s, others waited %s, longest %s",
             report_thread_label(t), units_count(t->preempted), plural(t->preempted, "", "s"),
             units_time(t->preempted_ns), units_time(t->preempted_longest_ns));
    }
}

static void print_losses(const struct report_view *v)
{
    const struct posixtrace_report_summary *s = v->summary;
    uint64_t lost = log_file_lost_all(v->log);

    if (lost > 0)
        item("losses", 0, "%s events: %s", units_count(lost), log_file_causes(&v->log->info));
    else
        item("losses", 0, "%s",
             log_file_has_unread(v->log) ? "a part of the log cannot be read"
             : s->gaps > 0               ? "none are counted"
                                         : "none");
    if (s->unmarked)
        item("", 0, "the log does not say where, so all times are unknown");
    else if (s->gaps > 0)
        item("", 0, "%s place%s where nothing is known, %s", units_count(s->gaps),
             plural(s->gaps, "", "s"), units_time(s->gap_ns));
}

static void print_cost(const struct report_view *v)
{
    if (v->event_ns > 0)
        item("tracing cost", 0, "%s: %s events of threads, %.0fns each",
             units_time((int64_t)((double)v->events * v->event_ns + 0.5)), units_count(v->events),
             v->event_ns);
    else
        item("tracing cost", 0, "unknown: the log does not say what an event costs");
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
