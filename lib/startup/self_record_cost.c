/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * See self_record_cost.h.  As posixtrace_event_cost_like(), which a traced program does
 * not have: batches of unnamed events of 8 bytes, the middle one.
 */
#include <stdlib.h>
#include "base/clock.h"
#include "control/control.h"
#include "startup/self_record_cost.h"
#include "stream/stream.h"
#include "writer/event.h"

enum { BATCHES = 15, BATCH = 128, LONGEST_NS = 1000000, STREAM_BYTES = 64 << 10 };

static int by_size(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;

    return *x < *y ? -1 : *x > *y;
}

/* Does one stream, ours, want such events? */
static bool is_alone(void)
{
    const uint64_t *gates = pt_load_pointer(&pt_gates);
    uint64_t open = pt_load_relaxed(&gates[POSIX_TRACE_UNNAMED_USEREVENT]);

    return open != 0 && (open & (open - 1)) == 0;
}

/* Called, as posix_trace_event() is by a program. */
static PT_NOINLINE void record(uint64_t k)
{
    pt_event_record(POSIX_TRACE_UNNAMED_USEREVENT, &k, sizeof k);
}

static uint64_t measure(void)
{
    uint64_t took[BATCHES], start = pt_clock_ns(CLOCK_MONOTONIC), before = start, now;
    unsigned n = 0;

    /* The first batch is there to find stream and memory. */
    for (unsigned i = 0; n < BATCHES && before - start < LONGEST_NS; i++) {
        if (!is_alone())
            return 0;
        for (uint64_t k = 0; k < BATCH; k++)
            record(k);
        now = pt_clock_ns(CLOCK_MONOTONIC);
        if (i > 0)
            took[n++] = now - before;
        before = now;
    }
    if (n == 0)
        return 0;
    qsort(took, n, sizeof took[0], by_size);
    return took[n / 2] * 1000 / BATCH;
}

uint64_t pt_self_record_cost(const struct pt_attr *like)
{
    struct pt_stream *s = NULL;
    struct pt_self *self;
    struct pt_attr attr;
    uint64_t cost = 0;

    if (pt_self_make(&self) < 0 || pt_load_acquire(&self->page->used) != 0)
        return 0;
    pt_attr_init(&attr);
    attr.policy_is_default = 0;
    attr.stream_policy = POSIX_TRACE_LOOP;
    attr.stream_size = STREAM_BYTES;
    attr.switches = like->switches; /* decides about the clock */
    if (pt_stream_create(&s, &attr, -1, NULL) < 0)
        return 0;
    if (pt_stream_start(s, 0) == 0)
        cost = measure();
    pt_stream_destroy(s, 0);
    return cost <= PT_EVENT_COST_MAX ? cost : 0;
}
