/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Context switches that find no room: in the kernel's ring, while the thread that empties it
 * stands still, and in the backlog.  What the kernel counts of a thread is recorded or counted
 * as lost, for its cause.  And switches that nothing watches.
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <posixtrace/attr.h>
#include <posixtrace/info.h>
#include <trace.h>
#include "perf_target.h"
#include "base/atomics.h"
#include "support/flush_log.h"
#include "support/log_file.h"

enum { SMALL = 4096, LINUX_COUNTS = 6 };

int __real_epoll_wait(int epoll, struct epoll_event *ready, int most, int timeout);
int __wrap_epoll_wait(int epoll, struct epoll_event *ready, int most, int timeout);
ssize_t __real_pwrite64(int fd, const void *data, size_t length, off_t offset);
ssize_t __wrap_pwrite64(int fd, const void *data, size_t length, off_t offset);

static uint32_t log_held, log_waits; /* the writer of the log waits while it is held */
static uint32_t stands_still;        /* the thread that empties the rings is stopped: only rounds
                                      * do */

ssize_t __wrap_pwrite64(int fd, const void *data, size_t length, off_t offset)
{
    while (pt_load_seqcst(&log_held)) {
        pt_store_seqcst(&log_waits, 1u);
        sched_yield();
    }
    return __real_pwrite64(fd, data, length, offset);
}

long __real_sysconf(int name);
long __wrap_sysconf(int name);
static uint32_t more_processors; /* than there are when the stream is created */

long __wrap_sysconf(int name)
{
    long n = __real_sysconf(name);

    return name == _SC_NPROCESSORS_ONLN ? n + (long)pt_load_seqcst(&more_processors) : n;
}

static bool is_bell(int fd)
{
    char link[64], what[32] = "";

    snprintf(link, sizeof link, "/proc/thread-self/fd/%d", fd);
    return fd >= 0 && readlink(link, what, sizeof what - 1) > 0 && strstr(what, "eventfd");
}

/* It waits for its end in place of the rings. */
int __wrap_epoll_wait(int epoll, struct epoll_event *ready, int most, int timeout)
{
    int n;

    do
        n = __real_epoll_wait(epoll, ready, most, timeout);
    while (n > 0 && pt_load_seqcst(&stands_still) && !is_bell(ready[0].data.fd));
    return n;
}

/* The kernel reports what a full ring has lost with the next record, which may not come.  Events
 * count it since Linux 6.0. */
static bool kernel_counts(void)
{
    struct utsname system;

    ck_assert_int_eq(uname(&system), 0);
    return strtol(system.release, NULL, 10) >= LINUX_COUNTS;
}

static uint64_t lost_of(int fd, unsigned cause)
{
    uint64_t lost;
    trace_id_t trid;

    ck_assert_int_eq(posix_trace_open(fd, &trid), 0);
    ck_assert_int_eq(posixtrace_lost(trid, cause, &lost), 0);
    ck_assert_int_eq(posix_trace_close(trid), 0);
    return lost;
}

/* For all causes but one. */
static uint64_t lost_otherwise(int fd, unsigned but)
{
    uint64_t lost = 0;

    for (unsigned c = 0; c <= POSIXTRACE_LOST_SWITCHES; c++)
        lost += c == but ? 0 : lost_of(fd, c);
    return lost;
}

/* How often the kernel has taken a processor from the thread. */
static uint64_t left_processor(const struct sleeper *s)
{
    pid_t tid = s->progress->tid;

    return counter(s->pid, tid, "voluntary_ctxt_switches") +
           counter(s->pid, tid, "nonvoluntary_ctxt_switches");
}

/* More than may wait for a round, and no round: the newest stay, the rest is counted. */
START_TEST(no_room)
{
    int fd = log_file();
    struct sleeper s;
    trace_attr_t *attr = attributes(1, POSIX_TRACE_CLOSE_FOR_CHILD);
    trace_id_t trid;

    ck_assert_int_eq(posix_trace_attr_setstreamsize(attr, 1 << 13), 0);
    ck_assert_int_eq(posix_trace_attr_setstreamfullpolicy(attr, POSIX_TRACE_LOOP), 0);
    ck_assert_int_eq(posix_trace_create_withlog(0, attr, fd, &trid), 0);
    ck_assert_int_eq(posix_trace_start(trid), 0);
    begin(&s);
    for (unsigned i = 0; i < 100; i++)
        wake_often(&s);
    ck_assert_int_eq(posix_trace_stop(trid), 0);
    end(&s);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
    ck_assert_uint_gt(look(dup(fd)), 0);
    ck_assert_uint_gt(lost_of(fd, POSIXTRACE_LOST_OVERWRITTEN), 10000);
    close(fd);
}
END_TEST

/* A processor that is switched on later has no ring: each round with it counts one loss. */
START_TEST(new_processor)
{
    int fd = log_file();
    trace_id_t trid = make(fd, 0, POSIX_TRACE_CLOSE_FOR_CHILD);
    struct sleeper s;

    begin(&s);
    wake_often(&s);
    flush_log(trid);
    pt_store_seqcst(&more_processors, 2u);
    wake_often(&s);
    flush_log(trid);
    pt_store_seqcst(&more_processors, 0u);
    wake_often(&s);
    end(&s);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
    look(dup(fd));
    ck_assert_uint_ge(lost_of(fd, POSIXTRACE_LOST_SWITCHES), 2);
    ck_assert_uint_eq(lost_otherwise(fd, POSIXTRACE_LOST_SWITCHES), 0);
    close(fd);
}
END_TEST

