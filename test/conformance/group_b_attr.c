/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Group B: attributes objects, and the attributes of a stream.
 */
#include "support/trace_helpers.h"

typedef int get_int_fn(const trace_attr_t *restrict, int *restrict);
typedef int set_int_fn(trace_attr_t *, int);

/* Sets and reads back each value. */
static void round_trip(set_int_fn *set, get_int_fn *get, const int *values, size_t n)
{
    trace_attr_t attr;
    int value;

    ck_ok(posix_trace_attr_init(&attr));
    for (size_t i = 0; i < n; i++) {
        ck_ok(set(&attr, values[i]));
        ck_ok(get(&attr, &value));
        ck_assert_int_eq(value, values[i]);
    }
    ck_ok(posix_trace_attr_destroy(&attr));
}

/* Each value is refused and what was set before stays. */
static void refused(set_int_fn *set, get_int_fn *get, int good, const int *bad, size_t n)
{
    trace_attr_t attr;
    int value;

    ck_ok(posix_trace_attr_init(&attr));
    ck_ok(set(&attr, good));
    for (size_t i = 0; i < n; i++) {
        ck_fails(set(&attr, bad[i]), EINVAL);
        ck_ok(get(&attr, &value));
        ck_assert_int_eq(value, good);
    }
    ck_ok(posix_trace_attr_destroy(&attr));
}

static int default_of(get_int_fn *get)
{
    trace_attr_t attr;
    int value = -1;

    ck_ok(posix_trace_attr_init(&attr));
    ck_ok(get(&attr, &value));
    ck_ok(posix_trace_attr_destroy(&attr));
    return value;
}

static void name_round_trip(size_t length)
{
    char name[TRACE_NAME_MAX + 1], back[TRACE_NAME_MAX + 1];
    trace_attr_t attr;

    memset(name, 'n', length);
    name[length] = '\0';
    ck_ok(posix_trace_attr_init(&attr));
    ck_ok(posix_trace_attr_setname(&attr, name));
    ck_ok(posix_trace_attr_getname(&attr, back));
    ck_assert_str_eq(back, name);
    ck_ok(posix_trace_attr_destroy(&attr));
}

START_TEST(test_015_init)
{
    trace_attr_t attr;

    ck_ok(posix_trace_attr_init(&attr));
    ck_ok(posix_trace_attr_destroy(&attr));
}
END_TEST

START_TEST(test_016_destroy_and_init_again)
{
    trace_attr_t attr;
    char name[TRACE_NAME_MAX + 1];

    ck_ok(posix_trace_attr_init(&attr));
    ck_ok(posix_trace_attr_setname(&attr, "before"));
    ck_ok(posix_trace_attr_destroy(&attr));
    ck_ok(posix_trace_attr_init(&attr));
    ck_ok(posix_trace_attr_getname(&attr, name));
    ck_assert_str_eq(name, "");
    ck_ok(posix_trace_attr_destroy(&attr));
}
END_TEST

START_TEST(test_017_default_name)
{
    char name[TRACE_NAME_MAX + 1] = "untouched";
    trace_attr_t attr;

    ck_ok(posix_trace_attr_init(&attr));
    ck_ok(posix_trace_attr_getname(&attr, name));
    ck_assert_str_eq(name, "");
    ck_ok(posix_trace_attr_destroy(&attr));
}
END_TEST

START_TEST(test_018_name_one_below_limit)
{
    name_round_trip(TRACE_NAME_MAX - 1);
    name_round_trip(TRACE_NAME_MAX);
}
END_TEST

START_TEST(test_019_name_of_8)
{
    name_round_trip(8);
}
END_TEST

