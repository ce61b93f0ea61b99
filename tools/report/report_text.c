/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The sections after the first screen, except those of report_calls.c; see report.h.
 */
#include "report/report.h"
#include "common/draw.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/colour.h"
#include "common/stdout_buffer.h"
#include "common/table.h"
#include "common/tool.h"
#include "common/units.h"

enum { NAME = 24, BAR = 12, INDENT = 6 };

void report_line(size_t column, size_t indent, const char *format, ...)
{
    char text[1024];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (column == 0)
        out_spaces(indent);
    out_wrapped(text, column ? column : indent, indent + 2);
}

void report_heading(const struct report_view *v, enum report_section section, const char *text)
{
    size_t count = v->rows[section].count, shown = report_shown(v, section);

    out_format("\n%s%s%s", colour_code(COLOUR_NAME), text, colour_code(COLOUR_PLAIN));
    if (shown < count)
        out_format(": the first %s of %s", units_count(shown), units_count(count));
    out_text("\n");
}

/* Names with their logs take the place of the bars. */
static int name_width(const struct report_view *v)
{
    return v->several ? NAME + BAR : NAME;
}

static void print_legend(const struct report_view *v)
{
    out_format("  %s%-*s %8s %6s %6s %6s %7s", colour_code(COLOUR_FAINT), name_width(v), "THREAD",
               "TIME", "RUN", "READY", "WAIT", "UNKNOWN");
    if (!v->several)
        out_format("  %s run %s ready", draw_glyph(DRAW_RUN, v->utf8),
                   draw_glyph(DRAW_RUNNABLE, v->utf8));
    out_format("%s\n", colour_code(COLOUR_PLAIN));
}

static void print_thread(const struct report_view *v, const struct report_part *p,
                         const struct posixtrace_report_thread *t)
{
    int64_t waits = report_wait_sum(t);
    const int64_t parts[DRAW_FILLS] = { t->run_ns, t->runnable_ns, waits, t->unknown_ns };
    char more[512];
    size_t used;

    out_text("  ");
    out_text(colour_code(COLOUR_THREAD));
    out_spaces(name_width(v) - table_put_cut(report_thread_label(p, t), name_width(v)));
    out_text(colour_code(COLOUR_PLAIN));
    out_format(" %8s %6s %6s %6s %7s", units_time(t->total_ns),
               units_percent((double)t->run_ns, (double)t->total_ns),
               units_percent((double)t->runnable_ns, (double)t->total_ns),
               units_percent((double)waits, (double)t->total_ns),
               units_percent((double)t->unknown_ns, (double)t->total_ns));
    if (!v->several)
        out_text("  ");
    if (!v->several)
        draw_shares(parts, t->total_ns, BAR, v->utf8);
    out_text("\n");
    used = (size_t)snprintf(more, sizeof more, "%s%s%s%s", waits > 0 ? "waits: " : "",
                            report_shares(t, false, SIZE_MAX), waits > 0 ? "; " : "",
                            t->by_switches ? "" : "no context switches; ");
    if (t->by_switches && used < sizeof more)
        used += (size_t)snprintf(more + used, sizeof more - used, "%s switch%s (%s preempted); ",
                                 units_count(t->switches), t->switches == 1 ? "" : "es",
                                 units_count(t->preemptions));
    if (used < sizeof more)
        used += (size_t)snprintf(more + used, sizeof more - used, "%s event%s",
                                 units_count(t->events), t->events == 1 ? "" : "s");
    if (t->waits_for >= 0 && used < sizeof more)
        snprintf(more + used, sizeof more - used, "; waits for %s since %s to the end",
                 posixtrace_wait_text((unsigned)t->waits_for), report_when(v, p, t->waits_since));
    out_spaces(INDENT);
    out_wrapped(more, INDENT, INDENT);
}

static void note(const char *text)
{
    out_text("  ");
    out_wrapped(text, 2, 2);
}

static void print_threads(const struct report_view *v)
{
    const char *why = report_why_empty(v, REPORT_THREADS);
    bool bounds = false;

    report_heading(v, REPORT_THREADS, "Where the time of the threads went, by run + ready");
    if (why) {
        note(why);
        return;
    }
    print_legend(v);
    for (size_t i = 0; i < report_shown(v, REPORT_THREADS); i++) {
        const struct posixtrace_report_thread *t = report_thread(v, REPORT_THREADS, i);

        print_thread(v, report_part(v, REPORT_THREADS, i), t);
        bounds |= !t->by_switches;
    }
    if (v->summary.long_calls_only)
        note(
            "The log has only long calls ('record --longer-than'): time in shorter ones is part of "
            "other waits, or unknown.");
    if (bounds && v->summary.cpu_times > 0)
        note("Threads without context switches: WAIT is all the time in calls. Of the time between "
             "calls, CPU times prove RUN, and 'no processor': preempted, or in another wait.");
    else if (bounds)
        note("Threads without context switches: WAIT is all the time in calls, and what happened "
             "between calls is unknown; 'posixtrace record --system=switches' shows it.");
}

