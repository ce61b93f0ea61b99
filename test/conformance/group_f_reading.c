/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Group F, first part: what a read delivers.
 */
#include "support/trace_helpers.h"

#include <fcntl.h>
#include <stdatomic.h>

#define UNTOUCHED 0xa5

START_TEST(test_123_try_empty)
{
    trace_id_t trid = th_stream();
    struct posix_trace_event_info info;
    size_t len;
    int unavailable = 0;

    ck_ok(posix_trace_trygetnext_event(trid, &info, NULL, 0, &len, &unavailable));
    ck_assert_int_ne(unavailable, 0);
    ck_ok(posix_trace_shutdown(trid));
}
END_TEST

START_TEST(test_124_try_available)
{
    trace_event_id_t id = th_id("there");
    trace_id_t trid = th_running();
    struct posix_trace_event_info info;
    size_t len;
    int unavailable = 1;

    th_put(id, 1, 4);
    ck_ok(posix_trace_trygetnext_event(trid, &info, NULL, 0, &len, &unavailable));
    ck_assert_int_eq(unavailable, 0);
    ck_assert_uint_eq(info.posix_event_id, id);
    ck_ok(posix_trace_shutdown(trid));
}
END_TEST

START_TEST(test_125_get_available)
{
    trace_event_id_t id = th_id("there");
    trace_id_t trid = th_running();
    struct posix_trace_event_info info;
    size_t len;
    int unavailable = 1;

    th_put(id, 1, 4);
    ck_ok(posix_trace_getnext_event(trid, &info, NULL, 0, &len, &unavailable));
    ck_assert_int_eq(unavailable, 0);
    ck_assert_uint_eq(info.posix_event_id, id);
    ck_ok(posix_trace_shutdown(trid));
}
END_TEST

START_TEST(test_137_invalid_trid)
{
    char path[TH_PATH];
    int fd = th_file(path, O_RDWR);
    trace_id_t gone = th_stream_log(fd), log;
    struct posix_trace_event_info info;
    struct timespec now;
    size_t len;
    int unavailable;

    ck_ok(posix_trace_shutdown(gone));
    close(fd);
    log = th_open(path);
    th_close(log);
    clock_gettime(CLOCK_REALTIME, &now);
    for (size_t i = 0; i < 3; i++) {
        trace_id_t trid = (trace_id_t[]){ gone, log, 0xdeadbeef }[i];
        ck_fails(posix_trace_getnext_event(trid, &info, NULL, 0, &len, &unavailable), EINVAL);
        ck_fails(posix_trace_timedgetnext_event(trid, &info, NULL, 0, &len, &unavailable, &now),
                 EINVAL);
        ck_fails(posix_trace_trygetnext_event(trid, &info, NULL, 0, &len, &unavailable), EINVAL);
    }
}
END_TEST

START_TEST(test_138_recording_order)
{
    trace_event_id_t id[3] = { th_id("first"), th_id("second"), th_id("third") };
    trace_id_t trid = th_running();
    struct th_list list;

    for (uint32_t i = 0; i < 3000; i++)
        th_put(id[i % 3], i, 4 + i % 50);
    list = th_drain(trid);
    ck_assert_uint_eq(list.n, 3000);
    for (size_t i = 0; i < list.n; i++)
        ck_assert_uint_eq(list.at[i].info.posix_event_id, id[i % 3]);
    th_expect_run(list, 0);
    ck_ok(posix_trace_shutdown(trid));
}
END_TEST

START_TEST(test_139_reported_once)
{
    trace_event_id_t id = th_id("once");
    trace_id_t trid = th_running();

    for (uint32_t round = 0; round < 50; round++) {
        struct th_list list;

        th_put_run(id, round * 7, 7, 12);
        list = th_drain(trid);
        ck_assert_uint_eq(list.n, 7);
        th_expect_run(list, round * 7);
        ck_assert_uint_eq(th_drain(trid).n, 0);
    }
    ck_ok(posix_trace_shutdown(trid));
}
END_TEST

/* Reads an event of recorded bytes (the rest was cut at recording if cut) into
 * num_bytes of a larger buffer, and checks all that is said about it. */
static void read_into(size_t recorded, bool cut, size_t num_bytes, int status)
{
    trace_event_id_t id = th_id("payload");
    trace_id_t trid = th_running(.max_data = cut ? recorded : 4096);
    size_t copied = recorded < num_bytes ? recorded : num_bytes, len = 0;
    unsigned char buffer[512], expected[512];
    struct posix_trace_event_info info;
    int unavailable = 1;

    for (size_t i = 0; i < sizeof expected; i++)
        expected[i] = (unsigned char)(i * 3 + 1);
    memset(buffer, UNTOUCHED, sizeof buffer);
    posix_trace_event(id, expected, recorded + (cut ? 50 : 0));
    ck_ok(posix_trace_trygetnext_event(trid, &info, num_bytes ? buffer : NULL, num_bytes, &len,
                                       &unavailable));
    ck_assert_int_eq(unavailable, 0);
    ck_assert_uint_eq(len, copied);
    ck_assert_int_eq(info.posix_truncation_status, status);
    if (copied > 0)
        ck_assert_mem_eq(buffer, expected, copied);
    for (size_t i = copied; i < sizeof buffer; i++)
        ck_assert_uint_eq(buffer[i], UNTOUCHED);
    ck_assert_uint_eq(th_drain(trid).n, 0);
    ck_ok(posix_trace_shutdown(trid));
}