/* a longer name is cut to TRACE_NAME_MAX - 1 characters. */
START_TEST(test_020_name_too_long)
{
    char name[2 * TRACE_NAME_MAX], back[TRACE_NAME_MAX + 1];
    trace_attr_t attr;

    for (size_t i = 0; i < sizeof name - 1; i++)
        name[i] = (char)('a' + i % 26);
    name[sizeof name - 1] = '\0';
    ck_ok(posix_trace_attr_init(&attr));
    ck_ok(posix_trace_attr_setname(&attr, name));
    ck_ok(posix_trace_attr_getname(&attr, back));
    ck_assert_uint_eq(strlen(back), TRACE_NAME_MAX - 1);
    ck_assert(strncmp(back, name, strlen(back)) == 0);
    ck_ok(posix_trace_attr_destroy(&attr));
}
END_TEST

START_TEST(test_021_generation_version)
{
    char first[TRACE_NAME_MAX + 1], second[TRACE_NAME_MAX + 1];
    trace_attr_t a, b;

    memset(first, 'x', sizeof first);
    memset(second, 'y', sizeof second);
    ck_ok(posix_trace_attr_init(&a));
    ck_ok(posix_trace_attr_init(&b));
    ck_ok(posix_trace_attr_setname(&b, "other"));
    ck_ok(posix_trace_attr_getgenversion(&a, first));
    ck_ok(posix_trace_attr_getgenversion(&b, second));
    ck_assert_ptr_nonnull(memchr(first, '\0', sizeof first));
    ck_assert_str_eq(first, second);
    /* buffers like the rationale's are not written beyond the text */
    ck_assert_uint_lt(strlen(first), 8);
    ck_assert_int_eq(first[8], 'x');
    ck_ok(posix_trace_attr_destroy(&a));
    ck_ok(posix_trace_attr_destroy(&b));
}
END_TEST

START_TEST(test_022_clock_resolution)
{
    struct timespec res = { -1, -1 };
    trace_attr_t attr;

    ck_ok(posix_trace_attr_init(&attr));
    ck_ok(posix_trace_attr_getclockres(&attr, &res));
    ck_assert_int_ge(res.tv_sec, 0);
    ck_assert(res.tv_nsec >= 0 && res.tv_nsec < 1000000000);
    ck_assert_int_gt(th_ns(res), 0);
    ck_ok(posix_trace_attr_destroy(&attr));
}
END_TEST

START_TEST(test_023_default_inheritance)
{
    ck_assert_int_eq(default_of(posix_trace_attr_getinherited), POSIX_TRACE_CLOSE_FOR_CHILD);
}
END_TEST

START_TEST(test_024_inheritance)
{
    round_trip(posix_trace_attr_setinherited, posix_trace_attr_getinherited,
               (int[]){ POSIX_TRACE_INHERITED, POSIX_TRACE_CLOSE_FOR_CHILD }, 2);
}
END_TEST

START_TEST(test_025_inheritance_refused)
{
    refused(posix_trace_attr_setinherited, posix_trace_attr_getinherited, POSIX_TRACE_INHERITED,
            (int[]){ 0, -1, 12345, POSIX_TRACE_LOOP, POSIX_TRACE_ALL_EVENTS }, 5);
}
END_TEST

START_TEST(test_026_default_log_policy)
{
    ck_assert_int_eq(default_of(posix_trace_attr_getlogfullpolicy), POSIX_TRACE_LOOP);
}
END_TEST

START_TEST(test_027_log_policy)
{
    round_trip(posix_trace_attr_setlogfullpolicy, posix_trace_attr_getlogfullpolicy,
               (int[]){ POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL, POSIX_TRACE_APPEND }, 3);
}
END_TEST

START_TEST(test_028_log_policy_refused)
{
    refused(posix_trace_attr_setlogfullpolicy, posix_trace_attr_getlogfullpolicy,
            POSIX_TRACE_APPEND, (int[]){ POSIX_TRACE_FLUSH, 0, -1, 12345, POSIX_TRACE_INHERITED },
            5);
}
END_TEST

