/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Group E, second part: trace points.
 */
#include "support/trace_helpers.h"

START_TEST(test_110_no_stream)
{
    trace_event_id_t id = th_id("nowhere");
    trace_id_t trid;

    errno = 4711;
    th_put(id, 1, 4);
    ck_assert_int_eq(errno, 4711);
    trid = th_running();
    ck_assert_uint_eq(th_drain(trid).n, 0);
    errno = 4711;
    th_put(id, 2, 4);
    ck_assert_int_eq(errno, 4711);
    ck_ok(posix_trace_shutdown(trid));
}
END_TEST

START_TEST(test_111_who_and_what)
{
    trace_event_id_t id = th_id("who");
    trace_id_t trid = th_running();
    struct th_event e;

    th_put(id, 42, 24);
    e = th_next(trid);
    ck_assert_uint_eq(e.info.posix_event_id, id);
    ck_assert_int_eq(e.info.posix_pid, getpid());
    ck_assert(pthread_equal(e.info.posix_thread_id, pthread_self()));
    ck_assert_int_eq(e.info.posix_truncation_status, POSIX_TRACE_NOT_TRUNCATED);
    ck_assert_uint_eq(e.len, 24);
    th_expect_run((struct th_list){ &e, 1 }, 42);
    ck_assert_uint_eq(th_drain(trid).n, 0);
    ck_ok(posix_trace_shutdown(trid));
}
END_TEST

START_TEST(test_112_no_data)
{
    trace_event_id_t id = th_id("no data");
    trace_id_t trid = th_running();
    struct th_event e;

    posix_trace_event(id, NULL, 0);
    e = th_next(trid);
    ck_assert_uint_eq(e.info.posix_event_id, id);
    ck_assert_uint_eq(e.len, 0);
    ck_assert_int_eq(e.info.posix_truncation_status, POSIX_TRACE_NOT_TRUNCATED);
    ck_ok(posix_trace_shutdown(trid));
}
END_TEST

/* Records put bytes into streams of different max-data-size. */
static void recorded_length(size_t max_data, size_t put, size_t expected, int status)
{
    trace_event_id_t id = th_id("long");
    trace_id_t trid = th_running(.max_data = max_data);
    struct th_event e;

    th_put(id, 7, put);
    e = th_next(trid);
    ck_assert_uint_eq(e.len, expected);
    ck_assert_int_eq(e.info.posix_truncation_status, status);
    th_expect_run((struct th_list){ &e, 1 }, 7);
    ck_assert_uint_eq(th_drain(trid).n, 0);
    ck_ok(posix_trace_shutdown(trid));
}

START_TEST(test_113_longest_data)
{
    for (size_t max = 4; max < 5000; max += 1 + max / 3)
        recorded_length(max, max, max, POSIX_TRACE_NOT_TRUNCATED);
}
END_TEST

START_TEST(test_114_data_too_long)
{
    for (size_t max = 4; max < 5000; max += 1 + max / 3) {
        recorded_length(max, max + 1, max, POSIX_TRACE_TRUNCATED_RECORD);
        recorded_length(max, 60000, max, POSIX_TRACE_TRUNCATED_RECORD);
    }
}
END_TEST

START_TEST(test_115_buffer_overwritten)
{
    trace_event_id_t id = th_id("copied");
    trace_id_t trid = th_running();
    char buffer[32] = "as it was at the call";
    struct th_event e;

    posix_trace_event(id, buffer, sizeof buffer);
    memset(buffer, '#', sizeof buffer);
    e = th_next(trid);
    ck_assert_uint_eq(e.len, sizeof buffer);
    ck_assert_str_eq((char *)e.data, "as it was at the call");
    ck_ok(posix_trace_shutdown(trid));
}
END_TEST

/* Two call sites, each in a section of its own, so that the linker tells where
 * each begins and ends.  The empty asm keeps the call from becoming a jump. */
