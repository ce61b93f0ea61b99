/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Group H, first part: event sets as plain objects.
 */
#include "support/trace_helpers.h"

#define SYSTEM_TYPES 8 /* of the predefined ones; the ninth is the unnamed user event */

START_TEST(test_163_empty)
{
    trace_event_id_t id = th_id("user");
    trace_event_set_t set;

    memset(&set, 0xff, sizeof set);
    ck_ok(posix_trace_eventset_empty(&set));
    for (size_t i = 0; i < TH_PREDEFINED; i++)
        ck_assert(!th_member(&set, th_predefined[i].id));
    ck_assert(!th_member(&set, id));
}
END_TEST

START_TEST(test_164_fill_all)
{
    trace_event_id_t a = th_id("user a"), b = th_id("user b");
    trace_event_set_t set;

    ck_ok(posix_trace_eventset_fill(&set, POSIX_TRACE_ALL_EVENTS));
    for (size_t i = 0; i < TH_PREDEFINED; i++)
        ck_assert(th_member(&set, th_predefined[i].id));
    ck_assert(th_member(&set, a));
    ck_assert(th_member(&set, b));
}
END_TEST

/* Ours holds every type there can be, so one that is opened later is in. */
START_TEST(test_165_fill_all_then_open)
{
    trace_event_set_t set;

    ck_ok(posix_trace_eventset_fill(&set, POSIX_TRACE_ALL_EVENTS));
    ck_assert(th_member(&set, th_id("opened later")));
}
END_TEST

START_TEST(test_166_fill_system)
{
    trace_event_id_t id = th_id("user");
    trace_event_set_t set;

    ck_ok(posix_trace_eventset_fill(&set, POSIX_TRACE_SYSTEM_EVENTS));
    for (size_t i = 0; i < SYSTEM_TYPES; i++)
        ck_assert(th_member(&set, th_predefined[i].id));
    ck_assert(!th_member(&set, POSIX_TRACE_UNNAMED_USEREVENT));
    ck_assert(!th_member(&set, id));
}
END_TEST

/* OVERFLOW, RESUME and ERROR, which the system initiates. */
START_TEST(test_167_fill_wopid)
{
    trace_event_id_t id = th_id("user");
    trace_event_set_t wopid,
        expected = th_set(POSIX_TRACE_OVERFLOW, POSIX_TRACE_RESUME, POSIX_TRACE_ERROR);

    ck_ok(posix_trace_eventset_fill(&wopid, POSIX_TRACE_WOPID_EVENTS));
    ck_assert(!th_member(&wopid, id));
    ck_assert(!th_member(&wopid, POSIX_TRACE_UNNAMED_USEREVENT));
    ck_assert(th_same_members(&wopid, &expected, &id, 1));
}
END_TEST

START_TEST(test_168_fill_replaces)
{
    trace_event_id_t id = th_id("user");
    trace_event_set_t set = th_set(id);

    ck_ok(posix_trace_eventset_fill(&set, POSIX_TRACE_SYSTEM_EVENTS));
    ck_assert(!th_member(&set, id));
    ck_ok(posix_trace_eventset_fill(&set, POSIX_TRACE_WOPID_EVENTS));
    ck_assert(!th_member(&set, POSIX_TRACE_START));
}
END_TEST

START_TEST(test_169_fill_bad_what)
{
    static const int bad[] = { 0, -1, 12345, POSIX_TRACE_LOOP, POSIX_TRACE_SET_EVENTSET };
    trace_event_set_t set = th_set(POSIX_TRACE_STOP), before = set;

    for (size_t i = 0; i < TH_COUNT(bad); i++) {
        ck_fails(posix_trace_eventset_fill(&set, bad[i]), EINVAL);
        ck_assert_mem_eq(&set, &before, sizeof set);
    }
}
END_TEST

START_TEST(test_170_add)
{
    trace_event_id_t id = th_id("user");
    trace_event_set_t set = th_set();

    ck_ok(posix_trace_eventset_add(id, &set));
    ck_assert(th_member(&set, id));
    ck_ok(posix_trace_eventset_add(id, &set));
    ck_assert(th_member(&set, id));
}
END_TEST

START_TEST(test_171_del)
{
    trace_event_id_t id = th_id("user"), other = th_id("other");
    trace_event_set_t set = th_set(id, other);

    ck_ok(posix_trace_eventset_del(id, &set));
    ck_assert(!th_member(&set, id));
    ck_ok(posix_trace_eventset_del(id, &set));
    ck_assert(!th_member(&set, id));
    ck_assert(th_member(&set, other));
}
END_TEST

START_TEST(test_172_ismember)
{
    trace_event_id_t id = th_id("user"), other = th_id("other");
    trace_event_set_t set = th_set(id);
    int member = -1;

    ck_ok(posix_trace_eventset_ismember(id, &set, &member));
    ck_assert_int_ne(member, 0);
    ck_ok(posix_trace_eventset_ismember(other, &set, &member));
    ck_assert_int_eq(member, 0);
}
END_TEST

START_TEST(test_173_no_filter_changes)
{
    trace_event_id_t id = th_id("user");
    trace_id_t trid = th_stream();
    trace_event_set_t set = th_set(), filter, empty = th_set();

    ck_ok(posix_trace_eventset_add(id, &set));
    ck_ok(posix_trace_eventset_fill(&set, POSIX_TRACE_ALL_EVENTS));
    ck_ok(posix_trace_get_filter(trid, &filter));
    ck_assert(th_same_members(&filter, &empty, &id, 1));
    ck_ok(posix_trace_eventset_fill(&filter, POSIX_TRACE_ALL_EVENTS));
    ck_ok(posix_trace_get_filter(trid, &filter));
    ck_assert(th_same_members(&filter, &empty, &id, 1));
    ck_ok(posix_trace_shutdown(trid));
}
END_TEST

static void add(TCase *tc)
{
    tcase_add_test(tc, test_163_empty);
    tcase_add_test(tc, test_164_fill_all);
    tcase_add_test(tc, test_165_fill_all_then_open);
    tcase_add_test(tc, test_166_fill_system);
    tcase_add_test(tc, test_167_fill_wopid);
    tcase_add_test(tc, test_168_fill_replaces);
    tcase_add_test(tc, test_169_fill_bad_what);
    tcase_add_test(tc, test_170_add);
    tcase_add_test(tc, test_171_del);
    tcase_add_test(tc, test_172_ismember);
    tcase_add_test(tc, test_173_no_filter_changes);
}

int main(void)
{
    return th_main("H event sets", add);
}
