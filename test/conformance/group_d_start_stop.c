/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Group D: start, stop, and the status of a stream.
 */
#include "support/trace_helpers.h"

#include <fcntl.h>

#define SMALL 16384

/* Ends of the program's own code, set by the linker. */
extern const char __executable_start[], etext[];

/* Events of 64 bytes, together ten times the stream. */
static uint32_t overfill(trace_id_t trid, trace_event_id_t id)
{
    uint32_t n = (uint32_t)(10 * th_stream_size(trid) / 64);

    th_put_run(id, 0, n, 64);
    return n;
}

/* A stream with policy UNTIL_FULL that has stopped by itself. */
static trace_id_t auto_stopped(trace_event_id_t id)
{
    trace_id_t trid = th_stream(.policy = POSIX_TRACE_UNTIL_FULL, .stream_size = SMALL);
    struct posix_trace_status_info s;

    ck_ok(posix_trace_start(trid));
    overfill(trid, id);
    s = th_status(trid);
    ck_assert_int_eq(s.posix_stream_status, POSIX_TRACE_SUSPENDED);
    ck_assert_int_eq(s.posix_stream_full_status, POSIX_TRACE_FULL);
    return trid;
}

static size_t count(struct th_list list, trace_event_id_t id)
{
    return th_only(list, id).n;
}

START_TEST(test_071_start)
{
    trace_id_t trid = th_stream();

    ck_ok(posix_trace_start(trid));
    ck_assert_int_eq(th_status(trid).posix_stream_status, POSIX_TRACE_RUNNING);
    th_expect(th_drain(trid), POSIX_TRACE_START);
    ck_ok(posix_trace_shutdown(trid));
}
END_TEST

START_TEST(test_072_start_running)
{
    trace_id_t trid = th_stream();

    ck_ok(posix_trace_start(trid));
    ck_ok(posix_trace_start(trid));
    ck_assert_int_eq(th_status(trid).posix_stream_status, POSIX_TRACE_RUNNING);
    th_expect(th_drain(trid), POSIX_TRACE_START);
    ck_ok(posix_trace_shutdown(trid));
}
END_TEST

START_TEST(test_073_stop)
{
    trace_id_t trid = th_stream();
    struct th_list list;

    ck_ok(posix_trace_start(trid));
    ck_ok(posix_trace_stop(trid));
    ck_assert_int_eq(th_status(trid).posix_stream_status, POSIX_TRACE_SUSPENDED);
    list = th_drain(trid);
    th_expect(list, POSIX_TRACE_START, POSIX_TRACE_STOP);
    ck_assert_int_eq(th_int(&list.at[1]), 0);
    ck_ok(posix_trace_shutdown(trid));
}
END_TEST

START_TEST(test_074_stop_suspended)
{
    trace_id_t trid = th_stream();

    ck_ok(posix_trace_start(trid));
    ck_ok(posix_trace_stop(trid));
    ck_ok(posix_trace_stop(trid));
    th_expect(th_drain(trid), POSIX_TRACE_START, POSIX_TRACE_STOP);
    ck_ok(posix_trace_shutdown(trid));
}
END_TEST

START_TEST(test_075_stop_never_started)
{
    trace_id_t trid = th_stream();

    ck_ok(posix_trace_stop(trid));
    ck_assert_uint_eq(th_drain(trid).n, 0);
    ck_ok(posix_trace_shutdown(trid));
}
END_TEST

START_TEST(test_076_pre_recorded)
{
    char path[TH_PATH];
    int fd = th_file(path, O_RDWR);
    trace_id_t trid = th_stream_log(fd);

    ck_ok(posix_trace_shutdown(trid));
    close(fd);
    trid = th_open(path);
    ck_fails(posix_trace_start(trid), EINVAL);
    ck_fails(posix_trace_stop(trid), EINVAL);
    th_close(trid);
}
END_TEST

START_TEST(test_077_invalid_trid)
{
    trace_id_t trid = th_stream();

    ck_ok(posix_trace_shutdown(trid));
    ck_fails(posix_trace_start(trid), EINVAL);
    ck_fails(posix_trace_stop(trid), EINVAL);
    ck_fails(posix_trace_start(0xdeadbeef), EINVAL);
    ck_fails(posix_trace_stop(0xdeadbeef), EINVAL);
}
END_TEST

