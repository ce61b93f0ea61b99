/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Streams whose log cannot be written for some time, or from some moment on.
 *
 *   write_errors
 *
 * pwrite() is this program's own and refuses some of the calls: no space, no quota left, an I/O
 * error.  The program continues, posix_trace_get_status or posix_trace_shutdown returns the error,
 * the log opens, and its events plus its losses are the traced events.  If no later write
 * succeeded, they are less.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <posixtrace/info.h>
#include "torture/audit.h"
#include "torture/packed.h"

#define THREADS    4u
#define EVENTS     4000u /* of a thread */
#define WATCHDOG_S 380

static _Atomic unsigned calls, fail_from, fail_to;
static _Atomic int fail_with;
static trace_event_id_t event_id;
static pid_t tids[THREADS];

ssize_t pwrite(int fd, const void *from, size_t bytes, off_t offset);

ssize_t pwrite(int fd, const void *from, size_t bytes, off_t offset)
{
    unsigned call = atomic_fetch_add(&calls, 1);

    if (call >= atomic_load(&fail_from) && call < atomic_load(&fail_to)) {
        errno = atomic_load(&fail_with);
        return -1;
    }
    return syscall(SYS_pwrite64, fd, from, bytes, offset);
}

static void *trace_events(void *argument)
{
    uint32_t lane = (uint32_t)(uintptr_t)argument;

    tids[lane] = gettid();
    for (uint64_t i = 0; i < EVENTS; i++) {
        struct payload p;
        size_t len = payload_make(&p, lane, i);

        posix_trace_event(event_id, &p, len);
    }
    return NULL;
}

/* Returns the error that the stream reported, or 0. */
static int trace_into(int log_fd, int policy)
{
    struct posix_trace_status_info status;
    pthread_t threads[THREADS];
    trace_attr_t attr;
    trace_id_t trid;
    int told, at_end;

    DEMAND_OK(posix_trace_attr_init(&attr));
    pack_if_asked(&attr);
    DEMAND_OK(posix_trace_attr_setstreamsize(&attr, 256 << 10));
    DEMAND_OK(posix_trace_attr_setmaxdatasize(&attr, PAYLOAD_MAX));
    DEMAND_OK(posix_trace_attr_setlogfullpolicy(&attr, policy));
    DEMAND_OK(posix_trace_attr_setlogsize(&attr, 16 << 10)); /* LOOP: the buffer has more */
    DEMAND_OK(posix_trace_create_withlog(0, &attr, log_fd, &trid));
    DEMAND_OK(posix_trace_start(trid));
    for (uintptr_t i = 0; i < THREADS; i++)
        DEMAND_OK(pthread_create(&threads[i], NULL, trace_events, (void *)i));
    for (unsigned i = 0; i < THREADS; i++)
        DEMAND_OK(pthread_join(threads[i], NULL));
    DEMAND_OK(posix_trace_get_status(trid, &status));
    told = status.posix_stream_flush_error;
    at_end = posix_trace_shutdown(trid);
    return told ? told : at_end;
}

/* Of the threads' events; START and the like can be lost, too. */
static uint64_t lost_by_threads(trace_id_t trid)
{
    struct posixtrace_thread_info info;
    uint64_t lost = 0;
    int unavailable;

    DEMAND_OK(posixtrace_threadlist_rewind(trid));
    for (;;) {
        bool ours = false;

        DEMAND_OK(posixtrace_threadlist_getnext(trid, &info, sizeof info, &unavailable));
        if (unavailable)
            return lost;
        for (unsigned i = 0; i < THREADS; i++)
            ours |= info.tid == tids[i];
        for (unsigned i = 0; ours && i < POSIXTRACE_LOSS_CAUSES; i++)
            lost += info.lost[i];
    }
}

/* exact: a write has succeeded since, so the log has the number of missing events. */
static void check_log(int log_fd, bool exact, const char *what)
{
    const uint64_t made = THREADS * EVENTS;
    struct audit audit;
    trace_id_t trid;
    uint64_t lost;

    DEMAND_OK(posix_trace_open(log_fd, &trid));
    audit_init(&audit, audit_type(trid, "write errors"), THREADS);
    audit_read_log(&audit, trid);
    audit_check_time(&audit, trid);
    lost = lost_by_threads(trid);
    DEMAND(exact ? audit.events + lost == made : audit.events + lost <= made,
           "%s: %llu read, %llu lost", what, (unsigned long long)audit.events,
           (unsigned long long)lost);
    audit_deinit(&audit);
    DEMAND_OK(posix_trace_close(trid));
}

/* True: the stream met the error. */
static bool try_log(int policy, int error, unsigned first, unsigned length)
{
    int log_fd = audit_temporary_file(), told;
    char what[80];

    snprintf(what, sizeof what, "policy %d, error %d for %u calls from call %u", policy, error,
             length, first);
    atomic_store(&fail_with, error);
    atomic_store(&fail_from, first);
    atomic_store(&fail_to, first + length);
    atomic_store(&calls, 0);
    told = trace_into(log_fd, policy);
    DEMAND(told == 0 || told == error, "%s: told of %d", what, told);
    DEMAND(told != 0 || atomic_load(&calls) <= first, "%s: not told", what);
    check_log(log_fd, atomic_load(&calls) > first + length, what);
    close(log_fd);
    return told != 0;
}

int main(void)
{
    static const int errors[] = { ENOSPC, EDQUOT, EIO };
    static const unsigned lengths[] = { 1, 5, 1000000 };
    unsigned runs = 0, told = 0;

    alarm(WATCHDOG_S);
    DEMAND_OK(posix_trace_eventid_open("write errors", &event_id));
    for (unsigned e = 0; e < 3; e++)
        for (unsigned n = 0; n < 3; n++)
            /* the first calls write the header, without which there is no stream */
            for (unsigned first = 4; first < 20; first += 3, runs += 2) {
                told += try_log(POSIX_TRACE_APPEND, errors[e], first, lengths[n]);
                told += try_log(POSIX_TRACE_LOOP, errors[e], first, lengths[n]);
            }
    DEMAND(told >= 3, "only %u of %u runs met an error", told, runs);
    printf("%u streams, %u with an error\n", runs, told);
    return 0;
}
