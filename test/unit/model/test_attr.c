/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Attributes: defaults, validity, sizes, and what the setters leave alone.
 * What the conformance suite says of the public calls is not repeated here.
 */
#include <check.h>
#include <errno.h>
#include <posixtrace/attr.h>
#include <stdlib.h>
#include <string.h>
#include "model/attr.h"
#include "model/set.h"
#include "shm/record.h"
#include "support/run_suite.h"

static struct pt_attr fresh(void)
{
    struct pt_attr a;

    memset(&a, 0xa5, sizeof a);
    pt_attr_init(&a);
    return a;
}

START_TEST(defaults_are_good)
{
    struct pt_attr a = fresh();

    ck_assert_int_eq(pt_attr_check(&a, false), 0);
    ck_assert_int_eq(pt_attr_check(&a, true), 0);
    ck_assert_int_eq(a.policy_is_default, 1);
    ck_assert_int_eq(a.create_ns, 0);
    ck_assert_uint_gt(a.clock_res_ns, 0);
    ck_assert_uint_lt(strlen(a.genversion), 8);
}
END_TEST

/* Two fresh objects are equal bytes: they end up in segments and logs. */
START_TEST(nothing_of_the_old_memory_stays)
{
    trace_attr_t a, b;

    memset(&a, 0xa5, sizeof a);
    memset(&b, 0x5a, sizeof b);
    ck_assert_int_eq(posix_trace_attr_init(&a), 0);
    ck_assert_int_eq(posix_trace_attr_init(&b), 0);
    ck_assert_int_eq(posix_trace_attr_setname(&a, "a long name that goes away"), 0);
    ck_assert_int_eq(posix_trace_attr_setname(&a, "x"), 0);
    ck_assert_int_eq(posix_trace_attr_setname(&b, "x"), 0);
    ck_assert_mem_eq(&a, &b, sizeof a);
}
END_TEST

START_TEST(what_an_event_costs)
{
    static const double bad[] = { -0.001, 1000000.01, 1e300 };
    struct pt_attr inner = fresh();
    trace_attr_t a;
    double ns = 7;

    ck_assert_int_eq(posix_trace_attr_init(&a), 0);
    ck_assert_int_eq(posixtrace_attr_geteventcost(&a, &ns), 0);
    ck_assert(ns == 0);
    ck_assert_int_eq(posixtrace_attr_seteventcost(&a, 1000000), 0);
    ck_assert_int_eq(posixtrace_attr_seteventcost(&a, 31.2504), 0);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert_int_eq(posixtrace_attr_seteventcost(&a, bad[i]), EINVAL);
    ck_assert_int_eq(posixtrace_attr_seteventcost(&a, strtod("nan", NULL)), EINVAL);
    ck_assert_int_eq(posixtrace_attr_geteventcost(&a, &ns), 0);
    ck_assert(ns == 31.25);
    ck_assert_int_eq(posixtrace_attr_geteventcost(&a, NULL), EINVAL);
    ck_assert_int_eq(posix_trace_attr_destroy(&a), 0);
    ck_assert_int_eq(posixtrace_attr_geteventcost(&a, &ns), EINVAL);
    ck_assert_int_eq(posixtrace_attr_seteventcost(&a, 1), EINVAL);
    ck_assert_int_eq(posixtrace_attr_seteventcost(NULL, 1), EINVAL);
    inner.event_cost_ps = PT_EVENT_COST_MAX + 1;
    ck_assert_int_eq(pt_attr_check(&inner, true), -EINVAL);
}
END_TEST

START_TEST(flush_needs_a_log)
{
    struct pt_attr a = fresh();

    a.stream_policy = POSIX_TRACE_FLUSH;
    ck_assert_int_eq(pt_attr_check(&a, false), -EINVAL);
    ck_assert_int_eq(pt_attr_check(&a, true), 0);
}
END_TEST

#define BAD(member, value)                                      \
    do {                                                        \
        struct pt_attr bad_ = fresh();                          \
        bad_.member = (value);                                  \
        ck_assert_int_eq(pt_attr_check(&bad_, true), -EINVAL);  \
        ck_assert_int_eq(pt_attr_check(&bad_, false), -EINVAL); \
    } while (0)

