/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Threads that have ended, and whose events a LOOP stream has overwritten before its consumer came:
 * after a flush, while the stream runs on, the log has each of them as lost, and so does the end.
 * Of some threads the slots were reused before the consumer had seen one of their events.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <posixtrace/event.h>
#include <posixtrace/info.h>
#include <posixtrace/log.h>
#include "support/flush_log.h"
#include "support/run_suite.h"

enum { SIZE = 65536, EACH = 40, FLOOD = 20000 };

static trace_event_id_t tick;

static trace_id_t create(int log)
{
    trace_attr_t attr;
    trace_id_t trid;

    ck_assert_int_eq(posix_trace_eventid_open("tick", &tick), 0);
    ck_assert_int_eq(posix_trace_attr_init(&attr), 0);
    ck_assert_int_eq(posix_trace_attr_setstreamsize(&attr, SIZE), 0);
    ck_assert_int_eq(posix_trace_attr_setmaxdatasize(&attr, 64), 0);
    ck_assert_int_eq(posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_LOOP), 0);
    ck_assert_int_eq(posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_APPEND), 0);
    ck_assert_int_eq(posix_trace_create_withlog(0, &attr, log, &trid), 0);
    ck_assert_int_eq(posix_trace_start(trid), 0);
    return trid;
}

static void *trace_some(void *unused)
{
    for (int i = 0; i < EACH; i++)
        posix_trace_event(tick, &i, sizeof i);
    return unused;
}

/* One after the other, so that a later one may take the slot of an earlier one, or all at once. */
static void run_threads(unsigned n, bool together)
{
    pthread_t thread[n];

    for (unsigned i = 0; i < n; i++) {
        ck_assert_int_eq(pthread_create(&thread[i], NULL, trace_some, NULL), 0);
        if (!together)
            pthread_join(thread[i], NULL);
    }
    for (unsigned i = 0; together && i < n; i++)
        pthread_join(thread[i], NULL);
}

static void flood(void)
{
    for (int i = 0; i < FLOOD; i++)
        posix_trace_event(tick, &i, sizeof i);
}

static uint64_t count_ticks(trace_id_t log)
{
    struct posixtrace_event e;
    uint64_t n = 0;
    int unavailable;

    for (;;) {
        ck_assert_int_eq(posixtrace_next_event(log, &e, sizeof e, &unavailable), 0);
        if (unavailable)
            return n;
        n += e.id == tick;
    }
}

struct sums {
    uint64_t ticks, recorded, lost;
};

static struct sums sums_of(int fd)
{
    struct posixtrace_thread_info t;
    struct sums s = { .ticks = 0 };
    int unavailable;
    trace_id_t log;

    ck_assert_int_eq(lseek(fd, 0, SEEK_SET), 0);
    ck_assert_int_eq(posix_trace_open(fd, &log), 0);
    s.ticks = count_ticks(log);
    for (;;) {
        ck_assert_int_eq(posixtrace_threadlist_getnext(log, &t, sizeof t, &unavailable), 0);
        if (unavailable)
            break;
        s.recorded += t.recorded;
        for (unsigned c = 0; c < POSIXTRACE_LOSS_CAUSES; c++)
            s.lost += t.lost[c];
    }
    ck_assert_int_eq(posix_trace_close(log), 0);
    return s;
}

static void check(int fd, uint64_t traced)
{
    struct sums s = sums_of(fd);

    ck_assert_uint_eq(s.recorded, traced);
    ck_assert_uint_eq(s.ticks + s.lost, traced);
}

static const struct scene {
    unsigned threads;
    bool together;
    unsigned rounds;
} scenes[] = { { 20, true, 1 }, { 200, false, 1 }, { 200, true, 1 }, { 90, false, 4 } };

START_TEST(after_flush)
{
    const struct scene *scene = &scenes[_i];
    char path[] = "/tmp/test_ended_XXXXXX";
    int own = mkstemp(path), fd = open(path, O_RDONLY | O_CLOEXEC);
    trace_id_t trid;
    uint64_t traced = 0;

    ck_assert(own >= 0 && fd >= 0);
    unlink(path);
    trid = create(own);
    for (unsigned i = 0; i < scene->rounds; i++) {
        run_threads(scene->threads, scene->together);
        flood();
        traced += scene->threads * EACH + FLOOD;
        flush_log(trid);
        check(fd, traced);
    }
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
    check(fd, traced);
    close(fd);
}
END_TEST

static void add(TCase *t)
{
    tcase_add_loop_test(t, after_flush, 0, sizeof scenes / sizeof *scenes);
}

int main(void)
{
    return run_suite("ended", "threads that have ended, in a LOOP stream with log", NULL, add);
}
