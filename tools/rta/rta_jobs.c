/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See rta_jobs.h. */
#include "rta/rta_jobs.h"

#include <stdlib.h>
#include <string.h>
#include <posixtrace/info.h>

#include "common/tool.h"
#include "common/units.h"

enum { BATCH = 16384, NAME = 16 };

struct runner {
    pid_t pid, tid;
    uint64_t thread_id;
    char name[NAME];
    struct rta_measure execution, response;
};

struct pass {
    struct rta_source *source;
    struct log_file *log;
    struct runner *runners;
    size_t count, room;
    bool without_switches;
};

static struct runner *runner_of(struct pass *p, const struct posixtrace_job *job)
{
    for (size_t i = p->count; i > 0; i--) {
        struct runner *r = &p->runners[i - 1];

        if (r->pid == job->pid && r->tid == job->tid && r->thread_id == job->thread_id)
            return r;
    }
    if (p->count == p->room) {
        p->room = p->room ? 2 * p->room : 16;
        p->runners = tool_grow(p->runners, p->room, sizeof *p->runners);
    }
    p->runners[p->count] = (struct runner){ .pid = job->pid,
                                            .tid = job->tid,
                                            .thread_id = job->thread_id };
    return &p->runners[p->count++];
}

static void take(struct rta_measure *m, int64_t known, int64_t at_most)
{
    m->there = true;
    if (at_most > known) {
        m->unknown++;
        m->at_most = at_most > m->at_most ? at_most : m->at_most;
        return;
    }
    m->known = true;
    m->largest = known > m->largest ? known : m->largest;
}

static int take_job(void *context, const struct posixtrace_job *job)
{
    struct pass *p = context;
    struct runner *r = runner_of(p, job);
    int64_t ran = job->run_ns + job->system_ns, length = job->end_ns - job->begin_ns;

    take(&r->response, length, length);
    p->without_switches |= !job->by_switches;
    if (job->by_switches)
        take(&r->execution, ran, ran + job->unknown_ns);
    return 0;
}

static bool wants_thread(void *context, pid_t pid, pid_t tid)
{
    const struct pass *p = context;

    return select_wants_ids(&p->source->selection, pid, tid);
}

static bool wants_begin(void *context, const struct posixtrace_event *begin)
{
    const struct pass *p = context;

    return select_wants_expression(&p->source->selection, p->log->trid, begin);
}

static void remark(const struct pass *p, const posixtrace_jobs_t *jobs)
{
    uint64_t unknown = 0;

    for (size_t i = 0; i < p->source->jobs.count; i++)
        unknown += posixtrace_jobs_count(jobs, i)->unknown;
    if (unknown > 0)
        tool_note("%s job%s of %s not measured, because events were lost in them",
                  units_count(unknown), unknown == 1 ? "" : "s", p->log->shown);
    if (p->without_switches)
        tool_note("%s has jobs without context switches, which do not say how long they executed; "
                  "'posixtrace record --system=switches -- CMD' records them",
                  p->log->shown);
}

static int read_all(struct pass *p)
{
    const struct selection *s = &p->source->selection;
    struct posixtrace_jobs_options chosen = { .rules = p->source->jobs.list,
                                              .rule_count = p->source->jobs.count,
                                              .from_ns = s->from_ns,
                                              .to_ns = s->to_ns,
                                              .wants_thread = wants_thread,
                                              .job = take_job,
                                              .context = p };
    posixtrace_jobs_t *jobs = NULL;
    int unavailable = 0, error;

    if (select_has_expression(s))
        chosen.wants_begin = wants_begin;
    error = posixtrace_jobs_create(p->log->trid, &chosen, sizeof chosen, &jobs);
    while (error == 0 && !unavailable)
        error = posixtrace_jobs_take(jobs, BATCH, &unavailable);
    if (error == 0)
        error = posixtrace_jobs_end(jobs);
    if (error == 0)
        remark(p, jobs);
    posixtrace_jobs_free(jobs);
    return error ? tool_error("cannot find jobs in %s: %s", p->log->shown, failure_reason(error))
                 : EXIT_DONE;
}

static void name_runners(struct pass *p)
{
    struct posixtrace_thread_info t;
    int unavailable = 0;

    posixtrace_threadlist_rewind(p->log->trid);
    while (posixtrace_threadlist_getnext(p->log->trid, &t, sizeof t, &unavailable) == 0 &&
           !unavailable)
        for (size_t i = 0; i < p->count; i++) {
            struct runner *r = &p->runners[i];

            if (r->pid == t.pid && r->tid == t.tid && (r->thread_id == t.thread_id || !r->name[0]))
                memcpy(r->name, t.name, NAME - 1);
        }
}

static void merge(struct rta_measure *to, const struct rta_measure *from)
{
    to->there |= from->there;
    to->known |= from->known;
    to->unknown += from->unknown;
    to->largest = from->largest > to->largest ? from->largest : to->largest;
    to->at_most = from->at_most > to->at_most ? from->at_most : to->at_most;
}

static void assign(const struct pass *p, const struct rta_task *t, struct rta_seen *seen)
{
    struct rta_measure execution = { .there = false }, response = execution;

    for (size_t i = 0; i < p->count; i++) {
        const struct runner *r = &p->runners[i];

        if (t->tid != 0 ? r->tid != t->tid : strcmp(r->name, t->thread) != 0)
            continue;
        merge(&execution, &r->execution);
        merge(&response, &r->response);
    }
    if (!response.there)
        return;
    seen->of[RTA_RESPONSE] = response;
    seen->of[RTA_C] = execution;
    seen->of[RTA_JST] = (struct rta_measure){ .there = true, .known = true };
}

int rta_jobs_measure(struct rta_source *source, struct log_file *log, const struct rta_task *tasks,
                     size_t count, struct rta_seen *seen)
{
    struct pass p = { .source = source, .log = log };
    int status = jobs_rules_check(&source->jobs, log);

    if (status == EXIT_DONE)
        status = read_all(&p);
    if (status == EXIT_DONE)
        name_runners(&p);
    for (size_t i = 0; status == EXIT_DONE && i < count; i++)
        assign(&p, &tasks[i], &seen[i]);
    free(p.runners);
    return status;
}