/* the object cannot know whether there will be a log; it says LOOP. */
START_TEST(test_029_default_stream_policy)
{
    ck_assert_int_eq(default_of(posix_trace_attr_getstreamfullpolicy), POSIX_TRACE_LOOP);
}
END_TEST

START_TEST(test_030_stream_policy)
{
    round_trip(posix_trace_attr_setstreamfullpolicy, posix_trace_attr_getstreamfullpolicy,
               (int[]){ POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL, POSIX_TRACE_FLUSH }, 3);
}
END_TEST

START_TEST(test_031_stream_policy_refused)
{
    refused(posix_trace_attr_setstreamfullpolicy, posix_trace_attr_getstreamfullpolicy,
            POSIX_TRACE_UNTIL_FULL,
            (int[]){ POSIX_TRACE_APPEND, 0, -1, 12345, POSIX_TRACE_CLOSE_FOR_CHILD }, 5);
}
END_TEST

START_TEST(test_032_log_size)
{
    trace_attr_t attr;
    size_t size;

    ck_ok(posix_trace_attr_init(&attr));
    for (size_t want = 4096; want <= (size_t)1 << 30; want = want * 3 + 1) {
        ck_ok(posix_trace_attr_setlogsize(&attr, want));
        ck_ok(posix_trace_attr_getlogsize(&attr, &size));
        ck_assert_uint_eq(size, want);
    }
    ck_ok(posix_trace_attr_destroy(&attr));
}
END_TEST

START_TEST(test_033_max_data_size)
{
    trace_attr_t attr;
    size_t size;

    ck_ok(posix_trace_attr_init(&attr));
    for (size_t want = 0; want <= 32768; want = want * 2 + 1) {
        ck_ok(posix_trace_attr_setmaxdatasize(&attr, want));
        ck_ok(posix_trace_attr_getmaxdatasize(&attr, &size));
        ck_assert_uint_eq(size, want);
    }
    ck_ok(posix_trace_attr_destroy(&attr));
}
END_TEST

START_TEST(test_034_stream_size)
{
    trace_attr_t attr;
    size_t size;

    ck_ok(posix_trace_attr_init(&attr));
    for (size_t want = 1; want <= (size_t)64 << 20; want = want * 5 + 3) {
        ck_ok(posix_trace_attr_setstreamsize(&attr, want));
        ck_ok(posix_trace_attr_getstreamsize(&attr, &size));
        ck_assert_uint_ge(size, want);
    }
    ck_ok(posix_trace_attr_destroy(&attr));
}
END_TEST

static size_t max_user(const trace_attr_t *attr, size_t len)
{
    size_t size = 0;

    ck_ok(posix_trace_attr_getmaxusereventsize(attr, len, &size));
    return size;
}

START_TEST(test_035_max_user_event_without_data)
{
    trace_attr_t attr;

    ck_ok(posix_trace_attr_init(&attr));
    ck_assert_uint_gt(max_user(&attr, 0), 0);
    ck_ok(posix_trace_attr_destroy(&attr));
}
END_TEST

START_TEST(test_036_max_user_event_grows)
{
    trace_attr_t attr;
    size_t max_data, before = 0;

    ck_ok(posix_trace_attr_init(&attr));
    ck_ok(posix_trace_attr_getmaxdatasize(&attr, &max_data));
    for (size_t len = 0; len <= max_data; len++) {
        size_t size = max_user(&attr, len);
        ck_assert_uint_ge(size, len);
        ck_assert_uint_ge(size, before);
        before = size;
    }
    ck_ok(posix_trace_attr_destroy(&attr));
}
END_TEST

START_TEST(test_037_max_user_event_beyond_max_data)
{
    trace_attr_t attr;

    ck_ok(posix_trace_attr_init(&attr));
    ck_ok(posix_trace_attr_setmaxdatasize(&attr, 100));
    ck_assert_uint_ge(max_user(&attr, 101), max_user(&attr, 100));
    ck_assert_uint_ge(max_user(&attr, SIZE_MAX), max_user(&attr, 100));
    ck_ok(posix_trace_attr_destroy(&attr));
}
END_TEST

