/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Chained streams: every event is in exactly one of them, or counted as lost in exactly one, from
 * many threads, handlers and children; reserves for some types; and the chain when one of them is
 * read, shut down, or released.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <posixtrace/event.h>
#include <posixtrace/info.h>
#include <posixtrace/stream.h>
#include "support/run_suite.h"

enum { THREADS = 4, EVENTS = 20000, SLOTS = 2 * THREADS + 2 };

static trace_event_id_t work, closing;

struct item {
    uint32_t slot, number;
};

static trace_id_t create(int policy, size_t size)
{
    trace_attr_t attr;
    trace_id_t trid;

    ck_assert_int_eq(posix_trace_attr_init(&attr), 0);
    ck_assert_int_eq(posix_trace_attr_setinherited(&attr, POSIX_TRACE_INHERITED), 0);
    ck_assert_int_eq(posix_trace_attr_setstreamfullpolicy(&attr, policy), 0);
    ck_assert_int_eq(posix_trace_attr_setstreamsize(&attr, size), 0);
    ck_assert_int_eq(posix_trace_create(0, &attr, &trid), 0);
    ck_assert_int_eq(posix_trace_start(trid), 0);
    ck_assert_int_eq(posix_trace_eventid_open("work", &work), 0);
    ck_assert_int_eq(posix_trace_eventid_open("closing", &closing), 0);
    return trid;
}

static void trace(trace_event_id_t id, uint32_t slot, uint32_t number)
{
    struct item item = { slot, number };

    posix_trace_event(id, &item, sizeof item);
}

/* What was there of each slot: in order, and nothing twice. */
struct count {
    uint32_t next[SLOTS], events[SLOTS];
    unsigned of_closing, own, stops;
};

static void read_all(trace_id_t trid, struct count *c)
{
    struct posixtrace_event e;
    int none = 0;

    while (posixtrace_next_event(trid, &e, sizeof e, &none) == 0 && !none) {
        struct item item;

        c->stops += e.id == POSIX_TRACE_STOP;
        if (e.id <= POSIX_TRACE_ERROR)
            continue;
        ck_assert_uint_eq(e.data_len, sizeof item);
        memcpy(&item, e.data, sizeof item);
        if (item.slot >= SLOTS || item.number < c->next[item.slot])
            ck_abort_msg("number %u of %u comes after %u", item.number, item.slot,
                         c->next[item.slot]);
        c->next[item.slot] = item.number + 1;
        c->events[item.slot]++;
        c->of_closing += e.id == closing;
        c->own++;
    }
}

static uint64_t lost(trace_id_t trid)
{
    struct posixtrace_info info;
    uint64_t sum = 0;

    ck_assert_int_eq(posixtrace_get_info(trid, &info, sizeof info), 0);
    for (unsigned i = 0; i < sizeof info.lost / sizeof *info.lost; i++)
        sum += info.lost[i];
    return sum;
}

static void end(trace_id_t trid)
{
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
}

