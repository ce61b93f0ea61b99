/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * metrics --pair: from an event to one with the same key, whichever thread, process or log they are
 * of (posixtrace/pair.h).  Each pair is a metric of the view; one run over all logs measures them,
 * in place of a run for each log.
 */
#include "metrics/metrics_pairs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/progress.h"
#include "common/stdout_buffer.h"
#include "common/sync_option.h"
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
    struct posixtrace_measurement in_order = *m; /* by the clocks the end may be the first */

    if (select->s->pid_count + select->s->tid_count > 0 && !is_of(v, &pair->begin) &&
        !is_of(v, &pair->end))
        return false;
    if (m->begin_ns > m->end_ns) {
        in_order.begin_ns = m->end_ns;
        in_order.end_ns = m->begin_ns;
    }
    return metrics_selects_time(select, &in_order);
}

/* May the log have events of the pair? */
static bool has_events(const void *context, size_t log, size_t metric)
{
    const struct metrics_view *v = context;

    return v->parts[log].knows[metric];
}

/* False: it is no measurement, since its last event is before its first one. */
static bool take_pair(struct metrics_view *v, const struct posixtrace_pair_measurement *pair,
                      int *error)
{
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

    if (!pair_bounds_apply(&v->pair_bounds, pair->pair, pair, has_events, v, &m))
        return false;
    if (!is_selected(v, where, pair, &m))
        return true;
    *error = metrics_groups_add(&v->groups, pair->pair, where, &m);
    if (*error == 0 && metrics_view_shows_each(v))
        metrics_view_show(v, where, &m);
    if (*error == 0 && out_failed())
        *error = ECANCELED;
    return true;
}

static int measured(void *context, const struct posixtrace_pair_measurement *pair)
{
    int error = 0;

    take_pair(context, pair, &error);
    return error;
}

static bool reversed(void *context, const struct posixtrace_pair_measurement *pair, int *stop)
{
    return take_pair(context, pair, stop);
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

static void begin_bounds(struct metrics_view *v, const trace_id_t *trids)
{
    const char **names = tool_grow(NULL, v->part_count, sizeof *names);

    for (size_t i = 0; i < v->part_count; i++)
        names[i] = v->parts[i].label;
    pair_bounds_make(&v->pair_bounds, trids, names, v->part_count, v->pick->count);
    v->pair_widest = tool_zeroed(v->pick->count * sizeof *v->pair_widest);
    if (v->pair_bounds.clocks)
        posixtrace_pair_run_reversed(v->keys, reversed);
    free(names);
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
    if (error == 0)
        begin_bounds(v, trids);
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

/* By so much what lost events hide may be longer. */
static void find_widest(struct metrics_view *v)
{
    int64_t first = INT64_MAX, last = INT64_MIN;

    for (size_t i = 0; i < v->part_count; i++) {
        struct posixtrace_info info;

        if (posixtrace_get_info(v->parts[i].log->trid, &info, sizeof info) != 0 || info.events == 0)
            continue;
        first = info.first_ns < first ? info.first_ns : first;
        last = info.last_ns > last ? info.last_ns : last;
    }
    for (size_t i = 0; v->pair_bounds.clocks && i < v->pick->pair_count; i++) {
        struct posixtrace_pair_doubt d;

        posixtrace_pair_run_doubt(v->keys, i, &d, sizeof d);
        if (d.at_most_ns > 0)
            v->pair_widest[i] = pair_bounds_widest(&v->pair_bounds, i, has_events, v, first, last);
    }
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
    find_widest(v);
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
                       "to %s us by their clocks: the clocks of the logs differ",
                       name, units_count(d.reversed), metrics_us(d.reversed_ns));
    if (d.unmatched > 0)
        metrics_remark(v, "%s: %s last event%s without a first one", name, units_count(d.unmatched),
                       d.unmatched == 1 ? "" : "s");
    if (d.keyless > 0)
        metrics_remark(v, "%s: %s event%s without the fields of the key: their data is cut", name,
                       units_count(d.keyless), d.keyless == 1 ? "" : "s");
}

/* "A and B", of hosts. */
static char *names_of(const struct metrics_view *v, const struct pair_hosts *h, size_t others)
{
    const char *more = others == 1 ? " and one other pair of hosts" : others ? " and others" : "";
    const struct host_clocks *clocks = v->pair_bounds.clocks;
    char *text = NULL;

    if (asprintf(&text, "%s and %s%s", host_clocks_name(clocks, h->a),
                 host_clocks_name(clocks, h->b), more) < 0)
        text = tool_zeroed(1);
    return text;
}

/* The first of those with pairs of unknown error, or of known ones, that with the greatest; how
 * many. */
static const struct pair_hosts *find_hosts(const struct pair_bounds *b, bool unknown, size_t *count)
{
    const struct pair_hosts *found = NULL;

    *count = 0;
    for (size_t i = 0; i < b->host_count; i++) {
        const struct pair_hosts *h = &b->hosts[i];

        if ((unknown ? h->unknown : h->bounded) == 0)
            continue;
        if (!found || (!unknown && h->error_ns > found->error_ns))
            found = h;
        ++*count;
    }
    *count += *count > 0 && b->more_hosts;
    return found;
}

/* Says how well the times of two hosts can be compared. */
static void report_clocks(const struct metrics_view *v)
{
    bool sync = sync_option_clocks() != NULL;
    const struct pair_hosts *h;
    size_t count;
    char *names;

    h = find_hosts(&v->pair_bounds, false, &count);
    names = h && !sync ? names_of(v, h, count - 1) : NULL;
    if (names)
        metrics_remark(v,
                       "the clocks of %s are not aligned: by the kernel's bounds of their errors a "
                       "time between them is right within %s us; 'posixtrace sync' aligns them",
                       names, metrics_us(h->error_ns));
    free(names);
    h = find_hosts(&v->pair_bounds, true, &count);
    names = h ? names_of(v, h, count - 1) : NULL;
    if (names)
        metrics_remark(v,
                       sync ? "the clocks of %s are not bounded on both sides by '--sync': no most "
                              "is known of a time between them"
                            : "the clocks of %s are not aligned, and the kernel gives no bound of "
                              "their errors: a time between them is not known; 'posixtrace sync' "
                              "aligns them by their messages",
                       names);
    free(names);
}

void metrics_keys_report(const struct metrics_view *v)
{
    if (v->keys && v->pair_bounds.clocks)
        report_clocks(v);
    for (size_t i = 0; v->keys && i < v->pick->pair_count; i++)
        report(v, i);
}
