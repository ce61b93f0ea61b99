/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* Tables of jobs, and what else is said of them; see jobs.h. */
#include "jobs/jobs.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/draw.h"
#include "common/stdout_buffer.h"
#include "common/table.h"
#include "common/tool.h"
#include "common/units.h"
#include "common/utf8.h"

enum { LINE = 512, INDENT = 2, MORE = 9 };

static const char *shown_name(const char *name)
{
    static char text[16 * UTF8_MAX_ESCAPE + 1];
    enum utf8_style style = utf8_is_safe(STDOUT_FILENO) ? UTF8_TERMINAL : UTF8_TERMINAL_ASCII;

    *utf8_show(text, name, style) = '\0';
    return text;
}

/* ---- tables ---- */

static size_t columns_of(const struct jobs_view *v, struct table_column *to)
{
    static char titles[METRICS_PERCENTILES][40];
    const struct metrics_form *form = &v->request->form;
    size_t count = 0;

    to[count++] = (struct table_column){ .title = "#  TASK" };
    to[count++] = (struct table_column){ .title = "JOBS" };
    to[count++] = (struct table_column){ .title = "PERIOD" };
    to[count++] = (struct table_column){ .title = "MEAN" };
    for (size_t i = 0; i < form->percent_count; i++) {
        snprintf(titles[i], sizeof titles[i], "P%s", metrics_form_percent(form->percents[i], '.'));
        to[count++] = (struct table_column){ .title = titles[i] };
    }
    to[count++] = (struct table_column){ .title = "MAX" };
    to[count++] = (struct table_column){ .title = "JITTER", .hidden = true };
    to[count++] = (struct table_column){ .title = "SWITCHES", .optional = true };
    to[count++] = (struct table_column){ .title = "PREEMPTED", .optional = true };
    to[count++] = (struct table_column){
        .title = "THREAD", .colour = COLOUR_THREAD, .left = true, .flexible = true
    };
    return count;
}

static void add_row(struct table *t, const struct jobs_view *v, const struct jobs_row *row,
                    const char *task)
{
    const struct metrics_form *form = &v->request->form;
    struct posixtrace_summary s;
    char text[64];

    posixtrace_statistics_summary(row->response, &s, sizeof s);
    table_add_row(t);
    table_cell(t, task);
    table_cell(t, units_count(s.count));
    table_cell(t, row->tid && row->period
                      ? units_time(posixtrace_statistics_percentile(row->period, 50))
                      : "-");
    table_cell(t, units_time((int64_t)s.mean_ns));
    for (size_t i = 0; i < form->percent_count; i++)
        table_cell(t,
                   units_time(posixtrace_statistics_percentile(row->response, form->percents[i])));
    table_cell(t, units_time(s.max_ns));
    table_cell(t, row->tid && row->wakeup ? units_time(jobs_jitter(row)) : "-");
    snprintf(text, sizeof text, "%.1f", (double)row->switches / (double)s.count);
    table_cell(t, row->without_switches ? "?" : text);
    snprintf(text, sizeof text, "%.1f", (double)row->preemptions / (double)s.count);
    table_cell(t, row->without_switches ? "?" : text);
    table_cell(t, row->tid ? shown_name(row->name) : "(all)");
}

static const char *task_of(const struct jobs_row *row)
{
    static char text[24];

    snprintf(text, sizeof text, "%d", (int)row->tid);
    return row->tid ? text : "all";
}

static void add_rows(struct table *t, const struct jobs_view *v, size_t rule)
{
    struct jobs_row *all = jobs_rows_all(v, rule);

    for (size_t i = 0; i < v->count; i++)
        if (v->rows[i].rule == rule)
            add_row(t, v, &v->rows[i], task_of(&v->rows[i]));
    if (all)
        add_row(t, v, all, "all");
    jobs_row_free(all);
}

static bool has_rows(const struct jobs_view *v, size_t rule)
{
    for (size_t i = 0; i < v->count; i++)
        if (v->rows[i].rule == rule)
            return true;
    return false;
}

static void print_table(const struct jobs_view *v)
{
    struct table_column columns[TABLE_COLUMNS];
    struct table t;

    table_init(&t, columns, columns_of(v, columns));
    for (size_t rule = 0; rule < v->request->rules.count; rule++) {
        const struct posixtrace_job_rule *r = &v->request->rules.list[rule];
        char text[LINE];

        if (!has_rows(v, rule))
            continue;
        snprintf(text, sizeof text, "# %s: %s", unquoted(jobs_rule_name(r)), jobs_rule_about(r));
        table_add_caption(&t, text);
        add_rows(&t, v, rule);
    }
    table_print(&t);
    table_free(&t);
}

/* ---- where the time went ---- */