/* A round stands still, as on a slow disk, while more switches come than a stream of that size
 * would keep: the rings and as many places as they have switches keep them. */
START_TEST(late_round)
{
    enum { BYTES = 256 << 10, TIMES = 22 };
    trace_attr_t *attr = attributes(1, POSIX_TRACE_CLOSE_FOR_CHILD);
    int fd = log_file();
    trace_event_set_t own;
    struct sleeper s;
    trace_id_t trid;

    posix_trace_eventset_empty(&own);
    posix_trace_eventset_add(own_id, &own);
    ck_assert_int_eq(posix_trace_attr_setstreamsize(attr, 1 << 13), 0);
    ck_assert_int_eq(posixtrace_attr_setswitchbuffer(attr, BYTES), 0);
    fork_child(&s);
    await_block(&s, 1);
    ck_assert_int_eq(posix_trace_create_withlog(s.pid, attr, fd, &trid), 0);
    ck_assert_int_eq(posix_trace_set_filter(trid, &own, POSIX_TRACE_SET_EVENTSET), 0);
    ck_assert_int_eq(posix_trace_start(trid), 0);
    pt_store_seqcst(&log_waits, 0u);
    pt_store_seqcst(&log_held, 1u);
    ck_assert_int_eq(posix_trace_flush(trid), 0);
    while (!pt_load_seqcst(&log_waits))
        sched_yield();
    for (unsigned i = 0; i < TIMES; i++)
        wake_often(&s);
    pt_store_seqcst(&log_held, 0u);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
    end_child(&s);
    ck_assert_uint_eq(lost_otherwise(fd, POSIXTRACE_LOST_SWITCHES + 1), 0);
    ck_assert_uint_ge(look(fd), 2 * TIMES * BLOCKS);
}
END_TEST

/*
 * A process of one thread, which is blocked when the stream starts and when it stops: each time
 * that the kernel took the processor from it, it was also given one.  Only the rounds empty the
 * rings, one of them in the middle: it finds a full ring, and so does the last.
 */
START_TEST(all_are_counted)
{
    int policy = _i == 0 ? POSIX_TRACE_FLUSH : POSIX_TRACE_LOOP, fd = log_file();
    trace_attr_t *attr;
    uint64_t made, there, lost;
    struct sleeper s;
    trace_id_t trid;

    if (!kernel_counts())
        return;
    attr = attributes(1, POSIX_TRACE_CLOSE_FOR_CHILD);
    fork_child(&s);
    await_block(&s, 1);
    ck_assert_int_eq(posix_trace_attr_setstreamfullpolicy(attr, policy), 0);
    ck_assert_int_eq(posixtrace_attr_setswitchbuffer(attr, SMALL), 0);
    pt_store_seqcst(&stands_still, 1u);
    ck_assert_int_eq(posix_trace_create_withlog(s.pid, attr, fd, &trid), 0);
    ck_assert_int_eq(posix_trace_start(trid), 0);
    made = left_processor(&s);
    wake_often(&s);
    flush_log(trid);
    wake_often(&s);
    made = 2 * (left_processor(&s) - made);
    ck_assert_int_eq(posix_trace_stop(trid), 0);
    ck_assert_int_eq(posixtrace_lost(trid, POSIXTRACE_LOST_SWITCHES, &lost), 0);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
    pt_store_seqcst(&stands_still, 0u);
    there = look(dup(fd));
    ck_assert_uint_gt(lost, 0);
    ck_assert_uint_gt(lost_of(fd, POSIXTRACE_LOST_SWITCHES), lost);
    ck_assert_uint_eq(there + lost_of(fd, POSIXTRACE_LOST_SWITCHES), made);
    ck_assert_uint_eq(lost_otherwise(fd, POSIXTRACE_LOST_SWITCHES), 0);
    end_child(&s);
    close(fd);
}
END_TEST

/* What it lost before the stream was started is no part of the stream. */
START_TEST(full_ring_before_start)
{
    int fd = log_file();
    struct sleeper s;
    trace_id_t trid;

    pt_store_seqcst(&stands_still, 1u);
    trid = make_with(fd, 0, POSIX_TRACE_CLOSE_FOR_CHILD, SMALL);
    ck_assert_int_eq(posix_trace_stop(trid), 0);
    begin(&s);
    wake_often(&s);
    ck_assert_int_eq(posix_trace_start(trid), 0);
    flush_log(trid);
    end(&s);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
    pt_store_seqcst(&stands_still, 0u);
    /* Until that flush the rings are full in the window, too: what its threads switched in
     * those microseconds is lost there, a few; before the start hundreds are. */
    ck_assert_uint_lt(lost_of(fd, POSIXTRACE_LOST_SWITCHES), BLOCKS / 4);
    ck_assert_uint_eq(lost_otherwise(fd, POSIXTRACE_LOST_SWITCHES), 0);
    close(fd);
}
END_TEST

static void add_tests(TCase *t)
{
    tcase_add_test(t, no_room);
    tcase_add_test(t, new_processor);
    tcase_add_test(t, late_round);
    tcase_add_loop_test(t, all_are_counted, 0, 2);
    tcase_add_test(t, full_ring_before_start);
}

int main(void)
{
    return run_perf_tests("perf_loss", add_tests);
}