static void print_preemptors(const struct report_view *v)
{
    const char *why = report_why_empty(v, REPORT_PREEMPTORS);
    const struct posixtrace_report_summary *s = &v->summary;
    int64_t largest = s->preempted_by_others_ns;

    report_heading(v, REPORT_PREEMPTORS, "Which threads ran instead of those that were ready");
    if (why && s->preempted_by_others == 0) {
        note(why);
        return;
    }
    out_format("  %s%-*s %9s %10s %9s%s\n", colour_code(COLOUR_FAINT), NAME, "THREAD", "TIMES",
               "TOTAL", "LONGEST", colour_code(COLOUR_PLAIN));
    if (v->rows[REPORT_PREEMPTORS].count > 0) {
        int64_t first = report_thread(v, REPORT_PREEMPTORS, 0)->preempted_ns;

        largest = largest > first ? largest : first;
    }
    for (size_t i = 0; i < report_shown(v, REPORT_PREEMPTORS); i++) {
        const struct posixtrace_report_thread *t = report_thread(v, REPORT_PREEMPTORS, i);
        const struct report_part *p = report_part(v, REPORT_PREEMPTORS, i);

        out_text("  ");
        out_spaces(NAME - table_put_cut(report_thread_label(p, t), NAME));
        out_format(" %9s %10s %9s  ", units_count(t->preempted), units_time(t->preempted_ns),
                   units_time(t->preempted_longest_ns));
        draw_bar(t->preempted_ns, largest, BAR, v->utf8);
        out_text("\n");
        report_line(0, INDENT, "longest: instead of %s at %s",
                    report_tid_label(p, 0, t->preempted_longest_tid),
                    report_when(v, p, t->preempted_longest_at_ns));
    }
    if (s->preempted_by_others == 0)
        return;
    out_format("  %-*s %9s %10s %9s  ", NAME, "not in the log", units_count(s->preempted_by_others),
               units_time(s->preempted_by_others_ns),
               units_time(s->preempted_by_others_longest_ns));
    draw_bar(s->preempted_by_others_ns, largest, BAR, v->utf8);
    out_text("\n");
}

static void print_losses(const struct report_view *v)
{
    const struct posixtrace_info *info = &v->info;
    const struct posixtrace_report_summary *s = &v->summary;
    uint64_t most = 0;
    char text[160];

    out_format("\n%sLost events%s\n", colour_code(COLOUR_NAME), colour_code(COLOUR_PLAIN));
    for (unsigned i = 0; i < POSIXTRACE_LOSS_CAUSES; i++)
        most = info->lost[i] > most ? info->lost[i] : most;
    for (unsigned i = 0; i < POSIXTRACE_LOSS_CAUSES; i++) {
        if (info->lost[i] == 0)
            continue;
        out_format("  %-*s %14s  ", NAME + 4, posixtrace_loss_cause_text(i),
                   units_count(info->lost[i]));
        draw_bar((int64_t)(info->lost[i] >> 1), (int64_t)(most >> 1), BAR, v->utf8);
        out_text("\n");
    }
    if (most == 0)
        note(v->has_unread ? "a part of the log cannot be read" : "none are counted");
    if (s->unmarked) {
        note("The log does not say where, so all times are unknown.");
    } else if (s->gaps > 0) {
        snprintf(text, sizeof text,
                 "In %s place%s, together %s, events were lost or not recorded; what threads did "
                 "there is unknown.",
                 units_count(s->gaps), s->gaps == 1 ? "" : "s", units_time(s->gap_ns));
        note(text);
    }
    if (s->crossing > 0) {
        snprintf(text, sizeof text,
                 "%s wait%s or pair%s the start or end of the selected time and %s not counted.",
                 units_count(s->crossing), s->crossing == 1 ? "" : "s",
                 s->crossing == 1 ? " crosses" : "s cross", s->crossing == 1 ? "is" : "are");
        note(text);
    }
}

static void print_cost(const struct report_view *v)
{
    uint64_t most = 0;

    out_format("\n%sWhat tracing cost%s\n", colour_code(COLOUR_NAME), colour_code(COLOUR_PLAIN));
    if (!v->has_cost) {
        note(v->several
                 ? "A log does not say what an event costs: it was imported, or recorded "
                   "without 'posixtrace record'."
                 : "The log does not say what an event costs: it was imported, or recorded without "
                   "'posixtrace record'.");
        return;
    }
    out_format("  %s%-*s %12s %9s %8s%s\n", colour_code(COLOUR_FAINT), NAME, "THREAD", "EVENTS",
               "COST", "OF TIME", colour_code(COLOUR_PLAIN));
    for (size_t i = 0; i < report_shown(v, REPORT_THREADS); i++) {
        uint64_t events = report_thread(v, REPORT_THREADS, i)->events;

        most = events > most ? events : most;
    }
    for (size_t i = 0; i < report_shown(v, REPORT_THREADS); i++) {
        const struct posixtrace_report_thread *t = report_thread(v, REPORT_THREADS, i);
        const struct report_part *p = report_part(v, REPORT_THREADS, i);
        int64_t cost = (int64_t)((double)t->events * p->event_ns + 0.5);

        out_text("  ");
        out_spaces(NAME - table_put_cut(report_thread_label(p, t), NAME));
        out_format(" %12s %9s %8s  ", units_count(t->events), units_time(cost),
                   units_percent((double)cost, (double)t->total_ns));
        draw_bar((int64_t)t->events, (int64_t)most, BAR, v->utf8);
        out_text("\n");
    }
}

void report_print_sections(const struct report_view *v)
{
    print_threads(v);
    report_print_objects(v, REPORT_LOCKS);
    report_print_objects(v, REPORT_WAITS);
    report_print_pairs(v);
    report_print_objects(v, REPORT_DESCRIPTORS);
    report_print_sites(v);
    report_print_objects(v, REPORT_WORK);
    print_preemptors(v);
    print_losses(v);
    print_cost(v);
}
