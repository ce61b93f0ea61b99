/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Group G: what happens when a stream is full.
 */
#include "support/trace_helpers.h"

#define SMALL 32768
#define LEN   64 /* data bytes of an event, where nothing else is said */

static trace_id_t started(int policy, size_t size)
{
    trace_id_t trid = th_stream(.policy = policy, .stream_size = size);

    ck_ok(posix_trace_start(trid));
    return trid;
}

/* Events whose data alone are ten times the stream. */
static uint32_t ten_times(trace_id_t trid)
{
    return (uint32_t)(10 * th_stream_size(trid) / LEN);
}

static int64_t ns_of(const struct th_event *e)
{
    return th_ns(e->info.posix_timestamp);
}

static void expect_status(trace_id_t trid, int status, int full)
{
    struct posix_trace_status_info s = th_status(trid);

    ck_assert_int_eq(s.posix_stream_status, status);
    ck_assert_int_eq(s.posix_stream_full_status, full);
}

START_TEST(test_148_loop_status)
{
    trace_id_t trid = started(POSIX_TRACE_LOOP, SMALL);
    struct posix_trace_status_info s;

    th_put_run(th_id("u"), 0, ten_times(trid), LEN);
    s = th_status(trid);
    ck_assert_int_eq(s.posix_stream_status, POSIX_TRACE_RUNNING);
    ck_assert_int_eq(s.posix_stream_full_status, POSIX_TRACE_FULL);
    ck_assert_int_eq(s.posix_stream_overrun_status, POSIX_TRACE_OVERRUN);
    ck_ok(posix_trace_shutdown(trid));
}
END_TEST

/* The newest events survive, and not just a few of them: what fits into the
 * stream by its own upper bound for an event must still be there, but for one
 * step of overwriting, which may take half of it. */
START_TEST(test_149_loop_keeps_newest)
{
    trace_event_id_t id = th_id("u");
    trace_id_t trid = started(POSIX_TRACE_LOOP, SMALL);
    uint32_t n = ten_times(trid);
    struct th_list user;
    trace_attr_t attr;
    size_t max_event;

    th_put_run(id, 0, n, LEN);
    user = th_only(th_drain(trid), id);
    ck_assert_uint_gt(user.n, 0);
    ck_assert_uint_lt(user.n, n);
    th_expect_run(user, n - (uint32_t)user.n);
    ck_ok(posix_trace_get_attr(trid, &attr));
    ck_ok(posix_trace_attr_getmaxusereventsize(&attr, LEN, &max_event));
    ck_assert_uint_ge(user.n, th_stream_size(trid) / max_event / 2);
    ck_ok(posix_trace_shutdown(trid));
}
END_TEST

START_TEST(test_150_loop_overflow_and_resume)
{
    trace_event_id_t id = th_id("u");
    trace_id_t trid = started(POSIX_TRACE_LOOP, SMALL);
    struct th_list list;
    size_t overflow, resume, first;

    th_put_run(id, 0, ten_times(trid), LEN);
    list = th_drain(trid);
    overflow = th_find(list, POSIX_TRACE_OVERFLOW, 0);
    resume = th_find(list, POSIX_TRACE_RESUME, 0);
    first = th_find(list, id, 0);
    ck_assert_uint_lt(first, list.n);
    ck_assert_uint_lt(overflow, resume);
    ck_assert_uint_eq(resume + 1, first);
    ck_assert_uint_eq(list.at[overflow].len, 0);
    ck_assert_uint_eq(list.at[resume].len, 0);
    ck_ok(posix_trace_shutdown(trid));
}
END_TEST

