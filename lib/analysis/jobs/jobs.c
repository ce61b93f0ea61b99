/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The interface of posixtrace/jobs.h: a pass over a report that is observed; see jobs_state.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <posixtrace/info.h>
#include <posixtrace/system.h>

#include "analysis/jobs/jobs_state.h"
#include "analysis/metrics/run/reader.h"

static bool is_valid(const struct posixtrace_jobs_options *options)
{
    if (options->rule_count > PT_JOBS_RULES || (options->rule_count > 0 && !options->rules))
        return false;
    for (size_t i = 0; i < options->rule_count; i++) {
        const struct posixtrace_job_rule *rule = &options->rules[i];

        if (rule->source > POSIXTRACE_JOB_EVENTS ||
            (rule->source == POSIXTRACE_JOB_EVENTS &&
             (!rule->begin || !*rule->begin || !rule->end || !*rule->end)))
            return false;
    }
    return true;
}

static bool copy_rules(posixtrace_jobs_t *j)
{
    j->rules = calloc(j->options.rule_count + 1, sizeof *j->rules);
    if (!j->rules)
        return false;
    for (size_t i = 0; i < j->options.rule_count; i++) {
        const struct posixtrace_job_rule *from = &j->options.rules[i];

        j->rules[i].source = from->source;
        if (from->source != POSIXTRACE_JOB_EVENTS)
            continue;
        j->rules[i].begin = strdup(from->begin);
        j->rules[i].end = strdup(from->end);
        if (!j->rules[i].begin || !j->rules[i].end)
            return false;
    }
    return true;
}

/* Has the log no context switch, as far as it says how many events it has? */
static bool has_no_switches(trace_id_t trid)
{
    static const trace_event_id_t ids[] = { POSIXTRACE_SWITCH_IN, POSIXTRACE_SWITCH_OUT,
                                            POSIXTRACE_SWITCH_PREEMPTED };
    uint64_t count;

    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++)
        if (posixtrace_event_count(trid, ids[i], &count) != 0 || count > 0)
            return false;
    return true;
}

static int prepare(posixtrace_jobs_t *j, trace_id_t trid)
{
    const struct posixtrace_report_options options = { .from_ns = INT64_MIN,
                                                       .to_ns = INT64_MAX,
                                                       .wants_thread = j->options.wants_thread,
                                                       .wants_begin = j->options.wants_begin,
                                                       .context = j->options.context };
    int error = copy_rules(j) ? posixtrace_report_create(trid, &options, sizeof options, &j->report)
                              : ENOMEM;

    if (error)
        return error;
    for (size_t i = 0; i < j->options.rule_count; i++) {
        unsigned source = j->rules[i].source;
        bool of_objects = source == POSIXTRACE_JOB_TIMED || source == POSIXTRACE_JOB_TIMERFD;

        for (unsigned k = 0; k < (of_objects ? PT_JOBS_OBJECTS : 1u); k++)
            j->rule_of[j->slot_count++] = i;
    }
    j->report->watch = &pt_jobs_watch;
    j->report->watcher = j;
    j->without_switches = has_no_switches(trid);
    return 0;
}

int posixtrace_jobs_create(trace_id_t trid, const struct posixtrace_jobs_options *options,
                           size_t size, posixtrace_jobs_t **jobs)
{
    struct posixtrace_jobs_options all = { .from_ns = INT64_MIN, .to_ns = INT64_MAX };
    char name[TRACE_EVENT_NAME_MAX + 1];
    posixtrace_jobs_t *j;
    int error;

    if (!jobs || !options || size == 0 || !pt_reader_name(trid, POSIX_TRACE_START, name))
        return EINVAL;
    memcpy(&all, options, size < sizeof all ? size : sizeof all);
    if (!is_valid(&all))
        return EINVAL;
    j = calloc(1, sizeof *j);
    if (!j)
        return ENOMEM;
    j->options = all;
    error = prepare(j, trid);
    if (error)
        posixtrace_jobs_free(j);
    else
        *jobs = j;
    return error;
}

int posixtrace_jobs_take(posixtrace_jobs_t *j, uint64_t events, int *unavailable)
{
    int error = j ? posixtrace_report_take(j->report, events, unavailable) : EINVAL;

    return error ? error : j->error;
}

int posixtrace_jobs_end(posixtrace_jobs_t *j)
{
    int error = j ? posixtrace_report_end(j->report) : EINVAL;

    for (size_t i = 0; error == 0 && i < j->report->threads.count; i++)
        pt_jobs_close(j, j->report->threads.items[i]);
    return error ? error : j->error;
}

void posixtrace_jobs_free(posixtrace_jobs_t *j)
{
    if (!j)
        return;
    for (size_t i = 0; j->report && i < j->report->threads.count; i++) {
        struct pt_report_thread *th = j->report->threads.items[i];
        struct pt_jobs_thread *jt = th->watched;

        if (!jt)
            continue;
        free(jt->open);
        free(jt->held);
        free(jt);
    }
    posixtrace_report_free(j->report);
    for (size_t i = 0; j->rules && i < j->options.rule_count; i++) {
        free((void *)(uintptr_t)j->rules[i].begin);
        free((void *)(uintptr_t)j->rules[i].end);
    }
    free(j->rules);
    pt_report_map_deinit(&j->kinds);
    free(j);
}

uint64_t posixtrace_jobs_events(const posixtrace_jobs_t *j)
{
    return j ? j->report->summary.events : 0;
}

const struct posixtrace_jobs_summary *posixtrace_jobs_summary(posixtrace_jobs_t *j)
{
    const struct posixtrace_report_summary *s;

    if (!j)
        return NULL;
    s = &j->report->summary;
    j->summary = (struct posixtrace_jobs_summary){ .first_ns = s->first_ns,
                                                   .last_ns = s->last_ns,
                                                   .events = s->events,
                                                   .switches = s->switches,
                                                   .calls = s->calls,
                                                   .gaps = s->gaps,
                                                   .unmarked = s->unmarked,
                                                   .long_calls_only = j->report->long_only };
    return &j->summary;
}

const struct posixtrace_jobs_count *posixtrace_jobs_count(const posixtrace_jobs_t *j, size_t rule)
{
    return j && rule < j->options.rule_count ? &j->counts[rule] : NULL;
}
