/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The sections of what was waited for, and of pairs; see report.h.
 */
#include "report/report.h"
#include "common/draw.h"

#include <inttypes.h>
#include <posixtrace/system.h>
#include <stdio.h>

#include "common/colour.h"
#include "common/stdout_buffer.h"
#include "common/table.h"
#include "common/tool.h"
#include "common/units.h"

enum { NAME = 26, BAR = 10, HISTOGRAM = 24, INDENT = 6 };

/* Names with their logs take the place of the bars. */
static int name_width(const struct report_view *v)
{
    return v->several ? NAME + BAR - 2 : NAME;
}

static void print_why(const char *why)
{
    out_text("  ");
    out_wrapped(why, 2, 2);
}

static const char *percentile(const posixtrace_statistics_t *statistics, double percent)
{
    return statistics ? units_time(posixtrace_statistics_percentile(statistics, percent)) : "-";
}

static void print_longest(const struct report_view *v, const struct report_part *p,
                          const struct posixtrace_report_object *o)
{
    const char *call = o->is_descriptor ? posixtrace_call_text(o->call) : NULL;
    char text[1024];
    size_t used;

    used = (size_t)snprintf(text, sizeof text, "longest: %s%s%s at %s", call ? call : "",
                            call ? " of " : "", report_tid_label(p, o->pid, o->longest_tid),
                            report_when(v, p, o->longest_at_ns));
    if (o->caller && used < sizeof text)
        used += (size_t)snprintf(text + used, sizeof text - used, ", called from %s",
                                 sites_code(p->sites, o->pid, o->longest_at_ns, o->caller));
    if (o->holder_tid && used < sizeof text)
        used += (size_t)snprintf(text + used, sizeof text - used, "; held by %s",
                                 report_tid_label(p, o->pid, o->holder_tid));
    if (o->holder_tid && o->holder_caller && used < sizeof text)
        snprintf(text + used, sizeof text - used, ", locked from %s",
                 sites_code(p->sites, o->pid, o->longest_at_ns, o->holder_caller));
    out_spaces(INDENT);
    out_wrapped(text, INDENT, INDENT);
}

/* For locks calls and waits differ; for all else each call is a wait. */
static void print_object(const struct report_view *v, enum report_section section, size_t i,
                         int64_t largest)
{
    const struct posixtrace_report_object *o = report_object(v, section, i);
    const struct report_part *p = report_part(v, section, i);

    out_text("  ");
    out_spaces(name_width(v) -
               table_put_cut(report_object_name(v, p, section, o, true), name_width(v)));
    out_format(" %9s %9s %7s %7s %7s", units_count(o->calls),
               section == REPORT_LOCKS ? units_count(o->waits) : percentile(o->statistics, 50),
               o->waits ? units_time(o->total_ns) : "-", percentile(o->statistics, 99),
               o->waits ? units_time(o->longest_ns) : "-");
    if (o->waits > 0 && !v->several) {
        out_text(" ");
        draw_bar(o->total_ns, largest, BAR - 3, v->utf8);
    }
    out_text("\n");
    if (o->waits > 0)
        print_longest(v, p, o);
    if (o->unknown > 0)
        report_line(0, INDENT, "%s more unknown: events were lost", units_count(o->unknown));
    if (o->open > 0)
        report_line(0, INDENT, "%s wait%s had not ended when the log did", units_count(o->open),
                    o->open == 1 ? "" : "s");
}

void report_print_objects(const struct report_view *v, enum report_section section)
{
    static const struct {
        const char *title, *object;
    } headings[REPORT_SECTIONS] = {
        [REPORT_LOCKS] = { "Locks by the time that threads waited for them", "LOCK" },
        [REPORT_WAITS] = { "Other things that threads waited for", "WAIT FOR" },
        [REPORT_DESCRIPTORS] = { "Descriptors and peers by time in calls", "DESCRIPTOR" },
        [REPORT_WORK] = { "Waits for work: poll, select, epoll", "DESCRIPTOR" },
    };
    const char *why = report_why_empty(v, section);

    report_heading(v, section, headings[section].title);
    if (why) {
        print_why(why);
        return;
    }
    out_format("  %s%-*s %9s %9s %7s %7s %7s%s\n", colour_code(COLOUR_FAINT), name_width(v),
               headings[section].object, section == REPORT_LOCKS ? "TAKEN" : "CALLS",
               section == REPORT_LOCKS ? "WAITS" : "P50", "TOTAL", "P99", "LONGEST",
               colour_code(COLOUR_PLAIN));
    for (size_t i = 0; i < report_shown(v, section); i++)
        print_object(v, section, i, report_object(v, section, 0)->total_ns);
}

