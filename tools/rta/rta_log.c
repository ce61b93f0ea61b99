/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * See rta_log.h.
 */
#include "rta/rta_log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "input/log_file.h"
#include "measure/metrics_groups.h"
#include "measure/metrics_measure.h"
#include "measure/metrics_pick.h"
#include "common/options.h"
#include "common/stdout_buffer.h"
#include "common/progress.h"
#include "rta/rta_jobs.h"
#include "rta/rta_locks.h"
#include "common/tool.h"

enum { LISTED = 20 }; /* names of threads in a message */

struct measuring {
    const posixtrace_metric_t *metrics[RTA_MEASURED]; /* those that the set has */
    int value[RTA_MEASURED];                          /* the value that each of them measures */
    bool heard[RTA_MEASURED];                         /* the log has events of it */
    int64_t hidden[RTA_MEASURED];                     /* of a thread without events, at most */
    size_t count;
    struct metrics_groups groups;
    struct rta_locks locks; /* the source of RTA_B */
    struct metrics_select *select;
};

static int measured(void *context, const struct posixtrace_measurement *m)
{
    struct measuring *all = context;

    if (!metrics_selects(all->select, m))
        return 0;
    for (size_t i = 0; i < all->count; i++) {
        if (all->metrics[i] != m->metric)
            continue;
        if (all->value[i] == RTA_B)
            rta_locks_add(&all->locks, m, metrics_groups_length(&all->groups, m));
        return metrics_groups_add(&all->groups, i, (struct metrics_where){ 0, 0 }, m);
    }
    return 0;
}

static void choose(struct measuring *all, const posixtrace_metric_set_t *set)
{
    for (int i = 0; i < RTA_MEASURED; i++) {
        const char *name = i == RTA_RESPONSE ? "Response Time"
                                             : rta_value_metric((enum rta_value)i);
        const posixtrace_metric_t *metric = posixtrace_metric_set_find(set, name);

        if (!metric)
            continue;
        all->metrics[all->count] = metric;
        all->value[all->count++] = i;
    }
}

/* ---- threads and tasks ---- */

static bool is_of(const struct metrics_group *g, const struct rta_task *t)
{
    if (g->others)
        return false;
    return t->tid != 0 ? g->tid == t->tid : strcmp(g->thread, t->thread) == 0;
}

static void take_group(struct rta_measure *to, const struct metrics_group *g)
{
    struct posixtrace_summary s;

    posixtrace_statistics_summary(g->statistics, &s, sizeof s);
    to->there = true;
    to->known |= s.count > 0;
    to->unknown += g->unknown;
    if (s.count > 0 && s.max_ns > to->largest)
        to->largest = s.max_ns;
    if (g->unknown > 0 && g->at_most_ns > to->at_most)
        to->at_most = g->at_most_ns;
}

static int by_text(const void *a, const void *b)
{
    const char *const *x = a, *const *y = b;

    return strcmp(*x, *y);
}

/* The names of threads that have measurements, each once, sorted, NULL after them; how many. */
static size_t names_of(const struct measuring *all, const char ***names)
{
    size_t count = 0, kept = 0;

    *names = tool_grow(NULL, all->groups.count + 1, sizeof **names);
    for (size_t i = 0; i < all->groups.count; i++) {
        const struct metrics_group *g = &all->groups.rows[i];

        if (g->thread[0] && !g->others && all->heard[g->metric])
            (*names)[count++] = g->thread;
    }
    if (count > 0)
        qsort(*names, count, sizeof **names, by_text);
    for (size_t i = 0; i < count; i++) {
        if (kept == 0 || strcmp((*names)[kept - 1], (*names)[i]) != 0)
            (*names)[kept++] = (*names)[i];
    }
    (*names)[kept] = NULL;
    return kept;
}

static void say_names(const struct measuring *all, const char *log)
{
    char list[LISTED * (4 * METRICS_THREAD_NAME + 4)] = "", more[48] = "";
    const char **names;
    size_t count = names_of(all, &names), used = 0;

    for (size_t i = 0; i < count && i < LISTED && used < sizeof list; i++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "",
                                 quote(names[i]));
    if (count > LISTED)
        snprintf(more, sizeof more, " and %zu more", count - LISTED);
    if (count > 0)
        tool_note("threads with measurements in %s: %s%s", log, list, more);
    else
        tool_note("no thread that has a name has measurements in %s", log);
    free(names);
}

static void say_no_thread(const struct measuring *all, const struct rta_task *t, const char *log)
{
    const char **names, *near;

    names_of(all, &names);
    near = options_nearest(t->thread, names);
    if (t->tid != 0)
        tool_note("task %s: %s has no measurement of a thread %d", quote(t->name), log,
                  (int)t->tid);
    else if (near)
        tool_note("task %s: %s has no measurement of a thread %s; is it %s?", quote(t->name), log,
                  quote(t->thread), quote(near));
    else
        tool_note("task %s: %s has no measurement of a thread %s", quote(t->name), log,
                  quote(t->thread));
    free(names);
}

