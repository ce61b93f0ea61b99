/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * LOOP may overwrite the record of START itself.  The remaining events are still read, and all
 * others are counted as lost.
 *
 *   window
 *
 * The controller fills its chunk with FILTER events, another thread traces a
 * few that stay, then the first thread traces until something is overwritten:
 * the oldest closed chunk is the one with START.
 *
 * Then with many windows: one thread records a single event in each of them, another fills
 * the stream.  Older events of the first are still there when the START and STOP around them
 * have been overwritten.  With a log, and without.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <posixtrace/event.h>
#include "torture/audit.h"

#define OTHERS     5u
#define FILTERS    6u /* at most so many until the chunk is full */
#define TOO_MANY   100000u
#define WINDOWS    100u
#define WATCHDOG_S 380

static trace_event_id_t event_id;
static sem_t traced, leave;

static void *trace_a_few(void *unused)
{
    for (uint64_t i = 0; i < OTHERS; i++)
        posix_trace_event(event_id, &i, sizeof i);
    sem_post(&traced);
    sem_wait(&leave);
    return unused;
}

/* fd: of its log, or -1. */
static trace_id_t create(int fd)
{
    trace_attr_t attr;
    trace_id_t trid;

    DEMAND_OK(posix_trace_attr_init(&attr));
    DEMAND_OK(posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_LOOP));
    DEMAND_OK(posix_trace_attr_setstreamsize(&attr, 8192));
    DEMAND_OK(posix_trace_attr_setmaxdatasize(&attr, 16));
    DEMAND_OK(posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_APPEND));
    DEMAND_OK(fd < 0 ? posix_trace_create(0, &attr, &trid)
                     : posix_trace_create_withlog(0, &attr, fd, &trid));
    DEMAND_OK(posix_trace_attr_destroy(&attr));
    return trid;
}

/* Traces until the stream says that it is full; how many events that took. */
static uint64_t fill(trace_id_t trid)
{
    struct posix_trace_status_info status;
    uint64_t n = 0;

    do {
        posix_trace_event(event_id, &n, sizeof n);
        DEMAND_OK(posix_trace_get_status(trid, &status));
        DEMAND(++n < TOO_MANY, "never full");
    } while (status.posix_stream_full_status != POSIX_TRACE_FULL);
    return n;
}

/* Events of threads; *start: was there a START among the others? */
static uint64_t read_all(trace_id_t trid, bool *start)
{
    struct posix_trace_event_info info;
    uint64_t read = 0, data[64];
    int unavailable;
    size_t len;

    *start = false;
    for (;;) {
        DEMAND_OK(posix_trace_trygetnext_event(trid, &info, data, sizeof data, &len, &unavailable));
        if (unavailable)
            return read;
        read += info.posix_event_id == event_id;
        *start |= info.posix_event_id == POSIX_TRACE_START;
    }
}

/* Was START overwritten? */
static bool one_stream(unsigned filters)
{
    trace_id_t trid = create(-1);
    uint64_t made, read, lost;
    trace_event_set_t nothing;
    pthread_t thread;
    bool start;

    DEMAND_OK(posix_trace_eventset_empty(&nothing));
    DEMAND_OK(posix_trace_start(trid));
    for (unsigned i = 0; i < filters; i++)
        DEMAND_OK(posix_trace_set_filter(trid, &nothing, POSIX_TRACE_SET_EVENTSET));
    DEMAND_OK(pthread_create(&thread, NULL, trace_a_few, NULL));
    sem_wait(&traced);
    for (unsigned i = 0; i < 2; i++)
        DEMAND_OK(posix_trace_set_filter(trid, &nothing, POSIX_TRACE_SET_EVENTSET));
    made = OTHERS + fill(trid);
    DEMAND_OK(posix_trace_stop(trid));
    read = read_all(trid, &start);
    lost = audit_lost(trid);
    DEMAND(read + lost == made, "%u filters: %llu read, %llu lost, %llu made", filters,
           (unsigned long long)read, (unsigned long long)lost, (unsigned long long)made);
    sem_post(&leave);
    DEMAND_OK(pthread_join(thread, NULL));
    DEMAND_OK(posix_trace_shutdown(trid));
    return !start;
}