START_TEST(test_038_max_system_event)
{
    trace_attr_t attr;
    size_t size = 0;

    ck_ok(posix_trace_attr_init(&attr));
    ck_ok(posix_trace_attr_getmaxsystemeventsize(&attr, &size));
    ck_assert_uint_ge(size, 2 * sizeof(trace_event_set_t));
    ck_ok(posix_trace_attr_destroy(&attr));
}
END_TEST

START_TEST(test_039_null_arguments)
{
    trace_attr_t attr;
    struct timespec t;
    char name[TRACE_NAME_MAX + 1];
    int value;
    size_t size;

    ck_ok(posix_trace_attr_init(&attr));
    ck_fails(posix_trace_attr_init(NULL), EINVAL);
    ck_fails(posix_trace_attr_destroy(NULL), EINVAL);
    ck_fails(posix_trace_attr_getclockres(NULL, &t), EINVAL);
    ck_fails(posix_trace_attr_getclockres(&attr, NULL), EINVAL);
    ck_fails(posix_trace_attr_getcreatetime(NULL, &t), EINVAL);
    ck_fails(posix_trace_attr_getcreatetime(&attr, NULL), EINVAL);
    ck_fails(posix_trace_attr_getgenversion(NULL, name), EINVAL);
    ck_fails(posix_trace_attr_getgenversion(&attr, NULL), EINVAL);
    ck_fails(posix_trace_attr_getname(NULL, name), EINVAL);
    ck_fails(posix_trace_attr_getname(&attr, NULL), EINVAL);
    ck_fails(posix_trace_attr_setname(NULL, "x"), EINVAL);
    ck_fails(posix_trace_attr_setname(&attr, NULL), EINVAL);
    ck_fails(posix_trace_attr_getinherited(NULL, &value), EINVAL);
    ck_fails(posix_trace_attr_getinherited(&attr, NULL), EINVAL);
    ck_fails(posix_trace_attr_setinherited(NULL, POSIX_TRACE_INHERITED), EINVAL);
    ck_fails(posix_trace_attr_getlogfullpolicy(NULL, &value), EINVAL);
    ck_fails(posix_trace_attr_getlogfullpolicy(&attr, NULL), EINVAL);
    ck_fails(posix_trace_attr_setlogfullpolicy(NULL, POSIX_TRACE_LOOP), EINVAL);
    ck_fails(posix_trace_attr_getstreamfullpolicy(NULL, &value), EINVAL);
    ck_fails(posix_trace_attr_getstreamfullpolicy(&attr, NULL), EINVAL);
    ck_fails(posix_trace_attr_setstreamfullpolicy(NULL, POSIX_TRACE_LOOP), EINVAL);
    ck_fails(posix_trace_attr_getlogsize(NULL, &size), EINVAL);
    ck_fails(posix_trace_attr_getlogsize(&attr, NULL), EINVAL);
    ck_fails(posix_trace_attr_setlogsize(NULL, 4096), EINVAL);
    ck_fails(posix_trace_attr_getmaxdatasize(NULL, &size), EINVAL);
    ck_fails(posix_trace_attr_getmaxdatasize(&attr, NULL), EINVAL);
    ck_fails(posix_trace_attr_setmaxdatasize(NULL, 16), EINVAL);
    ck_fails(posix_trace_attr_getmaxsystemeventsize(NULL, &size), EINVAL);
    ck_fails(posix_trace_attr_getmaxsystemeventsize(&attr, NULL), EINVAL);
    ck_fails(posix_trace_attr_getmaxusereventsize(NULL, 1, &size), EINVAL);
    ck_fails(posix_trace_attr_getmaxusereventsize(&attr, 1, NULL), EINVAL);
    ck_fails(posix_trace_attr_getstreamsize(NULL, &size), EINVAL);
    ck_fails(posix_trace_attr_getstreamsize(&attr, NULL), EINVAL);
    ck_fails(posix_trace_attr_setstreamsize(NULL, 4096), EINVAL);
    ck_ok(posix_trace_attr_destroy(&attr));
}
END_TEST