static void print_shares(const struct jobs_view *v, const struct jobs_row *row)
{
    const struct posixtrace_job *job = &row->longest;
    struct posixtrace_summary s;
    char text[2 * LINE];

    posixtrace_statistics_summary(row->response, &s, sizeof s);
    out_format("%8s  ", task_of(row));
    snprintf(text, sizeof text, "%s%s%s", row->tid ? shown_name(row->name) : "",
             row->tid && row->name[0] ? ": " : "",
             jobs_words(row->shares, s.mean_ns * (double)s.count));
    out_wrapped(text, INDENT + 8, INDENT + 8);
    if (!row->tid)
        return;
    out_spaces(INDENT + 8);
    snprintf(text, sizeof text, "longest %s at %s: %s%s", units_time(job->end_ns - job->begin_ns),
             jobs_when(v, job->begin_ns), jobs_words_of(job), jobs_switches(job));
    out_wrapped(text, INDENT + 8, INDENT + 8);
}

static void print_breakdown(const struct jobs_view *v, size_t rule)
{
    struct jobs_row *all = jobs_rows_all(v, rule);

    out_format("\n# where the time of the jobs of '%s' went\n",
               unquoted(jobs_rule_name(&v->request->rules.list[rule])));
    for (size_t i = 0; i < v->count; i++)
        if (v->rows[i].rule == rule)
            print_shares(v, &v->rows[i]);
    if (all)
        print_shares(v, all);
    jobs_row_free(all);
}

static void print_histogram(const struct jobs_view *v, size_t rule)
{
    struct jobs_row *all = jobs_rows_all(v, rule);
    const posixtrace_statistics_t *s = all ? all->response : NULL;

    for (size_t i = 0; !all && i < v->count; i++)
        if (v->rows[i].rule == rule)
            s = v->rows[i].response;
    if (s) {
        out_format("\n# %s: responses\n", unquoted(jobs_rule_name(&v->request->rules.list[rule])));
        draw_steps(s, draw_is_utf8());
    }
    jobs_row_free(all);
}

void jobs_print_text(const struct jobs_view *v)
{
    const struct metrics_form *form = &v->request->form;

    if (form->rows == METRICS_EACH)
        out_text("\n");
    print_table(v);
    for (size_t rule = 0; rule < v->request->rules.count; rule++) {
        if (!has_rows(v, rule))
            continue;
        print_breakdown(v, rule);
        if (form->histogram)
            print_histogram(v, rule);
    }
    if (form->worst > 0)
        jobs_print_worst(v);
    if (v->count > 0)
        out_text("\n");
}

/* ---- remarks ---- */

static void remark_rule(const struct jobs_view *v, size_t rule, bool why_none)
{
    const struct posixtrace_jobs_count *c = posixtrace_jobs_count(v->jobs, rule);
    char *name = quote_copy(jobs_rule_name(&v->request->rules.list[rule]));

    if (why_none && !has_rows(v, rule))
        jobs_remark(v, "%s", jobs_rule_why_none(v, rule));
    if (c->unknown > 0)
        jobs_remark(v, "%s: %s job%s not shown, because events were lost before the end", name,
                    units_count(c->unknown), c->unknown == 1 ? "" : "s");
    if (c->unfinished > 0)
        jobs_remark(v, "%s: %s unfinished where the thread or the log ended", name,
                    units_count(c->unfinished));
    if (c->crossing > 0)
        jobs_remark(v, "%s: %s job%s the start or the end of the selected time, and %s not counted",
                    name, units_count(c->crossing), c->crossing == 1 ? " crosses" : "s cross",
                    c->crossing == 1 ? "is" : "are");
    free(name);
}

/* Sources without jobs beside others that have some, in one line; false: there are not several. */
static bool remark_none(const struct jobs_view *v)
{
    char text[LINE] = "";
    size_t count = 0, used = 0;

    for (size_t rule = 0; rule < v->request->rules.count && used < sizeof text - 64; rule++) {
        if (has_rows(v, rule))
            continue;
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%.60s", count++ ? ", " : "",
                                 unquoted(jobs_rule_name(&v->request->rules.list[rule])));
    }
    if (v->count == 0 || count < 2)
        return false;
    jobs_remark(v, "no job of: %s; --job with one of them says why", text);
    return true;
}

void jobs_remarks(const struct jobs_view *v)
{
    bool listed = remark_none(v);

    for (size_t rule = 0; rule < v->request->rules.count; rule++)
        remark_rule(v, rule, !listed);
    if (v->count > 0 && v->summary->switches == 0)
        jobs_remark(v,
                    "%s has no context switches: waits are times in calls, and the time outside of "
                    "calls is unknown; 'posixtrace record --system=switches -- CMD' records them",
                    v->log->shown);
}
