/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See metrics_request.h. */
#include "metrics/metrics_request.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/progress.h"
#include "common/stdout_buffer.h"
#include "common/tool.h"
#include "measure/metrics_measure.h"
#include "measure/metrics_names.h"
#include "metrics/metrics_doubts.h"
#include "metrics/metrics_jobs.h"
#include "metrics/metrics_pairs.h"
#include "metrics/metrics_time.h"

static void note_name(void *context, const char *sentence)
{
    (void)context;
    tool_note("%s", sentence);
}

static int begin_run(struct metrics_part *part)
{
    const struct metrics_pick *pick = part->view->pick;
    int error = posixtrace_metric_run_create(pick->metrics, pick->count, part->log->trid,
                                             metrics_view_measured, part, &part->run);

    return error ? tool_error("cannot measure in %s: %s", part->log->shown, strerror(error))
                 : EXIT_DONE;
}

/* Do the events of the user's metrics exist?  A log that is complete knows before, others
 * at their end, if that is waited for. */
static bool may_check(const struct metrics_view *v, const struct follow *live, bool before)
{
    bool known = live ? !live->alive : v->parts[0].log->seekable;

    if (live && live->is_stream)
        return false;
    return before ? known : !(live && follow_is_over());
}

/* One that the logs keep has to be the same in all. */
static int find_cost(struct metrics_view *v)
{
    for (size_t i = 0; i < v->part_count; i++) {
        struct metrics_cost cost = v->cost;
        int status = metrics_cost_find(&cost, v->parts[i].log);

        if (status != EXIT_DONE)
            return status;
        if (i > 0 && cost.origin == METRICS_COST_KEPT &&
            (cost.ns < v->cost.ns || cost.ns > v->cost.ns))
            return tool_error("an event costs %.4g ns in %s and %.4g ns in %s; '--cost=NS' gives "
                              "one cost for both",
                              v->cost.ns, v->parts[i - 1].log->shown, cost.ns,
                              v->parts[i].log->shown);
        v->cost = cost;
        if (cost.origin != METRICS_COST_KEPT)
            break;
    }
    v->groups.cost_ns = v->cost.ns;
    return EXIT_DONE;
}

/* The runs, and what they select. */
static int begin_runs(struct metrics_view *v, const struct follow *live)
{
    int status = v->pick->pair_count > 0 ? metrics_keys_begin(v) : EXIT_DONE;

    for (size_t i = 0; v->keys && !v->several && status == EXIT_DONE && i < v->part_count; i++)
        status = v->parts[i].log->seekable
                     ? select_resolve(v->parts[i].select->s, v->parts[i].log->info.first_ns)
                     : select_resolve_absolute(v->parts[i].select->s);
    for (size_t i = 0; !v->keys && status == EXIT_DONE && i < v->part_count; i++) {
        struct metrics_part *part = &v->parts[i];

        status = begin_run(part);
        if (status == EXIT_DONE && v->several)
            metrics_select_ask(part->select, part->run, part->log);
        else if (status == EXIT_DONE)
            status = metrics_select_begin(part->select, part->run, part->log, live != NULL);
    }
    return status;
}

static int take(struct metrics_view *v, struct follow *live)
{
    if (v->keys)
        return metrics_keys_take(v);
    if (live)
        return metrics_take_live(v->parts[0].run, live);
    return v->part_count == 1 ? metrics_take_log(v->parts[0].run, v->parts[0].log)
                              : metrics_several_take(v);
}

static void show_end(struct metrics_view *v)
{
    for (size_t i = 0; i < v->part_count; i++)
        sites_open(v->parts[i].sites, v->parts[i].log->trid);
    metrics_view_end(v);
    for (size_t i = 0; i < v->part_count; i++)
        sites_close(v->parts[i].sites);
}

/* What follows the result: of the selection, and of each log. */
static int report(const struct metrics_request *r, struct metrics_view *v, struct logs *logs,
                  int status)
{
    struct metrics_part *part = &v->parts[0];

    if (!part->run && !v->keys)
        return status;
    out_flush();
    if (status == EXIT_USAGE)
        return status;
    return logs ? logs_report(logs, r->strict, status)
                : log_file_report_loss(part->log, r->strict, status);
}

/* v is made but for its runs; logs: of several. */
static int measure(const struct metrics_request *r, struct metrics_view *v, struct follow *live,
                   struct logs *logs)
{
    bool checked = may_check(v, live, true);
    int status = checked ? metrics_check_events(v) : EXIT_DONE;

