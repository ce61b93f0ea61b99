/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * A stream on CLOCK_MONOTONIC, and a child in a time namespace where that clock is early or late:
 * its events have the times at which they were made, between those of its parent, and as an
 * onlooker it reads what its parent has recorded.
 */
#include <inttypes.h>
#include <posixtrace/attach.h>
#include <posixtrace/stream.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <trace.h>
#include <unistd.h>
#include "support/run_suite.h"

enum { EVENTS = 5, NO_NAMESPACE = 77 };

static const int64_t offsets_s[] = { 1000, -1 };

static trace_event_id_t type;

static void trace_all(int first)
{
    for (int i = first; i < first + EVENTS; i++)
        posix_trace_event(type, &i, sizeof i);
}

/* Before the process has traced. */
static int look_on(pid_t owner)
{
    struct posix_trace_event_info e;
    int data, read = 0, unavailable = 0;
    trace_id_t trid;
    size_t size;

    if (posixtrace_attach_pid(owner, &trid) != 0)
        return 2;
    while (!unavailable) {
        if (posix_trace_trygetnext_event(trid, &e, &data, sizeof data, &size, &unavailable) != 0)
            return 3;
        read += !unavailable && e.posix_event_id == type;
    }
    return posixtrace_detach(trid) == 0 && read == EVENTS ? 0 : 4;
}

static int live_in_namespace(pid_t owner)
{
    int failed = look_on(owner);

    trace_all(EVENTS);
    return failed;
}

static int make_namespace(pid_t owner, int64_t offset_s)
{
    FILE *f;
    int status;
    pid_t pid;

    if (unshare(CLONE_NEWTIME) < 0)
        return NO_NAMESPACE;
    f = fopen("/proc/self/timens_offsets", "w");
    if (!f || fprintf(f, "monotonic %" PRId64 " 0\n", offset_s) < 0 || fclose(f) != 0)
        return NO_NAMESPACE;
    pid = fork();
    if (pid == 0)
        _exit(live_in_namespace(owner));
    return waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

static trace_id_t create(void)
{
    trace_attr_t attr;
    trace_id_t trid;

    ck_assert_int_eq(posix_trace_attr_init(&attr), 0);
    ck_assert_int_eq(posix_trace_attr_setinherited(&attr, POSIX_TRACE_INHERITED), 0);
    ck_assert_int_eq(posix_trace_create(0, &attr, &trid), 0);
    ck_assert_int_eq(posix_trace_attr_destroy(&attr), 0);
    ck_assert_int_eq(posix_trace_eventid_open("event", &type), 0);
    return trid;
}

/* All events in order, with times in order. */
static void check(trace_id_t trid)
{
    struct posix_trace_event_info e, before = { .posix_timestamp = { 0, 0 } };
    int data, next = 0, unavailable;
    size_t size;

    for (;;) {
        ck_assert_int_eq(
            posix_trace_trygetnext_event(trid, &e, &data, sizeof data, &size, &unavailable), 0);
        if (unavailable)
            break;
        ck_assert(e.posix_timestamp.tv_sec > before.posix_timestamp.tv_sec ||
                  (e.posix_timestamp.tv_sec == before.posix_timestamp.tv_sec &&
                   e.posix_timestamp.tv_nsec >= before.posix_timestamp.tv_nsec));
        before = e;
        if (e.posix_event_id == type)
            ck_assert_int_eq(data, next++);
    }
    ck_assert_int_eq(next, 3 * EVENTS);
}

START_TEST(monotonic)
{
    trace_id_t trid;
    pid_t owner = getpid(), pid;
    int status;

    ck_assert_int_eq(setenv("POSIXTRACE_CLOCK", "monotonic", 1), 0);
    trid = create();
    ck_assert_int_eq(posix_trace_start(trid), 0);
    trace_all(0);
    pid = fork();
    if (pid == 0)
        _exit(make_namespace(owner, offsets_s[_i]));
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert(WIFEXITED(status));
    trace_all(2 * EVENTS);
    ck_assert_int_eq(posix_trace_stop(trid), 0);
    if (WEXITSTATUS(status) != NO_NAMESPACE) {
        ck_assert_int_eq(WEXITSTATUS(status), 0);
        check(trid);
    }
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
}
END_TEST

static void add(TCase *tc)
{
    tcase_add_loop_test(tc, monotonic, 0, sizeof offsets_s / sizeof *offsets_s);
}

int main(void)
{
    return run_suite("process time_namespace", "time_namespace", NULL, add);
}