START_TEST(test_040_one_object_two_creates)
{
    trace_event_id_t id = th_id("only in a");
    trace_attr_t attr;
    trace_id_t a, b;

    ck_ok(posix_trace_attr_init(&attr));
    ck_ok(posix_trace_create(0, &attr, &a));
    ck_ok(posix_trace_create(0, &attr, &b));
    ck_ok(posix_trace_start(a));
    th_put(id, 1, 4);
    th_expect(th_drain(a), POSIX_TRACE_START, id);
    ck_assert_uint_eq(th_drain(b).n, 0);
    ck_ok(posix_trace_shutdown(a));
    ck_ok(posix_trace_shutdown(b));
    ck_ok(posix_trace_attr_destroy(&attr));
}
END_TEST

static void expect_attr(trace_id_t trid, const struct th_conf *want)
{
    trace_attr_t attr;
    char name[TRACE_NAME_MAX + 1];
    int value;
    size_t size;

    ck_ok(posix_trace_get_attr(trid, &attr));
    ck_ok(posix_trace_attr_getname(&attr, name));
    ck_assert_str_eq(name, want->name);
    ck_ok(posix_trace_attr_getstreamfullpolicy(&attr, &value));
    ck_assert_int_eq(value, want->policy);
    ck_ok(posix_trace_attr_getinherited(&attr, &value));
    ck_assert_int_eq(value, want->inherit);
    ck_ok(posix_trace_attr_getmaxdatasize(&attr, &size));
    ck_assert_uint_eq(size, want->max_data);
    ck_ok(posix_trace_attr_getstreamsize(&attr, &size));
    ck_assert_uint_ge(size, want->stream_size);
    ck_ok(posix_trace_attr_destroy(&attr));
}

START_TEST(test_041_changed_after_create)
{
    struct th_conf conf = { .name = "first",
                            .policy = POSIX_TRACE_UNTIL_FULL,
                            .inherit = POSIX_TRACE_INHERITED,
                            .stream_size = 50000,
                            .max_data = 77 };
    trace_attr_t attr;
    trace_id_t trid;

    th_attr(&attr, &conf);
    ck_ok(posix_trace_create(0, &attr, &trid));
    ck_ok(posix_trace_attr_setname(&attr, "second"));
    ck_ok(posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_LOOP));
    ck_ok(posix_trace_attr_setinherited(&attr, POSIX_TRACE_CLOSE_FOR_CHILD));
    ck_ok(posix_trace_attr_setmaxdatasize(&attr, 78));
    expect_attr(trid, &conf);
    ck_ok(posix_trace_shutdown(trid));
    ck_ok(posix_trace_attr_destroy(&attr));
}
END_TEST

START_TEST(test_042_destroyed_after_create)
{
    trace_event_id_t id = th_id("after destroy");
    trace_attr_t attr;
    trace_id_t trid;

    ck_ok(posix_trace_attr_init(&attr));
    ck_ok(posix_trace_create(0, &attr, &trid));
    ck_ok(posix_trace_attr_destroy(&attr));
    memset(&attr, 0x5a, sizeof attr);
    ck_ok(posix_trace_start(trid));
    th_put(id, 1, 4);
    th_expect(th_drain(trid), POSIX_TRACE_START, id);
    ck_ok(posix_trace_shutdown(trid));
}
END_TEST

