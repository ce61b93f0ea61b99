/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * metrics --pair: from an event to one with the same key, whichever thread, process or log they are
 * of (posixtrace/pair.h).  Each pair is a metric of the view; one run over all logs measures them,
 * in place of a run for each log.
 */
#include "metrics/metrics_pairs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/progress.h"
#include "common/stdout_buffer.h"
#include "common/tool.h"
#include "common/units.h"
#include "measure/metrics_text.h"

enum { BATCH = 16384 };

/* ---- which pairs ---- */

static int parse(const char *text, posixtrace_pair_t **pair)
{
    struct posixtrace_pair_fault fault;
    int error = posixtrace_pair_parse(text, pair, &fault);

    if (error == EINVAL)
        return tool_usage("option '--pair': %s, column %zu: %s", quote(text), fault.column,
                          unquoted(fault.text));
    return error ? tool_error("cannot measure %s: %s", quote(text), strerror(error)) : EXIT_DONE;
}

static int add(struct metrics_pick *pick, const char *text)
{
    struct metrics_picked made = { .time = POSIXTRACE_USER_ELAPSED, .named = true };
    posixtrace_pair_t *pair = NULL;
    int status = parse(text, &pair), error;

    if (status != EXIT_DONE)
        return status;
    pick->pairs = tool_grow(pick->pairs, pick->pair_count + 1, sizeof *pick->pairs);
    pick->pairs[pick->pair_count++] = pair;
    error = posixtrace_metric_set_user(pick->set, text, posixtrace_pair_event(pair, false),
                                       posixtrace_pair_event(pair, true), made.time, &made.own);
    if (error == EINVAL)
        return tool_usage("option '--pair': %s is too long, or has a newline", quote(text));
    if (error)
        return tool_error("cannot measure %s: %s", quote(text), strerror(error));
    made.metric = made.own;
    metrics_pick_put(pick, &made);
    pick->users++;
    return EXIT_DONE;
}

int metrics_keys_pick(struct metrics_pick *pick, const char *set_word, const char *const *texts)
{
    int status;

    memset(pick, 0, sizeof *pick);
    pick->set_word = set_word;
    status = metrics_set_load(set_word, &pick->set);
    for (; status == EXIT_DONE && *texts; texts++)
        status = add(pick, *texts);
    if (status != EXIT_DONE)
        metrics_pick_free(pick);
    return status;
}

/* ---- measuring ---- */

static bool is_of(const struct metrics_view *v, const struct posixtrace_pair_place *place)
{
    return place->stream < v->part_count &&
           select_wants_ids(v->parts[place->stream].select->s, place->pid, place->tid);
}

/* Of one of its two threads; within the time. */
static bool is_selected(const struct metrics_view *v, struct metrics_where where,
                        const struct posixtrace_pair_measurement *pair,
                        const struct posixtrace_measurement *m)
{
    struct metrics_select *select = v->parts[where.log].select;

    if (select->s->pid_count + select->s->tid_count > 0 && !is_of(v, &pair->begin) &&
        !is_of(v, &pair->end))
        return false;
    return metrics_selects_time(select, m);
}

static int measured(void *context, const struct posixtrace_pair_measurement *pair)
{
    struct metrics_view *v = context;
    bool has_end = pair->end.stream < v->part_count, has_begin = pair->begin.stream < v->part_count;
    const struct posixtrace_pair_place *of = has_end ? &pair->end : &pair->begin;
    struct metrics_where where = {
        .log = (uint32_t)of->stream, .from = (uint32_t)(has_begin ? pair->begin.stream : of->stream)
    };
    struct posixtrace_measurement m = { .metric = v->pick->metrics[pair->pair],
                                        .begin_ns = pair->begin.ns,
                                        .end_ns = pair->end.ns,
                                        .length_ns = pair->length_ns,
                                        .least_ns = pair->unknown ? 0 : pair->length_ns,
                                        .thread_id = of->thread_id,
                                        .key = pair->is_number ? pair->number : 0,
                                        .pid = of->pid,
                                        .tid = of->tid,
                                        .unknown = pair->unknown };
    int error;

    if (!is_selected(v, where, pair, &m))
        return 0;
    error = metrics_groups_add(&v->groups, pair->pair, where, &m);
    if (error == 0 && metrics_view_shows_each(v))
        metrics_view_show(v, where, &m);
    return error == 0 && out_failed() ? ECANCELED : error;
}

