/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The interface: options, two passes, results.  See why_state.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <posixtrace/info.h>

#include "analysis/metrics/language/machine.h"
#include "analysis/why/why_state.h"
#include "text/sum.h"

enum { ROOM = 1 << 20, WORST_MOST = 1 << 20, PAIRS_MOST = 1 << 20 };

/* A bound of a measurement can be known so much later than its end. */
static const int64_t late_ns = 2000000000;

static bool explains(const posixtrace_why_t *w)
{
    return w->subject->begin || w->options.metric || w->options.at_tid;
}

/* ---- passes ---- */

static int take_measurement(void *context, const struct posixtrace_measurement *m)
{
    posixtrace_why_t *w = context;
    struct posixtrace_why_instance i = { .begin_ns = m->begin_ns,
                                         .end_ns = m->end_ns,
                                         .pid = m->pid,
                                         .tid = m->tid,
                                         .end_pid = m->pid,
                                         .end_tid = m->tid,
                                         .key = m->key,
                                         .has_key = m->key != 0 };

    if (m->unknown) {
        w->subject->summary.unknown += w->pass == 1;
        return 0;
    }
    if (m->begin_ns < w->options.from_ns || m->end_ns > w->options.to_ns ||
        m->end_ns < m->begin_ns ||
        (w->options.wants_thread && !w->options.wants_thread(w->options.context, m->pid, m->tid)))
        return 0;
    pt_why_instance(w, &i);
    return w->error;
}

static int begin_metric(posixtrace_why_t *w)
{
    int error;

    posixtrace_metric_run_free(w->run);
    w->run = NULL;
    if (!w->options.metric)
        return 0;
    error = posixtrace_metric_run_create(&w->options.metric, 1, w->trid, take_measurement, w,
                                         &w->run);
    if (error == 0 && w->options.wants_begin)
        posixtrace_metric_run_select(w->run, w->options.wants_begin, w->options.context);
    return error;
}

static int end_metric(posixtrace_why_t *w)
{
    struct posixtrace_doubt doubt;
    int error;

    if (!w->run)
        return 0;
    error = posixtrace_metric_run_end(w->run);
    if (w->pass == 1) {
        posixtrace_metric_run_doubt(w->run, 0, &doubt, sizeof doubt);
        w->subject->summary.open = doubt.unfinished;
    }
    return error;
}

static int begin_pass(posixtrace_why_t *w, unsigned pass)
{
    int error = begin_metric(w);

    if (error == 0)
        error = posixtrace_report_create(w->trid, NULL, 0, &w->report);
    if (error)
        return error;
    w->pass = pass;
    w->report->watch = pass == 1 ? &pt_why_first_watch : &pt_why_second_watch;
    w->report->watcher = w;
    return 0;
}

/* What the second pass knows of the first. */
static int end_first(posixtrace_why_t *w)
{
    int error = end_metric(w);

    posixtrace_report_end(w->report); /* a log that was stopped has no gap at its end */
    pt_why_pairs_end(w);
    w->gap_count = w->report->summary.gaps;
    posixtrace_report_free(w->report);
    w->report = NULL;
    for (size_t i = 0; i < w->subject_count; i++) {
        w->subject = &w->subjects[i];
        pt_why_choose(w);
    }
    w->subject = w->subjects;
    if (w->reach > 0 && w->run)
        pt_sum_add(&w->reach, late_ns);
    return error ? error : begin_pass(w, 2);
}

/* ---- results ---- */

int posixtrace_why_end(posixtrace_why_t *w)
{
    int error;

    if (!w || w->pass != 2 || w->ended)
        return EINVAL;
    w->ended = true;
    error = end_metric(w);
    error = error ? error : posixtrace_report_end(w->report);
    pt_why_find_blocked(w);
    pt_why_pairs_end(w);
    pt_why_subjects_end(w);
    return error ? error : w->error;
}

int posixtrace_why_take(posixtrace_why_t *w, uint64_t events, int *unavailable)
{
    uint64_t before;
    int over, error;

    if (!w || !unavailable || w->ended)
        return EINVAL;
    *unavailable = 0;
    do {
        over = 0;
        before = w->report->summary.events;
        error = posixtrace_report_take(w->report, events, &over);
        w->events += w->report->summary.events - before;
        error = error ? error : w->error;
        if (error || !over)
            return error;
        if (w->pass == 2) {
            *unavailable = 1;
            return 0;
        }
        error = end_first(w);
    } while (error == 0 && events == 0);
    return error;
}

/* ---- making ---- */

static bool is_valid(const struct posixtrace_why_options *o)
{
    unsigned kinds = (o->begin || o->end) + (o->metric != NULL) + (o->at_tid != 0) +
                     (o->pair_count > 0);

    return kinds <= 1 && o->pair_count <= PAIRS_MOST && !o->begin == !o->end &&
           (!o->by || o->begin) && o->worst <= WORST_MOST;
}

