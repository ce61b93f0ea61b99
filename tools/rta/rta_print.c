/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * See rta_print.h.  The remarks after a table go to stderr with the other formats.
 */
#include "rta/rta_print.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/units.h"
#include "common/stdout_buffer.h"
#include "common/table.h"
#include "common/tool.h"
#include "measure/metrics_text.h"

static const char *const verdicts[] = { "schedulable", "late", "undecided", "contradicted" };

static const struct rta_measure *response(const struct rta_result *r, size_t i)
{
    const struct rta_measure *m = r->seen ? &r->seen[i].of[RTA_RESPONSE] : NULL;

    return m && m->there ? m : NULL;
}

/* ---- rows ---- */

/* In microseconds, or with three digits and a unit. */
static void time_cell(struct table *to, bool exact, const char *before, int64_t ns)
{
    char text[64];

    snprintf(text, sizeof text, "%s%s", before,
             exact ? metrics_us_at_most(ns) : metrics_time_at_most(ns));
    table_cell(to, text);
}

static void seen_cell(struct table *to, bool exact, const struct rta_measure *m)
{
    char text[64];

    if (!m)
        table_cell(to, "-");
    else if (exact)
        table_cell(to, metrics_us_range(m->largest, m->at_most));
    else if (m->at_most <= m->largest)
        table_cell(to, units_time(m->largest));
    else {
        if (m->at_most >= POSIXTRACE_NO_BOUND)
            snprintf(text, sizeof text, ">=%s", units_time(m->largest));
        else
            snprintf(text, sizeof text, "%s..%s", units_time(m->largest), units_time(m->at_most));
        table_cell(to, text);
    }
}

static void add_row(struct table *to, const struct rta_result *r, size_t i, bool exact)
{
    const struct rta_task *t = &r->tasks[i];
    char *name = metrics_shown(OUTPUT_TEXT, t->name), priority[16];

    snprintf(priority, sizeof priority, "%d", t->priority);
    table_add_row(to);
    table_cell(to, name);
    table_cell(to, priority);
    time_cell(to, exact, "", t->period);
    time_cell(to, exact, "", t->c);
    time_cell(to, exact, "", t->b);
    time_cell(to, exact, "", t->activations);
    time_cell(to, exact, "", t->deadline);
    if (t->jitter > 0)
        time_cell(to, exact, "", t->jitter);
    else
        table_cell(to, "-");
    /* every step of the iteration is below the solution */
    time_cell(to, exact, t->exact ? "" : ">=", t->r);
    seen_cell(to, exact, response(r, i));
    table_cell(to, verdicts[t->verdict]);
    free(name);
}

/* Exact, if it is wide enough for that. */
static bool print_table(const struct rta_result *r, bool exact)
{
    const struct table_column columns[] = { { .title = "TASK", .left = true, .flexible = true },
                                            { .title = "PRIO" },
                                            { .title = exact ? "PERIOD us" : "PERIOD" },
                                            { .title = "C" },
                                            { .title = "B" },
                                            { .title = "ACT" },
                                            { .title = "DEADLINE" },
                                            { .title = "J", .hidden = true },
                                            { .title = "R" },
                                            { .title = "SEEN" },
                                            { .title = "VERDICT", .left = true } };
    struct table to;
    bool fits;

    table_init(&to, columns, sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < r->count; i++)
        add_row(&to, r, i, exact);
    fits = !exact || table_fits(&to);
    if (fits)
        table_print(&to);
    table_free(&to);
    return fits;
}

/* The largest possible value, with lost events. */
static int64_t at_most(const struct rta_measure *m)
{
    return m->at_most > m->largest ? m->at_most : m->largest;
}

