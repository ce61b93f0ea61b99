/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* The package of the paper: all measurements of one metric, and the events it needs. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <posixtrace/ada_metrics.h>
#include "analysis/metrics/language/machine.h"

struct posixtrace_metric_result_element {
    struct posixtrace_measurement m;
};

struct elements {
    posixtrace_metric_result_element_t *at;
    size_t count, room;
};

struct posixtrace_metric_result {
    struct elements known, unknown;
    struct posixtrace_doubt doubt;
    bool no_memory;
};

static int keep(void *context, const struct posixtrace_measurement *m)
{
    posixtrace_metric_result_t *r = context;
    struct elements *to = m->unknown ? &r->unknown : &r->known;

    if (to->count == to->room) {
        size_t room = to->room * 2 + 64;
        posixtrace_metric_result_element_t *more = realloc(to->at, room * sizeof *more);

        if (!more) {
            r->no_memory = true;
            return ENOMEM;
        }
        to->at = more;
        to->room = room;
    }
    to->at[to->count++].m = *m;
    return 0;
}

int posixtrace_get_metric_result(const posixtrace_metric_t *metric, trace_id_t trid,
                                 posixtrace_metric_result_t **result)
{
    posixtrace_metric_result_t *made;
    posixtrace_metric_run_t *run;
    int error, ended, unavailable;

    if (!metric || !result)
        return EINVAL;
    made = calloc(1, sizeof *made);
    if (!made)
        return ENOMEM;
    error = posixtrace_metric_run_create(&metric, 1, trid, keep, made, &run);
    if (error == 0) {
        error = posixtrace_metric_run_take(run, 0, &unavailable);
        ended = posixtrace_metric_run_end(run);
        posixtrace_metric_run_doubt(run, 0, &made->doubt, sizeof made->doubt);
        posixtrace_metric_run_free(run);
        error = made->no_memory ? ENOMEM : error ? error : ended;
    }
    if (error)
        posixtrace_metric_result_free(made);
    else
        *result = made;
    return error;
}

void posixtrace_metric_result_free(posixtrace_metric_result_t *result)
{
    if (!result)
        return;
    free(result->known.at);
    free(result->unknown.at);
    free(result);
}

size_t posixtrace_metric_result_element_count(const posixtrace_metric_result_t *result)
{
    return result ? result->known.count : 0;
}

void posixtrace_metric_result_doubt(const posixtrace_metric_result_t *result,
                                    struct posixtrace_doubt *doubt, size_t size)
{
    memset(doubt, 0, size);
    if (result)
        memcpy(doubt, &result->doubt, size < sizeof result->doubt ? size : sizeof result->doubt);
}

int posixtrace_get_metric_result_element(const posixtrace_metric_result_t *result, size_t i,
                                         const posixtrace_metric_result_element_t **element)
{
    if (!result || !element || i == 0 || i > result->known.count)
        return EINVAL;
    *element = &result->known.at[i - 1];
    return 0;
}

int posixtrace_metric_result_measurement(const posixtrace_metric_result_t *result, size_t i,
                                         struct posixtrace_measurement *measurement, size_t size)
{
    const struct posixtrace_measurement *m;

    if (!result || !measurement || size == 0)
        return EINVAL;
    if (i >= result->known.count + result->unknown.count)
        return ENOENT;
    m = i < result->known.count ? &result->known.at[i].m
                                : &result->unknown.at[i - result->known.count].m;
    memset(measurement, 0, size);
    memcpy(measurement, m, size < sizeof *m ? size : sizeof *m);
    return 0;
}

/* tv_nsec is never negative. */
static struct timespec time_of(int64_t ns)
{
    int64_t s = ns / 1000000000, rest = ns % 1000000000;

    return rest < 0 ? (struct timespec){ s - 1, rest + 1000000000 } : (struct timespec){ s, rest };
}

struct timespec posixtrace_begin_time(const posixtrace_metric_result_element_t *element)
{
    return time_of(element->m.begin_ns);
}

struct timespec posixtrace_end_time(const posixtrace_metric_result_element_t *element)
{
    return time_of(element->m.end_ns);
}

struct timespec posixtrace_length(const posixtrace_metric_result_element_t *element)
{
    return time_of(element->m.length_ns);
}

pthread_t posixtrace_task_id(const posixtrace_metric_result_element_t *element)
{
    pthread_t thread;
    uintptr_t id = (uintptr_t)element->m.thread_id;

    memset(&thread, 0, sizeof thread);
    memcpy(&thread, &id, sizeof thread < sizeof id ? sizeof thread : sizeof id);
    return thread;
}

size_t posixtrace_intermediate_events(const posixtrace_metric_result_element_t *element)
{
    return (size_t)element->m.intermediate_events;
}

/* ---- which events it takes ---- */

/* CPU times, which replace context switches, are wanted with them.  The end of threads is wanted
 * because otherwise the next thread with the same number would continue a measurement. */
static bool is_wanted(const posixtrace_metric_t *metric, const char *name)
{
    if (strcmp(name, "posixtrace_thread_end") == 0)
        return true;
    if (strcmp(name, "posixtrace_cpu_time") == 0)
        return pt_machine_looks_at(metric, "posixtrace_switch_out") ||
               pt_machine_looks_at(metric, "posixtrace_switch_preempted");
    return pt_machine_looks_at(metric, name);
}

/* Types that the stream knows; the list is left where it begins. */
static int add_known(const posixtrace_metric_t *metric, trace_id_t trid, trace_event_set_t *set)
{
    char name[TRACE_EVENT_NAME_MAX + 1];
    trace_event_id_t id;
    int end = 0, error = posix_trace_eventtypelist_rewind(trid);

    while (error == 0) {
        error = posix_trace_eventtypelist_getnext_id(trid, &id, &end);
        if (error || end)
            break;
        if (posix_trace_eventid_get_name(trid, id, name) == 0 && is_wanted(metric, name))
            error = posix_trace_eventset_add(id, set);
    }
    return error ? error : posix_trace_eventtypelist_rewind(trid);
}

/* The types that note_gap() in run.c acts on.  A stream that filters them out hides where its
 * events are missing, and a measurement joins the events on both sides. */
static int add_marks(trace_event_set_t *set)
{
    static const trace_event_id_t marks[] = { POSIX_TRACE_START, POSIX_TRACE_STOP,
                                              POSIX_TRACE_FILTER, POSIX_TRACE_OVERFLOW,
                                              POSIX_TRACE_RESUME };
    int error = 0;

    for (size_t i = 0; error == 0 && i < sizeof marks / sizeof marks[0]; i++)
        error = posix_trace_eventset_add(marks[i], set);
    return error;
}

int posixtrace_events_required_by(const posixtrace_metric_t *metric, trace_id_t trid,
                                  trace_event_set_t *set)
{
    int error;

    if (!metric || !set)
        return EINVAL;
    for (size_t i = 0; i < metric->event_count; i++) {
        trace_event_id_t id;

        /* Those of the standard cannot be opened, and none can in a pre-recorded stream. */
        if (strncmp(metric->events[i], "posix_trace_", 12) == 0)
            continue;
        error = posix_trace_trid_eventid_open(trid, metric->events[i], &id);
        if (error && error != EINVAL)
            return error;
    }
    error = posix_trace_eventset_empty(set);
    if (error == 0)
        error = add_marks(set);
    return error ? error : add_known(metric, trid, set);
}
