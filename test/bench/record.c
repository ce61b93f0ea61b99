/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Records a log for the benchmarks that read one, in a process of its own.
 *
 * usage: record LOG threads NUMBER EVENTS RATE [columns]
 *        record LOG processes NUMBER EVENTS RATE
 *        record LOG bursts GIB
 *
 * threads: EVENTS events of 8 bytes by NUMBER threads in turns, RATE events a
 * second at most; beside LTTng-UST each of them is traced there as well.  The threads share a
 * processor and yield after each event, so that consecutive events are by different threads: the
 * hardest input for a merge.
 *
 * processes: the same by NUMBER forked processes of one thread each, into one
 * stream of ours that they inherit.  LTTng keeps a buffer a processor, not a
 * thread; with buffers of each process (lttng.sh) it has as many streams to
 * merge as there are processes, at least.
 *
 * bursts: GIB GiB of 8-byte events as a service would make them, eight bursts at
 * 16 M/s with quiet stretches of 2.5 s between them, in which there are 20,000
 * events a second.
 *
 * Prints how many events were recorded and lost, and for bursts the time (ns
 * since 1970) of a second in the middle with little in it.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <posixtrace/attr.h>
#include <posixtrace/info.h>
#include "base/atomics.h"
#include "bench/subjects.h"

enum { MIB = 1 << 20, MAX_PRODUCERS = 1024, BURSTS = 8, RECORD_BYTES = 24 };

static struct subject_lttng lttng;

/* In memory that forked producers share. */
struct turns {
    long events; /* of each producer */
    double rate; /* of all of them */
    uint32_t number;
    uint32_t ready;
};

static void wait_until(int64_t due, bool alone)
{
    while (bench_now() < due)
        if (!alone)
            sched_yield();
}

static void *producer(void *arg)
{
    struct turns *t = arg;
    bool alone = t->number == 1;
    int64_t start;

    pt_add_seqcst(&t->ready, 1u);
    while (pt_load_acquire(&t->ready) < t->number)
        sched_yield();
    start = bench_now();
    for (long i = 0; i < t->events; i++) {
        if (i % 16 == 0)
            wait_until(start + (int64_t)((double)i * t->number / t->rate * 1e9), alone);
        posix_trace_event(subject_id, &i, 8);
        if (lttng.event8)
            lttng.event8((uint64_t)i);
        if (!alone)
            sched_yield();
    }
    return NULL;
}

static void load_lttng(void)
{
    const char *why;

    if (!subject_lttng(&lttng, &why))
        memset(&lttng, 0, sizeof lttng);
}

static void by_threads(struct turns *turns)
{
    pthread_t thread[MAX_PRODUCERS];

    load_lttng();
    bench_pin(0);
    for (uint32_t i = 0; i < turns->number; i++)
        subject_must("pthread_create", pthread_create(&thread[i], NULL, producer, turns));
    for (uint32_t i = 0; i < turns->number; i++)
        pthread_join(thread[i], NULL);
}

static void by_processes(struct turns *turns)
{
    for (uint32_t i = 0; i < turns->number; i++) {
        pid_t pid = fork();

        if (pid == 0) {
            load_lttng();
            bench_pin(0);
            producer(turns);
            _exit(0);
        }
        subject_must("fork", pid < 0 ? errno : 0);
    }
    while (wait(NULL) > 0)
        ;
}

static void in_turns(bool processes, int number, long events, double rate)
{
    struct turns *turns = mmap(NULL, sizeof *turns, PROT_READ | PROT_WRITE,
                               MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    subject_must("mmap", turns == MAP_FAILED ? errno : 0);
    turns->number = (uint32_t)number;
    turns->events = events / number;
    turns->rate = rate;
    if (processes)
        by_processes(turns);
    else
        by_threads(turns);
    munmap(turns, sizeof *turns);
}

/* One event after another, rate a second, for as long or as many as is given. */
static void stretch(double rate, int64_t ns, long events)
{
    int64_t start = bench_now(), end = start + ns;

    for (long i = 0; events ? i < events : bench_now() < end; i++) {
        if (i % 64 == 0 || rate < 1e6)
            wait_until(start + (int64_t)((double)i / rate * 1e9), true);
        posix_trace_event(subject_id, &i, 8);
    }
}

/* A moment in the middle of a quiet stretch in the middle of the log. */
static int64_t bursts(double gib)
{
    long each = (long)(gib * (1ull << 30) / RECORD_BYTES / BURSTS);
    int64_t moment = 0;
    struct timespec now;

    bench_pin(0);
    for (int i = 0; i < BURSTS; i++) {
        stretch(16e6, 0, each);
        clock_gettime(CLOCK_REALTIME, &now);
        if (i == BURSTS / 2)
            moment = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec + 700000000;
        stretch(2e4, 2500000000, 0);
    }
    return moment;
}

static void report(trace_id_t trid, int64_t moment)
{
    struct posixtrace_info info;
    uint64_t lost = 0;

    subject_must("posixtrace_get_info", posixtrace_get_info(trid, &info, sizeof info));
    for (int i = 0; i < POSIXTRACE_LOSS_CAUSES; i++)
        lost += info.lost[i];
    printf("%llu %llu %lld\n", (unsigned long long)info.events, (unsigned long long)lost,
           (long long)moment);
}

static trace_id_t create(int fd, bool columns)
{
    trace_attr_t attr;
    trace_id_t trid;

    posix_trace_attr_init(&attr);
    posix_trace_attr_setstreamsize(&attr, 64 * MIB);
    posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_APPEND);
    posix_trace_attr_setinherited(&attr, POSIX_TRACE_INHERITED);
    if (columns)
        posixtrace_attr_setcompression(&attr, POSIXTRACE_COMPRESSION_COLUMNS);
    subject_must("posix_trace_eventid_open", posix_trace_eventid_open("bench", &subject_id));
    subject_must("posix_trace_create_withlog", posix_trace_create_withlog(0, &attr, fd, &trid));
    subject_must("posix_trace_start", posix_trace_start(trid));
    return trid;
}

int main(int argc, char **argv)
{
    bool columns = argc == 7 && strcmp(argv[6], "columns") == 0;
    bool many = argc == 6 + columns && atoi(argv[3]) > 0 && atoi(argv[3]) <= MAX_PRODUCERS;
    bool large = argc == 4 && strcmp(argv[2], "bursts") == 0;
    int fd = many || large ? open(argv[1], O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600) : -1;
    int64_t moment = 0;
    trace_id_t trid;

    if (fd < 0) {
        fprintf(stderr, "usage: record LOG threads|processes NUMBER EVENTS RATE [columns]\n"
                        "       record LOG bursts GIB\n");
        return 64;
    }
    bench_pin(-1);
    trid = create(fd, columns);
    if (large)
        moment = bursts(atof(argv[3]));
    else
        in_turns(strcmp(argv[2], "processes") == 0, atoi(argv[3]), atol(argv[4]), atof(argv[5]));
    subject_must("posix_trace_stop", posix_trace_stop(trid));
    report(trid, moment);
    subject_must("posix_trace_shutdown", posix_trace_shutdown(trid));
    return 0;
}
