/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* Each job as a line, and rows by thread in csv and jsonl; see jobs.h. */
#include "jobs/jobs.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/json_out.h"
#include "common/stdout_buffer.h"
#include "common/tool.h"
#include "common/units.h"
#include "common/utf8.h"

enum { WORDS = 44 }; /* the column where the shares of a line begin */

static bool is_each(const struct jobs_view *v)
{
    return v->request->form.rows == METRICS_EACH;
}

static void put_csv(const char *text)
{
    enum utf8_style style = utf8_is_safe(STDOUT_FILENO) ? UTF8_CSV : UTF8_CSV_ASCII;
    char *shown = tool_grow(NULL, strlen(text) + 1, UTF8_MAX_ESCAPE);

    *utf8_show(shown, text, style) = '\0';
    out_format("\"%s\"", shown);
    free(shown);
}

static const char *rule_name(const struct jobs_view *v, size_t rule)
{
    return jobs_rule_name(&v->request->rules.list[rule]);
}

static const char *percentile_key(const struct jobs_view *v, size_t i)
{
    static char text[48];

    snprintf(text, sizeof text, "p%s_ns", metrics_form_percent(v->request->form.percents[i], '_'));
    return text;
}

/* ---- headings ---- */

static void share_headings(void)
{
    for (unsigned i = 0; jobs_share_name(i); i++)
        out_format(",%s", jobs_share_key(i));
}

static void csv_heading(const struct jobs_view *v)
{
    if (is_each(v)) {
        out_text("job,pid,tid,begin_ns,woken_ns,end_ns,response_ns,period_ns,due,by_switches,"
                 "switches,preemptions");
    } else {
        out_text("job,pid,tid,thread,jobs,period_p50_ns,min_ns,max_ns,mean_ns");
        for (size_t i = 0; i < v->request->form.percent_count; i++)
            out_format(",%s", percentile_key(v, i));
        out_text(",jitter_ns,by_switches,switches,preemptions,most_switches,most_preemptions");
    }
    share_headings();
    out_text("\r\n");
}

void jobs_print_heading(const struct jobs_view *v)
{
    const struct metrics_form *form = &v->request->form;

    if (form->format == OUTPUT_CSV && v->request->rules.count > 0)
        csv_heading(v);
    if (form->format == OUTPUT_TEXT && is_each(v) && form->worst == 0)
        out_text("#  TASK        RELEASE  RESPONSE SWI PRE  WHERE ITS TIME WENT\n");
}

/* ---- jobs ---- */

static void csv_line(const struct jobs_view *v, const struct posixtrace_job *job)
{
    put_csv(rule_name(v, job->rule));
    out_format(",%d,%d,%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",", (int)job->pid,
               (int)job->tid, job->begin_ns, job->woken_ns, job->end_ns,
               job->end_ns - job->begin_ns);
    if (job->period_ns >= 0)
        out_format("%" PRId64, job->period_ns);
    out_format(",%d,%d,%" PRIu64 ",%" PRIu64, job->due, job->by_switches, job->switches,
               job->preemptions);
    for (unsigned i = 0; jobs_share_name(i); i++)
        out_format(",%" PRId64, jobs_share(job, i));
    out_text("\r\n");
}

static void put_hex(const char *key, uint64_t value)
{
    char text[32];

    snprintf(text, sizeof text, "0x%" PRIx64, value);
    json_text(key, text);
}

void jobs_put_job(const struct jobs_view *v, const struct posixtrace_job *job)
{
    json_open(NULL, '{');
    json_text("job", rule_name(v, job->rule));
    json_integer("pid", job->pid);
    json_integer("tid", job->tid);
    put_hex("thread_id", job->thread_id);
    json_integer("begin_ns", job->begin_ns);
    json_integer("woken_ns", job->woken_ns);
    json_integer("end_ns", job->end_ns);
    json_integer("response_ns", job->end_ns - job->begin_ns);
    if (job->period_ns >= 0)
        json_integer("period_ns", job->period_ns);
    json_truth("due", job->due);
    json_truth("by_switches", job->by_switches);
    json_count("switches", job->switches);
    json_count("preemptions", job->preemptions);
    for (unsigned i = 0; jobs_share_name(i); i++)
        json_integer(jobs_share_key(i), jobs_share(job, i));
    json_close();
}

static void text_line(const struct jobs_view *v, const struct posixtrace_job *job)
{
    const char *words = jobs_words_of(job);

    out_format("%8d %14s %9s %3" PRIu64 " %3" PRIu64 "  ", (int)job->tid,
               jobs_when(v, job->begin_ns), units_time(job->end_ns - job->begin_ns), job->switches,
               job->preemptions);
    out_wrapped(*words ? words : "-", WORDS, WORDS);
}