START_TEST(test_043_get_attr_as_requested)
{
    struct th_conf conf = { .name = "requested",
                            .policy = POSIX_TRACE_UNTIL_FULL,
                            .inherit = POSIX_TRACE_INHERITED,
                            .stream_size = 123457,
                            .max_data = 1001 };
    trace_id_t trid = th_create(&conf);

    expect_attr(trid, &conf);
    ck_ok(posix_trace_shutdown(trid));
}
END_TEST

START_TEST(test_044_get_attr_twice)
{
    trace_id_t trid = th_stream(.name = "twice", .max_data = 99);
    trace_attr_t attr[2];
    struct timespec created[2];
    char name[2][TRACE_NAME_MAX + 1];
    size_t size[2];

    for (int i = 0; i < 2; i++) {
        ck_ok(posix_trace_get_attr(trid, &attr[i]));
        ck_ok(posix_trace_attr_getcreatetime(&attr[i], &created[i]));
        ck_ok(posix_trace_attr_getname(&attr[i], name[i]));
        ck_ok(posix_trace_attr_getstreamsize(&attr[i], &size[i]));
        ck_ok(posix_trace_attr_destroy(&attr[i]));
        th_sleep_ms(2);
    }
    ck_assert_int_eq(th_ns(created[0]), th_ns(created[1]));
    ck_assert_str_eq(name[0], name[1]);
    ck_assert_uint_eq(size[0], size[1]);
    ck_ok(posix_trace_shutdown(trid));
}
END_TEST

START_TEST(test_045_create_time)
{
    int64_t before = th_now_ns(), after;
    trace_id_t trid = th_stream();
    struct timespec created;
    trace_attr_t attr;

    after = th_now_ns();
    ck_ok(posix_trace_get_attr(trid, &attr));
    ck_ok(posix_trace_attr_getcreatetime(&attr, &created));
    ck_assert_int_ge(th_ns(created), before);
    ck_assert_int_le(th_ns(created), after);
    ck_ok(posix_trace_attr_destroy(&attr));
    ck_ok(posix_trace_shutdown(trid));
}
END_TEST

static void add(TCase *tc)
{
    tcase_add_test(tc, test_015_init);
    tcase_add_test(tc, test_016_destroy_and_init_again);
    tcase_add_test(tc, test_017_default_name);
    tcase_add_test(tc, test_018_name_one_below_limit);
    tcase_add_test(tc, test_019_name_of_8);
    tcase_add_test(tc, test_020_name_too_long);
    tcase_add_test(tc, test_021_generation_version);
    tcase_add_test(tc, test_022_clock_resolution);
    tcase_add_test(tc, test_023_default_inheritance);
    tcase_add_test(tc, test_024_inheritance);
    tcase_add_test(tc, test_025_inheritance_refused);
    tcase_add_test(tc, test_026_default_log_policy);
    tcase_add_test(tc, test_027_log_policy);
    tcase_add_test(tc, test_028_log_policy_refused);
    tcase_add_test(tc, test_029_default_stream_policy);
    tcase_add_test(tc, test_030_stream_policy);
    tcase_add_test(tc, test_031_stream_policy_refused);
    tcase_add_test(tc, test_032_log_size);
    tcase_add_test(tc, test_033_max_data_size);
    tcase_add_test(tc, test_034_stream_size);
    tcase_add_test(tc, test_035_max_user_event_without_data);
    tcase_add_test(tc, test_036_max_user_event_grows);
    tcase_add_test(tc, test_037_max_user_event_beyond_max_data);
    tcase_add_test(tc, test_038_max_system_event);
    tcase_add_test(tc, test_039_null_arguments);
    tcase_add_test(tc, test_040_one_object_two_creates);
    tcase_add_test(tc, test_041_changed_after_create);
    tcase_add_test(tc, test_042_destroyed_after_create);
    tcase_add_test(tc, test_043_get_attr_as_requested);
    tcase_add_test(tc, test_044_get_attr_twice);
    tcase_add_test(tc, test_045_create_time);
}

int main(void)
{
    return th_main("B attributes", add);
}
