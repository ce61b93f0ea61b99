/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The task set of section 4 of "Getting System Metrics Using POSIX Tracing Services":
 * 15 periodic threads on one processor, with periods of 25 to 200 ms and computation
 * times of 2 to 20 ms:
 *
 *     periodic [MILLISECONDS [PERCENT]]     runs them for that long (default 1000), with
 *                                           PERCENT of the computation (default 100)
 *     periodic tasks                        prints them for posixtrace rta instead
 *
 * It is a program like any other, and the trace is made from outside:
 *
 *     periodic tasks > periodic.tasks
 *     posixtrace record --system=calls,switches -o periodic.ptl periodic
 *     posixtrace metrics --stats periodic.ptl
 *     posixtrace rta periodic.tasks periodic.ptl
 *
 * Its own two events are around the computation:  --user=Computation:work:rest.
 * Priorities are those of SCHED_FIFO, where the user may set them.
 */
#include <errno.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <trace.h>

enum { TASKS = 15, TOP_PRIORITY = 30, SECOND = 1000000000 };
static const struct {
    int period_ms, work_ms;
} tasks[TASKS] = { { 25, 2 },  { 30, 2 },  { 40, 2 },  { 50, 2 },   { 50, 3 },
                   { 75, 3 },  { 75, 3 },  { 100, 4 }, { 100, 4 },  { 100, 5 },
                   { 125, 6 }, { 150, 7 }, { 150, 8 }, { 200, 10 }, { 200, 20 } };

static trace_event_id_t work_begins, rest_begins;
static uint64_t turns_a_ms; /* how far spin() comes in 1 ms */
static long run_ms = 1000, percent = 100;
static struct timespec first; /* release of all */

static void check(int error, const char *what)
{
    if (error) {
        fprintf(stderr, "periodic: %s: %s\n", what, strerror(error));
        exit(1);
    }
}

static void spin(uint64_t turns)
{
    for (volatile uint64_t i = 0; i < turns; i++)
        ;
}

static void calibrate(void)
{
    struct timespec begin, end;

    spin(10000000);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
    spin(10000000);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
    turns_a_ms = UINT64_C(10000000) * 1000000 /
                 (uint64_t)((end.tv_sec - begin.tv_sec) * SECOND + end.tv_nsec - begin.tv_nsec + 1);
}

static void *periodic(void *argument)
{
    int i = (int)(intptr_t)argument;
    uint64_t turns = turns_a_ms * (uint64_t)tasks[i].work_ms * (uint64_t)percent / 100;
    struct timespec next = first;

    for (long at_ms = 0; at_ms < run_ms; at_ms += tasks[i].period_ms) {
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
        posix_trace_event(work_begins, &i, sizeof i);
        spin(turns);
        posix_trace_event(rest_begins, &i, sizeof i);
        next.tv_nsec += tasks[i].period_ms * 1000000L;
        next.tv_sec += next.tv_nsec / SECOND;
        next.tv_nsec %= SECOND;
    }
    /* the job that would come next: its sleep ends the last one */
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
    return NULL;
}

static int create(pthread_t *thread, int i)
{
    struct sched_param param = { .sched_priority = TOP_PRIORITY - i };
    pthread_attr_t attr;
    char name[16];
    int error;

    /* a thread begins with its creator's name, and so its first event has it */
    snprintf(name, sizeof name, "task%d", i + 1);
    pthread_setname_np(pthread_self(), name);
    pthread_attr_init(&attr);
    pthread_attr_setinheritsched(&attr, PTHREAD_EXPLICIT_SCHED);
    pthread_attr_setschedpolicy(&attr, SCHED_FIFO);
    pthread_attr_setschedparam(&attr, &param);
    error = pthread_create(thread, &attr, periodic, (void *)(intptr_t)i);
    pthread_attr_destroy(&attr);
    return error == EPERM ? pthread_create(thread, NULL, periodic, (void *)(intptr_t)i) : error;
}

static void one_processor(void)
{
    cpu_set_t all, one;
    int cpu = 0;

    check(sched_getaffinity(0, sizeof all, &all) ? errno : 0, "sched_getaffinity");
    while (!CPU_ISSET(cpu, &all))
        cpu++;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    check(sched_setaffinity(0, sizeof one, &one) ? errno : 0, "sched_setaffinity");
}

int main(int argc, char **argv)
{
    pthread_t threads[TASKS];

    if (argc == 2 && strcmp(argv[1], "tasks") == 0) {
        for (int i = 0; i < TASKS; i++)
            printf("task%d %d %dms\n", i + 1, TOP_PRIORITY - i, tasks[i].period_ms);
        return 0;
    }
    run_ms = argc > 1 ? atol(argv[1]) : run_ms;
    percent = argc > 2 ? atol(argv[2]) : percent;
    if (argc > 3 || run_ms < 1 || run_ms > 3600000 || percent < 1 || percent > 100) {
        fputs("usage: periodic [tasks | MILLISECONDS [PERCENT]]\n", stderr);
        return 64;
    }
    check(posix_trace_eventid_open("work", &work_begins), "posix_trace_eventid_open");
    check(posix_trace_eventid_open("rest", &rest_begins), "posix_trace_eventid_open");
    one_processor();
    calibrate();
    clock_gettime(CLOCK_MONOTONIC, &first);
    first.tv_sec++;
    for (int i = 0; i < TASKS; i++)
        check(create(&threads[i], i), "pthread_create");
    for (int i = 0; i < TASKS; i++)
        check(pthread_join(threads[i], NULL), "pthread_join");
    return 0;
}
