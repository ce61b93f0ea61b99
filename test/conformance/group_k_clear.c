/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Group K: clearing a stream.
 */
#include "support/trace_helpers.h"

#include <fcntl.h>

#define SMALL 32768
#define LEN   64

/* A running stream with policy LOOP that has overwritten events. */
static trace_id_t overrun_stream(trace_event_id_t id)
{
    trace_id_t trid = th_stream(.stream_size = SMALL);

    ck_ok(posix_trace_start(trid));
    th_put_run(id, 0, (uint32_t)(10 * th_stream_size(trid) / LEN), LEN);
    return trid;
}

START_TEST(test_230_events_gone)
{
    trace_event_id_t id = th_id("before clear");
    trace_id_t trid = overrun_stream(id);
    struct th_list list;

    ck_ok(posix_trace_clear(trid));
    ck_assert_int_eq(th_status(trid).posix_stream_full_status, POSIX_TRACE_NOT_FULL);
    list = th_drain(trid);
    ck_assert_uint_eq(th_find(list, id, 0), list.n);
    ck_assert_uint_eq(th_find(list, POSIX_TRACE_OVERFLOW, 0), list.n);
    ck_ok(posix_trace_shutdown(trid));
}
END_TEST

START_TEST(test_231_status_kept)
{
    trace_id_t running = th_stream(), stopped = th_stream(), created = th_stream();

    ck_ok(posix_trace_start(running));
    ck_ok(posix_trace_start(stopped));
    ck_ok(posix_trace_stop(stopped));
    ck_ok(posix_trace_clear(running));
    ck_ok(posix_trace_clear(stopped));
    ck_ok(posix_trace_clear(created));
    ck_assert_int_eq(th_status(running).posix_stream_status, POSIX_TRACE_RUNNING);
    ck_assert_int_eq(th_status(stopped).posix_stream_status, POSIX_TRACE_SUSPENDED);
    ck_assert_int_eq(th_status(created).posix_stream_status, POSIX_TRACE_SUSPENDED);
    ck_ok(posix_trace_shutdown(running));
    ck_ok(posix_trace_shutdown(stopped));
    ck_ok(posix_trace_shutdown(created));
}
END_TEST

START_TEST(test_232_names_kept)
{
    trace_event_id_t id = th_id("kept"), again;
    trace_id_t trid = overrun_stream(id);
    char name[TRACE_EVENT_NAME_MAX + 1];

    ck_ok(posix_trace_clear(trid));
    ck_ok(posix_trace_eventid_get_name(trid, id, name));
    ck_assert_str_eq(name, "kept");
    ck_ok(posix_trace_trid_eventid_open(trid, "kept", &again));
    ck_assert_uint_eq(again, id);
    ck_assert_uint_eq(th_id("kept"), id);
    ck_ok(posix_trace_shutdown(trid));
}
END_TEST

START_TEST(test_233_records_again)
{
    trace_event_id_t id = th_id("before"), after = th_id("after");
    trace_id_t trid = overrun_stream(id);
    struct th_list list;

    for (uint32_t round = 0; round < 20; round++) {
        ck_ok(posix_trace_clear(trid));
        th_put_run(after, round, 5, LEN);
        list = th_drain(trid);
        ck_assert_uint_eq(th_only(list, after).n, 5);
        th_expect_run(th_only(list, after), round);
        ck_assert_uint_eq(th_find(list, id, 0), list.n);
    }
    ck_ok(posix_trace_shutdown(trid));
}
END_TEST

START_TEST(test_234_log)
{
    trace_event_id_t before = th_id("before"), after = th_id("after");
    char path[TH_PATH];
    int fd = th_file(path, O_RDWR);
    trace_id_t trid = th_stream_log(fd, .stream_size = 65536, .log_size = 100000,
                                    .log_policy = POSIX_TRACE_UNTIL_FULL);
    struct th_list list;

    ck_ok(posix_trace_start(trid));
    for (uint32_t i = 0; i < 20; i++) {
        th_put_run(before, i * 100, 100, LEN);
        th_flush(trid);
    }
    ck_assert_int_eq(th_status(trid).posix_log_full_status, POSIX_TRACE_FULL);
    ck_ok(posix_trace_clear(trid));
    ck_assert_int_eq(th_status(trid).posix_log_full_status, POSIX_TRACE_NOT_FULL);
    ck_assert_int_eq(th_status(trid).posix_stream_status, POSIX_TRACE_RUNNING);
    th_put_run(after, 0, 300, LEN);
    ck_ok(posix_trace_shutdown(trid));
    close(fd);
    list = th_log_events(path);
    ck_assert_uint_eq(th_find(list, before, 0), list.n);
    ck_assert_uint_eq(th_only(list, after).n, 300);
    th_expect_run(th_only(list, after), 0);
}
END_TEST

START_TEST(test_235_invalid_trid)
{
    char path[TH_PATH];
    trace_id_t gone = th_stream(), log;

    ck_ok(posix_trace_shutdown(gone));
    th_make_log(path, 10, LEN);
    log = th_open(path);
    ck_fails(posix_trace_clear(gone), EINVAL);
    ck_fails(posix_trace_clear(log), EINVAL);
    ck_fails(posix_trace_clear(0xdeadbeef), EINVAL);
    th_close(log);
    th_expect_made_log(path, 10);
}
END_TEST

/* R-5 by the letter: the stream is as if it had just been created. */
START_TEST(test_236_filter_and_overrun)
{
    trace_event_id_t id = th_id("many"), filtered = th_id("filtered");
    trace_event_set_t set = th_set(filtered), filter, none = th_set();
    trace_id_t trid = overrun_stream(id);

    ck_ok(posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET));
    ck_ok(posix_trace_clear(trid));
    ck_ok(posix_trace_get_filter(trid, &filter));
    ck_assert(th_same_members(&filter, &none, &filtered, 1));
    ck_assert_int_eq(th_status(trid).posix_stream_overrun_status, POSIX_TRACE_NO_OVERRUN);
    th_put(filtered, 0, LEN);
    ck_assert_uint_eq(th_only(th_drain(trid), filtered).n, 1);
    ck_ok(posix_trace_shutdown(trid));
}
END_TEST

static void add(TCase *tc)
{
    tcase_add_test(tc, test_230_events_gone);
    tcase_add_test(tc, test_231_status_kept);
    tcase_add_test(tc, test_232_names_kept);
    tcase_add_test(tc, test_233_records_again);
    tcase_add_test(tc, test_234_log);
    tcase_add_test(tc, test_235_invalid_trid);
    tcase_add_test(tc, test_236_filter_and_overrun);
}

int main(void)
{
    return th_main("K clear", add);
}