START_TEST(bad_values)
{
    struct pt_attr a = fresh();

    BAD(magic, 0);
    BAD(stream_policy, 0);
    BAD(stream_policy, POSIX_TRACE_APPEND);
    BAD(log_policy, POSIX_TRACE_FLUSH);
    BAD(log_policy, -1);
    BAD(inheritance, POSIX_TRACE_LOOP);
    BAD(stream_size, 0);
    BAD(stream_size, (1ull << 40) + 1);
    BAD(stream_size, UINT64_MAX);
    BAD(max_data, PT_MAX_DATA + 1);
    BAD(max_data, UINT64_MAX);
    BAD(log_size, 0);
    memset(a.name, 'n', sizeof a.name);
    ck_assert_int_eq(pt_attr_check(&a, true), -EINVAL);
    a = fresh();
    memset(a.genversion, 'v', sizeof a.genversion);
    ck_assert_int_eq(pt_attr_check(&a, true), -EINVAL);
}
END_TEST

START_TEST(extreme_values_are_good)
{
    struct pt_attr a = fresh();

    a.stream_size = 1;
    a.max_data = 0;
    a.log_size = 1;
    ck_assert_int_eq(pt_attr_check(&a, true), 0);
    a.max_data = PT_MAX_DATA;
    a.log_size = UINT64_MAX;
#if SIZE_MAX > UINT32_MAX
    a.stream_size = 1ull << 40;
#endif
    ck_assert_int_eq(pt_attr_check(&a, true), 0);
    memset(a.name, 'n', sizeof a.name - 1);
    ck_assert_int_eq(pt_attr_check(&a, true), 0);
}
END_TEST

/* The sizing guarantee stands on these two being the same numbers. */
START_TEST(sizes_are_those_of_the_ring)
{
    struct pt_attr a = fresh();

    a.max_data = PT_MAX_DATA;
    for (uint32_t len = 0; len <= PT_MAX_DATA; len += len < 100 ? 1 : 61)
        ck_assert_uint_eq(pt_attr_max_user_event(&a, len), pt_record_max_size(len));
    ck_assert_uint_eq(pt_attr_max_user_event(&a, UINT64_MAX), pt_record_max_size(PT_MAX_DATA));
    a.max_data = 10;
    ck_assert_uint_eq(pt_attr_max_user_event(&a, 5000), pt_record_max_size(10));
    ck_assert_uint_eq(pt_attr_max_system_event(&a), pt_record_max_size(2 * sizeof(struct pt_set)));
}
END_TEST

START_TEST(refused_values_change_nothing)
{
    trace_attr_t a, before;

    ck_assert_int_eq(posix_trace_attr_init(&a), 0);
    before = a;
    ck_assert_int_eq(posix_trace_attr_setstreamfullpolicy(&a, POSIX_TRACE_APPEND), EINVAL);
    ck_assert_int_eq(posix_trace_attr_setlogfullpolicy(&a, POSIX_TRACE_FLUSH), EINVAL);
    ck_assert_int_eq(posix_trace_attr_setinherited(&a, 0), EINVAL);
    ck_assert_int_eq(posix_trace_attr_setstreamsize(&a, 0), EINVAL);
    ck_assert_int_eq(posix_trace_attr_setstreamsize(&a, SIZE_MAX), EINVAL);
    ck_assert_int_eq(posix_trace_attr_setmaxdatasize(&a, PT_MAX_DATA + 1), EINVAL);
    ck_assert_int_eq(posix_trace_attr_setlogsize(&a, 0), EINVAL);
    ck_assert_mem_eq(&a, &before, sizeof a);
}
END_TEST

/* LOOP that was asked for is not the LOOP of a fresh object. */
START_TEST(asking_for_the_default_policy_is_remembered)
{
    trace_attr_t a;

    ck_assert_int_eq(posix_trace_attr_init(&a), 0);
    ck_assert_int_eq(pt_attr_get(&a)->policy_is_default, 1);
    ck_assert_int_eq(posix_trace_attr_setstreamfullpolicy(&a, POSIX_TRACE_LOOP), 0);
    ck_assert_int_eq(pt_attr_get(&a)->policy_is_default, 0);
}
END_TEST