START_TEST(test_151_loop_overflow_times)
{
    trace_event_id_t id = th_id("u");
    trace_id_t trid = started(POSIX_TRACE_LOOP, SMALL);
    struct th_event before;
    struct th_list list;
    size_t overflow, resume;

    th_put(id, 0, LEN);
    list = th_drain(trid);
    before = list.at[list.n - 1];
    ck_assert_uint_eq(before.info.posix_event_id, id);
    th_put_run(id, 1, ten_times(trid), LEN);
    list = th_drain(trid);
    overflow = th_find(list, POSIX_TRACE_OVERFLOW, 0);
    resume = th_find(list, POSIX_TRACE_RESUME, overflow);
    ck_assert_uint_lt(resume + 1, list.n);
    ck_assert_int_eq(ns_of(&list.at[resume]), ns_of(&list.at[resume + 1]));
    ck_assert_int_le(ns_of(&list.at[overflow]), ns_of(&list.at[resume]));
    ck_assert_int_ge(ns_of(&list.at[overflow]), ns_of(&before));
    ck_ok(posix_trace_shutdown(trid));
}
END_TEST

START_TEST(test_152_loop_drained)
{
    trace_event_id_t id = th_id("u");
    trace_id_t trid = started(POSIX_TRACE_LOOP, SMALL);
    trace_attr_t attr;
    struct th_list list;
    size_t max_event;
    uint32_t fits;

    th_put_run(id, 0, ten_times(trid), LEN);
    th_drain(trid);
    expect_status(trid, POSIX_TRACE_RUNNING, POSIX_TRACE_NOT_FULL);
    ck_ok(posix_trace_get_attr(trid, &attr));
    ck_ok(posix_trace_attr_getmaxusereventsize(&attr, LEN, &max_event));
    fits = (uint32_t)(th_stream_size(trid) / max_event);
    th_put_run(id, 0, fits, LEN);
    list = th_drain(trid);
    ck_assert_uint_eq(list.n, fits);
    th_expect_run(th_only(list, id), 0);
    ck_assert_int_eq(th_status(trid).posix_stream_overrun_status, POSIX_TRACE_NO_OVERRUN);
    ck_ok(posix_trace_shutdown(trid));
}
END_TEST

START_TEST(test_153_loop_without_overwriting)
{
    trace_event_id_t id = th_id("u");
    trace_id_t trid = started(POSIX_TRACE_LOOP, SMALL);
    struct th_list list;

    th_put_run(id, 0, 20, LEN);
    ck_assert_int_eq(th_status(trid).posix_stream_overrun_status, POSIX_TRACE_NO_OVERRUN);
    list = th_drain(trid);
    ck_assert_uint_eq(list.n, 21);
    ck_assert_uint_eq(th_find(list, POSIX_TRACE_OVERFLOW, 0), list.n);
    ck_assert_uint_eq(th_find(list, POSIX_TRACE_RESUME, 0), list.n);
    ck_ok(posix_trace_shutdown(trid));
}
END_TEST

START_TEST(test_154_until_full_status)
{
    trace_id_t trid = started(POSIX_TRACE_UNTIL_FULL, SMALL);

    th_put_run(th_id("u"), 0, ten_times(trid), LEN);
    expect_status(trid, POSIX_TRACE_SUSPENDED, POSIX_TRACE_FULL);
    ck_ok(posix_trace_shutdown(trid));
}
END_TEST

/* START, the oldest user events, automatic STOP; returns how many user events. */
static uint32_t expect_oldest(struct th_list list, trace_event_id_t id)
{
    size_t stop = th_find(list, POSIX_TRACE_STOP, 0);
    struct th_list user = { list.at + 1, stop - 1 };

    ck_assert_uint_lt(stop, list.n);
    ck_assert_uint_eq(list.at[0].info.posix_event_id, POSIX_TRACE_START);
    ck_assert_uint_gt(user.n, 0);
    ck_assert_uint_eq(th_only(user, id).n, user.n);
    th_expect_run(user, 0);
    ck_assert_int_ne(th_int(&list.at[stop]), 0);
    return (uint32_t)user.n;
}