/* ---- many windows ---- */

struct worker {
    sem_t go, done;
    pid_t tid;
    uint64_t events; /* in each window */
    pthread_t thread;
};

static void *trace_in_windows(void *argument)
{
    struct worker *w = argument;

    w->tid = (pid_t)syscall(SYS_gettid);
    for (unsigned i = 0; i < WINDOWS; i++) {
        sem_wait(&w->go);
        for (uint64_t n = 0; n < w->events; n++)
            posix_trace_event(event_id, &n, sizeof n);
        sem_post(&w->done);
    }
    sem_wait(&w->go);
    return NULL;
}

static void one_window(trace_id_t trid, struct worker workers[2])
{
    DEMAND_OK(posix_trace_start(trid));
    for (unsigned i = 0; i < 2; i++) {
        sem_post(&workers[i].go);
        sem_wait(&workers[i].done);
    }
    DEMAND_OK(posix_trace_stop(trid));
}

/* Of the log when there is one. */
static trace_id_t end_of_recording(trace_id_t trid, int fd)
{
    if (fd < 0)
        return trid;
    DEMAND_OK(posix_trace_shutdown(trid));
    DEMAND(lseek(fd, 0, SEEK_SET) == 0, "lseek");
    DEMAND_OK(posix_trace_open(fd, &trid));
    return trid;
}

static void check_windows(trace_id_t trid, struct worker workers[2])
{
    struct posixtrace_event e;
    uint64_t read[2] = { 0, 0 };
    int none;

    for (;;) {
        DEMAND_OK(posixtrace_next_event(trid, &e, sizeof e, &none));
        if (none)
            break;
        for (unsigned i = 0; i < 2; i++)
            read[i] += e.tid == workers[i].tid && e.data_len == sizeof(uint64_t);
    }
    for (unsigned i = 0; i < 2; i++) {
        uint64_t made = workers[i].events * WINDOWS, lost = audit_lost_by(trid, workers[i].tid);

        DEMAND(read[i] + lost == made, "thread %u: %llu read, %llu lost, %llu made", i,
               (unsigned long long)read[i], (unsigned long long)lost, (unsigned long long)made);
    }
}

static void many_windows(uint64_t events, bool log)
{
    struct worker workers[2] = { { .events = events }, { .events = 1 } };
    int fd = log ? audit_temporary_file() : -1;
    trace_id_t trid = create(fd);

    for (unsigned i = 0; i < 2; i++) {
        DEMAND(sem_init(&workers[i].go, 0, 0) == 0 && sem_init(&workers[i].done, 0, 0) == 0,
               "sem_init");
        DEMAND_OK(pthread_create(&workers[i].thread, NULL, trace_in_windows, &workers[i]));
    }
    for (unsigned i = 0; i < WINDOWS; i++)
        one_window(trid, workers);
    trid = end_of_recording(trid, fd);
    check_windows(trid, workers);
    for (unsigned i = 0; i < 2; i++) {
        sem_post(&workers[i].go);
        DEMAND_OK(pthread_join(workers[i].thread, NULL));
    }
    if (log)
        DEMAND_OK(posix_trace_close(trid));
    else
        DEMAND_OK(posix_trace_shutdown(trid));
    if (fd >= 0)
        close(fd);
}

int main(void)
{
    unsigned overwritten = 0;

    alarm(WATCHDOG_S);
    DEMAND(sem_init(&traced, 0, 0) == 0 && sem_init(&leave, 0, 0) == 0, "sem_init");
    DEMAND_OK(posix_trace_eventid_open("window", &event_id));
    for (unsigned filters = 0; filters <= FILTERS; filters++)
        overwritten += one_stream(filters);
    DEMAND(overwritten > 0, "no START was overwritten");
    for (uint64_t events = 1; events <= 64; events *= 2) {
        many_windows(events, false);
        many_windows(events, true);
    }
    printf("START overwritten in %u of %u streams\n", overwritten, FILTERS + 1);
    return 0;
}
