/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* What an event costs here: batches of them in a stream of our own, the middle one. */
#include <errno.h>
#include <stdlib.h>
#include <posixtrace/metrics.h>

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

static double measure(trace_event_id_t id)
{
    int64_t took[BATCHES];

    /* The first batch is there to find stream and memory. */
    for (int i = -1; i < BATCHES; i++) {
        int64_t begin = now_ns();

        for (uint64_t k = 0; k < BATCH; k++)
            posix_trace_event(id, &k, sizeof k);
        took[i < 0 ? 0 : i] = now_ns() - begin;
    }
    qsort(took, BATCHES, sizeof took[0], by_size);
    return (double)took[BATCHES / 2] / BATCH;
}

int posixtrace_event_cost(double *ns)
{
    trace_event_id_t id;
    trace_attr_t attr;
    trace_id_t trid;
    int error;

    if (!ns)
        return EINVAL;
    error = posix_trace_eventid_open("posixtrace-event-cost", &id);
    if (error == 0)
        error = posix_trace_attr_init(&attr);
    if (error)
        return error;
    posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_LOOP);
    error = posix_trace_create(0, &attr, &trid);
    posix_trace_attr_destroy(&attr);
    if (error)
        return error;
    error = posix_trace_start(trid);
    if (error == 0)
        *ns = measure(id);
    posix_trace_shutdown(trid);
    return error;
}