START_TEST(test_155_until_full_keeps_oldest)
{
    trace_event_id_t id = th_id("u");
    trace_id_t trid = started(POSIX_TRACE_UNTIL_FULL, SMALL);

    th_put_run(id, 0, ten_times(trid), LEN);
    expect_oldest(th_drain(trid), id);
    ck_ok(posix_trace_shutdown(trid));
}
END_TEST

START_TEST(test_156_until_full_refuses)
{
    trace_event_id_t id = th_id("u"), refused = th_id("refused");
    trace_id_t trid = started(POSIX_TRACE_UNTIL_FULL, SMALL);
    struct th_list list;

    th_put_run(id, 0, ten_times(trid), LEN);
    th_status(trid);
    th_put(refused, 0, LEN);
    ck_assert_int_eq(th_status(trid).posix_stream_overrun_status, POSIX_TRACE_OVERRUN);
    list = th_drain(trid);
    expect_oldest(list, id);
    ck_assert_uint_eq(th_find(list, refused, 0), list.n);
    ck_ok(posix_trace_shutdown(trid));
}
END_TEST

/* Where exactly the stream becomes full is ours; whether it then says OVERRUN
 * must agree with whether an event was refused. */
START_TEST(test_157_until_full_overrun_only_if_refused)
{
    trace_event_id_t id = th_id("u");
    trace_id_t trid = started(POSIX_TRACE_UNTIL_FULL, SMALL);
    uint32_t put = 0, limit = ten_times(trid);
    struct posix_trace_status_info s;

    do {
        ck_assert_uint_lt(put, limit);
        th_put(id, put++, LEN);
        s = th_status(trid);
    } while (s.posix_stream_full_status == POSIX_TRACE_NOT_FULL);
    ck_assert_int_eq(s.posix_stream_overrun_status == POSIX_TRACE_NO_OVERRUN,
                     expect_oldest(th_drain(trid), id) == put);
    ck_ok(posix_trace_shutdown(trid));
}
END_TEST

START_TEST(test_158_until_full_start_again)
{
    trace_event_id_t id = th_id("u"), after = th_id("after");
    trace_id_t trid = started(POSIX_TRACE_UNTIL_FULL, SMALL);
    struct th_list first, second;
    size_t stop, start;

    th_put_run(id, 0, ten_times(trid), LEN);
    first = th_drain(trid);
    stop = th_find(first, POSIX_TRACE_STOP, 0);
    start = th_find(first, POSIX_TRACE_START, stop);
    th_put(after, 0, LEN);
    second = th_drain(trid);
    if (start < first.n)
        th_expect(second, after);
    else
        th_expect(second, POSIX_TRACE_START, after);
    ck_ok(posix_trace_shutdown(trid));
}
END_TEST

START_TEST(test_159_until_full_runs_again)
{
    trace_id_t trid = started(POSIX_TRACE_UNTIL_FULL, SMALL);

    for (int round = 0; round < 3; round++) {
        th_put_run(th_id("u"), 0, ten_times(trid), LEN);
        expect_status(trid, POSIX_TRACE_SUSPENDED, POSIX_TRACE_FULL);
        th_drain(trid);
        expect_status(trid, POSIX_TRACE_RUNNING, POSIX_TRACE_NOT_FULL);
    }
    ck_ok(posix_trace_shutdown(trid));
}
END_TEST

/* Lengths run from shortest to longest and over again. */
static size_t length_of(unsigned i, size_t shortest, size_t longest)
{
    return shortest + i * 13 % (longest - shortest + 1);
}

/* The promise of stream-min-size: k events, and four system events, whose upper
 * bounds add up to it are all recorded. */