/* The START event's data are the filter in force. */
static void start_shows_filter(const trace_event_set_t *change)
{
    trace_event_id_t ids[] = { th_id("filtered one"), th_id("filtered two") };
    trace_id_t trid = th_stream();
    trace_event_set_t filter, in_event;
    struct th_list list;

    if (change)
        ck_ok(posix_trace_set_filter(trid, change, POSIX_TRACE_SET_EVENTSET));
    ck_ok(posix_trace_get_filter(trid, &filter));
    ck_ok(posix_trace_start(trid));
    list = th_drain(trid);
    th_expect(list, POSIX_TRACE_START);
    ck_assert_uint_eq(list.at[0].len, sizeof in_event);
    memcpy(&in_event, list.at[0].data, sizeof in_event);
    ck_assert(th_same_members(&in_event, &filter, ids, 2));
    if (change)
        ck_assert(th_same_members(&in_event, change, ids, 2));
    ck_ok(posix_trace_shutdown(trid));
}

START_TEST(test_078_start_data)
{
    start_shows_filter(NULL);
}
END_TEST

START_TEST(test_079_start_data_after_set_filter)
{
    trace_event_set_t set = th_set(th_id("filtered one"), POSIX_TRACE_FLUSH_STOP);

    start_shows_filter(&set);
}
END_TEST

START_TEST(test_080_stop_data)
{
    trace_id_t trid = th_stream();
    struct th_list list;

    ck_ok(posix_trace_start(trid));
    ck_ok(posix_trace_stop(trid));
    list = th_drain(trid);
    th_expect(list, POSIX_TRACE_START, POSIX_TRACE_STOP);
    ck_assert_uint_eq(list.at[1].len, sizeof(int));
    ck_ok(posix_trace_shutdown(trid));
}
END_TEST

START_TEST(test_081_suspended_records_nothing)
{
    trace_event_id_t id = th_id("outside");
    trace_id_t trid = th_stream();

    th_put(id, 0, 4);
    ck_ok(posix_trace_start(trid));
    ck_ok(posix_trace_stop(trid));
    th_put(id, 1, 4);
    th_expect(th_drain(trid), POSIX_TRACE_START, POSIX_TRACE_STOP);
    ck_ok(posix_trace_shutdown(trid));
}
END_TEST

START_TEST(test_082_start_again)
{
    trace_event_id_t id = th_id("twice");
    trace_id_t trid = th_stream();
    struct th_list list;

    ck_ok(posix_trace_start(trid));
    th_put(id, 0, 4);
    ck_ok(posix_trace_stop(trid));
    ck_ok(posix_trace_start(trid));
    th_put(id, 1, 4);
    list = th_drain(trid);
    th_expect(list, POSIX_TRACE_START, id, POSIX_TRACE_STOP, POSIX_TRACE_START, id);
    th_expect_run(th_only(list, id), 0);
    ck_ok(posix_trace_shutdown(trid));
}
END_TEST

START_TEST(test_083_overrun_told_once)
{
    trace_id_t trid = th_stream(.stream_size = SMALL);

    ck_ok(posix_trace_start(trid));
    overfill(trid, th_id("many"));
    ck_assert_int_eq(th_status(trid).posix_stream_overrun_status, POSIX_TRACE_OVERRUN);
    ck_assert_int_eq(th_status(trid).posix_stream_overrun_status, POSIX_TRACE_NO_OVERRUN);
    ck_ok(posix_trace_shutdown(trid));
}
END_TEST

START_TEST(test_084_overrun_of_another_stream)
{
    trace_id_t a = th_stream(.stream_size = SMALL), b = th_stream(.stream_size = SMALL);

    ck_ok(posix_trace_start(a));
    ck_ok(posix_trace_start(b));
    overfill(a, th_id("many"));
    ck_assert_int_eq(th_status(a).posix_stream_overrun_status, POSIX_TRACE_OVERRUN);
    ck_assert_int_eq(th_status(b).posix_stream_overrun_status, POSIX_TRACE_OVERRUN);
    ck_ok(posix_trace_shutdown(a));
    ck_ok(posix_trace_shutdown(b));
}
END_TEST

START_TEST(test_085_invalid_trid)
{
    trace_id_t trid = th_stream();
    struct posix_trace_status_info status;
    trace_attr_t attr;

    ck_ok(posix_trace_shutdown(trid));
    ck_fails(posix_trace_get_status(trid, &status), EINVAL);
    ck_fails(posix_trace_get_attr(trid, &attr), EINVAL);
    ck_fails(posix_trace_get_status(0xdeadbeef, &status), EINVAL);
    ck_fails(posix_trace_get_attr(0xdeadbeef, &attr), EINVAL);
}
END_TEST

/* a full LOOP stream is stopped, and STOP overwrites the oldest event. */
START_TEST(test_086_stop_full_loop)
{
    trace_event_id_t id = th_id("many");
    trace_id_t trid = th_stream(.stream_size = SMALL);
    struct th_list list;

    ck_ok(posix_trace_start(trid));
    overfill(trid, id);
    ck_ok(posix_trace_stop(trid));
    ck_assert_int_eq(th_status(trid).posix_stream_status, POSIX_TRACE_SUSPENDED);
    list = th_drain(trid);
    ck_assert_uint_eq(list.at[list.n - 1].info.posix_event_id, POSIX_TRACE_STOP);
    ck_assert_int_eq(th_int(&list.at[list.n - 1]), 0);
    ck_ok(posix_trace_shutdown(trid));
}
END_TEST