#define SITE(name)                                                                          \
    extern const char __start_##name##_code[], __stop_##name##_code[];                      \
    __attribute__((noinline, section(#name "_code"))) static void name(trace_event_id_t id) \
    {                                                                                       \
        posix_trace_event(id, NULL, 0);                                                     \
        __asm__ volatile("");                                                               \
    }
SITE(call_site_a)
SITE(call_site_b)

START_TEST(test_116_address)
{
    trace_event_id_t id = th_id("from here");
    trace_id_t trid = th_running();
    const char *a, *b;

    call_site_a(id);
    call_site_b(id);
    a = th_next(trid).info.posix_prog_address;
    b = th_next(trid).info.posix_prog_address;
    ck_assert(a >= __start_call_site_a_code && a <= __stop_call_site_a_code);
    ck_assert(b >= __start_call_site_b_code && b <= __stop_call_site_b_code);
    ck_assert_ptr_ne(a, b);
    ck_ok(posix_trace_shutdown(trid));
}
END_TEST

START_TEST(test_117_timestamps)
{
    trace_event_id_t id = th_id("tick");
    trace_id_t trid = th_running();
    struct th_list list;

    th_put_run(id, 0, 5000, 4);
    list = th_drain(trid);
    ck_assert_uint_eq(list.n, 5000);
    for (size_t i = 1; i < list.n; i++)
        ck_assert_int_ge(th_ns(list.at[i].info.posix_timestamp),
                         th_ns(list.at[i - 1].info.posix_timestamp));
    ck_ok(posix_trace_shutdown(trid));
}
END_TEST

START_TEST(test_118_two_streams)
{
    trace_event_id_t id = th_id("both");
    trace_id_t a = th_running(), b = th_running();
    struct th_list in_a, in_b;

    th_put_run(id, 10, 5, 20);
    in_a = th_drain(a);
    in_b = th_drain(b);
    ck_assert_uint_eq(in_a.n, 5);
    ck_assert_uint_eq(in_b.n, 5);
    th_expect_run(in_a, 10);
    th_expect_run(in_b, 10);
    ck_ok(posix_trace_shutdown(a));
    ck_ok(posix_trace_shutdown(b));
}
END_TEST

START_TEST(test_119_filtered_in_one)
{
    trace_event_id_t id = th_id("filtered in a"), other = th_id("not filtered");
    trace_id_t a = th_stream(), b = th_stream();
    trace_event_set_t set = th_set(id);

    ck_ok(posix_trace_set_filter(a, &set, POSIX_TRACE_SET_EVENTSET));
    ck_ok(posix_trace_start(a));
    ck_ok(posix_trace_start(b));
    th_put(id, 1, 4);
    th_put(other, 2, 4);
    th_expect(th_drain(a), POSIX_TRACE_START, other);
    th_expect(th_drain(b), POSIX_TRACE_START, id, other);
    ck_ok(posix_trace_shutdown(a));
    ck_ok(posix_trace_shutdown(b));
}
END_TEST

START_TEST(test_120_unnamed)
{
    trace_id_t trid = th_running();
    struct th_event e;

    th_put(POSIX_TRACE_UNNAMED_USEREVENT, 99, 40);
    e = th_next(trid);
    ck_assert_uint_eq(e.info.posix_event_id, POSIX_TRACE_UNNAMED_USEREVENT);
    ck_assert_uint_eq(e.len, 40);
    th_expect_run((struct th_list){ &e, 1 }, 99);
    ck_ok(posix_trace_shutdown(trid));
}
END_TEST

static void *put_and_tell(void *id)
{
    static pthread_t self;

    th_put(*(trace_event_id_t *)id, 1, 4);
    self = pthread_self();
    return &self;
}

START_TEST(test_121_thread_id)
{
    trace_event_id_t id = th_id("second thread");
    trace_id_t trid = th_running();
    struct th_thread t;
    pthread_t other;
    struct th_list list;

    th_put(id, 0, 4);
    th_thread_start(&t, put_and_tell, &id);
    other = *(pthread_t *)th_thread_join(&t);
    list = th_drain(trid);
    th_expect(list, id, id);
    ck_assert(pthread_equal(list.at[0].info.posix_thread_id, pthread_self()));
    ck_assert(pthread_equal(list.at[1].info.posix_thread_id, other));
    ck_ok(posix_trace_shutdown(trid));
}
END_TEST

/* An application cannot forge a system event, and an id beyond all limits is
 * dropped.  A user id that was never opened may be recorded or not; a reader finds no name for
 * it. */
START_TEST(test_122_no_event_type)
{
    static const trace_event_id_t bad[] = {
        0,    POSIX_TRACE_START, POSIX_TRACE_STOP, POSIX_TRACE_ERROR, 100, 191, 1216, 2047,
        2048, 65536 + 193,       0x80000000u,      UINT32_MAX
    };
    const trace_event_id_t unopened = POSIX_TRACE_UNNAMED_USEREVENT + TRACE_USER_EVENT_MAX - 1;
    trace_event_id_t id = th_id("good");
    trace_id_t trid = th_running();
    char name[TRACE_EVENT_NAME_MAX + 1];
    struct th_list list, good;

    for (size_t i = 0; i < TH_COUNT(bad); i++)
        th_put(bad[i], 1, 8);
    th_put(unopened, 3, 8);
    th_put(id, 2, 8);
    list = th_drain(trid);
    good = th_only(list, id);
    ck_assert_uint_eq(good.n, 1);
    th_expect_run(good, 2);
    ck_assert_uint_eq(th_only(list, unopened).n + 1, list.n);
    ck_fails(posix_trace_eventid_get_name(trid, unopened, name), EINVAL);
    ck_ok(posix_trace_shutdown(trid));
}
END_TEST

static void add(TCase *tc)
{
    tcase_add_test(tc, test_110_no_stream);
    tcase_add_test(tc, test_111_who_and_what);
    tcase_add_test(tc, test_112_no_data);
    tcase_add_test(tc, test_113_longest_data);
    tcase_add_test(tc, test_114_data_too_long);
    tcase_add_test(tc, test_115_buffer_overwritten);
    tcase_add_test(tc, test_116_address);
    tcase_add_test(tc, test_117_timestamps);
    tcase_add_test(tc, test_118_two_streams);
    tcase_add_test(tc, test_119_filtered_in_one);
    tcase_add_test(tc, test_120_unnamed);
    tcase_add_test(tc, test_121_thread_id);
    tcase_add_test(tc, test_122_no_event_type);
}

int main(void)
{
    return th_main("E events", add);
}
