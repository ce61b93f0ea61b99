/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * A kernel that wipes nothing in forked children (MADV_WIPEONFORK), and one that refuses to, as
 * where a process has as many mappings as it may have: parent and child count for themselves, and
 * an event without a record that would be wiped is lost for want of memory.  madvise() goes
 * through the test.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <posixtrace/event.h>
#include "support/run_suite.h"
#include "support/stream_inside.h"

enum { TYPE = POSIX_TRACE_UNNAMED_USER_EVENT, EACH = 10 };

int __real_madvise(void *at, size_t bytes, int advice);
int __wrap_madvise(void *at, size_t bytes, int advice);

static int refused = EINVAL; /* also when the library is loaded */

int __wrap_madvise(void *at, size_t bytes, int advice)
{
    if (advice != MADV_WIPEONFORK || !refused)
        return __real_madvise(at, bytes, advice);
    errno = refused;
    return -1;
}

static void trace_some(void)
{
    for (int i = 0; i < EACH; i++)
        posix_trace_event(TYPE, &i, sizeof i);
}

/* Makes no control call.  Each process has EACH events, the first one twice that. */
static void fork_and_trace(void)
{
    int status;
    pid_t child;

    trace_some();
    child = fork();
    trace_some();
    if (child == 0)
        _exit(0);
    _exit(child < 0 || waitpid(child, &status, 0) != child || status != 0);
}

static void lose_and_trace(void)
{
    refused = ENOMEM;
    trace_some();
    refused = 0;
    fork_and_trace();
}

static trace_id_t trace_other(void (*run)(void), pid_t *target)
{
    int ends[2], status;
    trace_attr_t attr;
    trace_id_t trid;
    char byte;

    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    *target = fork();
    ck_assert_int_ge(*target, 0);
    if (*target == 0) {
        if (read(ends[1], &byte, 1) != 1)
            _exit(1);
        run();
    }
    ck_assert_int_eq(posix_trace_attr_init(&attr), 0);
    ck_assert_int_eq(posix_trace_attr_setinherited(&attr, POSIX_TRACE_INHERITED), 0);
    ck_assert_int_eq(posix_trace_create(*target, &attr, &trid), 0);
    ck_assert_int_eq(posix_trace_attr_destroy(&attr), 0);
    ck_assert_int_eq(posix_trace_start(trid), 0);
    ck_assert_int_eq(write(ends[0], "", 1), 1);
    ck_assert_int_eq(waitpid(*target, &status, 0), *target);
    ck_assert_int_eq(status, 0);
    close(ends[0]);
    close(ends[1]);
    return trid;
}

static void expect_events(trace_id_t trid, pid_t target)
{
    struct posixtrace_event event;
    unsigned own = 0, others = 0;
    int unavailable;

    do {
        ck_assert_int_eq(posixtrace_next_event(trid, &event, sizeof event, &unavailable), 0);
        if (!unavailable && event.id == TYPE)
            ++*(event.pid == target ? &own : &others);
    } while (!unavailable);
    ck_assert_uint_eq(own, 2 * EACH);
    ck_assert_uint_eq(others, EACH);
}

static const struct {
    void (*run)(void);
    uint64_t lost;
} cases[] = { { fork_and_trace, 0 }, { lose_and_trace, EACH } };

START_TEST(counted_apart)
{
    pid_t target;
    trace_id_t trid = trace_other(cases[_i].run, &target);
    struct posixtrace_info info;

    expect_events(trid, target);
    info = info_of(trid);
    for (unsigned c = 0; c < POSIXTRACE_LOSS_CAUSES; c++)
        ck_assert_uint_eq(info.lost[c], c == POSIXTRACE_LOST_NO_MEMORY ? cases[_i].lost : 0);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
}
END_TEST

static void add(TCase *tc)
{
    tcase_add_loop_test(tc, counted_apart, 0, sizeof cases / sizeof cases[0]);
}

int main(void)
{
    return run_suite("process wiped", "process wiped", NULL, add);
}
