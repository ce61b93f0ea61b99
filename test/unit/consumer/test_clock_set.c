/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * CLOCK_REALTIME is set while a stream without a log is read: readers of whole events find a gap
 * there, and how long a call has lasted does not depend on it.  The test stores the points that the
 * library stores then (shm/syncpoint.h).
 */
#include <posixtrace/attach.h>
#include <posixtrace/clock.h>
#include <posixtrace/event.h>
#include <posixtrace/info.h>
#include <posixtrace/system.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "base/clock.h"
#include "consumer/waiting.h"
#include "model/sync.h"
#include "shm/syncpoint.h"
#include "support/run_suite.h"
#include "support/stream_inside.h"

enum { TYPE = POSIX_TRACE_UNNAMED_USER_EVENT };

static trace_id_t own, onlooker;

static void setup(void)
{
    ck_assert_int_eq(posix_trace_create(0, NULL, &own), 0);
    ck_assert_int_eq(posix_trace_start(own), 0);
    ck_assert_int_eq(posixtrace_attach(segment_of(own)->file, &onlooker), 0);
}

static void teardown(void)
{
    ck_assert_int_eq(posixtrace_detach(onlooker), 0);
    ck_assert_int_eq(posix_trace_shutdown(own), 0);
}

/* CLOCK_REALTIME is an hour later from now on. */
static void set_clock(struct pt_seg *seg)
{
    struct pt_seg_header *h = seg->h;
    uint32_t n = pt_syncpoint_count(h), k = (n - 1) / 2, mine = 60 + k;
    struct pt_sync last, *pair = h->sync_pair[mine];
    uint64_t next = h->sync_next[k], now = pt_clock_now(seg->g.clock);

    pt_syncpoint_get(h, n - 1, &last);
    pair[0] = pair[1] = last;
    pair[0].ts = (now > next ? now : next) + 1;
    pair[0].ns = pt_sync_apply(&last, pair[0].ts) + (int64_t)3600 * 1000000000;
    pair[1].ts = pair[0].ts + 1;
    pair[1].ns = pt_sync_apply(&pair[0], pair[1].ts);
    h->sync_used[0] = h->sync_used[1] = UINT64_MAX; /* no thread adds points */
    h->sync_next[k] = 2 * ((uint64_t)mine + 1);
    h->syncs = k + 2;
    while (pt_clock_now(seg->g.clock) <= pair[1].ts)
        ;
}

/* The numbers of two events; is there a gap before the first of them? */
static void read_two(trace_id_t trid, uint64_t first, bool before)
{
    struct posixtrace_event e;
    uint64_t number, n = first;
    bool gap, any = false;
    size_t count = 1;

    while (posixtrace_next_whole_events(trid, &e, sizeof e, 1, &count, &gap) == 0 && count > 0) {
        any |= gap;
        if (e.id != TYPE)
            continue;
        memcpy(&number, e.data, sizeof number);
        ck_assert_uint_eq(number, n++);
        ck_assert_int_eq(any, before && number == first);
        any = false;
    }
    ck_assert_uint_eq(n, first + 2);
}

/* Times before and after a step of the clock cannot be compared. */
START_TEST(is_a_gap)
{
    for (uint64_t n = 0; n < 6; n += 2) {
        if (n > 0)
            set_clock(segment_of(own));
        for (uint64_t i = n; i < n + 2; i++)
            posix_trace_event(TYPE, &i, sizeof i);
        read_two(onlooker, n, n > 0);
        read_two(own, n, n > 0);
    }
}
END_TEST

/* How long a call has lasted does not depend on it: it began before the clock was set. */
START_TEST(in_a_call)
{
    struct posixtrace_waiting wait = { .type = POSIXTRACE_MUTEX_LOCK, .call = UINT32_MAX };
    struct pt_slot_waiting w = { .type = wait.type, .call = wait.call };
    struct pt_seg *seg = segment_of(own);
    struct posixtrace_thread_info t = { .wait_type = 0 };
    struct pt_waiting_data data;
    int64_t now, hour = (int64_t)3600 * 1000000000;
    int none = 0;

    posix_trace_event(TYPE, "", 1);
    posixtrace_waiting_begin(&wait);
    w.began = pt_clock_now(seg->g.clock);
    set_clock(seg);
    pt_waiting_fill(seg, &w, pt_clock_now(seg->g.clock), &data);
    ck_assert_int_ge(data.duration, 0);
    ck_assert_int_lt(data.duration, hour / 2);
    while (!none && t.wait_type == 0)
        ck_assert_int_eq(posixtrace_threadlist_getnext(own, &t, sizeof t, &none), 0);
    now = pt_syncpoint_convert(seg->h, pt_clock_now(seg->g.clock));
    ck_assert_uint_eq(t.wait_type, POSIXTRACE_MUTEX_LOCK);
    ck_assert_int_le(t.wait_since_ns, now);
    ck_assert_int_gt(t.wait_since_ns, now - hour / 2);
    posixtrace_waiting_end(&wait, NULL);
}
END_TEST

