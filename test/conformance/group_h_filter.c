/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Group H, second part: the filter of a stream.  A type in the filter is not
 * recorded.
 */
#include "support/trace_helpers.h"

#include <fcntl.h>

static trace_event_set_t filter_of(trace_id_t trid)
{
    trace_event_set_t set;

    memset(&set, 0xff, sizeof set);
    ck_ok(posix_trace_get_filter(trid, &set));
    return set;
}

/* Three user types, opened by each test that needs them. */
static trace_event_id_t ids[3];

static void open_ids(void)
{
    ids[0] = th_id("filter a");
    ids[1] = th_id("filter b");
    ids[2] = th_id("filter c");
}

static void expect_filter(trace_id_t trid, const trace_event_set_t *want)
{
    trace_event_set_t filter = filter_of(trid);

    ck_assert(th_same_members(&filter, want, ids, 3));
}

static void change(trace_id_t trid, trace_event_set_t set, int how)
{
    ck_ok(posix_trace_set_filter(trid, &set, how));
}

START_TEST(test_174_set)
{
    trace_id_t trid = th_stream();
    trace_event_set_t set;

    open_ids();
    set = th_set(ids[0], ids[2], POSIX_TRACE_FLUSH_START);
    change(trid, th_set(ids[1]), POSIX_TRACE_SET_EVENTSET);
    change(trid, set, POSIX_TRACE_SET_EVENTSET);
    expect_filter(trid, &set);
    ck_ok(posix_trace_shutdown(trid));
}
END_TEST

START_TEST(test_175_add_and_sub)
{
    trace_id_t trid = th_stream();
    trace_event_set_t all, some;

    open_ids();
    all = th_set(ids[0], ids[1], ids[2]);
    some = th_set(ids[0], ids[2]);
    change(trid, th_set(ids[0], ids[1]), POSIX_TRACE_SET_EVENTSET);
    change(trid, th_set(ids[1], ids[2]), POSIX_TRACE_ADD_EVENTSET);
    expect_filter(trid, &all);
    change(trid, th_set(ids[1]), POSIX_TRACE_SUB_EVENTSET);
    expect_filter(trid, &some);
    change(trid, th_set(ids[1], POSIX_TRACE_ERROR), POSIX_TRACE_SUB_EVENTSET);
    expect_filter(trid, &some);
    ck_ok(posix_trace_shutdown(trid));
}
END_TEST

START_TEST(test_176_before_start)
{
    trace_id_t trid = th_stream();

    open_ids();
    change(trid, th_set(ids[0]), POSIX_TRACE_SET_EVENTSET);
    ck_assert_uint_eq(th_drain(trid).n, 0);
    ck_ok(posix_trace_start(trid));
    th_expect(th_drain(trid), POSIX_TRACE_START);
    ck_ok(posix_trace_stop(trid));
    change(trid, th_set(ids[1]), POSIX_TRACE_SET_EVENTSET);
    th_expect(th_drain(trid), POSIX_TRACE_STOP);
    ck_ok(posix_trace_shutdown(trid));
}
END_TEST

/* The two sets in a FILTER event. */
static void expect_filter_event(const struct th_event *e, const trace_event_set_t *old,
                                const trace_event_set_t *new)
{
    trace_event_set_t in_event[2];

    ck_assert_uint_eq(e->info.posix_event_id, POSIX_TRACE_FILTER);
    ck_assert_uint_eq(e->len, sizeof in_event);
    memcpy(in_event, e->data, sizeof in_event);
    ck_assert(th_same_members(&in_event[0], old, ids, 3));
    ck_assert(th_same_members(&in_event[1], new, ids, 3));
}