START_TEST(errors)
{
    trace_id_t a = create(POSIX_TRACE_UNTIL_FULL, 65536), loop = create(POSIX_TRACE_LOOP, 65536);
    trace_id_t b = create(POSIX_TRACE_UNTIL_FULL, 65536), c = create(POSIX_TRACE_UNTIL_FULL, 65536);
    trace_id_t other;
    pid_t pid = fork();

    if (pid == 0) {
        pause();
        _exit(0);
    }
    ck_assert_int_eq(posix_trace_create(pid, NULL, &other), 0);
    ck_assert_int_eq(posixtrace_chain(a, a + 1000), EINVAL);
    ck_assert_int_eq(posixtrace_chain(a + 1000, a), EINVAL);
    ck_assert_int_eq(posixtrace_chain(loop, a), EINVAL);
    ck_assert_int_eq(posixtrace_chain(a, other), EINVAL);
    ck_assert_int_eq(posixtrace_chain(a, a), 0);
    ck_assert_int_eq(posixtrace_chain(a, b), 0);
    ck_assert_int_eq(posixtrace_chain(a, b), 0);
    ck_assert_int_eq(posixtrace_chain(b, a), EINVAL);
    ck_assert_int_eq(posixtrace_chain(b, c), 0);
    ck_assert_int_eq(posixtrace_chain(c, a), EINVAL);
    ck_assert_int_eq(posixtrace_chain(c, b), EINVAL);
    ck_assert_int_eq(posixtrace_chain(c, loop), 0);
    ck_assert_int_eq(posixtrace_chain(a, loop), EBUSY);
    ck_assert_int_eq(posixtrace_chain(c, c), 0);
    ck_assert_int_eq(posixtrace_chain(a, loop), 0);
    ck_assert_int_eq(kill(pid, SIGKILL), 0);
    ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
    end(other);
    end(c);
    end(b);
    end(a);
    end(loop);
}
END_TEST

/* The streams fill in order, until the last is full, too. */
START_TEST(one_thread)
{
    trace_id_t trid[3];
    struct posix_trace_status_info status;
    struct count c = { .own = 0 };
    unsigned own[3], i;

    for (i = 0; i < 3; i++)
        trid[i] = create(POSIX_TRACE_UNTIL_FULL, 65536);
    ck_assert_int_eq(posixtrace_chain(trid[0], trid[1]), 0);
    ck_assert_int_eq(posixtrace_chain(trid[1], trid[2]), 0);
    for (i = 0; i < EVENTS; i++)
        trace(work, 0, i);
    for (i = 0; i < 3; i++) {
        ck_assert_int_eq(posix_trace_get_status(trid[i], &status), 0);
        ck_assert_int_eq(status.posix_stream_full_status, POSIX_TRACE_FULL);
        ck_assert_int_eq(status.posix_stream_overrun_status,
                         i < 2 ? POSIX_TRACE_NO_OVERRUN : POSIX_TRACE_OVERRUN);
        own[i] = c.own;
        /* The numbers in the next streams would restart when the first stream runs again. */
        ck_assert_uint_eq(c.next[0], c.own);
        read_all(trid[i], &c);
        own[i] = c.own - own[i];
        ck_assert_uint_gt(own[i], 1000);
    }
    ck_assert_uint_eq(c.next[0], c.own);
    ck_assert_uint_eq(lost(trid[0]) + lost(trid[1]), 0);
    ck_assert_uint_eq(lost(trid[2]), EVENTS - c.own);
    /* Read, the first one records again. */
    trace(work, 1, 7);
    memset(&c, 0, sizeof c);
    read_all(trid[0], &c);
    ck_assert_uint_eq(c.own, 1);
    for (i = 0; i < 3; i++)
        end(trid[i]);
}
END_TEST

static void *work_as_thread(void *slot)
{
    for (uint32_t i = 0; i < EVENTS; i++)
        trace(work, (uint32_t)(uintptr_t)slot, i);
    return NULL;
}

static uint32_t handled;

static void on_signal(int sig)
{
    (void)sig;
    trace(work, SLOTS - 1, handled++);
}

/* The calling one is the first of them, and the only one that gets signals. */
static void work_in_threads(uint32_t slot)
{
    pthread_t thread[THREADS];
    sigset_t alarm, before;

    sigemptyset(&alarm);
    sigaddset(&alarm, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &alarm, &before);
    for (uintptr_t i = 1; i < THREADS; i++)
        if (pthread_create(&thread[i], NULL, work_as_thread, (void *)(slot + i)) != 0)
            abort();
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    work_as_thread((void *)(uintptr_t)slot);
    for (unsigned i = 1; i < THREADS; i++)
        pthread_join(thread[i], NULL);
}

/* _i 0: enough room in all of them together; 1: not.  Threads, a child's threads, and a
 * handler in the middle of them. */