/* A stream with an event in its first chunk, and one point: where a second has passed before that
 * event, it adds one, and another stream begins.  *begun: a time before the event. */
static struct pt_seg_header *begin_with_one_point(uint64_t *begun)
{
    const uint64_t none = 0;

    for (;;) {
        struct pt_seg_header *h = segment_of(own)->h;

        *begun = pt_clock_now(h->clock);
        posix_trace_event(TYPE, &none, sizeof none);
        if (pt_syncpoint_count(h) == 1)
            return h;
        teardown();
        setup();
    }
}

/* An event compares no clocks: a step shows in events after the creator has read, or a thread has
 * begun a new chunk, and in none before. */
START_TEST(shows_after_a_look)
{
    const int64_t hour = (int64_t)3600 * 1000000000;
    uint64_t begun, n = 0;
    struct pt_seg_header *h = begin_with_one_point(&begun);
    struct pt_sync *first = &h->sync_first, last;
    bool fills = _i == 1;
    struct posixtrace_event e;
    int64_t ns = 0;
    int none = 0;

    /* Two seconds old, and set an hour ahead since. */
    first->ns -= 2000000000 + hour;
    first->ts -= pt_mul128_div(2000000000, first->mult);
    for (int i = 0; i < 100; i++)
        posix_trace_event(TYPE, &n, sizeof n);
    ck_assert_uint_eq(pt_syncpoint_count(h), 1);
    for (n = 1; fills && pt_syncpoint_count(h) == 1 && n < 1000000; n++)
        posix_trace_event(TYPE, &n, sizeof n);
    if (!fills)
        ck_assert_int_eq(posixtrace_next_event(own, &e, sizeof e, &none), 0);
    ck_assert_uint_eq(pt_syncpoint_count(h), 3);
    pt_syncpoint_get(h, 1, &last);
    while (pt_clock_now(h->clock) <= last.ts)
        ;
    posix_trace_event(TYPE, "end", 3);
    while (posixtrace_next_event(own, &e, sizeof e, &none) == 0 && !none)
        if (e.id == TYPE && e.data_len == 3)
            ns = e.ns;
    ck_assert_int_gt(ns - pt_sync_apply(first, begun), hour);
    ck_assert_int_gt(pt_sync_apply(first, begun), 0);
}
END_TEST

/* The clock table had no room for a correction: the stream says so, an onlooker knows, and the log
 * has it. */
START_TEST(left)
{
    struct posixtrace_clock_quality q;
    struct posixtrace_limits limits;
    int fd = memfd_create("log", 0);
    trace_id_t trid, log;

    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(posix_trace_create_withlog(0, NULL, fd, &trid), 0);
    ck_assert_int_eq(posixtrace_get_limits(trid, &limits, sizeof limits), 0);
    ck_assert_uint_eq(limits.clock_left, 0);
    segment_of(trid)->h->sync_left = 1;
    ck_assert_int_eq(posixtrace_get_limits(trid, &limits, sizeof limits), 0);
    ck_assert_uint_eq(limits.clock_left, 1);
    segment_of(own)->h->sync_left = 1;
    ck_assert_int_eq(posixtrace_get_limits(onlooker, &limits, sizeof limits), 0);
    ck_assert_uint_eq(limits.clock_left, 1);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
    ck_assert_int_eq(lseek(fd, 0, SEEK_SET), 0);
    ck_assert_int_eq(posix_trace_open(fd, &log), 0);
    ck_assert_int_eq(posixtrace_clock_quality(log, &q, sizeof q), 0);
    ck_assert_uint_ge(q.left, 1);
    ck_assert_int_lt(llabs(q.off_ns), 1000000000);
    ck_assert_int_eq(posix_trace_close(log), 0);
    close(fd);
}
END_TEST

static void add(TCase *t)
{
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, is_a_gap);
    tcase_add_test(t, in_a_call);
    tcase_add_test(t, left);
    tcase_add_loop_test(t, shows_after_a_look, 0, 2);
}

int main(void)
{
    return run_suite("clock_set", "the clock is set", NULL, add);
}