static void assign(const struct measuring *all, const struct rta_task *tasks, size_t count,
                   const char *log, struct rta_seen *seen)
{
    bool unnamed = false;

    for (size_t t = 0; t < count; t++) {
        bool any = false;

        for (size_t i = 0; i < all->groups.count; i++) {
            const struct metrics_group *g = &all->groups.rows[i];

            if (!is_of(g, &tasks[t]) || !all->heard[g->metric])
                continue;
            if (all->value[g->metric] != RTA_B)
                take_group(&seen[t].of[all->value[g->metric]], g);
            any = true;
        }
        if (!any)
            say_no_thread(all, &tasks[t], log);
        for (size_t i = 0; i < all->count; i++)
            seen[t].of[all->value[i]].hidden = all->hidden[i];
        unnamed |= !any && tasks[t].tid == 0;
    }
    if (unnamed)
        say_names(all, log);
    if (unnamed && select_is_any(all->select->s))
        tool_note("selected of %s: %s", log, select_text(all->select->s));
}

/* Finds the task of each thread that held a mutex, then the blocking by these holds. */
static void assign_locks(struct measuring *all, const struct rta_task *tasks, size_t count,
                         enum rta_protocol protocol, struct rta_seen *seen)
{
    size_t place = 0;

    while (place < all->count && all->value[place] != RTA_B)
        place++;
    if (place == all->count || !all->heard[place])
        return;
    for (struct rta_hold *h = all->locks.first; h; h = h->next) {
        struct metrics_group key = { .pid = h->pid, .tid = h->tid, .thread_id = h->thread_id };
        const struct metrics_group *g = metrics_groups_find(&all->groups, place, &key);

        for (size_t t = 0; g && h->task < 0 && t < count; t++)
            h->task = is_of(g, &tasks[t]) ? (int)t : -1;
    }
    for (size_t t = 0; t < count; t++)
        rta_locks_block(&all->locks, tasks, t, protocol, &seen[t].of[RTA_B]);
}

/* ---- the log ---- */

static int run_over(struct measuring *all, const struct log_file *log)
{
    posixtrace_metric_run_t *run;
    int error, status;

    error = posixtrace_metric_run_create(all->metrics, all->count, log->trid, measured, all, &run);
    if (error != 0)
        return tool_error("cannot measure in %s: %s", log->shown, strerror(error));
    status = metrics_select_begin(all->select, run, log, false);
    if (status != EXIT_DONE) {
        posixtrace_metric_run_free(run);
        return status;
    }
    progress_begin("events", log->info.events);
    status = metrics_take_log(run, log);
    for (size_t i = 0; i < all->count; i++) {
        struct posixtrace_doubt doubt;

        all->heard[i] = metrics_hears_any(run, all->metrics[i]);
        posixtrace_metric_run_doubt(run, i, &doubt, sizeof doubt);
        all->hidden[i] = all->value[i] == RTA_B ? 0 : doubt.at_most_ns;
    }
    progress_end();
    posixtrace_metric_run_free(run);
    metrics_groups_name(&all->groups, log->trid);
    return status;
}

static int measure_with(struct rta_source *source, struct measuring *all,
                        const struct rta_task *tasks, size_t count, struct rta_seen *seen)
{
    struct log_file log;
    int status;

    if (all->count == 0)
        return tool_error("the set %s has no metric of those that an analysis needs ('Execution "
                          "Time' and others)",
                          quote(source->set));
    status = log_file_open(&log, source->log);
    if (status != EXIT_DONE)
        return status;
    status = metrics_cost_find(&source->cost, &log);
    all->groups.cost_ns = source->cost.ns;
    if (status == EXIT_DONE)
        status = run_over(all, &log);
    if (status == EXIT_DONE) {
        assign(all, tasks, count, log.shown, seen);
        assign_locks(all, tasks, count, (enum rta_protocol)source->protocol, seen);
        if (source->jobs.count > 0)
            status = rta_jobs_measure(source, &log, tasks, count, seen);
    }
    if (status == EXIT_DONE) {
        select_warn(&source->selection, &log);
        select_warn_callers(&source->selection, &log);
        status = log_file_report_loss(&log, source->strict, status);
    }
    log_file_close(&log);
    return status;
}

int rta_log_measure(struct rta_source *source, const struct rta_task *tasks, size_t count,
                    struct rta_seen *seen)
{
    struct measuring all = { .select = &source->select };
    posixtrace_metric_set_t *set;
    int status = metrics_set_load(source->set, &set);

    if (status != EXIT_DONE)
        return status;
    choose(&all, set);
    metrics_groups_init(&all.groups);
    status = measure_with(source, &all, tasks, count, seen);
    metrics_groups_free(&all.groups);
    rta_locks_free(&all.locks);
    posixtrace_metric_set_free(set);
    return status;
}