START_TEST(test_177_while_running)
{
    trace_id_t trid = th_stream();
    trace_event_set_t none = th_set(), first, second;
    struct th_list list;

    open_ids();
    first = th_set(ids[0]);
    second = th_set(ids[0], ids[1]);
    ck_ok(posix_trace_start(trid));
    change(trid, first, POSIX_TRACE_SET_EVENTSET);
    change(trid, th_set(ids[1]), POSIX_TRACE_ADD_EVENTSET);
    list = th_drain(trid);
    th_expect(list, POSIX_TRACE_START, POSIX_TRACE_FILTER, POSIX_TRACE_FILTER);
    expect_filter_event(&list.at[1], &none, &first);
    expect_filter_event(&list.at[2], &first, &second);
    ck_ok(posix_trace_shutdown(trid));
}
END_TEST

START_TEST(test_178_filter_data)
{
    trace_id_t trid = th_stream(.max_data = 1);
    trace_event_set_t none = th_set(), all;
    struct th_list list;

    open_ids();
    ck_ok(posix_trace_eventset_fill(&all, POSIX_TRACE_ALL_EVENTS));
    ck_ok(posix_trace_eventset_del(POSIX_TRACE_FILTER, &all));
    ck_ok(posix_trace_start(trid));
    change(trid, all, POSIX_TRACE_SET_EVENTSET);
    list = th_drain(trid);
    th_expect(list, POSIX_TRACE_START, POSIX_TRACE_FILTER);
    expect_filter_event(&list.at[1], &none, &all);
    ck_assert_int_eq(list.at[1].info.posix_truncation_status, POSIX_TRACE_NOT_TRUNCATED);
    ck_ok(posix_trace_shutdown(trid));
}
END_TEST

static void put_each(void)
{
    for (size_t i = 0; i < 3; i++)
        th_put(ids[i], 1, 4);
}

START_TEST(test_179_dropped)
{
    trace_id_t trid = th_stream();

    open_ids();
    change(trid, th_set(ids[1]), POSIX_TRACE_SET_EVENTSET);
    ck_ok(posix_trace_start(trid));
    put_each();
    th_expect(th_drain(trid), POSIX_TRACE_START, ids[0], ids[2]);
    ck_ok(posix_trace_shutdown(trid));
}
END_TEST

START_TEST(test_180_recorded_again)
{
    trace_id_t trid = th_stream();

    open_ids();
    change(trid, th_set(ids[1], ids[2]), POSIX_TRACE_SET_EVENTSET);
    ck_ok(posix_trace_start(trid));
    put_each();
    change(trid, th_set(ids[1]), POSIX_TRACE_SUB_EVENTSET);
    put_each();
    th_expect(th_drain(trid), POSIX_TRACE_START, ids[0], POSIX_TRACE_FILTER, ids[0], ids[1]);
    ck_ok(posix_trace_shutdown(trid));
}
END_TEST

START_TEST(test_181_set_is_copied)
{
    trace_id_t trid = th_stream();
    trace_event_set_t set, before;

    open_ids();
    before = set = th_set(ids[0]);
    change(trid, set, POSIX_TRACE_SET_EVENTSET);
    ck_ok(posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET));
    ck_ok(posix_trace_eventset_add(ids[1], &set));
    ck_ok(posix_trace_eventset_del(ids[0], &set));
    expect_filter(trid, &before);
    ck_ok(posix_trace_start(trid));
    put_each();
    th_expect(th_drain(trid), POSIX_TRACE_START, ids[1], ids[2]);
    ck_ok(posix_trace_shutdown(trid));
}
END_TEST

START_TEST(test_182_invalid_trid)
{
    char path[TH_PATH];
    int fd = th_file(path, O_RDWR);
    trace_id_t gone = th_stream_log(fd), log;
    trace_event_set_t set = th_set();

    ck_ok(posix_trace_shutdown(gone));
    close(fd);
    log = th_open(path);
    for (size_t i = 0; i < 3; i++) {
        trace_id_t trid = (trace_id_t[]){ gone, log, 0xdeadbeef }[i];
        ck_fails(posix_trace_get_filter(trid, &set), EINVAL);
        ck_fails(posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET), EINVAL);
    }
    th_close(log);
}
END_TEST

