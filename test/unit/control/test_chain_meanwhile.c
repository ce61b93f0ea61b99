/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * While a thread links two streams to a chain, another thread forks a child that makes a chain of
 * its own, or shuts the first stream down.
 * pt_control_lock_begin() and pt_handle_remove() go through the test, which waits there.
 */
#include <posixtrace/event.h>
#include <posixtrace/stream.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <trace.h>
#include <unistd.h>
#include "stream/control_lock.h"
#include "stream/handle.h"
#include "support/call_once.h"
#include "support/need.h"
#include "support/raw_clone.h"
#include "support/run_suite.h"

enum { EVENTS = 10, HANG_S = 20 };

static trace_id_t first, second;
static trace_event_id_t type;
static pthread_barrier_t meeting;
static _Thread_local void (*when_locked)(void), (*when_removed)(void);

int __real_pt_control_lock_begin(struct pt_stream *s);
int __wrap_pt_control_lock_begin(struct pt_stream *s);
struct pt_stream *__real_pt_handle_remove(trace_id_t trid, unsigned kinds);
struct pt_stream *__wrap_pt_handle_remove(trace_id_t trid, unsigned kinds);

int __wrap_pt_control_lock_begin(struct pt_stream *s)
{
    call_once(&when_locked);
    return __real_pt_control_lock_begin(s);
}

struct pt_stream *__wrap_pt_handle_remove(trace_id_t trid, unsigned kinds)
{
    call_once(&when_removed);
    return __real_pt_handle_remove(trid, kinds);
}

static void meet(void)
{
    pthread_barrier_wait(&meeting);
}

static void meet_twice(void)
{
    meet();
    meet();
}

static trace_id_t create(void)
{
    trace_attr_t attr;
    trace_id_t trid;

    NEED(posix_trace_attr_init(&attr) == 0);
    NEED(posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_UNTIL_FULL) == 0);
    NEED(posix_trace_create(0, &attr, &trid) == 0);
    NEED(posix_trace_attr_destroy(&attr) == 0);
    NEED(posix_trace_start(trid) == 0);
    return trid;
}

static void trace(void)
{
    NEED(posix_trace_eventid_open("work", &type) == 0);
    for (unsigned i = 0; i < EVENTS; i++)
        posix_trace_event(type, &i, sizeof i);
}

/* Reads all that is there: how many are of the program's type. */
static unsigned count_events(trace_id_t trid)
{
    struct posixtrace_event event;
    unsigned n = 0;
    int none;

    for (;;) {
        NEED(posixtrace_next_event(trid, &event, sizeof event, &none) == 0);
        if (none)
            return n;
        n += event.id == type;
    }
}

static void create_both(void)
{
    ck_assert_int_eq(pthread_barrier_init(&meeting, NULL, 2), 0);
    first = create();
    second = create();
}

/* ---- a child ---- */

static void live_as_child(void)
{
    trace_id_t a, b;

    signal(SIGALRM, SIG_DFL);
    alarm(HANG_S);
    a = create();
    b = create();
    NEED(posixtrace_chain(a, b) == 0);
    trace();
    NEED(count_events(a) == EVENTS && count_events(b) == 0);
    NEED(posix_trace_shutdown(a) == 0);
    trace();
    NEED(count_events(b) == EVENTS);
    NEED(posix_trace_shutdown(b) == 0);
    _exit(0);
}

static void *chain_slowly(void *result)
{
    when_locked = meet_twice;
    *(int *)result = posixtrace_chain(first, second);
    return NULL;
}

static pid_t clone_here(void)
{
    return raw_clone(SIGCHLD);
}

static pid_t (*const ways[])(void) = { fork, _Fork, clone_here };

/* The thread that holds the lock is not there in the child. */
START_TEST(child)
{
    int result = -1, status;
    pthread_t chainer;
    pid_t pid;

    create_both();
    ck_assert_int_eq(pthread_create(&chainer, NULL, chain_slowly, &result), 0);
    meet();
    pid = ways[_i]();
    if (pid == 0)
        live_as_child();
    ck_assert_int_gt(pid, 0);
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    meet();
    ck_assert_int_eq(pthread_join(chainer, NULL), 0);
    ck_assert_int_eq(status, 0);
    ck_assert_int_eq(result, 0);
    ck_assert_int_eq(posixtrace_chain(first, first), 0);
    ck_assert_int_eq(posix_trace_shutdown(first), 0);
    ck_assert_int_eq(posix_trace_shutdown(second), 0);
}
END_TEST

/* ---- a shutdown ---- */

static void *shut_down_first(void *result)
{
    when_removed = meet;
    *(int *)result = posix_trace_shutdown(first);
    return NULL;
}

/* No stream precedes the second one then: it records. */
START_TEST(shutdown)
{
    pthread_t ender;
    int result = -1;

    create_both();
    ck_assert_int_eq(pthread_create(&ender, NULL, shut_down_first, &result), 0);
    when_locked = meet;
    ck_assert_int_eq(posixtrace_chain(first, second), 0);
    ck_assert_int_eq(pthread_join(ender, NULL), 0);
    ck_assert_int_eq(result, 0);
    trace();
    ck_assert_uint_eq(count_events(second), EVENTS);
    first = create();
    ck_assert_int_eq(posixtrace_chain(first, second), 0);
    ck_assert_int_eq(posix_trace_shutdown(second), 0);
    ck_assert_int_eq(posix_trace_shutdown(first), 0);
}
END_TEST

static void add(TCase *t)
{
    tcase_add_loop_test(t, child, 0, sizeof ways / sizeof *ways);
    tcase_add_test(t, shutdown);
}

int main(void)
{
    return run_suite("stream", "chain meanwhile", NULL, add);
}
