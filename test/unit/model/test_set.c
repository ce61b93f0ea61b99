/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Event sets: every id is its own bit, fill and change do what the names say,
 * and the public calls refuse what no event type can be.
 */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "model/groups.h"
#include "model/set.h"
#include "support/run_suite.h"
#include "support/system_types.h"

static unsigned count(const struct pt_set *s)
{
    unsigned n = 0;

    for (uint32_t id = 0; id < 2 * PT_ID_MAX; id++)
        n += pt_set_has(s, id);
    return n;
}

START_TEST(each_id_is_alone)
{
    struct pt_set s;

    for (uint32_t id = 0; id < PT_ID_MAX; id++) {
        memset(&s, 0xff, sizeof s);
        pt_set_empty(&s);
        ck_assert_uint_eq(count(&s), 0);
        pt_set_add(&s, id);
        pt_set_add(&s, id);
        ck_assert(pt_set_has(&s, id));
        ck_assert_uint_eq(count(&s), 1);
        pt_set_del(&s, id);
        pt_set_del(&s, id);
        ck_assert_uint_eq(count(&s), 0);
    }
}
END_TEST

START_TEST(fill_system)
{
    struct pt_set s;

    pt_set_empty(&s);
    pt_set_add(&s, PT_ID_NAMED_FIRST);
    ck_assert(pt_set_fill(&s, POSIX_TRACE_SYSTEM_EVENTS));
    ck_assert_uint_eq(count(&s), 8 + OWN_TYPES);
    for (uint32_t id = 1; id <= PT_ID_OWN_LAST; id++)
        ck_assert(pt_set_has(&s, id) == (pt_event_system_name(id) != NULL));
}
END_TEST

START_TEST(fill_wopid)
{
    struct pt_set s;

    ck_assert(pt_set_fill(&s, POSIX_TRACE_WOPID_EVENTS));
    ck_assert_uint_eq(count(&s), 3);
    ck_assert(pt_set_has(&s, POSIX_TRACE_OVERFLOW));
    ck_assert(pt_set_has(&s, POSIX_TRACE_RESUME));
    ck_assert(pt_set_has(&s, POSIX_TRACE_ERROR));
}
END_TEST

START_TEST(fill_all)
{
    struct pt_set s;

    ck_assert(pt_set_fill(&s, POSIX_TRACE_ALL_EVENTS));
    ck_assert_uint_eq(count(&s), 8 + OWN_TYPES + TRACE_USER_EVENT_MAX);
    ck_assert(pt_set_has(&s, POSIX_TRACE_UNNAMED_USEREVENT));
    ck_assert(pt_set_has(&s, PT_ID_MAX - 1));
    ck_assert(!pt_set_has(&s, 0));
}
END_TEST

START_TEST(bad_fill_changes_nothing)
{
    struct pt_set s, before;
    const int bad[] = { 0, -1, 1, POSIX_TRACE_ADD_EVENTSET, POSIX_TRACE_LOOP, 0x34 };

    pt_set_fill(&s, POSIX_TRACE_SYSTEM_EVENTS);
    before = s;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        ck_assert(!pt_set_fill(&s, bad[i]));
    ck_assert_mem_eq(&s, &before, sizeof s);
}
END_TEST

START_TEST(change_is_set_algebra)
{
    struct pt_set old, change, s;

    pt_set_empty(&old);
    pt_set_empty(&change);
    pt_set_add(&old, 1);
    pt_set_add(&old, 500);
    pt_set_add(&change, 500);
    pt_set_add(&change, 1215);

    s = old;
    ck_assert(pt_set_change(&s, &change, POSIX_TRACE_SET_EVENTSET));
    ck_assert_mem_eq(&s, &change, sizeof s);
    s = old;
    ck_assert(pt_set_change(&s, &change, POSIX_TRACE_ADD_EVENTSET));
    ck_assert_uint_eq(count(&s), 3);
    s = old;
    ck_assert(pt_set_change(&s, &change, POSIX_TRACE_SUB_EVENTSET));
    ck_assert_uint_eq(count(&s), 1);
    ck_assert(pt_set_has(&s, 1));
    s = old;
    ck_assert(!pt_set_change(&s, &change, 0));
    ck_assert(!pt_set_change(&s, &change, POSIX_TRACE_ALL_EVENTS));
    ck_assert_mem_eq(&s, &old, sizeof s);
}
END_TEST

START_TEST(never_initialised)
{
    trace_event_set_t set;
    int member = 7;

    memset(&set, 0xa5, sizeof set);
    ck_assert_ptr_null(pt_set_get(&set));
    ck_assert_ptr_null(pt_set_get(NULL));
    ck_assert_int_eq(posix_trace_eventset_add(1, &set), EINVAL);
    ck_assert_int_eq(posix_trace_eventset_del(1, &set), EINVAL);
    ck_assert_int_eq(posix_trace_eventset_ismember(1, &set, &member), EINVAL);
    ck_assert_int_eq(posix_trace_eventset_fill(&set, 0), EINVAL);
    ck_assert_int_eq(member, 7);
    ck_assert_int_eq(posix_trace_eventset_empty(&set), 0);
    ck_assert_int_eq(posix_trace_eventset_ismember(1, &set, &member), 0);
    ck_assert_int_eq(member, 0);
}
END_TEST

