/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Bad input: every function of <trace.h> with NULL, stale and random handles,
 * bad enumerators and objects that were never initialised.  The result is a positive error number,
 * outputs keep their values, and an existing stream still works.
 */
#include "support/trace_helpers.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/resource.h>

#define UNTOUCHED 0xa5

/* A live stream, a log stream, an open log, and two handles that ended. */
static struct {
    trace_id_t stream, with_log, log, was_stream, was_log;
    trace_event_id_t id;
    char path[TH_PATH];
    int fd;
} world;

static void build_world(void)
{
    char path[TH_PATH];

    th_make_log(path, 20, 30);
    world.id = th_id("u");
    world.was_stream = th_stream();
    ck_ok(posix_trace_shutdown(world.was_stream));
    world.was_log = th_open(path);
    th_close(world.was_log);
    world.stream = th_stream();
    world.fd = th_file(world.path, O_RDWR);
    world.with_log = th_stream_log(world.fd);
    world.log = th_open(path);
    ck_ok(posix_trace_start(world.stream));
    ck_ok(posix_trace_start(world.with_log));
    th_expect(th_drain(world.stream), POSIX_TRACE_START);
}

/* Nothing of what a test did in between shows. */
static void expect_world(void)
{
    struct th_list list;

    th_put_run(world.id, 0, 5, 30);
    list = th_drain(world.stream);
    ck_assert_uint_eq(list.n, 5);
    th_expect_run(list, 0);
    ck_assert_uint_ge(th_read_log(world.log).n, 22);
    th_close(world.log);
    ck_ok(posix_trace_shutdown(world.stream));
    ck_ok(posix_trace_shutdown(world.with_log));
    close(world.fd);
    list = th_only(th_log_events(world.path), world.id);
    ck_assert_uint_eq(list.n, 5);
    th_expect_run(list, 0);
}

/* Outputs of every kind, filled with a pattern. */
struct outputs {
    trace_id_t trid;
    trace_event_id_t id;
    trace_attr_t attr;
    trace_event_set_t set;
    struct posix_trace_event_info info;
    struct posix_trace_status_info status;
    char name[TRACE_EVENT_NAME_MAX + 1];
    unsigned char data[64];
    size_t len;
    int number;
    struct timespec time;
};

static void pattern(struct outputs *o)
{
    memset(o, UNTOUCHED, sizeof *o);
}

static void expect_pattern(const struct outputs *o)
{
    const unsigned char *bytes = (const unsigned char *)o;

    for (size_t i = 0; i < sizeof *o; i++)
        ck_assert_msg(bytes[i] == UNTOUCHED, "output byte %zu was written", i);
}

#define refused(call) ck_assert_msg((call) == EINVAL, #call)

/* Every call that takes a trid, with one that no call may accept. */
static void use_bad_trid(trace_id_t trid)
{
    trace_event_set_t set = th_set();
    struct timespec past = { 0, 0 };
    struct outputs o;

    pattern(&o);
    refused(posix_trace_flush(trid));
    refused(posix_trace_shutdown(trid));
    refused(posix_trace_clear(trid));
    refused(posix_trace_start(trid));
    refused(posix_trace_stop(trid));
    refused(posix_trace_get_filter(trid, &o.set));
    refused(posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET));
    refused(posix_trace_trid_eventid_open(trid, "bad trid", &o.id));
    refused(posix_trace_eventid_get_name(trid, POSIX_TRACE_START, o.name));
    refused(posix_trace_eventtypelist_getnext_id(trid, &o.id, &o.number));
    refused(posix_trace_eventtypelist_rewind(trid));
    refused(posix_trace_get_attr(trid, &o.attr));
    refused(posix_trace_get_status(trid, &o.status));
    refused(posix_trace_rewind(trid));
    refused(posix_trace_close(trid));
    refused(posix_trace_getnext_event(trid, &o.info, o.data, sizeof o.data, &o.len, &o.number));
    refused(posix_trace_timedgetnext_event(trid, &o.info, o.data, sizeof o.data, &o.len, &o.number,
                                           &past));
    refused(posix_trace_trygetnext_event(trid, &o.info, o.data, sizeof o.data, &o.len, &o.number));
    posix_trace_eventid_equal(trid, POSIX_TRACE_START, POSIX_TRACE_STOP);
    expect_pattern(&o);
}

static bool in_use(trace_id_t trid)
{
    return trid == world.stream || trid == world.with_log || trid == world.log;
}

