/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The cost of an event for the thread that records it.
 *
 * Contestants take turns in short batches, so that a change of the machine's speed affects all of
 * them, and medians over the batches are compared: an event of 8 bytes, one of 64, and the floor,
 * the work that no tracer can avoid: the clock and four words stored into a thread's own memory,
 * with the position that publishes them.  Then the same call while no stream wants the event.  The
 * tail and the cold cache are measured in single events, with the clock of the events around each;
 * the cost of the clock is subtracted.
 */
#include "selftest/selftest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <posixtrace/info.h>
#include <posixtrace/stream.h>
#if defined __x86_64__ || defined __i386__
#include <x86intrin.h>
#endif

#include "common/progress.h"
#include "common/tool.h"

enum {
    BATCH = 1000,
    BATCHES = 4000,
    SINGLES = 1000000,
    COLD = 400,
    FLOOR_WORDS = 1 << 16,
    SWEEP = 16 << 20
};
#define STREAM_SIZE (1u << 20) /* the library's default */

static trace_event_id_t event_id;
static bool tsc;

static uint64_t ticks(void)
{
#if defined __x86_64__ || defined __i386__
    if (tsc)
        return __rdtsc();
#endif
    return (uint64_t)selftest_now();
}

static _Thread_local struct {
    volatile uint64_t published;
    uint64_t position;
    uint64_t words[FLOOR_WORDS];
} lane;

__attribute__((noinline)) static void floor_event(uint64_t id, const void *data, size_t length)
{
    uint64_t *to = lane.words + lane.position;

    to[0] = id << 32 | length;
    to[1] = ticks();
    to[2] = (uint64_t)(uintptr_t)__builtin_return_address(0);
    memcpy(&to[3], data, sizeof to[3]);
    lane.position = (lane.position + 4) % FLOOR_WORDS;
    /* the compiler must not move the words after their publication */
    __asm__ volatile("" ::: "memory");
    lane.published = lane.position;
}

enum contestant { FLOOR, EIGHT, SIXTY_FOUR, CONTESTANTS };

/* Ticks of a batch. */
static uint64_t batch(enum contestant c)
{
    char data[64] = "selftest";
    uint64_t begin = ticks();

    switch (c) {
    case FLOOR:
        for (int i = 0; i < BATCH; i++)
            floor_event(event_id, data, 8);
        break;
    case EIGHT:
        for (int i = 0; i < BATCH; i++)
            posix_trace_event(event_id, data, 8);
        break;
    default:
        for (int i = 0; i < BATCH; i++)
            posix_trace_event(event_id, data, 64);
        break;
    }
    return ticks() - begin;
}

static int by_size(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

/* The value below which that share of the count values is; sorts them. */
static double quantile(uint64_t *values, size_t count, double share)
{
    size_t at = (size_t)(share * (double)count);

    qsort(values, count, sizeof *values, by_size);
    return (double)values[at < count ? at : count - 1];
}

/* Nanoseconds of a tick. */
static double tick_ns(void)
{
    int64_t begin_ns = selftest_now(), end_ns;
    uint64_t begin = ticks(), end;

    do {
        end_ns = selftest_now();
        end = ticks();
    } while (end_ns - begin_ns < 10000000);
    return (double)(end_ns - begin_ns) / (double)(end - begin);
}

static void measure_medians(double ns, int64_t until)
{
    static uint64_t values[CONTESTANTS][BATCHES];
    double median[CONTESTANTS];
    size_t count = 0;

    for (int c = 0; c < CONTESTANTS; c++)
        batch((enum contestant)c);
    do {
        for (int c = 0; c < CONTESTANTS; c++)
            values[c][count] = batch((enum contestant)c);
        count++;
    } while (count < BATCHES && selftest_now() < until && !selftest_interrupted());
    for (int c = 0; c < CONTESTANTS; c++)
        median[c] = quantile(values[c], count, 0.5) * ns / BATCH;
    report_figure("event_8_ns", "event of 8 bytes, median", median[EIGHT], 1, "ns");
    report_figure("event_64_ns", "event of 64 bytes, median", median[SIXTY_FOUR], 1, "ns");
    report_figure("floor_ns", "floor: the clock and four words stored", median[FLOOR], 1, "ns");
    report_figure("event_8_ratio", "event of 8 bytes, to the floor", median[EIGHT] / median[FLOOR],
                  2, "times");
}

/* The time of reading the clock twice. */
static uint64_t clock_cost(uint64_t *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t begin = ticks();

        values[i] = ticks() - begin;
    }
    return (uint64_t)quantile(values, count, 0.5);
}

