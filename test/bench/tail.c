/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Single calls: how long the slow ones take, what a call costs when the caches
 * are cold, and page faults after posixtrace_prepare().
 *
 * A call is timed between two readings of the clock, kept from overlapping
 * with it by fences where the processor has them; the median of an empty call
 * timed in the same way is taken off.  The distribution contains whatever else
 * the machine does: interrupts, the scheduler, other guests.  The floor's own
 * percentiles stand beside ours for that reason.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include <posixtrace/stream.h>
#include "base/clock.h"
#include "bench/subjects.h"

enum { MIB = 1 << 20, TURNS = 400, CALLS = 5000, COLD_CALLS = 1500, SIDES = 4 };
enum { FEW_EVENTS = 32 };

struct single {
    const char *name;
    void (*work)(void *arg, long calls);
    double *ns;
};

static struct subject_lttng lttng;
static double ns_per_tick = 1;

static inline void fence(void)
{
#if defined __x86_64__ || defined __i386__
    __asm__ volatile("lfence" ::: "memory");
#else
    __asm__ volatile("" ::: "memory");
#endif
}

static inline uint64_t ticks(void)
{
    uint64_t t;

    fence();
    t = pt_clock_now(PT_CLOCK_TSC);
    fence();
    return t;
}

static double timed(void (*work)(void *arg, long calls))
{
    uint64_t start = ticks();

    work(NULL, 1);
    return (double)(ticks() - start) * ns_per_tick;
}

static void calibrate(void)
{
    uint64_t t = ticks();
    int64_t n = bench_now();

    bench_sleep(50000000);
    ns_per_tick = (double)(bench_now() - n) / (double)(ticks() - t);
}

static size_t make_singles(struct single *singles, size_t samples)
{
    size_t count = 3;

    singles[0] = (struct single){ .name = "empty call", .work = loop_empty };
    singles[1] = (struct single){ .name = "floor", .work = loop_floor8 };
    singles[2] = (struct single){ .name = "posix_trace_event", .work = loop_event8 };
    if (lttng.loop8)
        singles[count++] = (struct single){ .name = "LTTng-UST", .work = lttng.loop8 };
    for (size_t i = 0; i < count; i++)
        if (!(singles[i].ns = calloc(samples, sizeof(double))))
            abort();
    return count;
}

static void report(const char *id, const struct single *s, size_t samples, double empty)
{
    static const double quantiles[] = { 0.5, 0.99, 0.999, 0.9999 };
    static const char *const names[] = { "p50", "p99", "p99.9", "p99.99" };

    for (size_t q = 0; q < BENCH_COUNT(quantiles); q++)
        bench_row(
            &(struct bench_row){ .id = bench_text("%s-%s-%s", id, s->name, names[q]),
                                 .work = bench_text("one call, 8 bytes, %s: %s", s->name, names[q]),
                                 .value = bench_quantile(s->ns, samples, quantiles[q]) - empty,
                                 .unit = "ns",
                                 .note = bench_text("%zu calls, worst %.0f ns", samples,
                                                    bench_quantile(s->ns, samples, 1)) });
}

static void distribution(void)
{
    struct single singles[SIDES];
    size_t samples = (size_t)TURNS * CALLS, count = make_singles(singles, samples);
    double empty;

    for (size_t turn = 0; turn < TURNS; turn++)
        for (size_t i = 0; i < count; i++)
            for (size_t c = 0; c < CALLS; c++)
                singles[i].ns[turn * CALLS + c] = timed(singles[i].work);
    empty = bench_quantile(singles[0].ns, samples, 0.5);
    for (size_t i = 1; i < count; i++)
        report("call", &singles[i], samples, empty);
    for (size_t i = 0; i < count; i++)
        free(singles[i].ns);
}

/* Walks through twice the second-level cache; the third is shared by many. */
static void chill(void)
{
    static volatile unsigned char *memory;
    static size_t bytes;

    if (!memory) {
        long level2 = sysconf(_SC_LEVEL2_CACHE_SIZE);

        bytes = level2 > 0 ? 2 * (size_t)level2 : 8 * MIB;
        memory = malloc(bytes);
        if (!memory)
            abort();
        memset((void *)memory, 1, bytes);
    }
    for (size_t i = 0; i < bytes; i += 64)
        (void)memory[i];
}

static void cold(void)
{
    struct single singles[SIDES];
    size_t count = make_singles(singles, COLD_CALLS);
    double empty;

    for (size_t c = 0; c < COLD_CALLS; c++)
        for (size_t i = 0; i < count; i++) {
            chill();
            singles[i].ns[c] = timed(singles[i].work);
        }
    empty = bench_quantile(singles[0].ns, COLD_CALLS, 0.5);
    for (size_t i = 1; i < count; i++)
        bench_row(&(struct bench_row){
            .id = bench_text("cold-%s", singles[i].name),
            .work = bench_text("one call with cold caches, %s: median", singles[i].name),
            .value = bench_quantile(singles[i].ns, COLD_CALLS, 0.5) - empty,
            .unit = "ns",
            .note = "first and second level emptied before each call" });
    for (size_t i = 0; i < count; i++)
        free(singles[i].ns);
}

/* ---- page faults ---- */

static long minor_faults(void)
{
    struct rusage r;

    getrusage(RUSAGE_THREAD, &r);
    return r.ru_minflt;
}

/* arg: where to put the faults of the first events after prepare. */
static void *prepared_thread(void *arg)
{
    long before;

    subject_must("posixtrace_prepare", posixtrace_prepare());
    minor_faults();
    before = minor_faults();
    for (int i = 0; i < FEW_EVENTS; i++)
        posix_trace_event(subject_id, subject_data, 8);
    *(long *)arg = minor_faults() - before;
    return NULL;
}

/* Called first of all: the process has not traced yet. */
static void faults(void)
{
    trace_id_t trid = subject_stream(POSIX_TRACE_LOOP, MIB);
    long first, other = -1;
    pthread_t thread;

    subject_must("posix_trace_start", posix_trace_start(trid));
    prepared_thread(&first);
    if (pthread_create(&thread, NULL, prepared_thread, &other) == 0)
        pthread_join(thread, NULL);
    bench_row(&(struct bench_row){ .id = "faults-first",
                                   .sense = BENCH_AT_MOST,
                                   .limit = 0,
                                   .unit = "minor faults",
                                   .work = "after posixtrace_prepare(), first thread of a program",
                                   .value = (double)first,
                                   .note = bench_text("first %d events", FEW_EVENTS) });
    bench_row(&(struct bench_row){ .id = "faults-thread",
                                   .sense = BENCH_AT_MOST,
                                   .limit = 0,
                                   .unit = "minor faults",
                                   .work = "after posixtrace_prepare(), a further thread",
                                   .value = (double)other,
                                   .note = bench_text("first %d events", FEW_EVENTS) });
    subject_must("posix_trace_shutdown", posix_trace_shutdown(trid));
}

int main(void)
{
    trace_id_t trid;
    const char *why;

    subjects_init();
    faults();
    if (!subject_lttng(&lttng, &why))
        bench_skip("call-lttng", "one call, LTTng-UST", why);
    bench_pin(0);
    calibrate();
    trid = subject_stream(POSIX_TRACE_LOOP, MIB);
    stream_start(&trid);
    distribution();
    cold();
    stream_stop(&trid);
    subject_must("posix_trace_shutdown", posix_trace_shutdown(trid));
    return bench_end();
}