    for (size_t i = 0; status == EXIT_DONE && i < v->pick->count; i++)
        metrics_names_check(v->pick->metrics[i], note_name, NULL);
    if (status == EXIT_DONE)
        status = find_cost(v);
    if (status == EXIT_DONE && v->several)
        status = metrics_view_learn(v);
    metrics_time_begin(v);
    if (status == EXIT_DONE)
        status = begin_runs(v, live);
    if (status == EXIT_DONE) {
        metrics_view_begin(v);
        status = take(v, live);
    }
    if (status == EXIT_DONE) {
        show_end(v);
        if (logs) {
            logs_warn(logs);
        } else {
            select_warn(v->parts[0].select->s, v->parts[0].log);
            select_warn_callers(v->parts[0].select->s, v->parts[0].log);
        }
        if (!checked && may_check(v, live, false))
            status = metrics_check_events(v);
    }
    status = report(r, v, logs, status);
    for (size_t i = 0; i < v->part_count; i++) {
        posixtrace_metric_run_free(v->parts[i].run);
        free(v->parts[i].knows);
        free(v->parts[i].hears);
    }
    posixtrace_pair_run_free(v->keys);
    pair_bounds_free(&v->pair_bounds);
    free(v->pair_widest);
    metrics_view_drop(v);
    metrics_groups_free(&v->groups);
    free(v->withheld);
    return status;
}

static void make_view(struct metrics_view *v, struct metrics_request *r,
                      const struct metrics_pick *pick, struct metrics_part *parts, size_t count)
{
    memset(v, 0, sizeof *v);
    v->pick = pick;
    v->parts = parts;
    v->part_count = count;
    v->shown = parts[0].log->shown;
    v->form = r->form;
    metrics_groups_init(&v->groups);
    v->groups.by_object = r->form.rows == METRICS_OBJECTS;
    v->groups.worst = r->form.worst;
    v->groups.begins = metrics_jobs_released(pick);
    v->cost = r->cost;
    for (size_t i = 0; i < count; i++) {
        parts[i].view = v;
        parts[i].place = (uint32_t)i;
    }
}

int metrics_request_live(struct metrics_request *r, struct metrics_pick *pick)
{
    struct metrics_part part = { .select = &r->select, .sites = &r->sites, .label = "" };
    struct metrics_view v;
    struct follow f;
    int status = follow_open(&f, r->path);

    if (status != EXIT_DONE)
        return status;
    status = metrics_pairs_add(pick, &f.log);
    if (status == EXIT_DONE)
        status = metrics_pairs_check(pick);
    if (status == EXIT_DONE) {
        part.log = &f.log;
        make_view(&v, r, pick, &part, 1);
        v.has_origin = !f.is_stream && f.log.info.events > 0;
        v.origin = f.log.info.first_ns;
        status = measure(r, &v, &f, NULL);
    }
    follow_close(&f);
    return status;
}

int metrics_request_log(struct metrics_request *r, struct metrics_pick *pick)
{
    struct metrics_part part = { .select = &r->select, .sites = &r->sites, .label = "" };
    struct log_file log;
    struct metrics_view v;
    int status = log_file_open(&log, r->path);

    if (status != EXIT_DONE)
        return status;
    status = metrics_pairs_add(pick, &log);
    if (status == EXIT_DONE)
        status = metrics_pairs_check(pick);
    if (status == EXIT_DONE) {
        part.log = &log;
        make_view(&v, r, pick, &part, 1);
        v.has_origin = log.seekable && log.info.events > 0;
        v.origin = log.info.first_ns;
        if (v.form.rows != METRICS_EACH || !isatty(STDOUT_FILENO))
            progress_begin("events", log.info.events);
        status = measure(r, &v, NULL, NULL);
        progress_end();
    }
    log_file_close(&log);
    return status;
}

/* ---- several logs ---- */

static int add_pairs(struct metrics_pick *pick, const struct logs *logs)
{
    int status = EXIT_DONE;

    for (size_t i = 0; status == EXIT_DONE && i < logs->count; i++)
        status = metrics_pairs_add(pick, &logs->at[i]->log);
    return status == EXIT_DONE ? metrics_pairs_check(pick) : status;
}

static int measure_opened(struct metrics_request *r, struct metrics_pick *pick, struct logs *logs)
{
    struct metrics_part *parts = tool_zeroed(logs->count * sizeof *parts);
    struct metrics_select *selects = tool_zeroed(logs->count * sizeof *selects);
    struct metrics_view v;
    uint64_t events = 0;
    int status;

    for (size_t i = 0; i < logs->count; i++) {
        struct input_log *in = logs->at[i];

        selects[i].s = &in->select;
        parts[i] = (struct metrics_part){
            .log = &in->log, .label = in->label, .select = &selects[i], .sites = &in->sites
        };
        events += in->log.info.events;
    }
    make_view(&v, r, pick, parts, logs->count);
    v.several = true;
    v.shown = logs_shown(logs);
    v.has_origin = logs_first(logs, &v.origin);
    if (v.form.rows != METRICS_EACH || !isatty(STDOUT_FILENO))
        progress_begin("events", events);
    status = measure(r, &v, NULL, logs);
    progress_end();
    free(selects);
    free(parts);
    return status;
}

int metrics_request_logs(struct metrics_request *r, struct metrics_pick *pick)
{
    struct logs logs;
    int status = logs_open_selected(&logs, &r->logs, &r->given);

    if (status == EXIT_DONE)
        status = add_pairs(pick, &logs);
    if (status == EXIT_DONE) {
        logs_label(&logs, false);
        status = measure_opened(r, pick, &logs);
    }
    logs_close(&logs);
    return status;
}