static void csv_row(const struct rta_result *r, size_t i)
{
    const struct rta_task *t = &r->tasks[i];
    const struct rta_measure *m = response(r, i);

    metrics_put_name(OUTPUT_CSV, t->name);
    out_format(",%d,%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",",
               t->priority, t->period, t->c, t->b, t->activations, t->deadline, t->r);
    if (m)
        out_format("%" PRId64, m->largest);
    out_format(",%s,", verdicts[t->verdict]);
    if (m)
        out_format("%" PRId64, at_most(m));
    out_format(",%" PRId64, t->jitter);
    if (r->growth && r->growth->c_max[i] >= 0)
        out_format(",%" PRId64, r->growth->c_max[i]);
    else if (r->growth)
        out_text(",");
    out_text("\r\n");
}

static void jsonl_row(const struct rta_result *r, size_t i)
{
    const struct rta_task *t = &r->tasks[i];
    const struct rta_measure *m = response(r, i);

    out_text("{\"task\":");
    metrics_put_name(OUTPUT_JSONL, t->name);
    out_format(",\"priority\":%d,\"period_ns\":%" PRId64 ",\"c_ns\":%" PRId64 ",\"b_ns\":%" PRId64
               ",\"activation_ns\":%" PRId64 ",\"deadline_ns\":%" PRId64 ",\"r_ns\":%" PRId64,
               t->priority, t->period, t->c, t->b, t->activations, t->deadline, t->r);
    if (m)
        out_format(",\"seen_ns\":%" PRId64 ",\"seen_at_most_ns\":%" PRId64, m->largest, at_most(m));
    out_format(",\"jitter_ns\":%" PRId64 ",\"busy_jobs\":%" PRId64, t->jitter, t->jobs);
    if (r->growth && r->growth->c_max[i] >= 0)
        out_format(",\"c_max_ns\":%" PRId64, r->growth->c_max[i]);
    if (r->growth && r->growth->factor >= 0)
        out_format(",\"factor_of_all\":%" PRId64 ".%03" PRId64, r->growth->factor / RTA_FACTOR_UNIT,
                   r->growth->factor % RTA_FACTOR_UNIT);
    out_format(",\"verdict\":\"%s\"}\n", verdicts[t->verdict]);
}

static void print_rows(const struct rta_result *r, enum output_format format)
{
    if (format == OUTPUT_TEXT) {
        if (!print_table(r, true))
            print_table(r, false);
        return;
    }
    if (format == OUTPUT_CSV)
        out_format("task,priority,period_ns,c_ns,b_ns,activation_ns,deadline_ns,r_ns,seen_ns,"
                   "verdict,seen_at_most_ns,jitter_ns%s\r\n",
                   r->growth ? ",c_max_ns" : "");
    for (size_t i = 0; i < r->count; i++) {
        if (format == OUTPUT_CSV)
            csv_row(r, i);
        else
            jsonl_row(r, i);
    }
}

/* ---- remarks ---- */

__attribute__((format(printf, 2, 3))) static void remark(enum output_format format,
                                                         const char *text, ...)
{
    va_list args;

    va_start(args, text);
    out_remark(format == OUTPUT_TEXT, text, args);
    va_end(args);
}

static void print_sum(const struct rta_result *r)
{
    size_t of[RTA_CONTRADICTED + 1] = { 0 };
    bool unlimited = false;
    double share = 100 * rta_utilization(r->tasks, r->count);
    char undecided[48] = "", contradicted[64] = "", text[32] = "an unlimited share";

    for (size_t i = 0; i < r->count; i++) {
        of[r->tasks[i].verdict]++;
        unlimited |= r->tasks[i].c >= POSIXTRACE_NO_BOUND;
    }
    if (of[RTA_UNDECIDED] > 0)
        snprintf(undecided, sizeof undecided, ", %zu undecided", of[RTA_UNDECIDED]);
    if (of[RTA_CONTRADICTED] > 0)
        snprintf(contradicted, sizeof contradicted, ", %zu contradicted by the log",
                 of[RTA_CONTRADICTED]);
    if (!unlimited)
        snprintf(text, sizeof text, "%.1f %%", share);
    out_text("\n");
    remark(OUTPUT_TEXT,
           "%zu of %zu task%s schedulable%s%s; they ask for %s of the "
           "processor",
           of[RTA_SCHEDULABLE], r->count, r->count == 1 ? "" : "s", undecided, contradicted, text);
}