START_TEST(many_writers)
{
    trace_id_t trid[4];
    size_t size[4] = { 65536, 256 << 10, 128 << 10, _i ? 256 << 10 : 64 << 20 };
    struct count c = { .own = 0 };
    uint64_t gone = 0, sum = 2 * THREADS * EVENTS;
    struct sigaction sa = { .sa_handler = on_signal, .sa_flags = SA_RESTART };
    pid_t pid;
    int status;

    for (unsigned i = 0; i < 4; i++)
        trid[i] = create(POSIX_TRACE_UNTIL_FULL, size[i]);
    for (unsigned i = 0; i < 3; i++)
        ck_assert_int_eq(posixtrace_chain(trid[i], trid[i + 1]), 0);
    handled = 0;
    sigaction(SIGALRM, &sa, NULL);
    ualarm(50, 50);
    pid = fork();
    if (pid == 0) {
        work_in_threads(THREADS);
        _exit(0);
    }
    work_in_threads(0);
    ualarm(0, 0);
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_int_eq(status, 0);
    sum += handled;
    for (unsigned i = 0; i < 4; i++) {
        struct count one = { .own = 0 };

        read_all(trid[i], &one);
        ck_assert_uint_gt(one.own, 500);
        c.own += one.own;
        for (unsigned slot = 0; slot < SLOTS; slot++)
            c.events[slot] += one.events[slot];
        gone += lost(trid[i]);
    }
    if (!_i)
        ck_assert_uint_eq(gone, 0);
    ck_assert_uint_eq(c.own + gone, sum);
    for (unsigned slot = 0; !_i && slot < 2 * THREADS; slot++)
        ck_assert_uint_eq(c.events[slot], EVENTS);
    for (unsigned i = 0; i < 4; i++)
        end(trid[i]);
}
END_TEST

/* A reserve: the last one is for closing events alone. */
START_TEST(reserve)
{
    trace_id_t first = create(POSIX_TRACE_UNTIL_FULL, 65536);
    trace_id_t last = create(POSIX_TRACE_UNTIL_FULL, 65536);
    struct count c = { .own = 0 };
    trace_event_set_t set;
    unsigned had;

    ck_assert_int_eq(posix_trace_eventset_fill(&set, POSIX_TRACE_ALL_EVENTS), 0);
    ck_assert_int_eq(posix_trace_eventset_del(closing, &set), 0);
    ck_assert_int_eq(posix_trace_set_filter(last, &set, POSIX_TRACE_SET_EVENTSET), 0);
    ck_assert_int_eq(posixtrace_chain(first, last), 0);
    for (uint32_t i = 0; i < EVENTS; i++)
        trace(work, 0, i);
    for (uint32_t i = 0; i < 100; i++)
        trace(closing, 1, i);
    read_all(last, &c);
    ck_assert_uint_eq(c.own, 100);
    ck_assert_uint_eq(c.of_closing, 100);
    ck_assert_uint_eq(lost(last), 0);
    had = c.own;
    read_all(first, &c);
    ck_assert_uint_eq(c.own - had + lost(first), EVENTS);
    end(first);
    end(last);
}
END_TEST

/* The successor records its own events after it is released, and after the first one is shut
 * down. */
START_TEST(let_go)
{
    trace_id_t a = create(POSIX_TRACE_UNTIL_FULL, 65536), b = create(POSIX_TRACE_LOOP, 65536);
    struct count c = { .own = 0 };

    ck_assert_int_eq(posixtrace_chain(a, b), 0);
    trace(work, 0, 0);
    read_all(b, &c);
    ck_assert_uint_eq(c.own, 0);
    if (_i) {
        end(a);
    } else {
        ck_assert_int_eq(posixtrace_chain(a, a), 0);
        trace(work, 0, 1);
        read_all(a, &c);
        ck_assert_uint_eq(c.own, 2);
        end(a);
        memset(&c, 0, sizeof c);
        read_all(b, &c);
        ck_assert_uint_eq(c.own, 1);
    }
    trace(work, 0, 2);
    read_all(b, &c);
    ck_assert_uint_eq(c.own, _i ? 1 : 2);
    end(b);
}
END_TEST

