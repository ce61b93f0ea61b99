/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * What a call costs with libposixtrace-preload.so: the same call by the program, which the library
 * wraps, and past it.  Each call has two events; where POSIXTRACE_RECORD_LONGER_THAN is set, none,
 * as the calls are short.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "bench/subjects.h"

enum { MIB = 1 << 20, CALLS_A_SECOND = 100000, MOST_NS = 60, MOST_PERCENT = 5 };

static sem_t sem;
static int null;
static int (*real_trywait)(sem_t *);
static ssize_t (*real_write)(int, const void *, size_t);

static void find(void *function, const char *name)
{
    void *libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);

    *(void **)function = libc ? dlsym(libc, name) : NULL;
    if (!*(void **)function) {
        fprintf(stderr, "waits: no %s in libc.so.6\n", name);
        exit(1);
    }
}

static void past_trywait(void *arg, long calls)
{
    (void)arg;
    while (calls-- > 0)
        real_trywait(&sem);
}

static void wrapped_trywait(void *arg, long calls)
{
    (void)arg;
    while (calls-- > 0)
        sem_trywait(&sem);
}

static void past_write(void *arg, long calls)
{
    (void)arg;
    while (calls-- > 0)
        if (real_write(null, "", 1) != 1)
            abort();
}

static void wrapped_write(void *arg, long calls)
{
    (void)arg;
    while (calls-- > 0)
        if (write(null, "", 1) != 1)
            abort();
}

static void report(const char *name, const struct bench_side *sides, bool longer)
{
    double more = sides[1].median - sides[0].median;

    bench_row(&(struct bench_row){
        .id = bench_text("%s.%s", longer ? "longer" : "waits", name),
        .work = bench_text("%s %s", name, longer ? "below --longer-than" : "with both events"),
        .value = more,
        .unit = "ns more a call",
        .sense = longer ? BENCH_AT_MOST : BENCH_REPORT,
        .limit = MOST_NS,
        .note = bench_text("%.1f ns to %.1f ns", sides[1].median, sides[0].median) });
    if (longer)
        return;
    bench_row(&(struct bench_row){
        .id = bench_text("waits.%s.share", name),
        .work = bench_text("processor time of %d %s a second", CALLS_A_SECOND, name),
        .value = more * CALLS_A_SECOND / 1e7,
        .unit = "%",
        .sense = BENCH_AT_MOST,
        .limit = MOST_PERCENT });
}

int main(void)
{
    const bool longer = getenv("POSIXTRACE_RECORD_LONGER_THAN") != NULL;
    trace_id_t trid;
    struct bench_side trywait[] = {
        { .name = "past the library", .work = past_trywait },
        { .name = "wrapped",
          .work = wrapped_trywait,
          .before = stream_start,
          .after = stream_stop,
          .arg = &trid },
    };
    struct bench_side writes[] = {
        { .name = "past the library", .work = past_write },
        { .name = "wrapped",
          .work = wrapped_write,
          .before = stream_start,
          .after = stream_stop,
          .arg = &trid },
    };

    find(&real_trywait, "sem_trywait");
    find(&real_write, "write");
    null = open("/dev/null", O_WRONLY);
    sem_init(&sem, 0, 0);
    bench_pin(0);
    subjects_init();
    trid = subject_stream(POSIX_TRACE_LOOP, MIB);
    bench_compare(longer ? "a semaphore, long calls only" : "a semaphore, all calls", trywait,
                  BENCH_COUNT(trywait));
    bench_compare(longer ? "write, long calls only" : "write, all calls", writes,
                  BENCH_COUNT(writes));
    report("sem_trywait", trywait, longer);
    report("write", writes, longer);
    subject_must("posix_trace_shutdown", posix_trace_shutdown(trid));
    return bench_end();
}