static bool wants(void *context, size_t stream, const struct posixtrace_event *begin)
{
    const struct metrics_view *v = context;
    struct metrics_part *part = &v->parts[stream];
    struct posixtrace_event named = *begin;
    char name[TRACE_EVENT_NAME_MAX + 1];

    named.name = posix_trace_eventid_get_name(part->log->trid, begin->id, name) == 0 ? name : "";
    return select_wants_expression(part->select->s, part->log->trid, &named);
}

/* Names the log that does not have the fields, and the one that it does not agree with. */
static int fault_error(const struct metrics_view *v, const struct posixtrace_pair_fault *fault)
{
    const char *other = fault->other < v->part_count ? v->parts[fault->other].log->shown : NULL;

    return tool_error("%s: %s%s%s%s", v->parts[fault->stream].log->shown, unquoted(fault->text),
                      other ? " (in " : "", other ? other : "", other ? ")" : "");
}

int metrics_keys_begin(struct metrics_view *v)
{
    trace_id_t *trids = tool_grow(NULL, v->part_count, sizeof *trids);
    struct posixtrace_pair_fault fault = { .text = "" };
    int error;

    for (size_t i = 0; i < v->part_count; i++)
        trids[i] = v->parts[i].log->trid;
    error = posixtrace_pair_run_create((const posixtrace_pair_t *const *)v->pick->pairs,
                                       v->pick->pair_count, trids, v->part_count, measured, v,
                                       &v->keys, &fault);
    free(trids);
    if (error == EINVAL && fault.text[0])
        return fault_error(v, &fault);
    if (error == EINVAL)
        return tool_usage("option '--pair' may be given 32 times");
    if (error)
        return tool_error("cannot measure in %s: %s", v->shown, strerror(error));
    if (select_has_expression(v->parts[0].select->s))
        posixtrace_pair_run_select(v->keys, wants, v);
    return EXIT_DONE;
}

int metrics_keys_take(struct metrics_view *v)
{
    int error = 0, unavailable = 0;

    while (!unavailable && error == 0 && !out_failed()) {
        error = posixtrace_pair_run_take(v->keys, BATCH, &unavailable);
        progress_at(posixtrace_pair_run_events(v->keys));
    }
    if (error == 0)
        error = posixtrace_pair_run_end(v->keys);
    if (error == 0 || out_failed())
        return EXIT_DONE;
    out_flush();
    if (error == EINVAL && posixtrace_pair_run_fault(v->keys)->text[0])
        return fault_error(v, posixtrace_pair_run_fault(v->keys));
    return tool_error("cannot read on in %s: %s", v->shown, failure_reason(error));
}

/* ---- what they leave out ---- */

static void report(const struct metrics_view *v, size_t metric)
{
    const char *name = unquoted(posixtrace_metric_name(v->pick->metrics[metric]));
    struct posixtrace_pair_doubt d;

    posixtrace_pair_run_doubt(v->keys, metric, &d, sizeof d);
    if (d.reversed > 0)
        metrics_remark(v,
                       "%s: %s not measured, because the last event is before the first one, by up "
                       "to %s us: the clocks of the logs differ",
                       name, units_count(d.reversed), metrics_us(d.reversed_ns));
    if (d.unmatched > 0)
        metrics_remark(v, "%s: %s last event%s without a first one", name, units_count(d.unmatched),
                       d.unmatched == 1 ? "" : "s");
    if (d.keyless > 0)
        metrics_remark(v, "%s: %s event%s without the fields of the key: their data is cut", name,
                       units_count(d.keyless), d.keyless == 1 ? "" : "s");
}

void metrics_keys_report(const struct metrics_view *v)
{
    for (size_t i = 0; v->keys && i < v->pick->pair_count; i++)
        report(v, i);
}
