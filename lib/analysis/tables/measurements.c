/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Rows of measurements: one pass over the log, in which a run of metrics and a report get the
 * events that posixtrace_next_whole_events() gives.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/metrics/run/reader.h"
#include "analysis/metrics/run/run.h"
#include "analysis/tables/measurements.h"

enum { BATCH = 64 };

struct measured {
    bool pair;
    int64_t most_ns; /* of its rows that are not known */
};

static struct measured *measured_of(const struct pt_tables_pass *p,
                                    const posixtrace_metric_t *metric)
{
    return pt_report_map_find(&p->measured, (struct pt_report_key){ .a = (uintptr_t)metric });
}

/* ---- rows ---- */

static void put_metric(struct pt_table_row *r, const struct measured *of,
                       const posixtrace_metric_t *metric)
{
    pt_table_row_begin(r);
    pt_table_row_text(r, POSIXTRACE_MEASUREMENTS_KIND, of->pair ? "pair" : "metric");
    pt_table_row_text(r, POSIXTRACE_MEASUREMENTS_METRIC, posixtrace_metric_name(metric));
}

static void put_lengths(struct pt_table_row *r, const struct posixtrace_measurement *m)
{
    pt_table_row_number(r, POSIXTRACE_MEASUREMENTS_BEGIN_TIME, m->begin_ns);
    pt_table_row_number(r, POSIXTRACE_MEASUREMENTS_END_TIME, m->end_ns);
    pt_table_row_number(r, POSIXTRACE_MEASUREMENTS_KNOWN, !m->unknown);
    pt_table_row_number(r, POSIXTRACE_MEASUREMENTS_LEAST, m->unknown ? 0 : m->least_ns);
    if (!m->unknown)
        pt_table_row_number(r, POSIXTRACE_MEASUREMENTS_LENGTH, m->length_ns);
    if (m->length_ns < POSIXTRACE_NO_BOUND)
        pt_table_row_number(r, POSIXTRACE_MEASUREMENTS_MOST, m->length_ns);
}

/* The name as it was at the event that ended it, which is mostly one of the same thread. */
static const char *name_of(const struct pt_tables_pass *p, const struct posixtrace_measurement *m)
{
    const struct posixtrace_event *e = p->event;

    return e && e->pid == m->pid && e->tid == m->tid && e->thread_name ? e->thread_name : NULL;
}

_Static_assert(PT_CAUSES == POSIXTRACE_MEASUREMENTS_COLUMNS - POSIXTRACE_MEASUREMENTS_RUN,
               "a column for each");

static void put_causes(const struct pt_tables_pass *p, const struct posixtrace_measurement *m)
{
    int64_t sums[PT_CAUSES];

    if (!p->t->options.causes || m->unknown || m->tid == 0 ||
        !pt_tables_causes_get(&p->causes, m->pid, m->tid, m->begin_ns, m->end_ns, sums))
        return;
    for (unsigned i = 0; i < PT_CAUSES; i++)
        pt_table_row_number(p->row, POSIXTRACE_MEASUREMENTS_RUN + i, sums[i]);
}

static int put_measurement(void *context, const struct posixtrace_measurement *m)
{
    struct pt_tables_pass *p = context;
    struct measured *of = measured_of(p, m->metric);
    struct pt_table_row *r = p->row;

    if (m->unknown && m->length_ns > of->most_ns)
        of->most_ns = m->length_ns;
    put_metric(r, of, m->metric);
    pt_table_row_thread(r, POSIXTRACE_MEASUREMENTS_PID, m->pid, m->tid, m->thread_id,
                        name_of(p, m));
    put_lengths(r, m);
    if (posixtrace_metric_by_object(m->metric) && !(m->unknown && m->key == 0)) /* 0: all */
        pt_table_row_number(r, POSIXTRACE_MEASUREMENTS_OBJECT, (int64_t)m->key);
    if (!m->unknown)
        pt_table_row_number(r, POSIXTRACE_MEASUREMENTS_INSIDE, (int64_t)m->intermediate_events);
    put_causes(p, m);
    return pt_table_row_end(r);
}