START_TEST(ids_that_no_type_has)
{
    const trace_event_id_t bad[] = { 0, 9, 191, PT_ID_MAX, 0xdeadbeef, UINT32_MAX };
    const trace_event_id_t good[] = { 1, 8, 192, 193, PT_ID_MAX - 1 };
    trace_event_set_t set, before;
    int member = 7;

    ck_assert_int_eq(posix_trace_eventset_fill(&set, POSIX_TRACE_ALL_EVENTS), 0);
    before = set;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        ck_assert_int_eq(posix_trace_eventset_add(bad[i], &set), EINVAL);
        ck_assert_int_eq(posix_trace_eventset_del(bad[i], &set), EINVAL);
        ck_assert_int_eq(posix_trace_eventset_ismember(bad[i], &set, &member), EINVAL);
    }
    ck_assert_int_eq(member, 7);
    ck_assert_mem_eq(&set, &before, sizeof set);
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        ck_assert_int_eq(posix_trace_eventset_del(good[i], &set), 0);
        ck_assert_int_eq(posix_trace_eventset_ismember(good[i], &set, &member), 0);
        ck_assert_int_eq(member, 0);
        ck_assert_int_eq(posix_trace_eventset_add(good[i], &set), 0);
        ck_assert_int_eq(posix_trace_eventset_ismember(good[i], &set, &member), 0);
        ck_assert_int_eq(member, 1);
    }
    ck_assert_mem_eq(&set, &before, sizeof set);
}
END_TEST

START_TEST(null_arguments)
{
    trace_event_set_t set;
    int member;

    ck_assert_int_eq(posix_trace_eventset_empty(&set), 0);
    ck_assert_int_eq(posix_trace_eventset_empty(NULL), EINVAL);
    ck_assert_int_eq(posix_trace_eventset_fill(NULL, POSIX_TRACE_ALL_EVENTS), EINVAL);
    ck_assert_int_eq(posix_trace_eventset_add(1, NULL), EINVAL);
    ck_assert_int_eq(posix_trace_eventset_del(1, NULL), EINVAL);
    ck_assert_int_eq(posix_trace_eventset_ismember(1, NULL, &member), EINVAL);
    ck_assert_int_eq(posix_trace_eventset_ismember(1, &set, NULL), EINVAL);
}
END_TEST

/* Each type is in one group, but for descriptors, and long calls, waits and stacks, which are of
 * all calls; calls are all without switches. */
START_TEST(groups)
{
    static const char *const names[] = { "switches", "locks",   "io",       "sleep",
                                         "threads",  "signals", "functions" };
    static const char *const wrong[] = { "", "io,", ",io", "lock", "io locks", "IO" };
    struct pt_set s, all, calls;

    ck_assert(pt_groups_read("all", &all));
    ck_assert(pt_groups_read("calls", &calls));
    for (uint32_t id = 0; id < PT_ID_MAX; id++) {
        bool grouped = pt_event_is_own(id) && id != POSIXTRACE_CONTEXT;
        unsigned n = 0;

        for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
            ck_assert(pt_groups_read(names[i], &s));
            n += pt_set_has(&s, id);
        }
        ck_assert_uint_eq(n, !grouped                                               ? 0
                             : id == POSIXTRACE_DESCRIPTOR                          ? 2
                             : id >= POSIXTRACE_LONG_CALL && id <= POSIXTRACE_STACK ? 5
                                                                                    : 1);
        ck_assert(pt_set_has(&all, id) == grouped);
        ck_assert(pt_set_has(&calls, id) == (grouped && id > POSIXTRACE_CPU_TIME));
    }
    ck_assert(pt_groups_read("io,switches", &s));
    ck_assert(pt_set_has(&s, POSIXTRACE_POLL_DONE) && pt_set_has(&s, POSIXTRACE_SWITCH_IN) &&
              !pt_set_has(&s, POSIXTRACE_SLEEP));
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        ck_assert(!pt_groups_read(wrong[i], &s));
}
END_TEST

static void add(TCase *t)
{
    tcase_add_test(t, each_id_is_alone);
    tcase_add_test(t, groups);
    tcase_add_test(t, fill_system);
    tcase_add_test(t, fill_wopid);
    tcase_add_test(t, fill_all);
    tcase_add_test(t, bad_fill_changes_nothing);
    tcase_add_test(t, change_is_set_algebra);
    tcase_add_test(t, never_initialised);
    tcase_add_test(t, ids_that_no_type_has);
    tcase_add_test(t, null_arguments);
}

int main(void)
{
    return run_suite("model set", "sets", NULL, add);
}