static uint64_t single_event(uint64_t overhead)
{
    uint64_t number = 0, begin = ticks(), took;

    posix_trace_event(event_id, &number, sizeof number);
    took = ticks() - begin;
    return took > overhead ? took - overhead : 0;
}

static void measure_tail(double ns, uint64_t *values, int64_t until)
{
    uint64_t overhead = clock_cost(values, 10000);
    size_t count = 0;

    do
        values[count++] = single_event(overhead);
    while (count < SINGLES &&
           (count % 1024 != 0 || (selftest_now() < until && !selftest_interrupted())));
    report_figure("event_8_p999_ns", "event of 8 bytes, slowest of 1,000 (p99.9)",
                  quantile(values, count, 0.999) * ns, 0, "ns");
    report_figure("event_8_p9999_ns", "event of 8 bytes, slowest of 10,000 (p99.99)",
                  quantile(values, count, 0.9999) * ns, 0, "ns");
}

/* Other data takes the caches before each event. */
static void measure_cold(double ns, uint64_t *values, int64_t until)
{
    volatile unsigned char *other = malloc(SWEEP);
    uint64_t overhead = clock_cost(values, 1000);
    size_t count = 0;

    if (!other) {
        report_missing("event_8_cold_ns", "event of 8 bytes, cold cache", "no memory");
        return;
    }
    do {
        for (size_t i = 0; i < SWEEP; i += 64)
            other[i]++;
        values[count++] = single_event(overhead);
    } while (count < COLD && selftest_now() < until && !selftest_interrupted());
    report_figure("event_8_cold_ns", "event of 8 bytes, cold cache",
                  quantile(values, count, 0.5) * ns, 0, "ns");
    free((void *)other);
}

static void measure_unwanted(const char *key, const char *what, double ns)
{
    static uint64_t values[BATCHES];
    size_t count = 0;

    batch(EIGHT);
    while (count < BATCHES / 10)
        values[count++] = batch(EIGHT);
    report_figure(key, what, quantile(values, count, 0.5) * ns / BATCH, 2, "ns");
}

static int filter_out(trace_id_t trid)
{
    trace_event_set_t set;
    int error = posix_trace_eventset_empty(&set);

    if (!error)
        error = posix_trace_eventset_add(event_id, &set);
    return error ? error : posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET);
}

static void measure(trace_id_t trid, double seconds, uint64_t *values)
{
    int64_t begin = selftest_now(), share = (int64_t)(seconds * 0.05 * (double)SELFTEST_NS);
    double ns = tick_ns();

    posixtrace_prepare();
    measure_medians(ns, begin + share);
    measure_tail(ns, values, begin + 2 * share);
    measure_cold(ns, values, begin + 3 * share);
    if (filter_out(trid) == 0)
        measure_unwanted("filtered_ns", "event that a filter keeps out", ns);
    if (posix_trace_stop(trid) == 0)
        measure_unwanted("stopped_ns", "event while the stream is stopped", ns);
    posix_trace_shutdown(trid);
    measure_unwanted("no_stream_ns", "event while there is no stream", ns);
}

void selftest_cost(const struct selftest *t)
{
    uint64_t *values = tool_grow(NULL, SINGLES, sizeof *values);
    struct posixtrace_info info = { .clock = POSIXTRACE_CLOCK_MONOTONIC };
    trace_id_t trid;
    int error = posix_trace_eventid_open("cost", &event_id);

    progress_step("cost of an event");
    if (!error)
        error = selftest_stream(STREAM_SIZE, POSIX_TRACE_LOOP, -1, 0, &trid);
    if (error) {
        report_missing("event_8_ns", "event of 8 bytes, median", "cannot trace: %s",
                       strerror(error));
    } else {
        posixtrace_get_info(trid, &info, sizeof info);
        tsc = info.clock == POSIXTRACE_CLOCK_TSC;
        measure(trid, t->seconds, values);
    }
    free(values);
}
