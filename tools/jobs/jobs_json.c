/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* metrics --job and --load: --format=json, one object on one line; see posixtrace-metrics(1). */
#include "jobs/jobs.h"

#include <stdlib.h>

#include "common/json_out.h"

static void put_rule(const struct jobs_view *v, size_t rule)
{
    const struct posixtrace_job_rule *r = &v->request->rules.list[rule];
    const struct posixtrace_jobs_count *c = posixtrace_jobs_count(v->jobs, rule);
    struct posixtrace_job *worst;
    struct jobs_row *all = jobs_rows_all(v, rule);
    size_t count = jobs_rows_worst(v, rule, &worst);
    const posixtrace_statistics_t *response = all ? all->response : NULL;

    json_open(NULL, '{');
    json_text("job", jobs_rule_name(r));
    json_text("about", jobs_rule_about(r));
    json_count("jobs", c->jobs);
    json_count("unknown", c->unknown);
    json_count("unfinished", c->unfinished);
    json_count("crossing", c->crossing);
    json_open("threads", '[');
    for (size_t i = 0; i < v->count; i++) {
        if (v->rows[i].rule != rule)
            continue;
        jobs_put_row(v, &v->rows[i]);
        response = response ? response : v->rows[i].response;
    }
    json_close();
    if (v->request->form.histogram && response)
        json_bars("histogram", response);
    json_open("worst", '[');
    for (size_t i = 0; i < count; i++)
        jobs_put_job(v, &worst[i]);
    json_close();
    json_close();
    free(worst);
    jobs_row_free(all);
}

void jobs_print_json(const struct jobs_view *v)
{
    json_open(NULL, '{');
    json_text("log", v->log->path);
    json_text("selected", select_is_any(v->request->select) ? select_text(v->request->select) : "");
    json_count("gaps", v->summary->gaps);
    json_count("switch_events", v->summary->switches);
    json_open("jobs", '[');
    for (size_t rule = 0; rule < v->request->rules.count; rule++)
        put_rule(v, rule);
    json_close();
    if (v->request->load_ns > 0)
        jobs_load_json(v);
    json_close();
}