START_TEST(uninitialised_and_destroyed)
{
    trace_attr_t a;
    struct timespec t = { 7, 7 };
    char name[TRACE_NAME_MAX + 1] = "kept";
    size_t size = 7;
    int policy = 7;

    for (int round = 0; round < 2; round++) {
        if (round == 0) {
            memset(&a, 0xa5, sizeof a);
        } else {
            ck_assert_int_eq(posix_trace_attr_init(&a), 0);
            ck_assert_int_eq(posix_trace_attr_destroy(&a), 0);
        }
        ck_assert_ptr_null(pt_attr_get(&a));
        ck_assert_ptr_null(pt_attr_get_mutable(&a));
        ck_assert_int_eq(posix_trace_attr_destroy(&a), EINVAL);
        ck_assert_int_eq(posix_trace_attr_getclockres(&a, &t), EINVAL);
        ck_assert_int_eq(posix_trace_attr_getcreatetime(&a, &t), EINVAL);
        ck_assert_int_eq(posix_trace_attr_getgenversion(&a, name), EINVAL);
        ck_assert_int_eq(posix_trace_attr_getname(&a, name), EINVAL);
        ck_assert_int_eq(posix_trace_attr_setname(&a, "x"), EINVAL);
        ck_assert_int_eq(posix_trace_attr_getinherited(&a, &policy), EINVAL);
        ck_assert_int_eq(posix_trace_attr_setinherited(&a, POSIX_TRACE_INHERITED), EINVAL);
        ck_assert_int_eq(posix_trace_attr_getlogfullpolicy(&a, &policy), EINVAL);
        ck_assert_int_eq(posix_trace_attr_getstreamfullpolicy(&a, &policy), EINVAL);
        ck_assert_int_eq(posix_trace_attr_getlogsize(&a, &size), EINVAL);
        ck_assert_int_eq(posix_trace_attr_getmaxdatasize(&a, &size), EINVAL);
        ck_assert_int_eq(posix_trace_attr_getmaxsystemeventsize(&a, &size), EINVAL);
        ck_assert_int_eq(posix_trace_attr_getmaxusereventsize(&a, 1, &size), EINVAL);
        ck_assert_int_eq(posix_trace_attr_getstreamsize(&a, &size), EINVAL);
        ck_assert_int_eq(posix_trace_attr_setstreamsize(&a, 1), EINVAL);
    }
    ck_assert_int_eq(t.tv_sec, 7);
    ck_assert_str_eq(name, "kept");
    ck_assert_uint_eq(size, 7);
    ck_assert_int_eq(policy, 7);
}
END_TEST

START_TEST(creation_time)
{
    trace_attr_t a;
    struct timespec t = { 7, 7 };

    ck_assert_int_eq(posix_trace_attr_init(&a), 0);
    ck_assert_int_eq(posix_trace_attr_getcreatetime(&a, &t), EINVAL);
    ck_assert_int_eq(t.tv_sec, 7);
    pt_attr_get_mutable(&a)->create_ns = 1234567890123456789;
    ck_assert_int_eq(posix_trace_attr_getcreatetime(&a, &t), 0);
    ck_assert_int_eq(t.tv_sec, 1234567890);
    ck_assert_int_eq(t.tv_nsec, 123456789);
}
END_TEST

static void add(TCase *t)
{
    tcase_add_test(t, defaults_are_good);
    tcase_add_test(t, nothing_of_the_old_memory_stays);
    tcase_add_test(t, what_an_event_costs);
    tcase_add_test(t, flush_needs_a_log);
    tcase_add_test(t, bad_values);
    tcase_add_test(t, extreme_values_are_good);
    tcase_add_test(t, sizes_are_those_of_the_ring);
    tcase_add_test(t, refused_values_change_nothing);
    tcase_add_test(t, asking_for_the_default_policy_is_remembered);
    tcase_add_test(t, uninitialised_and_destroyed);
    tcase_add_test(t, creation_time);
}

int main(void)
{
    return run_suite("model attr", "attributes", NULL, add);
}