START_TEST(test_183_bad_how)
{
    static const int bad[] = { 0, -1, 12345, POSIX_TRACE_ALL_EVENTS, POSIX_TRACE_LOOP };
    trace_id_t trid = th_stream();
    trace_event_set_t filter, set;

    open_ids();
    filter = th_set(ids[0]);
    set = th_set(ids[1]);
    change(trid, filter, POSIX_TRACE_SET_EVENTSET);
    ck_ok(posix_trace_start(trid));
    for (size_t i = 0; i < TH_COUNT(bad); i++)
        ck_fails(posix_trace_set_filter(trid, &set, bad[i]), EINVAL);
    expect_filter(trid, &filter);
    th_expect(th_drain(trid), POSIX_TRACE_START);
    ck_ok(posix_trace_shutdown(trid));
}
END_TEST

START_TEST(test_184_all_events)
{
    trace_id_t trid = th_stream();
    trace_event_set_t all;
    struct th_list list;

    open_ids();
    ck_ok(posix_trace_eventset_fill(&all, POSIX_TRACE_ALL_EVENTS));
    ck_ok(posix_trace_start(trid));
    change(trid, all, POSIX_TRACE_SET_EVENTSET);
    put_each();
    th_put(POSIX_TRACE_UNNAMED_USEREVENT, 1, 4);
    ck_assert_int_eq(th_status(trid).posix_stream_status, POSIX_TRACE_RUNNING);
    list = th_drain(trid);
    for (size_t i = 0; i < 3; i++)
        ck_assert_uint_eq(th_find(list, ids[i], 0), list.n);
    ck_assert_uint_eq(th_find(list, POSIX_TRACE_UNNAMED_USEREVENT, 0), list.n);
    ck_ok(posix_trace_shutdown(trid));
}
END_TEST

START_TEST(test_185_other_stream)
{
    trace_id_t a = th_stream(), b = th_stream();
    trace_event_set_t none = th_set();

    open_ids();
    ck_ok(posix_trace_start(a));
    ck_ok(posix_trace_start(b));
    change(a, th_set(ids[0]), POSIX_TRACE_SET_EVENTSET);
    expect_filter(b, &none);
    put_each();
    th_expect(th_drain(a), POSIX_TRACE_START, POSIX_TRACE_FILTER, ids[1], ids[2]);
    th_expect(th_drain(b), POSIX_TRACE_START, ids[0], ids[1], ids[2]);
    ck_ok(posix_trace_shutdown(a));
    ck_ok(posix_trace_shutdown(b));
}
END_TEST

START_TEST(test_186_name_opened_by_controller)
{
    trace_id_t trid = th_stream();
    trace_event_id_t id;

    open_ids();
    ck_ok(posix_trace_trid_eventid_open(trid, "not yet opened", &id));
    change(trid, th_set(id), POSIX_TRACE_SET_EVENTSET);
    ck_ok(posix_trace_start(trid));
    th_put(th_id("not yet opened"), 1, 4);
    th_put(ids[0], 1, 4);
    th_expect(th_drain(trid), POSIX_TRACE_START, ids[0]);
    ck_ok(posix_trace_shutdown(trid));
}
END_TEST

static void add(TCase *tc)
{
    tcase_add_test(tc, test_174_set);
    tcase_add_test(tc, test_175_add_and_sub);
    tcase_add_test(tc, test_176_before_start);
    tcase_add_test(tc, test_177_while_running);
    tcase_add_test(tc, test_178_filter_data);
    tcase_add_test(tc, test_179_dropped);
    tcase_add_test(tc, test_180_recorded_again);
    tcase_add_test(tc, test_181_set_is_copied);
    tcase_add_test(tc, test_182_invalid_trid);
    tcase_add_test(tc, test_183_bad_how);
    tcase_add_test(tc, test_184_all_events);
    tcase_add_test(tc, test_185_other_stream);
    tcase_add_test(tc, test_186_name_opened_by_controller);
}

int main(void)
{
    return th_main("H filter", add);
}