static int prepare(posixtrace_why_t *w)
{
    const struct posixtrace_why_options *o = &w->options;
    int error;

    w->span_room = o->room ? o->room : ROOM;
    w->at_from = INT64_MIN;
    w->reach = o->at_tid != 0;
    error = pt_why_subjects_init(w);
    if (error || !o->by)
        return error;
    w->by = strdup(o->by);
    return w->by ? posixtrace_fields_create(w->trid, &w->fields) : ENOMEM;
}

int posixtrace_why_create(trace_id_t trid, const struct posixtrace_why_options *options,
                          size_t size, posixtrace_why_t **why)
{
    struct posixtrace_why_options all = { .from_ns = INT64_MIN, .to_ns = INT64_MAX };
    char name[TRACE_EVENT_NAME_MAX + 1];
    posixtrace_why_t *w;
    int error;

    if (!why || (options && size == 0) || !pt_reader_name(trid, POSIX_TRACE_START, name))
        return EINVAL;
    if (options)
        memcpy(&all, options, size < sizeof all ? size : sizeof all);
    if (!is_valid(&all))
        return EINVAL;
    if (all.metric && all.metric->by_item)
        return ENOTSUP;
    w = calloc(1, sizeof *w);
    if (!w)
        return ENOMEM;
    w->options = all;
    w->trid = trid;
    error = prepare(w);
    if (error == 0 && explains(w))
        error = posix_trace_rewind(trid);
    if (error == 0)
        error = begin_pass(w, explains(w) ? 1 : 2);
    if (error)
        posixtrace_why_free(w);
    else
        *why = w;
    return error;
}

static void free_spans(posixtrace_why_t *w)
{
    for (size_t i = 0; w->report && i < w->report->objects.count; i++) {
        struct pt_report_object *o = w->report->objects.items[i];
        struct pt_why_object *object = o->watched;

        if (!object)
            continue;
        pt_why_list_free(&object->holds);
        pt_why_list_free(&object->wakes);
        free(object);
    }
    for (size_t i = 0; i < w->cpus.count; i++)
        pt_why_list_free(&((struct pt_why_cpu *)w->cpus.items[i])->holds);
    for (size_t i = 0; i < w->pipes.count; i++) {
        struct pt_why_pipe *pipe = w->pipes.items[i];

        pt_why_list_free(&pipe->calls[0]);
        pt_why_list_free(&pipe->calls[1]);
    }
}

void posixtrace_why_free(posixtrace_why_t *w)
{
    if (!w)
        return;
    free_spans(w);
    pt_why_pairs_free(w);
    pt_report_map_deinit(&w->runners);
    pt_report_map_deinit(&w->cpus);
    pt_report_map_deinit(&w->pipes);
    pt_why_subjects_deinit(w);
    posixtrace_report_free(w->report);
    posixtrace_metric_run_free(w->run);
    posixtrace_fields_free(w->fields);
    free(w->rows.rows);
    free(w->blocked);
    free(w->by);
    free(w);
}

/* ---- reading ---- */

uint64_t posixtrace_why_events(const posixtrace_why_t *w)
{
    return w ? w->events : 0;
}

const struct posixtrace_why_summary *posixtrace_why_summary(const posixtrace_why_t *w)
{
    return w ? &w->subject->summary : NULL;
}

static const struct pt_why_kept *kept_at(const posixtrace_why_t *w, size_t i)
{
    const struct pt_why_subject *s = w ? w->subject : NULL;

    if (!s || i >= s->kept_count + s->open_count)
        return NULL;
    return i < s->kept_count ? &s->kept[i] : &s->kept[w->options.worst + i - s->kept_count];
}

const struct posixtrace_why_instance *posixtrace_why_instance(const posixtrace_why_t *w, size_t i)
{
    const struct pt_why_kept *k = kept_at(w, i);

    return k ? &k->row : NULL;
}

const struct posixtrace_why_segment *posixtrace_why_segment(const posixtrace_why_t *w,
                                                            size_t instance, size_t i)
{
    const struct pt_why_kept *k = kept_at(w, instance);

    return k && i < k->segments.count ? &k->segments.rows[i] : NULL;
}

const struct posixtrace_why_cause *posixtrace_why_cause(const posixtrace_why_t *w, size_t i)
{
    const struct pt_why_subject *s = w ? w->subject : NULL;

    return s && s->sorted && i < s->causes.count && s->sorted[i] ? &s->sorted[i]->row : NULL;
}

const struct posixtrace_why_blocked *posixtrace_why_blocked(const posixtrace_why_t *w, size_t i)
{
    return w && i < w->blocked_count ? &w->blocked[i] : NULL;
}

const char *posixtrace_why_thread_name(const posixtrace_why_t *w, pid_t pid, pid_t tid)
{
    struct pt_report_key key = { .a = (uint32_t)pid, .b = (uint32_t)tid };
    const struct pt_report_thread *th = w && w->report
                                            ? pt_report_map_find(&w->report->threads, key)
                                            : NULL;

    return th ? th->row.name : "";
}