/* Threads without an event in the log may have longer ones than all that its gaps hide. */
static int put_hidden(struct pt_tables_pass *p, size_t index)
{
    const posixtrace_metric_t *metric = p->metrics.list[index];
    const struct measured *of = measured_of(p, metric);
    struct posixtrace_doubt doubt;
    struct posixtrace_measurement m = { .begin_ns = p->first_ns, .end_ns = p->last_ns };

    posixtrace_metric_run_doubt(p->run, index, &doubt, sizeof doubt);
    if (doubt.at_most_ns <= of->most_ns)
        return 0;
    m.unknown = true;
    m.length_ns = doubt.at_most_ns;
    put_metric(p->row, of, metric);
    put_lengths(p->row, &m);
    return pt_table_row_end(p->row);
}

/* ---- the pass ---- */

static int take_event(struct pt_tables_pass *p, const struct posixtrace_event *e)
{
    int error = 0;

    if (p->last_ns == INT64_MIN)
        p->first_ns = e->ns;
    p->last_ns = e->ns > p->last_ns ? e->ns : p->last_ns;
    p->event = e;
    pt_tables_when_event(&p->t->when, e);
    if (p->t->options.causes) /* first: a measurement that ends needs them until then */
        error = pt_tables_causes_event(&p->causes, e);
    if (!error && p->run)
        error = pt_metric_run_event(p->run, e);
    return error ? error : pt_report_event(p->report, e);
}

static int take_events(struct pt_tables_pass *p)
{
    struct posixtrace_event batch[BATCH];
    size_t count = 1;
    bool gap = false;
    int error = 0;

    while (!error && count > 0) {
        error = pt_reader_next(p->t->trid, batch, BATCH, &count, &gap);
        if (!error && gap) {
            if (p->run)
                pt_metric_run_unread(p->run);
            pt_report_unread(p->report);
            if (p->t->options.causes)
                pt_tables_causes_unread(&p->causes);
        }
        for (size_t i = 0; !error && i < count; i++)
            error = take_event(p, &batch[i]);
        if (!error)
            error = pt_tables_progress(p->t, count);
    }
    p->event = NULL;
    return error;
}

static int begin(struct pt_tables_pass *p)
{
    int error = pt_tables_metrics_make(&p->metrics, p->t);

    p->last_ns = INT64_MIN;
    for (size_t i = 0; !error && i < p->metrics.count; i++) {
        struct pt_report_key key = { .a = (uintptr_t)p->metrics.list[i] };
        struct measured *of = pt_report_map_make(&p->measured, key, sizeof *of);

        if (of)
            of->pair = i >= p->metrics.count - p->metrics.own;
        else
            error = ENOMEM;
    }
    if (!error)
        error = pt_tables_waits_begin(p);
    if (!error && p->t->options.causes)
        error = pt_tables_causes_begin(&p->causes, p->t->trid);
    if (!error && p->metrics.count > 0)
        error = posixtrace_metric_run_create(p->metrics.list, p->metrics.count, p->t->trid,
                                             put_measurement, p, &p->run);
    if (!error && p->t->options.wants)
        posixtrace_metric_run_select(p->run, p->t->options.wants, p->t->options.context);
    return error;
}

int pt_tables_measurements(struct pt_table_row *r)
{
    struct pt_tables_pass p = { .t = r->t, .row = r };
    int error;

    pt_tables_when_free(&r->t->when);
    error = begin(&p);
    if (!error)
        error = take_events(&p);
    if (!error && p.run)
        error = posixtrace_metric_run_end(p.run);
    if (!error) {
        pt_tables_when_end(&r->t->when, p.report);
        error = posixtrace_report_end(p.report);
    }
    if (!error)
        pt_tables_when_known(&r->t->when);
    for (size_t i = 0; !error && i < p.metrics.count && p.last_ns != INT64_MIN; i++)
        error = put_hidden(&p, i);
    posixtrace_metric_run_free(p.run);
    pt_tables_waits_end(&p);
    pt_tables_causes_end(&p.causes);
    pt_tables_metrics_free(&p.metrics);
    pt_report_map_deinit(&p.measured);
    return error;
}
