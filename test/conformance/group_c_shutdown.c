/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Group C, second part: shutting streams down.
 */
#include "support/trace_helpers.h"

#include <dirent.h>
#include <malloc.h>

static const trace_id_t garbage[] = { 0, 1, 0x7fffffff, 0x80000000u, 0xdeadbeef, UINT32_MAX };

START_TEST(test_059_shutdown_in_each_state)
{
    trace_id_t created = th_stream(), running = th_stream(), stopped = th_stream();

    ck_ok(posix_trace_start(running));
    ck_ok(posix_trace_start(stopped));
    ck_ok(posix_trace_stop(stopped));
    ck_ok(posix_trace_shutdown(created));
    ck_ok(posix_trace_shutdown(running));
    ck_ok(posix_trace_shutdown(stopped));
}
END_TEST

START_TEST(test_060_shutdown_twice)
{
    trace_id_t trid = th_stream();

    ck_ok(posix_trace_shutdown(trid));
    ck_fails(posix_trace_shutdown(trid), EINVAL);
    ck_fails(posix_trace_shutdown(trid), EINVAL);
}
END_TEST

START_TEST(test_061_shutdown_garbage)
{
    trace_id_t alive = th_stream();

    for (size_t i = 0; i < TH_COUNT(garbage); i++) {
        if (garbage[i] != alive)
            ck_fails(posix_trace_shutdown(garbage[i]), EINVAL);
    }
    ck_ok(posix_trace_start(alive));
    ck_ok(posix_trace_shutdown(alive));
}
END_TEST

START_TEST(test_062_use_after_shutdown)
{
    trace_id_t trid = th_stream();

    ck_ok(posix_trace_start(trid));
    ck_ok(posix_trace_shutdown(trid));
    th_expect_no_stream(trid);
}
END_TEST

START_TEST(test_063_unread_events)
{
    trace_event_id_t id = th_id("unread");
    trace_id_t trid = th_stream();

    ck_ok(posix_trace_start(trid));
    th_put_run(id, 0, 1000, 16);
    ck_ok(posix_trace_shutdown(trid));
}
END_TEST

struct reader {
    trace_id_t trid;
    bool timed;
    int result;
};

static void *read_blocking(void *context)
{
    struct reader *r = context;
    struct posix_trace_event_info info;
    struct timespec until;
    size_t len;
    int unavailable;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 3600;
    r->result = r->timed ? posix_trace_timedgetnext_event(r->trid, &info, NULL, 0, &len,
                                                          &unavailable, &until)
                         : posix_trace_getnext_event(r->trid, &info, NULL, 0, &len, &unavailable);
    return NULL;
}

static void shutdown_wakes(bool timed)
{
    struct reader r = { .trid = th_stream(), .timed = timed, .result = -1 };
    struct th_thread t;

    th_thread_start(&t, read_blocking, &r);
    th_thread_wait_asleep(&t);
    ck_ok(posix_trace_shutdown(r.trid));
    th_thread_join(&t);
    ck_assert_int_eq(r.result, EINVAL);
}

START_TEST(test_064_shutdown_wakes_getnext)
{
    shutdown_wakes(false);
}
END_TEST

START_TEST(test_065_shutdown_wakes_timedgetnext)
{
    shutdown_wakes(true);
}
END_TEST

START_TEST(test_066_other_stream_unaffected)
{
    trace_event_id_t id = th_id("goes on");
    trace_id_t a = th_stream(), b = th_stream();
    struct th_list list;

    ck_ok(posix_trace_start(a));
    ck_ok(posix_trace_start(b));
    th_put(id, 0, 8);
    ck_ok(posix_trace_shutdown(a));
    th_put(id, 1, 8);
    ck_assert_int_eq(th_status(b).posix_stream_status, POSIX_TRACE_RUNNING);
    list = th_drain(b);
    th_expect(list, POSIX_TRACE_START, id, id);
    th_expect_run(th_only(list, id), 0);
    ck_ok(posix_trace_shutdown(b));
}
END_TEST

static unsigned entries(const char *path)
{
    DIR *dir = opendir(path);
    unsigned n = 0;

    ck_assert_ptr_nonnull(dir);
    while (readdir(dir))
        n++;
    closedir(dir);
    return n;
}

/* Mappings of stream memory, and address space in KiB. */
static void mappings(unsigned *count, size_t *kib)
{
    FILE *f = fopen("/proc/self/maps", "r");
    char line[512];
    unsigned long from, to;

    ck_assert_ptr_nonnull(f);
    *count = 0;
    *kib = 0;
    while (fgets(line, sizeof line, f)) {
        if (!strstr(line, th_stream_dir()))
            continue;
        ck_assert_int_eq(sscanf(line, "%lx-%lx", &from, &to), 2);
        ++*count;
        *kib += (to - from) / 1024;
    }
    fclose(f);
}

struct resources {
    unsigned descriptors, files, maps;
    size_t mapped_kib, heap;
};

static struct resources resources_now(void)
{
    struct resources r = { .descriptors = entries("/proc/self/fd"),
                           .files = entries(th_stream_dir()),
                           .heap = mallinfo2().uordblks };

    mappings(&r.maps, &r.mapped_kib);
    return r;
}

static void cycles(trace_event_id_t id, int n)
{
    while (n-- > 0) {
        trace_id_t trid = th_stream(.stream_size = 16384);

        ck_ok(posix_trace_start(trid));
        posix_trace_event(id, &n, sizeof n);
        ck_ok(posix_trace_shutdown(trid));
    }
}

START_TEST(test_067_thousand_cycles)
{
    trace_event_id_t id = th_id("cycle");
    struct resources before, after;

    cycles(id, 100);
    before = resources_now();
    cycles(id, 1000);
    after = resources_now();
    ck_assert_uint_eq(after.descriptors, before.descriptors);
    ck_assert_uint_eq(after.files, before.files);
    ck_assert_uint_le(after.maps, before.maps);
    ck_assert_uint_le(after.mapped_kib, before.mapped_kib);
    /* the allocator's own bookkeeping may move a little */
    ck_assert_uint_le(after.heap, before.heap + 16384);
}
END_TEST

static void add(TCase *tc)
{
    tcase_add_test(tc, test_059_shutdown_in_each_state);
    tcase_add_test(tc, test_060_shutdown_twice);
    tcase_add_test(tc, test_061_shutdown_garbage);
    tcase_add_test(tc, test_062_use_after_shutdown);
    tcase_add_test(tc, test_063_unread_events);
    tcase_add_test(tc, test_064_shutdown_wakes_getnext);
    tcase_add_test(tc, test_065_shutdown_wakes_timedgetnext);
    tcase_add_test(tc, test_066_other_stream_unaffected);
    tcase_add_test(tc, test_067_thousand_cycles);
}

int main(void)
{
    return th_main("C shutdown", add);
}
