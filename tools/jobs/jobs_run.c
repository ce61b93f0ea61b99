/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* The pass over a log; see jobs.h. */
#include "jobs/jobs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/colour.h"
#include "common/progress.h"
#include "common/stdout_buffer.h"
#include "common/tool.h"

enum { BATCH = 16384 };

static bool wants_thread(void *context, pid_t pid, pid_t tid)
{
    const struct jobs_view *v = context;

    return select_wants_ids(v->request->select, pid, tid);
}

static bool wants_begin(void *context, const struct posixtrace_event *begin)
{
    const struct jobs_view *v = context;

    return select_wants_expression(v->request->select, v->log->trid, begin);
}

/* Each job is a line, and nothing else is shown of it. */
static bool shows_each(const struct jobs_view *v)
{
    return v->request->form.rows == METRICS_EACH && v->request->form.worst == 0;
}

static int take_job(void *context, const struct posixtrace_job *job)
{
    struct jobs_view *v = context;
    int error = jobs_rows_add(v, job);

    if (error == 0 && shows_each(v))
        jobs_print_line(v, job);
    return error == 0 && out_failed() ? ECANCELED : error;
}

static int take_ran(void *context, pid_t pid, pid_t tid, int64_t from_ns, int64_t to_ns, bool known)
{
    return jobs_load_add(context, pid, tid, from_ns, to_ns, known);
}

static int create(struct jobs_view *v)
{
    const struct selection *s = v->request->select;
    struct posixtrace_jobs_options chosen = { .rules = v->request->rules.list,
                                              .rule_count = v->request->rules.count,
                                              .from_ns = s->from_ns,
                                              .to_ns = s->to_ns,
                                              .wants_thread = wants_thread,
                                              .job = take_job,
                                              .context = v };
    int error;

    if (select_has_expression(s))
        chosen.wants_begin = wants_begin;
    if (v->request->load_ns > 0)
        chosen.ran = take_ran;
    error = posixtrace_jobs_create(v->log->trid, &chosen, sizeof chosen, &v->jobs);
    return error ? tool_error("cannot find jobs in %s: %s", v->log->shown, failure_reason(error))
                 : EXIT_DONE;
}

static int read_all(struct jobs_view *v)
{
    int unavailable = 0, error = 0;

    if (!shows_each(v) || !isatty(STDOUT_FILENO))
        progress_begin("events", v->log->info.events);
    while (!unavailable && error == 0) {
        error = posixtrace_jobs_take(v->jobs, BATCH, &unavailable);
        progress_at(posixtrace_jobs_events(v->jobs));
    }
    if (error == 0)
        error = posixtrace_jobs_end(v->jobs);
    progress_end();
    if (error == ERANGE && v->request->load_ns > 0)
        return tool_error("the interval of --load is too short for the time of %s: there would be "
                          "more than a million",
                          v->log->shown);
    if (error && !out_failed())
        return tool_error("cannot read on in %s: %s", v->log->shown, failure_reason(error));
    return log_file_refresh(v->log);
}

static void print_selection(const struct jobs_view *v)
{
    char *text = NULL;

    if (!select_is_any(v->request->select) || v->request->form.json ||
        asprintf(&text, "selected: %s", select_text(v->request->select)) < 0)
        return;
    if (v->request->form.format == OUTPUT_TEXT)
        out_comment(text, out_columns());
    else
        tool_note("%s", text);
    free(text);
}

static void print_result(struct jobs_view *v)
{
    const struct metrics_form *form = &v->request->form;

    v->summary = posixtrace_jobs_summary(v->jobs);
    jobs_rows_end(v);
    if (!v->log->seekable)
        v->origin = v->summary->first_ns;
    if (form->json) {
        jobs_print_json(v);
    } else if (form->format != OUTPUT_TEXT) {
        if (v->request->load_ns > 0)
            jobs_load_print(v);
        else if (form->worst > 0)
            jobs_print_worst(v);
        else if (!shows_each(v))
            jobs_print_rows(v);
    } else {
        if (v->request->rules.count > 0)
            jobs_print_text(v);
        if (v->request->load_ns > 0)
            jobs_load_print(v);
    }
    if (v->request->rules.count > 0)
        jobs_remarks(v);
}

static int show(struct jobs_view *v)
{
    struct selection *s = v->request->select;
    int status = v->log->seekable ? select_resolve(s, v->log->info.first_ns)
                                  : select_resolve_absolute(s);

    if (status == EXIT_DONE)
        status = jobs_rules_check(&v->request->rules, v->log);
    if (status == EXIT_DONE)
        status = create(v);
    if (status == EXIT_DONE && v->request->load_ns > 0)
        v->load = jobs_load_new(v);
    if (status == EXIT_DONE) {
        print_selection(v);
        if (v->request->rules.count > 0)
            jobs_print_heading(v);
        status = read_all(v);
    }
    if (status == EXIT_DONE) {
        select_warn(s, v->log);
        select_warn_callers(s, v->log);
        print_result(v);
        out_flush();
        status = log_file_report_loss(v->log, v->request->strict, status);
    }
    jobs_rows_free(v);
    jobs_load_free(v->load);
    posixtrace_jobs_free(v->jobs);
    return status;
}

int jobs_show(struct jobs_request *request)
{
    struct jobs_view v = { .request = request };
    struct log_file log;
    int status = log_file_open(&log, request->path);

    if (status != EXIT_DONE)
        return status;
    v.log = &log;
    v.origin = log.info.first_ns;
    status = show(&v);
    log_file_close(&log);
    return status;
}