static void sizing(unsigned k, size_t shortest, size_t longest)
{
    trace_event_id_t id = th_id("u");
    trace_attr_t attr;
    trace_id_t trid;
    struct th_list list;
    size_t one, sum;

    ck_ok(posix_trace_attr_init(&attr));
    ck_ok(posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_UNTIL_FULL));
    ck_ok(posix_trace_attr_getmaxsystemeventsize(&attr, &one));
    sum = 4 * one;
    for (unsigned i = 0; i < k; i++) {
        ck_ok(posix_trace_attr_getmaxusereventsize(&attr, length_of(i, shortest, longest), &one));
        sum += one;
    }
    ck_ok(posix_trace_attr_setstreamsize(&attr, sum));
    ck_ok(posix_trace_create(0, &attr, &trid));
    ck_ok(posix_trace_start(trid));
    for (unsigned i = 0; i < k; i++)
        th_put(id, i, length_of(i, shortest, longest));
    ck_assert_int_eq(th_status(trid).posix_stream_overrun_status, POSIX_TRACE_NO_OVERRUN);
    list = th_only(th_drain(trid), id);
    ck_assert_uint_eq(list.n, k);
    th_expect_run(list, 0);
    ck_ok(posix_trace_shutdown(trid));
    ck_ok(posix_trace_attr_destroy(&attr));
}

START_TEST(test_160_sizing)
{
    static const unsigned counts[] = { 1, 2, 3, 10, 100, 1000 };
    static const size_t lengths[] = { 4, 8, 100, 1000, 4096 };

    for (size_t c = 0; c < TH_COUNT(counts); c++) {
        for (size_t l = 0; l < TH_COUNT(lengths); l++)
            sizing(counts[c], lengths[l], lengths[l]);
    }
}
END_TEST

START_TEST(test_161_sizing_mixed_lengths)
{
    for (unsigned k = 2; k < 2000; k = k * 2 + 1) {
        sizing(k, 4, 100);
        sizing(k, 4, 4096);
    }
}
END_TEST

START_TEST(test_162_identification_survives)
{
    trace_event_id_t id = th_id("u"), silent = th_id("never recorded");
    trace_id_t trid = th_stream(.name = "survivor", .stream_size = SMALL, .max_data = 321);
    char name[TRACE_EVENT_NAME_MAX + 1];
    trace_attr_t attr;
    size_t size;
    int policy;

    ck_ok(posix_trace_start(trid));
    th_put_run(id, 0, 10 * ten_times(trid), LEN);
    ck_ok(posix_trace_get_attr(trid, &attr));
    ck_ok(posix_trace_attr_getname(&attr, name));
    ck_assert_str_eq(name, "survivor");
    ck_ok(posix_trace_attr_getmaxdatasize(&attr, &size));
    ck_assert_uint_eq(size, 321);
    ck_ok(posix_trace_attr_getstreamfullpolicy(&attr, &policy));
    ck_assert_int_eq(policy, POSIX_TRACE_LOOP);
    ck_ok(posix_trace_eventid_get_name(trid, id, name));
    ck_assert_str_eq(name, "u");
    ck_ok(posix_trace_eventid_get_name(trid, silent, name));
    ck_assert_str_eq(name, "never recorded");
    ck_ok(posix_trace_attr_destroy(&attr));
    ck_ok(posix_trace_shutdown(trid));
}
END_TEST

static void add(TCase *tc)
{
    tcase_add_test(tc, test_148_loop_status);
    tcase_add_test(tc, test_149_loop_keeps_newest);
    tcase_add_test(tc, test_150_loop_overflow_and_resume);
    tcase_add_test(tc, test_151_loop_overflow_times);
    tcase_add_test(tc, test_152_loop_drained);
    tcase_add_test(tc, test_153_loop_without_overwriting);
    tcase_add_test(tc, test_154_until_full_status);
    tcase_add_test(tc, test_155_until_full_keeps_oldest);
    tcase_add_test(tc, test_156_until_full_refuses);
    tcase_add_test(tc, test_157_until_full_overrun_only_if_refused);
    tcase_add_test(tc, test_158_until_full_start_again);
    tcase_add_test(tc, test_159_until_full_runs_again);
    tcase_add_test(tc, test_160_sizing);
    tcase_add_test(tc, test_161_sizing_mixed_lengths);
    tcase_add_test(tc, test_162_identification_survives);
}

int main(void)
{
    return th_main("G full policies", add);
}
