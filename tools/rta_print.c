/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * See rta_print.h.  The remarks after a table go to stderr with the other formats.
 */
#include "rta_print.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "amount.h"
#include "chars.h"
#include "out.h"
#include "tool.h"

static const char *const verdicts[] = { "schedulable", "late", "undecided", "contradicted" };

static const struct rta_measure *response(const struct rta_result *r, size_t i)
{
    const struct rta_measure *m = r->seen ? &r->seen[i].of[RTA_RESPONSE] : NULL;

    return m && m->there ? m : NULL;
}

/* ---- rows ---- */

static size_t name_width(const struct rta_result *r)
{
    size_t width = 4;

    for (size_t i = 0; i < r->count; i++) {
        size_t columns = chars_columns(r->tasks[i].name, strlen(r->tasks[i].name));

        width = columns > width ? columns : width;
    }
    return width;
}

static void table_row(const struct rta_result *r, size_t i, size_t width)
{
    const struct rta_task *t = &r->tasks[i];
    const struct rta_measure *m = response(r, i);
    char left[48];

    /* every step of the iteration is below the solution */
    snprintf(left, sizeof left, "%s%s", t->exact ? "" : ">=", metrics_us(t->r));
    metrics_put_name(METRICS_TABLE, t->name);
    out_spaces(width - chars_columns(t->name, strlen(t->name)));
    out_format(" %8d %12s %12s %12s %12s %12s %13s %12s", t->priority, metrics_us(t->period),
               metrics_us(t->c), metrics_us(t->b), metrics_us(t->activations),
               metrics_us(t->deadline), left,
               m ? metrics_us_range(m->largest, m->at_most) : "-");
    out_format("  %s\n", verdicts[t->verdict]);
}

static void csv_row(const struct rta_result *r, size_t i)
{
    const struct rta_task *t = &r->tasks[i];
    const struct rta_measure *m = response(r, i);

    metrics_put_name(METRICS_CSV, t->name);
    out_format(",%d,%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",",
               t->priority, t->period, t->c, t->b, t->activations, t->deadline, t->r);
    if (m)
        out_format("%" PRId64, m->largest);
    out_format(",%s\r\n", verdicts[t->verdict]);
}

static void jsonl_row(const struct rta_result *r, size_t i)
{
    const struct rta_task *t = &r->tasks[i];
    const struct rta_measure *m = response(r, i);

    out_text("{\"task\":");
    metrics_put_name(METRICS_JSONL, t->name);
    out_format(",\"priority\":%d,\"period_ns\":%" PRId64 ",\"c_ns\":%" PRId64 ",\"b_ns\":%" PRId64
               ",\"activation_ns\":%" PRId64 ",\"deadline_ns\":%" PRId64 ",\"r_ns\":%" PRId64,
               t->priority, t->period, t->c, t->b, t->activations, t->deadline, t->r);
    if (m)
        out_format(",\"seen_ns\":%" PRId64, m->largest);
    out_format(",\"verdict\":\"%s\"}\n", verdicts[t->verdict]);
}

static void print_rows(const struct rta_result *r, enum metrics_format format)
{
    size_t width = name_width(r);

    if (format == METRICS_CSV) {
        out_text("task,priority,period_ns,c_ns,b_ns,activation_ns,deadline_ns,r_ns,seen_ns,"
                 "verdict\r\n");
    } else if (format == METRICS_TABLE) {
        out_text("TASK");
        out_spaces(width - 4);
        out_text(" PRIORITY    PERIOD us            C            B   ACTIVATION     DEADLINE"
                 "             R         SEEN\n");
    }
    for (size_t i = 0; i < r->count; i++) {
        if (format == METRICS_TABLE)
            table_row(r, i, width);
        else if (format == METRICS_CSV)
            csv_row(r, i);
        else
            jsonl_row(r, i);
    }
}

/* ---- remarks ---- */

__attribute__((format(printf, 2, 3)))
static void remark(enum metrics_format format, const char *text, ...)
{
    char line[1024];
    va_list args;

    va_start(args, text);
    vsnprintf(line, sizeof line, text, args);
    va_end(args);
    if (format == METRICS_TABLE)
        out_format("%s\n", line);
    else
        tool_note("%s", line);
}