void jobs_print_line(const struct jobs_view *v, const struct posixtrace_job *job)
{
    switch (v->request->form.format) {
    case OUTPUT_TEXT: text_line(v, job); break;
    case OUTPUT_CSV: csv_line(v, job); break;
    case OUTPUT_JSONL: jobs_put_job(v, job); break;
    }
}

/* ---- the longest ---- */

static void print_one(const struct jobs_view *v, const struct posixtrace_job *job)
{
    const char *name = jobs_thread_name(v, job);

    if (v->request->form.format != OUTPUT_TEXT) {
        jobs_print_line(v, job);
        return;
    }
    out_format("%9s at %s in %d%s%s%s\n", units_time(job->end_ns - job->begin_ns),
               jobs_when(v, job->begin_ns), (int)job->tid, *name ? " " : "", unquoted(name),
               jobs_switches(job));
    out_spaces(10);
    out_wrapped(jobs_words_of(job), 10, 10);
    out_format("          posixtrace print --from=%s --to=%s --tid=%d %s\n",
               jobs_when(v, job->begin_ns), jobs_when(v, job->end_ns), (int)job->tid,
               metrics_form_log(v->log));
}

void jobs_print_worst(const struct jobs_view *v)
{
    for (size_t rule = 0; rule < v->request->rules.count; rule++) {
        struct posixtrace_job *list;
        size_t count = jobs_rows_worst(v, rule, &list);

        if (count > 0 && v->request->form.format == OUTPUT_TEXT)
            out_format("\n# %s: the longest%s\n", unquoted(rule_name(v, rule)),
                       count > 1 ? " ones" : "");
        for (size_t i = 0; i < count; i++)
            print_one(v, &list[i]);
        free(list);
    }
}

/* ---- rows ---- */

static void csv_row(const struct jobs_view *v, const struct jobs_row *row)
{
    struct posixtrace_summary s;

    posixtrace_statistics_summary(row->response, &s, sizeof s);
    put_csv(rule_name(v, row->rule));
    out_format(",%d,%d,", (int)row->pid, (int)row->tid);
    put_csv(row->name);
    out_format(",%" PRIu64 ",", s.count);
    if (row->period)
        out_format("%" PRId64, posixtrace_statistics_percentile(row->period, 50));
    out_format(",%" PRId64 ",%" PRId64 ",%.0f", s.min_ns, s.max_ns, s.mean_ns);
    for (size_t i = 0; i < v->request->form.percent_count; i++)
        out_format(",%" PRId64,
                   posixtrace_statistics_percentile(row->response, v->request->form.percents[i]));
    out_text(",");
    if (row->wakeup)
        out_format("%" PRId64, jobs_jitter(row));
    out_format(",%d,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64, !row->without_switches,
               row->switches, row->preemptions, row->most_switches, row->most_preemptions);
    for (unsigned i = 0; jobs_share_name(i); i++)
        out_format(",%.0f", row->shares[i]);
    out_text("\r\n");
}

void jobs_put_row(const struct jobs_view *v, const struct jobs_row *row)
{
    struct posixtrace_summary s;

    posixtrace_statistics_summary(row->response, &s, sizeof s);
    json_open(NULL, '{');
    json_text("job", rule_name(v, row->rule));
    if (row->tid) {
        json_integer("pid", row->pid);
        json_integer("tid", row->tid);
        put_hex("thread_id", row->thread_id);
        json_text("thread", row->name);
    }
    json_count("jobs", s.count);
    if (row->period)
        json_integer("period_p50_ns", posixtrace_statistics_percentile(row->period, 50));
    json_integer("min_ns", s.min_ns);
    json_integer("max_ns", s.max_ns);
    json_number("mean_ns", s.mean_ns, 0);
    for (size_t i = 0; i < v->request->form.percent_count; i++)
        json_integer(percentile_key(v, i),
                     posixtrace_statistics_percentile(row->response, v->request->form.percents[i]));
    if (row->wakeup)
        json_integer("jitter_ns", jobs_jitter(row));
    json_truth("by_switches", !row->without_switches);
    json_count("switches", row->switches);
    json_count("preemptions", row->preemptions);
    json_count("most_switches", row->most_switches);
    json_count("most_preemptions", row->most_preemptions);
    for (unsigned i = 0; jobs_share_name(i); i++)
        json_number(jobs_share_key(i), row->shares[i], 0);
    json_close();
}

void jobs_print_rows(const struct jobs_view *v)
{
    for (size_t i = 0; i < v->count; i++) {
        if (v->request->form.format == OUTPUT_CSV)
            csv_row(v, &v->rows[i]);
        else
            jobs_put_row(v, &v->rows[i]);
    }
}