/* Values that are neither given nor measured; B is seldom given. */
static void remark_missing(const struct rta_result *r, enum output_format format)
{
    char all[32] = "";

    for (int v = RTA_JST; v <= RTA_DUW; v++) {
        const char *name = rta_value_name((enum rta_value)v);
        size_t missing = 0, first = 0;

        for (size_t i = r->count; i-- > 0;) {
            if (r->tasks[i].value[v] < 0) {
                missing++;
                first = i;
            }
        }
        if (missing == r->count)
            snprintf(all + strlen(all), sizeof all - strlen(all), "%s%s", *all ? ", " : "", name);
        else if (missing > 1)
            remark(format, "%s of %s and %zu more tasks: neither given nor measured, taken as 0",
                   name, quote(r->tasks[first].name), missing - 1);
        else if (missing == 1)
            remark(format, "%s of %s: neither given nor measured, taken as 0", name,
                   quote(r->tasks[first].name));
    }
    if (*all)
        remark(format, "%s: neither given nor measured, taken as 0", all);
}

static void remark_unknown(const struct rta_result *r, enum output_format format, size_t i)
{
    for (int v = 0; v < RTA_VALUES; v++) {
        const struct rta_measure *m = &r->seen[i].of[v];
        const char *name = rta_value_name((enum rta_value)v);

        if (r->seen[i].from_log[v] && !m->there)
            remark(format,
                   "%s: %s is not in the log; where events were lost it may be %s, "
                   "which is taken",
                   quote(r->tasks[i].name), name, metrics_us_or_unlimited(m->hidden));
        if (!r->seen[i].from_log[v] || m->unknown == 0)
            continue;
        if (m->at_most <= m->largest)
            remark(format,
                   "%s: %s is unknown in %s place%s, because events were lost; there it "
                   "is not above the largest that is known",
                   quote(r->tasks[i].name), name, units_count(m->unknown),
                   m->unknown == 1 ? "" : "s");
        else
            remark(format,
                   "%s: %s is unknown in %s place%s, because events were lost: the largest "
                   "known is %s us, there it may be %s; the %s is taken",
                   quote(r->tasks[i].name), name, units_count(m->unknown),
                   m->unknown == 1 ? "" : "s", metrics_us(m->largest),
                   metrics_us_or_unlimited(m->at_most), r->at_most ? "latter" : "former");
    }
}

static void remark_seen(const struct rta_result *r, enum output_format format, size_t i)
{
    const struct rta_task *t = &r->tasks[i];
    const struct rta_measure *m = response(r, i);

    if (m && m->largest > t->deadline)
        remark(format, "%s: the log has a response of %s us, longer than the deadline",
               quote(t->name), metrics_us(m->largest));
    else if (t->verdict == RTA_CONTRADICTED)
        remark(format,
               "%s: the log has a response of %s us, longer than R: the model leaves "
               "something out (a value is too small, or the task does not keep to its period, "
               "priority or processor)",
               quote(t->name), metrics_us(m->largest));
    else if (t->verdict == RTA_UNDECIDED && t->exact)
        remark(format,
               "%s: where events were lost there may be a response of %s, longer than "
               "R",
               quote(t->name),
               metrics_us_or_unlimited(m ? m->at_most : r->seen[i].of[RTA_RESPONSE].hidden));
}

/* The threads that B comes from. */
static void remark_blocked(const struct rta_result *r, enum output_format format)
{
    size_t blocked = 0, longest = 0;

    for (size_t i = 0; i < r->count; i++) {
        if (!r->seen[i].from_log[RTA_B] || r->tasks[i].value[RTA_B] <= 0)
            continue;
        if (blocked++ == 0 || r->tasks[i].value[RTA_B] > r->tasks[longest].value[RTA_B])
            longest = i;
    }
    if (blocked > 0)
        remark(
            format,
            "B of %zu task%s contains Mutex Hold of threads of lower priority, as "
            "priority %s it: at most %s, for %s",
            blocked, blocked == 1 ? "" : "s", r->ceiling ? "ceilings bound" : "inheritance bounds",
            metrics_us_or_unlimited(r->tasks[longest].value[RTA_B]), quote(r->tasks[longest].name));
}

