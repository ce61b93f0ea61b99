/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Group F, second part: reads that wait.
 *
 * What happens first is never left to a delay: the other thread looks until
 * the reader sleeps.  Times are compared as lower bounds only.
 */
#include "support/trace_helpers.h"

#include <signal.h>
#include <stdatomic.h>
#include <sys/syscall.h>

static struct timespec in_ms(int64_t ms)
{
    int64_t ns = th_now_ns() + ms * 1000000;

    return (struct timespec){ ns / 1000000000, ns % 1000000000 };
}

struct helper {
    trace_id_t trid;
    trace_event_id_t id;
    pid_t reader;
    pthread_t reader_thread;
    int result;
    atomic_bool acted;
    atomic_bool enough;
};

static struct helper helper_for(trace_id_t trid)
{
    return (struct helper){ .trid = trid,
                            .id = th_id("awaited"),
                            .reader = (pid_t)syscall(SYS_gettid),
                            .reader_thread = pthread_self() };
}

static void *record_when_asleep(void *context)
{
    struct helper *h = context;

    th_wait_asleep(h->reader);
    atomic_store(&h->acted, true);
    th_put(h->id, 77, 8);
    return NULL;
}

static void *start_when_asleep(void *context)
{
    struct helper *h = context;

    th_wait_asleep(h->reader);
    atomic_store(&h->acted, true);
    h->result = posix_trace_start(h->trid);
    return NULL;
}

/* One signal might come just before the reader waits; it takes as many as it
 * takes. */
static void *signal_until_enough(void *context)
{
    struct helper *h = context;

    while (!atomic_load(&h->enough)) {
        pthread_kill(h->reader_thread, SIGUSR1);
        th_sleep_ms(5);
    }
    return NULL;
}

static void on_signal(int signo)
{
    (void)signo;
}

static void catch_usr1(void)
{
    struct sigaction action = { .sa_handler = on_signal };

    ck_assert_int_eq(sigaction(SIGUSR1, &action, NULL), 0);
}

START_TEST(test_126_woken_by_event)
{
    struct helper h = helper_for(th_running());
    struct posix_trace_event_info info;
    struct th_thread t;
    uint32_t data[2];
    size_t len;
    int unavailable = 1;

    th_thread_start(&t, record_when_asleep, &h);
    ck_ok(posix_trace_getnext_event(h.trid, &info, data, sizeof data, &len, &unavailable));
    ck_assert(atomic_load(&h.acted));
    ck_assert_int_eq(unavailable, 0);
    ck_assert_uint_eq(info.posix_event_id, h.id);
    ck_assert_uint_eq(len, 8);
    ck_assert_uint_eq(data[0], 77);
    th_thread_join(&t);
    ck_ok(posix_trace_shutdown(h.trid));
}
END_TEST

START_TEST(test_127_woken_by_start)
{
    struct helper h = helper_for(th_stream());
    struct posix_trace_event_info info;
    struct th_thread t;
    size_t len;
    int unavailable = 1;

    th_thread_start(&t, start_when_asleep, &h);
    ck_ok(posix_trace_getnext_event(h.trid, &info, NULL, 0, &len, &unavailable));
    ck_assert(atomic_load(&h.acted));
    ck_assert_int_eq(unavailable, 0);
    ck_assert_uint_eq(info.posix_event_id, POSIX_TRACE_START);
    th_thread_join(&t);
    ck_ok(h.result);
    ck_ok(posix_trace_shutdown(h.trid));
}
END_TEST

static void interrupted(bool timed)
{
    struct helper h = helper_for(th_running());
    struct timespec until = in_ms(INT64_C(3600) * 1000);
    struct posix_trace_event_info info;
    struct th_thread t;
    struct th_list list;
    size_t len;
    int unavailable, error;

    catch_usr1();
    th_thread_start(&t, signal_until_enough, &h);
    error = timed
                ? posix_trace_timedgetnext_event(h.trid, &info, NULL, 0, &len, &unavailable, &until)
                : posix_trace_getnext_event(h.trid, &info, NULL, 0, &len, &unavailable);
    atomic_store(&h.enough, true);
    th_thread_join(&t);
    ck_assert_int_eq(error, EINTR);
    th_put_run(h.id, 5, 2, 8);
    list = th_drain(h.trid);
    th_expect(list, h.id, h.id);
    th_expect_run(list, 5);
    ck_ok(posix_trace_shutdown(h.trid));
}

START_TEST(test_128_getnext_interrupted)
{
    interrupted(false);
}
END_TEST

START_TEST(test_134_timedgetnext_interrupted)
{
    interrupted(true);
}
END_TEST