START_TEST(test_140_buffer_fits)
{
    for (size_t n = 1; n < 70; n++)
        read_into(n, false, n, POSIX_TRACE_NOT_TRUNCATED);
}
END_TEST

START_TEST(test_141_buffer_larger)
{
    for (size_t n = 1; n < 70; n++)
        read_into(n, false, n + 30, POSIX_TRACE_NOT_TRUNCATED);
}
END_TEST

START_TEST(test_142_buffer_smaller)
{
    for (size_t n = 2; n < 70; n++)
        read_into(n, false, n / 2, POSIX_TRACE_TRUNCATED_READ);
}
END_TEST

START_TEST(test_143_no_buffer)
{
    read_into(100, false, 0, POSIX_TRACE_TRUNCATED_READ);
}
END_TEST

START_TEST(test_144_cut_when_recorded)
{
    read_into(100, true, 100, POSIX_TRACE_TRUNCATED_RECORD);
    read_into(100, true, 200, POSIX_TRACE_TRUNCATED_RECORD);
}
END_TEST

START_TEST(test_145_cut_twice)
{
    read_into(100, true, 99, POSIX_TRACE_TRUNCATED_READ);
    read_into(100, true, 0, POSIX_TRACE_TRUNCATED_READ);
}
END_TEST

START_TEST(test_146_after_stop)
{
    trace_event_id_t id = th_id("before stop");
    trace_id_t trid = th_stream();

    ck_ok(posix_trace_start(trid));
    th_put_run(id, 0, 3, 8);
    ck_ok(posix_trace_stop(trid));
    th_expect(th_drain(trid), POSIX_TRACE_START, id, id, id, POSIX_TRACE_STOP);
    ck_ok(posix_trace_shutdown(trid));
}
END_TEST

#define SHARED_EVENTS 4000

struct analyzers {
    trace_id_t trid;
    trace_event_id_t id;
    atomic_uint seen[SHARED_EVENTS];
    atomic_uint wrong;
    atomic_bool written;
};

/* Reads until nothing comes although the writer has finished. */
static void *analyze(void *context)
{
    struct analyzers *a = context;

    for (;;) {
        bool last = atomic_load(&a->written);
        struct posix_trace_event_info info;
        uint32_t seq;
        size_t len;
        int unavailable = 1;

        if (posix_trace_trygetnext_event(a->trid, &info, &seq, sizeof seq, &len, &unavailable))
            atomic_fetch_add(&a->wrong, 1);
        if (unavailable && last)
            return NULL;
        if (unavailable)
            continue;
        if (info.posix_event_id != a->id || len != sizeof seq || seq >= SHARED_EVENTS)
            atomic_fetch_add(&a->wrong, 1);
        else
            atomic_fetch_add(&a->seen[seq], 1);
    }
}

START_TEST(test_147_two_analyzers)
{
    static struct analyzers a;
    struct th_thread t[2];

    a.id = th_id("shared");
    a.trid = th_running();
    th_thread_start(&t[0], analyze, &a);
    th_thread_start(&t[1], analyze, &a);
    th_put_run(a.id, 0, SHARED_EVENTS, 4);
    atomic_store(&a.written, true);
    th_thread_join(&t[0]);
    th_thread_join(&t[1]);
    ck_assert_uint_eq(atomic_load(&a.wrong), 0);
    for (size_t i = 0; i < SHARED_EVENTS; i++)
        ck_assert_uint_eq(atomic_load(&a.seen[i]), 1);
    ck_ok(posix_trace_shutdown(a.trid));
}
END_TEST

static void add(TCase *tc)
{
    tcase_add_test(tc, test_123_try_empty);
    tcase_add_test(tc, test_124_try_available);
    tcase_add_test(tc, test_125_get_available);
    tcase_add_test(tc, test_137_invalid_trid);
    tcase_add_test(tc, test_138_recording_order);
    tcase_add_test(tc, test_139_reported_once);
    tcase_add_test(tc, test_140_buffer_fits);
    tcase_add_test(tc, test_141_buffer_larger);
    tcase_add_test(tc, test_142_buffer_smaller);
    tcase_add_test(tc, test_143_no_buffer);
    tcase_add_test(tc, test_144_cut_when_recorded);
    tcase_add_test(tc, test_145_cut_twice);
    tcase_add_test(tc, test_146_after_stop);
    tcase_add_test(tc, test_147_two_analyzers);
}

int main(void)
{
    return th_main("F reading", add);
}