START_TEST(test_bad_trids)
{
    static const trace_id_t chosen[] = { 0, 1, INT_MAX, 0x80000000u, UINT_MAX, 0xdeadbeef };
    uint32_t random = 12345;

    build_world();
    use_bad_trid(world.was_stream);
    use_bad_trid(world.was_log);
    for (size_t i = 0; i < TH_COUNT(chosen); i++) {
        if (!in_use(chosen[i]))
            use_bad_trid(chosen[i]);
    }
    for (int i = 0; i < 1000; i++) {
        random = random * 1664525 + 1013904223;
        if (!in_use(random))
            use_bad_trid(random);
    }
    /* one bit away from a handle that is good */
    for (int bit = 0; bit < 32; bit++) {
        if (!in_use(world.stream ^ 1u << bit))
            use_bad_trid(world.stream ^ 1u << bit);
    }
    expect_world();
}
END_TEST

/* NULL where a stream call wants an object; trid takes the call otherwise. */
static void stream_nulls(trace_id_t trid)
{
    struct outputs o;

    pattern(&o);
    refused(posix_trace_eventid_get_name(trid, POSIX_TRACE_START, NULL));
    refused(posix_trace_eventtypelist_getnext_id(trid, NULL, &o.number));
    refused(posix_trace_eventtypelist_getnext_id(trid, &o.id, NULL));
    refused(posix_trace_get_attr(trid, NULL));
    refused(posix_trace_get_status(trid, NULL));
    expect_pattern(&o);
}

START_TEST(test_null_objects)
{
    trace_event_set_t set = th_set();
    struct outputs o;

    build_world();
    pattern(&o);
    refused(posix_trace_create(0, NULL, NULL));
    refused(posix_trace_create_withlog(0, NULL, world.fd, NULL));
    refused(posix_trace_open(world.fd, NULL));
    refused(posix_trace_get_filter(world.stream, NULL));
    refused(posix_trace_set_filter(world.stream, NULL, POSIX_TRACE_SET_EVENTSET));
    refused(posix_trace_eventid_open(NULL, &o.id));
    refused(posix_trace_eventid_open("fine", NULL));
    refused(posix_trace_trid_eventid_open(world.stream, NULL, &o.id));
    refused(posix_trace_trid_eventid_open(world.stream, "fine", NULL));
    refused(posix_trace_eventset_add(world.id, NULL));
    refused(posix_trace_eventset_del(world.id, NULL));
    refused(posix_trace_eventset_empty(NULL));
    refused(posix_trace_eventset_fill(NULL, POSIX_TRACE_ALL_EVENTS));
    refused(posix_trace_eventset_ismember(world.id, NULL, &o.number));
    refused(posix_trace_eventset_ismember(world.id, &set, NULL));
    stream_nulls(world.stream);
    stream_nulls(world.with_log);
    stream_nulls(world.log);
    expect_pattern(&o);
    expect_world();
}
END_TEST

/* NULL in the reading calls: an event that is there must not be consumed. */
START_TEST(test_null_in_reads)
{
    struct timespec past = { 0, 0 };
    struct outputs o;
    struct th_event e;
    trace_id_t s;
    int unavailable = 1;

    build_world();
    s = world.stream;
    pattern(&o);
    th_put(world.id, 77, 8);
    refused(posix_trace_getnext_event(s, NULL, o.data, 8, &o.len, &o.number));
    refused(posix_trace_getnext_event(s, &o.info, NULL, 8, &o.len, &o.number));
    refused(posix_trace_getnext_event(s, &o.info, o.data, 8, NULL, &o.number));
    refused(posix_trace_getnext_event(s, &o.info, o.data, 8, &o.len, NULL));
    refused(posix_trace_trygetnext_event(s, NULL, o.data, 8, &o.len, &o.number));
    refused(posix_trace_trygetnext_event(s, &o.info, NULL, 8, &o.len, &o.number));
    refused(posix_trace_trygetnext_event(s, &o.info, o.data, 8, NULL, &o.number));
    refused(posix_trace_trygetnext_event(s, &o.info, o.data, 8, &o.len, NULL));
    refused(posix_trace_timedgetnext_event(s, NULL, o.data, 8, &o.len, &o.number, &past));
    refused(posix_trace_timedgetnext_event(s, &o.info, NULL, 8, &o.len, &o.number, &past));
    refused(posix_trace_timedgetnext_event(s, &o.info, o.data, 8, NULL, &o.number, &past));
    refused(posix_trace_timedgetnext_event(s, &o.info, o.data, 8, &o.len, NULL, &past));
    expect_pattern(&o);
    e = th_next(s);
    ck_assert_uint_eq(th_seq(&e), 77);
    /* nothing is available, which may be reported before the time is checked */
    refused(posix_trace_timedgetnext_event(s, &o.info, o.data, 8, &o.len, &unavailable, NULL));
    ck_assert_int_ne(unavailable, 0);
    refused(posix_trace_getnext_event(world.log, NULL, o.data, 8, &o.len, &o.number));
    refused(posix_trace_getnext_event(world.log, &o.info, NULL, 8, &o.len, &o.number));
    refused(posix_trace_getnext_event(world.log, &o.info, o.data, 8, NULL, &o.number));
    refused(posix_trace_getnext_event(world.log, &o.info, o.data, 8, &o.len, NULL));
    expect_pattern(&o);
    ck_ok(posix_trace_clear(world.with_log));
    expect_world();
}
END_TEST

