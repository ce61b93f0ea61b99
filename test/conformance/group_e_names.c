/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Group E, first part: names of event types.
 *
 * Names are never released, so the tests that count them need a process in which none was opened:
 * th_add_fresh().
 */
#include "support/trace_helpers.h"

static trace_event_id_t trid_id(trace_id_t trid, const char *name)
{
    trace_event_id_t id = 0;

    ck_ok(posix_trace_trid_eventid_open(trid, name, &id));
    return id;
}

static void expect_name(trace_id_t trid, trace_event_id_t id, const char *name)
{
    char got[TRACE_EVENT_NAME_MAX + 1];

    ck_ok(posix_trace_eventid_get_name(trid, id, got));
    ck_assert_str_eq(got, name);
}

/* A name of the given length in a buffer of TRACE_EVENT_NAME_MAX + 2 bytes. */
static const char *long_name(char *buffer, size_t length)
{
    for (size_t i = 0; i < length; i++)
        buffer[i] = (char)('a' + i % 26);
    buffer[length] = '\0';
    return buffer;
}

START_TEST(test_091_open)
{
    trace_event_id_t id = th_id("new name");
    trace_id_t trid = th_stream();

    ck_ok(posix_trace_start(trid));
    th_put(id, 3, 4);
    th_expect(th_drain(trid), POSIX_TRACE_START, id);
    ck_ok(posix_trace_shutdown(trid));
}
END_TEST

START_TEST(test_092_open_twice)
{
    ck_assert_uint_eq(th_id("same"), th_id("same"));
}
END_TEST

START_TEST(test_093_two_names)
{
    trace_event_id_t a = th_id("one name"), b = th_id("other name");

    ck_assert_uint_ne(a, b);
    for (size_t i = 0; i < TH_PREDEFINED; i++) {
        ck_assert_uint_ne(a, th_predefined[i].id);
        ck_assert_uint_ne(b, th_predefined[i].id);
    }
}
END_TEST

START_TEST(test_094_name_of_30)
{
    char name[TRACE_EVENT_NAME_MAX + 2];
    trace_id_t trid = th_stream();

    long_name(name, 30);
    expect_name(trid, th_id(name), name);
    ck_ok(posix_trace_shutdown(trid));
}
END_TEST

START_TEST(test_095_longest_name)
{
    char name[TRACE_EVENT_NAME_MAX + 2];
    trace_id_t trid = th_stream();

    long_name(name, TRACE_EVENT_NAME_MAX);
    expect_name(trid, th_id(name), name);
    ck_ok(posix_trace_shutdown(trid));
}
END_TEST

START_TEST(test_096_name_too_long)
{
    char name[TRACE_EVENT_NAME_MAX + 2];
    trace_event_id_t id = 4711;

    long_name(name, TRACE_EVENT_NAME_MAX + 1);
    ck_fails(posix_trace_eventid_open(name, &id), ENAMETOOLONG);
    ck_assert_uint_eq(id, 4711);
}
END_TEST

START_TEST(test_097_opened_before_any_stream)
{
    trace_event_id_t id = th_id("early");
    trace_id_t trid = th_stream();

    expect_name(trid, id, "early");
    ck_ok(posix_trace_start(trid));
    th_put(id, 1, 4);
    th_expect(th_drain(trid), POSIX_TRACE_START, id);
    ck_ok(posix_trace_shutdown(trid));
}
END_TEST

/* Opens n names "n0", "n1", ...; all ids are new and none is the unnamed one. */
static void open_distinct(unsigned n)
{
    trace_event_id_t *ids = calloc(n, sizeof *ids);
    char name[32];

    ck_assert_ptr_nonnull(ids);
    for (unsigned i = 0; i < n; i++) {
        snprintf(name, sizeof name, "n%u", i);
        ids[i] = th_id(name);
        ck_assert_uint_ne(ids[i], POSIX_TRACE_UNNAMED_USEREVENT);
        for (unsigned j = 0; j < i; j++)
            ck_assert_uint_ne(ids[i], ids[j]);
    }
    free(ids);
}

START_TEST(test_098_31_names)
{
    open_distinct(31);
}
END_TEST

START_TEST(test_099_too_many_names)
{
    open_distinct(TRACE_USER_EVENT_MAX - 1);
    ck_assert_uint_eq(th_id("one too many"), POSIX_TRACE_UNNAMED_USEREVENT);
    ck_assert_uint_eq(th_id("two too many"), POSIX_TRACE_UNNAMED_USEREVENT);
}
END_TEST

START_TEST(test_100_known_name_at_the_limit)
{
    trace_event_id_t known = th_id("known");

    open_distinct(TRACE_USER_EVENT_MAX - 2);
    ck_assert_uint_eq(th_id("one too many"), POSIX_TRACE_UNNAMED_USEREVENT);
    ck_assert_uint_eq(th_id("known"), known);
    ck_assert_uint_ne(known, POSIX_TRACE_UNNAMED_USEREVENT);
    ck_assert_uint_ne(th_id("n17"), POSIX_TRACE_UNNAMED_USEREVENT);
}
END_TEST

START_TEST(test_101_controller_first)
{
    trace_id_t trid = th_stream();
    trace_event_id_t id = trid_id(trid, "controller first");

    ck_assert_uint_eq(th_id("controller first"), id);
    ck_ok(posix_trace_shutdown(trid));
}
END_TEST

