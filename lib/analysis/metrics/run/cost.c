/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The cost of an event on this machine: the median over batches in a stream of our own.  The events
 * are unnamed, so that this process and those that share its names need no type for them.
 */
#include <errno.h>
#include <stdlib.h>
#include <posixtrace/metrics.h>
#include "analysis/metrics/run/reader.h"

enum { BATCHES = 31, BATCH = 256 };

static int64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static int by_size(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;

    return *x < *y ? -1 : *x > *y;
}

static double measure(void)
{
    int64_t took[BATCHES];

    /* The first batch is there to find stream and memory. */
    for (int i = -1; i < BATCHES; i++) {
        int64_t begin = now_ns();

        for (uint64_t k = 0; k < BATCH; k++)
            posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, &k, sizeof k);
        took[i < 0 ? 0 : i] = now_ns() - begin;
    }
    qsort(took, BATCHES, sizeof took[0], by_size);
    return (double)took[BATCHES / 2] / BATCH;
}

int posixtrace_event_cost_like(const trace_attr_t *attr, double *ns)
{
    trace_id_t trid;
    int error;

    if (!ns)
        return EINVAL;
    error = pt_reader_trial(attr, &trid);
    if (error)
        return error;
    error = posix_trace_start(trid);
    if (error == 0)
        *ns = measure();
    posix_trace_shutdown(trid);
    return error;
}

int posixtrace_event_cost(double *ns)
{
    return posixtrace_event_cost_like(NULL, ns);
}