/* A remark that the selection is for the log; the analysis is of all tasks. */
static void remark_selection(const struct rta_result *r, enum output_format format)
{
    if (!r->seen || !select_is_any(r->select->s))
        return;
    remark(format, "selected of the log: %s", select_text(r->select->s));
    if (metrics_select_crossing(r->select))
        remark(format, "%s", metrics_select_crossing(r->select));
}

/* ---- how much C may grow ---- */

static void growth_row(struct table *to, const struct rta_result *r, size_t i)
{
    const struct rta_task *t = &r->tasks[i];
    char *name = metrics_shown(OUTPUT_TEXT, t->name), factor[32] = "-";
    int64_t most = r->growth->c_max[i];

    if (most >= 0 && t->c > 0)
        snprintf(factor, sizeof factor, "%.3f", floor((double)most / (double)t->c * 1000) / 1000);
    table_add_row(to);
    table_cell(to, name);
    table_cell(to, metrics_us_at_most(t->c));
    table_cell(to, most >= 0 ? metrics_us(most) : "-");
    table_cell(to, factor);
    free(name);
}

static void print_growth(const struct rta_result *r)
{
    static const struct table_column columns[] = {
        { .title = "TASK", .left = true, .flexible = true },
        { .title = "C us" },
        { .title = "C AT MOST" },
        { .title = "FACTOR" },
    };
    struct table to;

    table_init(&to, columns, sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < r->count; i++)
        growth_row(&to, r, i);
    out_text("\n");
    table_print(&to);
    out_text("\n");
    table_free(&to);
}

static void remark_growth(const struct rta_result *r, enum output_format format)
{
    int64_t factor = r->growth->factor;

    if (factor < 0)
        remark(format, "whatever C is, a task is late: by B, DUW, its jitter or switches");
    else if (factor >= (int64_t)RTA_FACTOR_MAX * RTA_FACTOR_UNIT)
        remark(format, "C of all tasks may grow by a factor of %d and more", RTA_FACTOR_MAX);
    else
        remark(format,
               "C of all tasks together may be %" PRId64 ".%03" PRId64 " times what it is, and "
               "all meet their deadlines%s",
               factor / RTA_FACTOR_UNIT, factor % RTA_FACTOR_UNIT,
               format == OUTPUT_TEXT ? "; that of one task alone the C AT MOST of the table" : "");
}

void rta_print(const struct rta_result *r, enum output_format format)
{
    print_rows(r, format);
    if (format == OUTPUT_TEXT)
        print_sum(r);
    if (r->growth && format == OUTPUT_TEXT)
        print_growth(r);
    if (r->growth)
        remark_growth(r, format);
    remark_selection(r, format);
    if (r->switch_ns > 0)
        remark(format, "each job has two context switches of %s us at its priority",
               metrics_us(r->switch_ns));
    if (r->cost->ns > 0)
        remark(format, "%.4g ns are taken off what was measured for each intermediate event (%s)",
               r->cost->ns, metrics_cost_text(r->cost));
    if (r->capped > 0)
        remark(format,
               "DUW of %zu task%s taken as that of %s, %s: what was measured holds the "
               "wait for tasks of higher priority, too",
               r->capped, r->capped == 1 ? "" : "s", quote(r->first->name),
               metrics_us_or_unlimited(r->first->value[RTA_DUW]));
    if (r->seen)
        remark_blocked(r, format);
    remark_missing(r, format);
    for (size_t i = 0; r->seen && i < r->count; i++) {
        remark_unknown(r, format, i);
        remark_seen(r, format, i);
    }
}