static void print_site(const struct report_view *v, const struct report_part *p,
                       const struct posixtrace_report_site *s)
{
    const char *call = s->is_descriptor ? posixtrace_call_text(s->call) : NULL;
    char name[160], number[16] = "";

    if (v->processes > 1)
        snprintf(number, sizeof number, " (%d)", (int)s->pid);
    snprintf(name, sizeof name, "%s%s%s%s", unquoted(p->label), v->several ? ":" : "",
             call ? call : posixtrace_wait_text(s->kind), number);
    out_text("  ");
    out_spaces(name_width(v) - table_put_cut(name, name_width(v)));
    out_format(" %9s %9s %7s %7s %7s", units_count(s->waits), percentile(s->statistics, 50),
               units_time(s->total_ns), percentile(s->statistics, 99), units_time(s->longest_ns));
    if (!v->several)
        out_text(" ");
    if (!v->several)
        draw_bar(s->total_ns, report_site(v, 0)->total_ns, BAR - 3, v->utf8);
    out_text("\n");
    out_spaces(INDENT);
    out_wrapped(sites_code(p->sites, s->pid, s->longest_at_ns, s->caller), INDENT, INDENT);
}

void report_print_sites(const struct report_view *v)
{
    const char *why = report_why_empty(v, REPORT_SITES);

    report_heading(v, REPORT_SITES, "Where waits were called, without those for work");
    if (why) {
        print_why(why);
        return;
    }
    out_format("  %s%-*s %9s %9s %7s %7s %7s%s\n", colour_code(COLOUR_FAINT), name_width(v),
               "CALL, AND ITS PLACE", "WAITS", "P50", "TOTAL", "P99", "LONGEST",
               colour_code(COLOUR_PLAIN));
    for (size_t i = 0; i < report_shown(v, REPORT_SITES); i++)
        print_site(v, report_part(v, REPORT_SITES, i), report_site(v, i));
}

static void print_histogram(const struct report_view *v, const struct report_part *part,
                            const struct posixtrace_report_pair *p)
{
    struct posixtrace_summary s;

    posixtrace_statistics_summary(p->statistics, &s, sizeof s);
    out_format("      %7s |", units_time(s.min_ns));
    draw_histogram(p->statistics, HISTOGRAM, v->utf8);
    report_line(INDENT + 9 + HISTOGRAM, INDENT, "| %s; max at %s%s%s", units_time(s.max_ns),
                report_when(v, part, p->longest_at_ns), v->several ? " in " : "",
                unquoted(part->label));
}

static void print_pair(const struct report_view *v, const struct report_part *part,
                       const struct posixtrace_report_pair *p)
{
    static const double percents[] = { 50, 99, 99.9 };

    out_text("  ");
    out_text(colour_code(COLOUR_NAME));
    out_spaces(NAME - table_put_cut(unquoted(p->name), NAME));
    out_text(colour_code(COLOUR_PLAIN));
    out_format(" %9s %9s", units_count(p->count), p->count ? units_time(p->total_ns) : "-");
    for (unsigned i = 0; i < 3; i++)
        out_format(" %7s",
                   p->statistics
                       ? units_time(posixtrace_statistics_percentile(p->statistics, percents[i]))
                       : "-");
    out_format(" %7s\n", p->count ? units_time(p->longest_ns) : "-");
    if (p->statistics)
        print_histogram(v, part, p);
    if (p->unknown > 0)
        report_line(0, INDENT, "%s more unknown: events were lost", units_count(p->unknown));
    if (p->open > 0)
        report_line(0, INDENT, "%s begun and not ended", units_count(p->open));
}

void report_print_pairs(const struct report_view *v)
{
    const char *why = report_why_empty(v, REPORT_PAIRS);

    report_heading(v, REPORT_PAIRS, "How long pairs of events took, from NAME:begin to NAME:end");
    if (why) {
        print_why(why);
        return;
    }
    out_format("  %s%-*s %9s %9s %7s %7s %7s %7s%s\n", colour_code(COLOUR_FAINT), NAME, "PAIR",
               "COUNT", "TOTAL", "P50", "P99", "P99.9", "MAX", colour_code(COLOUR_PLAIN));
    for (size_t i = 0; i < report_shown(v, REPORT_PAIRS); i++)
        print_pair(v, report_part(v, REPORT_PAIRS, i), report_pair(v, i));
}