/* An attributes object of the given bytes was never initialised. */
static void use_attr_of(unsigned char byte)
{
    trace_attr_t bad, before;
    struct outputs o;
    char path[TH_PATH];
    int fd = th_file(path, O_RDWR);

    memset(&bad, byte, sizeof bad);
    before = bad;
    pattern(&o);
    refused(posix_trace_attr_destroy(&bad));
    refused(posix_trace_attr_getclockres(&bad, &o.time));
    refused(posix_trace_attr_getcreatetime(&bad, &o.time));
    refused(posix_trace_attr_getgenversion(&bad, o.name));
    refused(posix_trace_attr_getname(&bad, o.name));
    refused(posix_trace_attr_setname(&bad, "x"));
    refused(posix_trace_attr_getinherited(&bad, &o.number));
    refused(posix_trace_attr_setinherited(&bad, POSIX_TRACE_INHERITED));
    refused(posix_trace_attr_getlogfullpolicy(&bad, &o.number));
    refused(posix_trace_attr_setlogfullpolicy(&bad, POSIX_TRACE_LOOP));
    refused(posix_trace_attr_getstreamfullpolicy(&bad, &o.number));
    refused(posix_trace_attr_setstreamfullpolicy(&bad, POSIX_TRACE_LOOP));
    refused(posix_trace_attr_getlogsize(&bad, &o.len));
    refused(posix_trace_attr_setlogsize(&bad, 100000));
    refused(posix_trace_attr_getmaxdatasize(&bad, &o.len));
    refused(posix_trace_attr_setmaxdatasize(&bad, 100));
    refused(posix_trace_attr_getmaxsystemeventsize(&bad, &o.len));
    refused(posix_trace_attr_getmaxusereventsize(&bad, 10, &o.len));
    refused(posix_trace_attr_getstreamsize(&bad, &o.len));
    refused(posix_trace_attr_setstreamsize(&bad, 100000));
    refused(posix_trace_create(0, &bad, &o.trid));
    refused(posix_trace_create_withlog(0, &bad, fd, &o.trid));
    expect_pattern(&o);
    ck_assert_mem_eq(&bad, &before, sizeof bad);
    ck_ok(posix_trace_get_attr(world.stream, &bad));
    ck_ok(posix_trace_attr_getstreamsize(&bad, &o.len));
    ck_ok(posix_trace_attr_destroy(&bad));
    refused(posix_trace_attr_getstreamsize(&bad, &o.len));
    close(fd);
}

START_TEST(test_uninitialised_attr)
{
    build_world();
    use_attr_of(0);
    use_attr_of(UNTOUCHED);
    use_attr_of(0xff);
    expect_world();
}
END_TEST

static void use_set_of(unsigned char byte)
{
    trace_event_set_t bad, before;
    struct outputs o;

    memset(&bad, byte, sizeof bad);
    before = bad;
    pattern(&o);
    refused(posix_trace_eventset_add(world.id, &bad));
    refused(posix_trace_eventset_del(world.id, &bad));
    refused(posix_trace_eventset_ismember(world.id, &bad, &o.number));
    refused(posix_trace_set_filter(world.stream, &bad, POSIX_TRACE_SET_EVENTSET));
    refused(posix_trace_set_filter(world.stream, &bad, POSIX_TRACE_ADD_EVENTSET));
    refused(posix_trace_set_filter(world.stream, &bad, POSIX_TRACE_SUB_EVENTSET));
    expect_pattern(&o);
    ck_assert_mem_eq(&bad, &before, sizeof bad);
}