/* The successor is shut down: then the first stream counts the events for which it has no room as
 * lost. */
START_TEST(next_is_shut_down)
{
    trace_id_t a = create(POSIX_TRACE_UNTIL_FULL, 65536), b = create(POSIX_TRACE_LOOP, 65536);
    struct count c = { .own = 0 };

    ck_assert_int_eq(posixtrace_chain(a, b), 0);
    for (uint32_t i = 0; i < EVENTS; i++) {
        trace(work, 0, i);
        if (i == EVENTS / 2) {
            read_all(b, &c);
            ck_assert_uint_gt(c.own, 0);
            end(b);
        }
    }
    memset(&c, 0, sizeof c);
    read_all(a, &c);
    ck_assert_uint_gt(lost(a), EVENTS / 2 - 2);
    ck_assert_uint_lt(lost(a) + c.own, EVENTS);
    end(a);
}
END_TEST

/* Logs, too: each is written by its own flush, and the accounts of both are right. */
START_TEST(with_logs)
{
    char path[2][64];
    trace_id_t trid[2];
    struct count c = { .own = 0 };
    uint64_t gone = 0;

    for (int i = 0; i < 2; i++) {
        trace_attr_t attr;
        int fd;

        snprintf(path[i], sizeof path[i], "/tmp/posixtrace-chain.%d.%d", (int)getpid(), i);
        fd = open(path[i], O_RDWR | O_CREAT | O_TRUNC, 0600);
        ck_assert_int_ge(fd, 0);
        ck_assert_int_eq(posix_trace_attr_init(&attr), 0);
        ck_assert_int_eq(posix_trace_attr_setstreamfullpolicy(&attr, i ? POSIX_TRACE_FLUSH
                                                                       : POSIX_TRACE_UNTIL_FULL),
                         0);
        ck_assert_int_eq(posix_trace_attr_setstreamsize(&attr, i ? 8 << 20 : 65536), 0);
        ck_assert_int_eq(posix_trace_create_withlog(0, &attr, fd, &trid[i]), 0);
        ck_assert_int_eq(posix_trace_start(trid[i]), 0);
        close(fd);
    }
    ck_assert_int_eq(posix_trace_eventid_open("work", &work), 0);
    ck_assert_int_eq(posixtrace_chain(trid[0], trid[1]), 0);
    work_in_threads(0);
    end(trid[0]);
    end(trid[1]);
    for (int i = 0; i < 2; i++) {
        int fd = open(path[i], O_RDONLY);
        trace_id_t log;

        ck_assert_int_eq(posix_trace_open(fd, &log), 0);
        memset(c.next, 0, sizeof c.next);
        read_all(log, &c);
        gone += lost(log);
        ck_assert_int_eq(posix_trace_close(log), 0);
        close(fd);
        unlink(path[i]);
    }
    ck_assert_uint_eq(gone, 0);
    ck_assert_uint_eq(c.own, THREADS * EVENTS);
    for (unsigned slot = 0; slot < THREADS; slot++)
        ck_assert_uint_eq(c.events[slot], EVENTS);
}
END_TEST

static void add(TCase *t)
{
    tcase_add_test(t, errors);
    tcase_add_test(t, one_thread);
    tcase_add_loop_test(t, many_writers, 0, 2);
    tcase_add_test(t, reserve);
    tcase_add_loop_test(t, let_go, 0, 2);
    tcase_add_test(t, next_is_shut_down);
    tcase_add_test(t, with_logs);
}

int main(void)
{
    return run_suite("stream", "chain", NULL, add);
}
