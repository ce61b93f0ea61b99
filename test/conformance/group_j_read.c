/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Group J, second part: pre-recorded streams.
 */
#include "support/trace_helpers.h"

#include <fcntl.h>

/* a descriptor that cannot be read does not correspond to a log. */
START_TEST(test_206_bad_descriptor)
{
    char path[TH_PATH];
    trace_id_t trid = 4711;
    int fd;

    th_make_log(path, 3, 10);
    fd = open(path, O_WRONLY);
    ck_fails(posix_trace_open(fd, &trid), EINVAL);
    close(fd);
    ck_fails(posix_trace_open(fd, &trid), EINVAL);
    ck_fails(posix_trace_open(-1, &trid), EINVAL);
    ck_assert_uint_eq(trid, 4711);
}
END_TEST

static bool at_end(trace_id_t trid)
{
    struct posix_trace_event_info info;
    size_t len;
    int unavailable = 0;

    ck_ok(posix_trace_getnext_event(trid, &info, NULL, 0, &len, &unavailable));
    return unavailable != 0;
}

START_TEST(test_207_never_started)
{
    char path[TH_PATH];
    int fd = th_file(path, O_RDWR);
    trace_id_t trid = th_stream_log(fd);

    ck_ok(posix_trace_shutdown(trid));
    close(fd);
    trid = th_open(path);
    ck_assert(at_end(trid));
    th_close(trid);
}
END_TEST

START_TEST(test_208_end_of_log)
{
    char path[TH_PATH];
    trace_id_t trid;

    th_make_log(path, 5, 10);
    trid = th_open(path);
    th_read_log(trid);
    for (int i = 0; i < 5; i++)
        ck_assert(at_end(trid));
    th_close(trid);
}
END_TEST

START_TEST(test_209_rewind)
{
    char path[TH_PATH];
    trace_id_t trid;
    size_t n;

    th_make_log(path, 500, 100);
    trid = th_open(path);
    ck_ok(posix_trace_rewind(trid));
    for (int i = 0; i < 100; i++)
        ck_assert(!at_end(trid));
    ck_ok(posix_trace_rewind(trid));
    n = th_read_log(trid).n;
    ck_assert_uint_ge(n, 502);
    ck_ok(posix_trace_rewind(trid));
    ck_assert_uint_eq(th_read_log(trid).n, n);
    th_close(trid);
    th_expect_made_log(path, 500);
}
END_TEST

START_TEST(test_210_close)
{
    struct posix_trace_status_info status;
    struct posix_trace_event_info info;
    char path[TH_PATH], name[TRACE_EVENT_NAME_MAX + 1];
    trace_attr_t attr;
    trace_event_id_t id;
    trace_id_t trid;
    size_t len;
    int unavailable;

    th_make_log(path, 5, 10);
    trid = th_open(path);
    th_close(trid);
    ck_fails(posix_trace_close(trid), EINVAL);
    ck_fails(posix_trace_rewind(trid), EINVAL);
    ck_fails(posix_trace_get_attr(trid, &attr), EINVAL);
    ck_fails(posix_trace_get_status(trid, &status), EINVAL);
    ck_fails(posix_trace_getnext_event(trid, &info, NULL, 0, &len, &unavailable), EINVAL);
    ck_fails(posix_trace_eventid_get_name(trid, POSIX_TRACE_START, name), EINVAL);
    ck_fails(posix_trace_eventtypelist_getnext_id(trid, &id, &unavailable), EINVAL);
    ck_fails(posix_trace_eventtypelist_rewind(trid), EINVAL);
}
END_TEST

START_TEST(test_211_trygetnext)
{
    struct posix_trace_event_info info;
    char path[TH_PATH];
    trace_id_t trid;
    size_t len;
    int unavailable;

    th_make_log(path, 5, 10);
    trid = th_open(path);
    ck_fails(posix_trace_trygetnext_event(trid, &info, NULL, 0, &len, &unavailable), EINVAL);
    ck_assert(!at_end(trid));
    th_close(trid);
}
END_TEST

START_TEST(test_212_not_for_logs)
{
    trace_event_set_t set = th_set();
    trace_event_id_t id;
    char path[TH_PATH];
    trace_id_t trid;

    th_make_log(path, 5, 10);
    trid = th_open(path);
    ck_fails(posix_trace_start(trid), EINVAL);
    ck_fails(posix_trace_stop(trid), EINVAL);
    ck_fails(posix_trace_clear(trid), EINVAL);
    ck_fails(posix_trace_flush(trid), EINVAL);
    ck_fails(posix_trace_shutdown(trid), EINVAL);
    ck_fails(posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET), EINVAL);
    ck_fails(posix_trace_get_filter(trid, &set), EINVAL);
    ck_fails(posix_trace_trid_eventid_open(trid, "new", &id), EINVAL);
    th_close(trid);
    th_expect_made_log(path, 5);
}
END_TEST

START_TEST(test_213_only_for_logs)
{
    trace_event_id_t id = th_id("still works");
    trace_id_t trid = th_stream();

    ck_ok(posix_trace_start(trid));
    ck_fails(posix_trace_rewind(trid), EINVAL);
    ck_fails(posix_trace_close(trid), EINVAL);
    th_put(id, 1, 4);
    th_expect(th_drain(trid), POSIX_TRACE_START, id);
    ck_ok(posix_trace_shutdown(trid));
}
END_TEST

START_TEST(test_214_opened_twice)
{
    char path[TH_PATH];
    trace_id_t a, b;
    size_t n;

    th_make_log(path, 300, 40);
    a = th_open(path);
    b = th_open(path);
    ck_assert_uint_ne(a, b);
    for (int i = 0; i < 50; i++)
        ck_assert(!at_end(a));
    n = th_read_log(b).n;
    ck_assert_uint_ge(n, 302);
    ck_assert_uint_eq(th_read_log(a).n, n - 50);
    th_close(a);
    ck_ok(posix_trace_rewind(b));
    ck_assert_uint_eq(th_read_log(b).n, n);
    th_close(b);
}
END_TEST

static void make_on(void *fd)
{
    th_make_log_on(*(int *)fd, 400, 40);
}

START_TEST(test_215_other_process)
{
    char path[TH_PATH];
    int fd = th_file(path, O_RDWR);

    th_in_child(make_on, &fd);
    close(fd);
    th_expect_made_log(path, 400);
}
END_TEST

static void add(TCase *tc)
{
    tcase_add_test(tc, test_206_bad_descriptor);
    tcase_add_test(tc, test_207_never_started);
    tcase_add_test(tc, test_208_end_of_log);
    tcase_add_test(tc, test_209_rewind);
    tcase_add_test(tc, test_210_close);
    tcase_add_test(tc, test_211_trygetnext);
    tcase_add_test(tc, test_212_not_for_logs);
    tcase_add_test(tc, test_213_only_for_logs);
    tcase_add_test(tc, test_214_opened_twice);
    tcase_add_test(tc, test_215_other_process);
}

int main(void)
{
    return th_main("J reading logs", add);
}