START_TEST(test_uninitialised_set)
{
    build_world();
    use_set_of(0);
    use_set_of(UNTOUCHED);
    use_set_of(0xff);
    expect_world();
}
END_TEST

/* Ids that no event type can have. */
START_TEST(test_impossible_ids)
{
    static const trace_event_id_t ids[] = { 0, 1216, 2048, 65536, 0x80000000u, UINT_MAX };
    trace_event_set_t set = th_set(POSIX_TRACE_STOP), before = set;
    struct outputs o;

    build_world();
    pattern(&o);
    for (size_t i = 0; i < TH_COUNT(ids); i++) {
        refused(posix_trace_eventset_add(ids[i], &set));
        refused(posix_trace_eventset_del(ids[i], &set));
        refused(posix_trace_eventset_ismember(ids[i], &set, &o.number));
        refused(posix_trace_eventid_get_name(world.stream, ids[i], o.name));
        refused(posix_trace_eventid_get_name(world.log, ids[i], o.name));
        posix_trace_event(ids[i], o.data, sizeof o.data);
    }
    expect_pattern(&o);
    ck_assert_mem_eq(&set, &before, sizeof set);
    expect_world();
}
END_TEST

START_TEST(test_bad_sizes)
{
    trace_attr_t attr, before;

    ck_ok(posix_trace_attr_init(&attr));
    before = attr;
    refused(posix_trace_attr_setstreamsize(&attr, 0));
    refused(posix_trace_attr_setstreamsize(&attr, SIZE_MAX));
    refused(posix_trace_attr_setlogsize(&attr, 0));
    refused(posix_trace_attr_setmaxdatasize(&attr, SIZE_MAX));
    refused(posix_trace_attr_setmaxdatasize(&attr, 61441));
    ck_assert_mem_eq(&attr, &before, sizeof attr);
    ck_ok(posix_trace_attr_destroy(&attr));
}
END_TEST

/* A trace point cannot report errors: NULL data are recorded as none, and a
 * length of any size is cut. */
START_TEST(test_event_arguments)
{
    static unsigned char big[70000];
    struct th_list list;

    build_world();
    posix_trace_event(world.id, NULL, 100);
    posix_trace_event(world.id, NULL, SIZE_MAX);
    posix_trace_event(world.id, big, sizeof big);
    list = th_drain(world.stream);
    for (size_t i = 0; i < list.n; i++)
        ck_assert(list.at[i].len == 0 || list.at[i].len == 4096);
    ck_assert_uint_eq(list.at[list.n - 1].len, 4096);
    ck_assert_int_eq(list.at[list.n - 1].info.posix_truncation_status,
                     POSIX_TRACE_TRUNCATED_RECORD);
    ck_ok(posix_trace_shutdown(world.stream));
    ck_ok(posix_trace_shutdown(world.with_log));
    th_close(world.log);
}
END_TEST

/* A program may forbid itself large files; the memory of a stream must not cost
 * it a SIGXFSZ. */
static void create_with_file_size_limit(void *unused)
{
    struct rlimit limit = { 4096, 4096 };
    trace_id_t trid;
    int error;

    (void)unused;
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    error = posix_trace_create(0, NULL, &trid);
    ck_assert_msg(error == 0 || error == ENOMEM, "create: %d", error);
}

START_TEST(test_file_size_limit)
{
    th_in_child(create_with_file_size_limit, NULL);
}
END_TEST

START_TEST(test_names)
{
    struct outputs o;
    static char endless[100000];

    build_world();
    pattern(&o);
    memset(endless, 'x', sizeof endless - 1);
    ck_fails(posix_trace_eventid_open(endless, &o.id), ENAMETOOLONG);
    ck_fails(posix_trace_trid_eventid_open(world.stream, endless, &o.id), ENAMETOOLONG);
    expect_pattern(&o);
    expect_world();
}
END_TEST

static void add(TCase *tc)
{
    tcase_add_test(tc, test_bad_trids);
    tcase_add_test(tc, test_null_objects);
    tcase_add_test(tc, test_null_in_reads);
    tcase_add_test(tc, test_uninitialised_attr);
    tcase_add_test(tc, test_uninitialised_set);
    tcase_add_test(tc, test_impossible_ids);
    tcase_add_test(tc, test_bad_sizes);
    tcase_add_test(tc, test_event_arguments);
    tcase_add_test(tc, test_file_size_limit);
    tcase_add_test(tc, test_names);
}

int main(void)
{
    return th_main("bad input", add);
}
