/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The events that change the chunk: they close the writer's chunk and take the next one.  With
 * records of one size they are those at equal distances, which follow from the chunk's size; each
 * of their calls is timed as in tail.c.  There is a stream of each chunk size that streams have by
 * default, and of two policies: a LOOP stream that has wrapped recycles its oldest chunk, a FLUSH
 * stream takes chunks that its flush thread has freed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "bench/subjects.h"
#include "shm/layout.h"

enum { CHANGES = 4000, KIB = 1024, MIB = 1 << 20, RECORD = 24, LOG = 64 * MIB, FLUSH_EACH = 8 };

static double ns_per_tick = 1;

static inline uint64_t ticks(void)
{
    uint64_t t;

#if defined __x86_64__ || defined __i386__
    __asm__ volatile("lfence" ::: "memory");
#endif
    t = pt_clock_now(PT_CLOCK_TSC);
#if defined __x86_64__ || defined __i386__
    __asm__ volatile("lfence" ::: "memory");
#endif
    return t;
}

static void calibrate(void)
{
    uint64_t t = ticks();
    int64_t n = bench_now();

    bench_sleep(50000000);
    ns_per_tick = (double)(bench_now() - n) / (double)(ticks() - t);
}

static double timed_event(void)
{
    uint64_t start = ticks();

    posix_trace_event(subject_id, subject_data, 8);
    return (double)(ticks() - start) * ns_per_tick;
}

static double empty(void)
{
    double ns[1001];

    for (size_t i = 0; i < BENCH_COUNT(ns); i++) {
        uint64_t start = ticks();

        ns[i] = (double)(ticks() - start) * ns_per_tick;
    }
    return bench_quantile(ns, BENCH_COUNT(ns), 0.5);
}

/* Waits until the flush thread has emptied the stream. */
static void let_flush(trace_id_t trid)
{
    struct posix_trace_status_info status;

    subject_must("posix_trace_flush", posix_trace_flush(trid));
    do {
        bench_sleep(10000);
        subject_must("posix_trace_get_status", posix_trace_get_status(trid, &status));
    } while (status.posix_stream_flush_status == POSIX_TRACE_FLUSHING);
}

/* The events of a thread that has no chunk yet; ns: of those that change the chunk, without the
 * first two turns of the stream.  flushed: the stream, where it must not become full, or NULL. */
static void changes(double *ns, size_t chunk, size_t skip, const trace_id_t *flushed)
{
    size_t each = (chunk - sizeof(struct pt_chunk)) / RECORD;

    for (size_t c = 0; c < CHANGES + skip; c++) {
        double first = timed_event();

        if (c >= skip)
            ns[c - skip] = first;
        for (size_t i = 1; i < each; i++)
            posix_trace_event(subject_id, subject_data, 8);
        if (flushed && c % FLUSH_EACH == 0)
            let_flush(*flushed);
    }
}

static void report(const char *id, const char *work, double *ns, double base, size_t chunk)
{
    static const struct {
        const char *name;
        double q, limit;
    } rows[] = { { "median", 0.5, 150 }, { "p99", 0.99, 500 } };

    for (size_t i = 0; i < BENCH_COUNT(rows); i++)
        bench_row(&(struct bench_row){
            .id = bench_text("change-%s-%s", id, rows[i].name),
            .work = bench_text("event that changes the chunk, %s: %s", work, rows[i].name),
            .value = bench_quantile(ns, CHANGES, rows[i].q) - base,
            .unit = "ns",
            .sense = BENCH_AT_MOST,
            .limit = rows[i].limit,
            .note = bench_text("%d changes, chunks of %zu KiB", CHANGES, chunk / KIB) });
}

static void loop(const char *id, size_t size, size_t chunk)
{
    double *ns = calloc(CHANGES, sizeof *ns);
    trace_id_t trid = subject_stream(POSIX_TRACE_LOOP, size);

    subject_must("posix_trace_start", posix_trace_start(trid));
    changes(ns, chunk, 2 * size / chunk + 2, NULL);
    report(id, bench_text("LOOP, %zu KiB", size / KIB), ns, empty(), chunk);
    subject_must("posix_trace_shutdown", posix_trace_shutdown(trid));
    free(ns);
}

static void flush(const char *id, size_t size, size_t chunk)
{
    double *ns = calloc(CHANGES, sizeof *ns);
    int fd;
    trace_id_t trid = subject_stream_log(POSIX_TRACE_FLUSH, size, LOG, &fd);

    subject_must("posix_trace_start", posix_trace_start(trid));
    bench_pin(0);
    changes(ns, chunk, 2 * size / chunk + 2, &trid);
    bench_pin(-1);
    report(id, bench_text("FLUSH, %zu KiB", size / KIB), ns, empty(), chunk);
    subject_must("posix_trace_shutdown", posix_trace_shutdown(trid));
    free(ns);
}

int main(void)
{
    subjects_init();
    if (!subjects_clock_is_tsc()) {
        bench_skip("change", "event that changes the chunk", "no time stamp counter");
        return bench_end();
    }
    calibrate();
    bench_pin(0);
    loop("loop-48k", 48 * KIB, 16 * KIB);
    loop("loop-1m", MIB, 16 * KIB);
    loop("loop-8m", 8 * MIB, 32 * KIB);
    loop("loop-64m", 64 * MIB, 64 * KIB);
    bench_pin(-1);
    flush("flush-1m", MIB, 16 * KIB);
    flush("flush-64m", 64 * MIB, 64 * KIB);
    return bench_end();
}