static void print_sum(const struct rta_result *r)
{
    size_t of[RTA_CONTRADICTED + 1] = { 0 };

    for (size_t i = 0; i < r->count; i++)
        of[r->tasks[i].verdict]++;
    out_format("\n%zu of %zu task%s schedulable", of[RTA_SCHEDULABLE], r->count,
               r->count == 1 ? "" : "s");
    if (of[RTA_UNDECIDED] > 0)
        out_format(", %zu undecided", of[RTA_UNDECIDED]);
    if (of[RTA_CONTRADICTED] > 0)
        out_format(", %zu contradicted by the log", of[RTA_CONTRADICTED]);
    out_format("; they ask for %.1f %% of the processor\n",
               100 * rta_utilization(r->tasks, r->count));
}

/* Values that are neither given nor measured; B is seldom given. */
static void remark_missing(const struct rta_result *r, enum metrics_format format)
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

static void remark_unknown(const struct rta_result *r, enum metrics_format format, size_t i)
{
    for (int v = 0; v < RTA_VALUES; v++) {
        const struct rta_measure *m = &r->seen[i].of[v];
        const char *name = rta_value_name((enum rta_value)v);

        if (!r->seen[i].from_log[v] || m->unknown == 0)
            continue;
        if (m->at_most <= m->largest)
            remark(format, "%s: %s is unknown in %s place%s, because events were lost; there it "
                   "is not above the largest that is known", quote(r->tasks[i].name), name,
                   amount_count(m->unknown), m->unknown == 1 ? "" : "s");
        else
            remark(format, "%s: %s is unknown in %s place%s, because events were lost: the largest "
                   "known is %s us, there it may be %s us; the %s is taken",
                   quote(r->tasks[i].name), name, amount_count(m->unknown),
                   m->unknown == 1 ? "" : "s", metrics_us(m->largest), metrics_us(m->at_most),
                   r->at_most ? "latter" : "former");
    }
}

static void remark_seen(const struct rta_result *r, enum metrics_format format, size_t i)
{
    const struct rta_task *t = &r->tasks[i];
    const struct rta_measure *m = response(r, i);

    if (m && m->largest > t->deadline)
        remark(format, "%s: the log has a response of %s us, longer than the deadline",
               quote(t->name), metrics_us(m->largest));
    else if (t->verdict == RTA_CONTRADICTED)
        remark(format, "%s: the log has a response of %s us, longer than R: the model leaves "
               "something out (a value is too small, or the task does not keep to its period, "
               "priority or processor)", quote(t->name), metrics_us(m->largest));
}

/* The threads that B comes from. */
static void remark_blocked(const struct rta_result *r, enum metrics_format format)
{
    size_t blocked = 0, longest = 0;

    for (size_t i = 0; i < r->count; i++) {
        if (!r->seen[i].from_log[RTA_B] || r->tasks[i].value[RTA_B] <= 0)
            continue;
        if (blocked++ == 0 || r->tasks[i].value[RTA_B] > r->tasks[longest].value[RTA_B])
            longest = i;
    }
    if (blocked > 0)
        remark(format, "B of %zu task%s is from Mutex Hold of threads of lower priority, as "
               "priority inheritance bounds it; the longest is that of %s, %s us", blocked,
               blocked == 1 ? "" : "s", quote(r->tasks[longest].name),
               metrics_us(r->tasks[longest].value[RTA_B]));
}

void rta_print(const struct rta_result *r, enum metrics_format format)
{
    print_rows(r, format);
    if (format == METRICS_TABLE)
        print_sum(r);
    if (r->cost->ns > 0)
        remark(format, "%.4g ns are taken off what was measured for each intermediate event (%s)",
               r->cost->ns, metrics_cost_text(r->cost));
    if (r->capped > 0)
        remark(format, "DUW of %zu task%s taken as that of %s, %s us: what was measured holds the "
               "wait for tasks of higher priority, too", r->capped, r->capped == 1 ? "" : "s",
               quote(r->first->name), metrics_us(r->first->value[RTA_DUW]));
    if (r->seen)
        remark_blocked(r, format);
    remark_missing(r, format);
    for (size_t i = 0; r->seen && i < r->count; i++) {
        remark_unknown(r, format, i);
        remark_seen(r, format, i);
    }
}