static int timed_read(trace_id_t trid, struct timespec until, trace_event_id_t *id,
                      int *unavailable)
{
    struct posix_trace_event_info info = { 0 };
    size_t len;
    int error = posix_trace_timedgetnext_event(trid, &info, NULL, 0, &len, unavailable, &until);

    *id = info.posix_event_id;
    return error;
}

START_TEST(test_129_timeout)
{
    trace_id_t trid = th_running();
    struct timespec until = in_ms(200);
    trace_event_id_t id;
    int unavailable = -1;

    ck_fails(timed_read(trid, until, &id, &unavailable), ETIMEDOUT);
    ck_assert_int_ge(th_now_ns(), th_ns(until));
    ck_ok(posix_trace_shutdown(trid));
}
END_TEST

START_TEST(test_130_timeout_in_the_past)
{
    trace_id_t trid = th_running();
    trace_event_id_t id;
    int unavailable;

    ck_fails(timed_read(trid, in_ms(-1000), &id, &unavailable), ETIMEDOUT);
    ck_fails(timed_read(trid, (struct timespec){ 0, 0 }, &id, &unavailable), ETIMEDOUT);
    ck_fails(timed_read(trid, (struct timespec){ -5, 0 }, &id, &unavailable), ETIMEDOUT);
    ck_ok(posix_trace_shutdown(trid));
}
END_TEST

/* An event is there: whatever the time says, it is delivered. */
static void delivered_at(struct timespec until)
{
    trace_event_id_t put = th_id("ready"), got;
    trace_id_t trid = th_running();
    int unavailable = 1;

    th_put(put, 1, 4);
    ck_ok(timed_read(trid, until, &got, &unavailable));
    ck_assert_int_eq(unavailable, 0);
    ck_assert_uint_eq(got, put);
    ck_ok(posix_trace_shutdown(trid));
}

START_TEST(test_131_event_beats_past_time)
{
    delivered_at(in_ms(-1000));
}
END_TEST

START_TEST(test_132_event_beats_invalid_time)
{
    struct timespec until = in_ms(1000);

    delivered_at((struct timespec){ until.tv_sec, -1 });
    delivered_at((struct timespec){ until.tv_sec, 1000000000 });
}
END_TEST

START_TEST(test_133_invalid_time)
{
    trace_id_t trid = th_running();
    struct timespec until = in_ms(1000);
    trace_event_id_t id;
    int unavailable;

    ck_fails(timed_read(trid, (struct timespec){ until.tv_sec, -1 }, &id, &unavailable), EINVAL);
    ck_fails(timed_read(trid, (struct timespec){ until.tv_sec, 1000000000 }, &id, &unavailable),
             EINVAL);
    ck_ok(posix_trace_shutdown(trid));
}
END_TEST

START_TEST(test_135_event_before_time)
{
    struct helper h = helper_for(th_running());
    struct th_thread t;
    trace_event_id_t id;
    int unavailable = 1;

    th_thread_start(&t, record_when_asleep, &h);
    ck_ok(timed_read(h.trid, in_ms(INT64_C(3600) * 1000), &id, &unavailable));
    ck_assert(atomic_load(&h.acted));
    ck_assert_int_eq(unavailable, 0);
    ck_assert_uint_eq(id, h.id);
    th_thread_join(&t);
    ck_ok(posix_trace_shutdown(h.trid));
}
END_TEST

START_TEST(test_136_timeout_unavailable)
{
    trace_id_t trid = th_running();
    trace_event_id_t id;
    int unavailable = 0;

    ck_fails(timed_read(trid, in_ms(-1000), &id, &unavailable), ETIMEDOUT);
    ck_assert_int_ne(unavailable, 0);
    unavailable = 0;
    ck_fails(timed_read(trid, in_ms(20), &id, &unavailable), ETIMEDOUT);
    ck_assert_int_ne(unavailable, 0);
    ck_ok(posix_trace_shutdown(trid));
}
END_TEST

static void add(TCase *tc)
{
    tcase_add_test(tc, test_126_woken_by_event);
    tcase_add_test(tc, test_127_woken_by_start);
    tcase_add_test(tc, test_128_getnext_interrupted);
    tcase_add_test(tc, test_129_timeout);
    tcase_add_test(tc, test_130_timeout_in_the_past);
    tcase_add_test(tc, test_131_event_beats_past_time);
    tcase_add_test(tc, test_132_event_beats_invalid_time);
    tcase_add_test(tc, test_133_invalid_time);
    tcase_add_test(tc, test_134_timedgetnext_interrupted);
    tcase_add_test(tc, test_135_event_before_time);
    tcase_add_test(tc, test_136_timeout_unavailable);
}

int main(void)
{
    return th_main("F waiting", add);
}