static void still_stopped_and_full(trace_id_t trid)
{
    struct posix_trace_status_info s = th_status(trid);

    ck_assert_int_eq(s.posix_stream_status, POSIX_TRACE_SUSPENDED);
    ck_assert_int_eq(s.posix_stream_full_status, POSIX_TRACE_FULL);
}

START_TEST(test_087_start_auto_stopped)
{
    trace_event_id_t id = th_id("many");
    trace_id_t trid = auto_stopped(id);
    struct th_list list;
    size_t stop;

    ck_ok(posix_trace_start(trid));
    still_stopped_and_full(trid);
    list = th_drain(trid);
    stop = th_find(list, POSIX_TRACE_STOP, 0);
    ck_assert_uint_lt(stop, list.n);
    list.n = stop;
    ck_assert_uint_eq(count(list, POSIX_TRACE_START), 1);
    ck_ok(posix_trace_shutdown(trid));
}
END_TEST

/* no STOP and no other status; but the stream does not start again when it is
 * emptied, only by posix_trace_start(). */
START_TEST(test_088_stop_auto_stopped)
{
    trace_event_id_t id = th_id("many"), late = th_id("late");
    trace_id_t trid = auto_stopped(id);
    struct th_list list;

    ck_ok(posix_trace_stop(trid));
    still_stopped_and_full(trid);
    list = th_drain(trid);
    ck_assert_uint_eq(count(list, POSIX_TRACE_STOP), 1);
    ck_assert_int_ne(th_int(&list.at[th_find(list, POSIX_TRACE_STOP, 0)]), 0);
    ck_assert_int_eq(th_status(trid).posix_stream_status, POSIX_TRACE_SUSPENDED);
    ck_assert_int_eq(th_status(trid).posix_stream_full_status, POSIX_TRACE_NOT_FULL);
    th_put_run(late, 0, 1, 8);
    ck_assert_uint_eq(th_drain(trid).n, 0);
    ck_ok(posix_trace_start(trid));
    th_put_run(late, 0, 1, 8);
    th_expect(th_drain(trid), POSIX_TRACE_START, late);
    ck_ok(posix_trace_shutdown(trid));
}
END_TEST

START_TEST(test_089_address_of_start_and_stop)
{
    trace_id_t trid = th_stream();
    struct th_list list;

    ck_ok(posix_trace_start(trid));
    ck_ok(posix_trace_stop(trid));
    list = th_drain(trid);
    th_expect(list, POSIX_TRACE_START, POSIX_TRACE_STOP);
    for (size_t i = 0; i < list.n; i++) {
        const char *address = list.at[i].info.posix_prog_address;
        ck_assert(address >= __executable_start && address < etext);
    }
    ck_ok(posix_trace_shutdown(trid));
}
END_TEST

START_TEST(test_090_auto_stopped_then_drained)
{
    trace_id_t trid = auto_stopped(th_id("many"));

    th_drain(trid);
    ck_assert_int_eq(th_status(trid).posix_stream_full_status, POSIX_TRACE_NOT_FULL);
    ck_ok(posix_trace_shutdown(trid));
}
END_TEST

static void add(TCase *tc)
{
    tcase_add_test(tc, test_071_start);
    tcase_add_test(tc, test_072_start_running);
    tcase_add_test(tc, test_073_stop);
    tcase_add_test(tc, test_074_stop_suspended);
    tcase_add_test(tc, test_075_stop_never_started);
    tcase_add_test(tc, test_076_pre_recorded);
    tcase_add_test(tc, test_077_invalid_trid);
    tcase_add_test(tc, test_078_start_data);
    tcase_add_test(tc, test_079_start_data_after_set_filter);
    tcase_add_test(tc, test_080_stop_data);
    tcase_add_test(tc, test_081_suspended_records_nothing);
    tcase_add_test(tc, test_082_start_again);
    tcase_add_test(tc, test_083_overrun_told_once);
    tcase_add_test(tc, test_084_overrun_of_another_stream);
    tcase_add_test(tc, test_085_invalid_trid);
    tcase_add_test(tc, test_086_stop_full_loop);
    tcase_add_test(tc, test_087_start_auto_stopped);
    tcase_add_test(tc, test_088_stop_auto_stopped);
    tcase_add_test(tc, test_089_address_of_start_and_stop);
    tcase_add_test(tc, test_090_auto_stopped_then_drained);
}

int main(void)
{
    return th_main("D start, stop, status", add);
}
