/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Group I: the list of event types of a stream.
 */
#include "support/trace_helpers.h"

struct types {
    trace_event_id_t id[TH_PREDEFINED + TRACE_USER_EVENT_MAX];
    size_t n;
};

/* All that is left in the stream's list. */
static void types_of(trace_id_t trid, struct types *types)
{
    types->n = 0;
    for (;;) {
        trace_event_id_t id = 0;
        int unavailable = -1;

        ck_ok(posix_trace_eventtypelist_getnext_id(trid, &id, &unavailable));
        if (unavailable)
            return;
        ck_assert_uint_lt(types->n, TH_COUNT(types->id));
        types->id[types->n++] = id;
    }
}

static unsigned times_in(const struct types *types, trace_event_id_t id)
{
    unsigned times = 0;

    for (size_t i = 0; i < types->n; i++)
        times += types->id[i] == id;
    return times;
}

START_TEST(test_187_predefined)
{
    trace_id_t trid = th_stream();
    struct types types;

    types_of(trid, &types);
    for (size_t i = 0; i < TH_PREDEFINED; i++)
        ck_assert_uint_eq(times_in(&types, th_predefined[i].id), 1);
    ck_ok(posix_trace_shutdown(trid));
}
END_TEST

START_TEST(test_188_user_types)
{
    trace_event_id_t before = th_id("before create"), after, controller;
    trace_id_t trid = th_stream();
    struct types types;

    after = th_id("after create");
    ck_ok(posix_trace_trid_eventid_open(trid, "by controller", &controller));
    types_of(trid, &types);
    ck_assert_uint_eq(times_in(&types, before), 1);
    ck_assert_uint_eq(times_in(&types, after), 1);
    ck_assert_uint_eq(times_in(&types, controller), 1);
    ck_ok(posix_trace_shutdown(trid));
}
END_TEST

START_TEST(test_189_end)
{
    trace_id_t trid = th_stream();
    struct types types;

    types_of(trid, &types);
    for (int i = 0; i < 5; i++) {
        trace_event_id_t id = 4711;
        int unavailable = 0;

        ck_ok(posix_trace_eventtypelist_getnext_id(trid, &id, &unavailable));
        ck_assert_int_ne(unavailable, 0);
        ck_assert_uint_eq(id, 4711);
    }
    ck_ok(posix_trace_shutdown(trid));
}
END_TEST

START_TEST(test_190_rewind)
{
    trace_id_t trid = th_stream();
    struct types all, again;
    trace_event_id_t id;
    int unavailable;

    types_of(trid, &all);
    ck_ok(posix_trace_eventtypelist_rewind(trid));
    for (int i = 0; i < 3; i++) {
        ck_ok(posix_trace_eventtypelist_getnext_id(trid, &id, &unavailable));
        ck_assert_uint_eq(id, all.id[i]);
    }
    ck_ok(posix_trace_eventtypelist_rewind(trid));
    types_of(trid, &again);
    ck_assert_uint_eq(again.n, all.n);
    ck_assert_mem_eq(again.id, all.id, all.n * sizeof all.id[0]);
    ck_ok(posix_trace_shutdown(trid));
}
END_TEST

START_TEST(test_191_two_iterators)
{
    trace_id_t a = th_stream(), b = th_stream();
    struct types in_a, in_b;

    types_of(a, &in_a);
    types_of(b, &in_b);
    ck_assert_uint_eq(in_a.n, in_b.n);
    ck_ok(posix_trace_eventtypelist_rewind(a));
    types_of(b, &in_b);
    ck_assert_uint_eq(in_b.n, 0);
    types_of(a, &in_a);
    ck_assert_uint_gt(in_a.n, 0);
    ck_ok(posix_trace_shutdown(a));
    ck_ok(posix_trace_shutdown(b));
}
END_TEST

START_TEST(test_192_names)
{
    trace_id_t trid;
    struct types types;
    static char names[64][TRACE_EVENT_NAME_MAX + 1];

    th_id("one");
    th_id("two");
    trid = th_stream();
    th_id("three");
    types_of(trid, &types);
    ck_assert_uint_le(types.n, TH_COUNT(names));
    for (size_t i = 0; i < types.n; i++) {
        ck_ok(posix_trace_eventid_get_name(trid, types.id[i], names[i]));
        ck_assert_str_ne(names[i], "");
        for (size_t j = 0; j < i; j++)
            ck_assert_str_ne(names[i], names[j]);
    }
    ck_ok(posix_trace_shutdown(trid));
}
END_TEST

START_TEST(test_193_invalid_trid)
{
    trace_id_t trid = th_stream();
    trace_event_id_t id = 4711;
    int unavailable = -1;

    ck_ok(posix_trace_shutdown(trid));
    for (size_t i = 0; i < 2; i++) {
        trace_id_t bad = (trace_id_t[]){ trid, 0xdeadbeef }[i];
        ck_fails(posix_trace_eventtypelist_getnext_id(bad, &id, &unavailable), EINVAL);
        ck_fails(posix_trace_eventtypelist_rewind(bad), EINVAL);
    }
    ck_assert_uint_eq(id, 4711);
}
END_TEST

static void add(TCase *tc)
{
    tcase_add_test(tc, test_187_predefined);
    tcase_add_test(tc, test_188_user_types);
    tcase_add_test(tc, test_189_end);
    tcase_add_test(tc, test_190_rewind);
    tcase_add_test(tc, test_191_two_iterators);
    tcase_add_test(tc, test_192_names);
    tcase_add_test(tc, test_193_invalid_trid);
}

int main(void)
{
    return th_main("I event types", add);
}