START_TEST(test_102_target_first)
{
    trace_id_t trid = th_stream();
    trace_event_id_t id = th_id("target first");

    ck_assert_uint_eq(trid_id(trid, "target first"), id);
    ck_ok(posix_trace_shutdown(trid));
}
END_TEST

START_TEST(test_103_two_streams_same_id)
{
    trace_id_t a = th_stream(), b = th_stream();
    trace_event_id_t id = trid_id(a, "in both");

    ck_assert_uint_eq(trid_id(b, "in both"), id);
    expect_name(b, id, "in both");
    ck_ok(posix_trace_shutdown(a));
    ck_ok(posix_trace_shutdown(b));
}
END_TEST

START_TEST(test_104_trid_open_errors)
{
    char name[TRACE_EVENT_NAME_MAX + 2];
    trace_id_t trid = th_stream();
    trace_event_id_t id = 4711;

    long_name(name, TRACE_EVENT_NAME_MAX + 1);
    ck_fails(posix_trace_trid_eventid_open(trid, name, &id), ENAMETOOLONG);
    ck_ok(posix_trace_shutdown(trid));
    ck_fails(posix_trace_trid_eventid_open(trid, "fine", &id), EINVAL);
    ck_fails(posix_trace_trid_eventid_open(0xdeadbeef, "fine", &id), EINVAL);
    ck_assert_uint_eq(id, 4711);
}
END_TEST

START_TEST(test_105_trid_open_at_the_limit)
{
    trace_id_t trid = th_stream();

    open_distinct(TRACE_USER_EVENT_MAX - 1);
    ck_assert_uint_eq(trid_id(trid, "one too many"), POSIX_TRACE_UNNAMED_USEREVENT);
    ck_assert_uint_eq(trid_id(trid, "n0"), th_id("n0"));
    ck_ok(posix_trace_shutdown(trid));
}
END_TEST

START_TEST(test_106_equal)
{
    trace_id_t trid = th_stream();
    trace_event_id_t a = th_id("a"), b = th_id("b");

    ck_assert_int_ne(posix_trace_eventid_equal(trid, a, a), 0);
    ck_assert_int_ne(posix_trace_eventid_equal(trid, POSIX_TRACE_STOP, POSIX_TRACE_STOP), 0);
    ck_assert_int_eq(posix_trace_eventid_equal(trid, a, b), 0);
    ck_assert_int_eq(posix_trace_eventid_equal(trid, a, POSIX_TRACE_STOP), 0);
    ck_ok(posix_trace_shutdown(trid));
}
END_TEST

START_TEST(test_107_predefined_names)
{
    trace_id_t trid = th_stream();

    for (size_t i = 0; i < TH_PREDEFINED; i++)
        expect_name(trid, th_predefined[i].id, th_predefined[i].name);
    ck_ok(posix_trace_shutdown(trid));
}
END_TEST

START_TEST(test_108_user_name)
{
    trace_id_t trid = th_stream();
    trace_event_id_t id = th_id("user \xc3\xa9\x01 name");

    for (int i = 0; i < 3; i++)
        expect_name(trid, id, "user \xc3\xa9\x01 name");
    ck_ok(posix_trace_shutdown(trid));
}
END_TEST

START_TEST(test_109_get_name_errors)
{
    static const trace_event_id_t never[] = {
        0, 100, POSIX_TRACE_UNNAMED_USEREVENT + 900, 70000, 0x80000000u, UINT32_MAX
    };
    trace_id_t trid = th_stream();
    char name[TRACE_EVENT_NAME_MAX + 1] = "untouched";

    for (size_t i = 0; i < TH_COUNT(never); i++)
        ck_fails(posix_trace_eventid_get_name(trid, never[i], name), EINVAL);
    ck_ok(posix_trace_shutdown(trid));
    ck_fails(posix_trace_eventid_get_name(trid, POSIX_TRACE_START, name), EINVAL);
    ck_fails(posix_trace_eventid_get_name(0xdeadbeef, POSIX_TRACE_START, name), EINVAL);
    ck_assert_str_eq(name, "untouched");
}
END_TEST

static void add(TCase *tc)
{
    tcase_add_test(tc, test_091_open);
    tcase_add_test(tc, test_092_open_twice);
    tcase_add_test(tc, test_093_two_names);
    tcase_add_test(tc, test_094_name_of_30);
    tcase_add_test(tc, test_095_longest_name);
    tcase_add_test(tc, test_096_name_too_long);
    tcase_add_test(tc, test_097_opened_before_any_stream);
    th_add_fresh(tc, test_098_31_names);
    th_add_fresh(tc, test_099_too_many_names);
    th_add_fresh(tc, test_100_known_name_at_the_limit);
    tcase_add_test(tc, test_101_controller_first);
    tcase_add_test(tc, test_102_target_first);
    tcase_add_test(tc, test_103_two_streams_same_id);
    tcase_add_test(tc, test_104_trid_open_errors);
    th_add_fresh(tc, test_105_trid_open_at_the_limit);
    tcase_add_test(tc, test_106_equal);
    tcase_add_test(tc, test_107_predefined_names);
    tcase_add_test(tc, test_108_user_name);
    tcase_add_test(tc, test_109_get_name_errors);
}

int main(void)
{
    return th_main("E names", add);
}
