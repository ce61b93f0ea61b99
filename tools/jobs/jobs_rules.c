/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* What a job is; see jobs.h. */
#include "jobs/jobs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/options.h"
#include "common/tool.h"

static const char *const words[] = { "sleep", "timerfd", "poll", "timed", "any", NULL };

static const struct {
    const char *about, *event, *groups;
} sources[] = {
    { "from when a sleep is due to the next sleep", "posixtrace_sleep", "sleep" },
    { "from the return of a read of a timerfd to the next, or to a wait for work", "posixtrace_io",
      "io" },
    { "from the time-out or return of poll, select or epoll to the next one", "posixtrace_poll",
      "io" },
    { "from the time-out of a wait to the thread's next wait for the same", NULL,
      "locks,io,signals" },
    { "from one event to the other", NULL, "" },
};

static int add(struct jobs_rules *r, struct posixtrace_job_rule rule, char *text)
{
    if (r->count == JOBS_RULES)
        return tool_usage("option '--job' can be given %d times at most", JOBS_RULES);
    r->texts[r->count] = text;
    r->list[r->count++] = rule;
    return EXIT_DONE;
}

int jobs_rules_add(struct jobs_rules *r, const char *value)
{
    const char *dots = strstr(value, "..");
    int word = options_index(value, words), status = EXIT_DONE;
    struct posixtrace_job_rule rule = { .source = POSIXTRACE_JOB_EVENTS };
    char *text;

    if (word >= 0 && word < POSIXTRACE_JOB_EVENTS)
        return add(r, (struct posixtrace_job_rule){ .source = (unsigned)word }, NULL);
    for (unsigned i = 0; word == POSIXTRACE_JOB_EVENTS && i < POSIXTRACE_JOB_EVENTS; i++)
        status = status ? status : add(r, (struct posixtrace_job_rule){ .source = i }, NULL);
    if (word >= 0)
        return status;
    if (!dots || dots == value || !dots[2])
        return tool_usage("option '--job' needs sleep, timerfd, poll, timed, any or two events as "
                          "x:begin..x:end, found %s",
                          quote(value));
    text = tool_grow(NULL, strlen(value) + 1, 1);
    strcpy(text, value);
    text[dots - value] = '\0';
    rule.begin = text;
    rule.end = text + (dots - value) + 2;
    status = add(r, rule, text);
    if (status != EXIT_DONE)
        free(text);
    return status;
}

void jobs_rules_free(struct jobs_rules *r)
{
    for (size_t i = 0; i < r->count; i++)
        free(r->texts[i]);
}

const char *jobs_rule_name(const struct posixtrace_job_rule *rule)
{
    static char text[2 * TRACE_EVENT_NAME_MAX + 8];

    if (rule->source != POSIXTRACE_JOB_EVENTS)
        return words[rule->source];
    snprintf(text, sizeof text, "%s..%s", rule->begin, rule->end);
    return text;
}

const char *jobs_rule_about(const struct posixtrace_job_rule *rule)
{
    return sources[rule->source].about;
}

/* ---- the log ---- */

static const struct log_type *find(const struct log_type *types, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(types[i].name, name) == 0)
            return &types[i];
    return NULL;
}

int jobs_rules_check(const struct jobs_rules *r, const struct log_file *log)
{
    struct log_type *types = NULL;
    size_t count = 0;
    int status = EXIT_DONE;

    if (!log->seekable || log->info.events == 0)
        return EXIT_DONE;
    status = log_file_types(log, &types, &count);
    for (size_t i = 0; status == EXIT_DONE && i < 2 * r->count; i++) {
        const struct posixtrace_job_rule *rule = &r->list[i / 2];
        const char *name = i % 2 ? rule->end : rule->begin;

        if (rule->source == POSIXTRACE_JOB_EVENTS && !find(types, count, name))
            status = tool_error("no event type %s in %s; 'posixtrace info' lists those that are "
                                "there",
                                quote(name), log->shown);
    }
    free(types);
    return status;
}

static bool has_event(const struct jobs_view *v, const char *name)
{
    struct log_type *types = NULL;
    const struct log_type *type;
    size_t count = 0;
    bool found;

    if (log_file_types(v->log, &types, &count) != EXIT_DONE)
        return false;
    type = find(types, count, name);
    found = type && type->count > 0;
    free(types);
    return found;
}

const char *jobs_rule_why_none(const struct jobs_view *v, size_t rule)
{
    static char text[1200];
    const struct posixtrace_job_rule *r = &v->request->rules.list[rule];
    bool events = r->source == POSIXTRACE_JOB_EVENTS;
    const struct posixtrace_jobs_count *c = posixtrace_jobs_count(v->jobs, rule);
    const char *event = sources[r->source].event, *advice = NULL;

    if (v->summary->long_calls_only && !events)
        advice = "the log has long calls only; 'posixtrace record' without --longer-than records "
                 "all";
    else if (c->releases > 0 && v->log->info.lost[POSIXTRACE_LOST_LOG_FULL] > 0)
        advice = "the log was full, and is read up to the first event that did not fit; a larger "
                 "--log-size, or --policy=loop, keeps more";
    else if (c->releases > 0)
        advice = "none begins and ends in what was selected, or without a loss of events";
    else if (events)
        advice = "no thread has one event and then the other";
    if (advice) {
        snprintf(text, sizeof text, "no job of '%s': %s", jobs_rule_name(r), advice);
    } else if ((event && has_event(v, event)) || (!event && v->summary->calls > 0)) {
        snprintf(text, sizeof text,
                 "no job of '%s': no thread of %s waits so, or a filter left it "
                 "out; other jobs: --job=sleep, timerfd, poll, timed or "
                 "BEGIN..END",
                 jobs_rule_name(r), v->log->shown);
    } else {
        snprintf(text, sizeof text,
                 "no job of '%s': %s has none of its calls; 'posixtrace record "
                 "--system=%s,switches -- CMD' records any that occur",
                 jobs_rule_name(r), v->log->shown, sources[r->source].groups);
    }
    return text;
}
