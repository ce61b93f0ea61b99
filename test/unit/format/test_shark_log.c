/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * posixtrace/shark.h: TRACER_LOGEVENT, its filters, and that each event of many threads
 * and of handlers has its place, or is counted.
 */
#include <fcntl.h>
#include <signal.h>
#include <sys/time.h>
#include "shark_bench.h"

START_TEST(nothing_without_chunk_or_enable)
{
    int a = sb_chunk(10, 0, FREE | STOP);

    sb_log(0, 1); /* neither */
    FTrace_enable();
    sb_log(1, 1); /* no chunk */
    TRACER_LOGEVENT(FTrace_EVT_next_chunk, 0, 0);
    ck_ok(FTrace_actual_chunk_select(a));
    sb_log(2, 1);
    FTrace_disable();
    sb_log(3, 1);
    TRACER_LOGEVENT(FTrace_EVT_next_chunk, 0, 0);
    FTrace_enable();
    sb_log(3, 1);
    ck_assert_uint_eq(sb_look(a).lost, 0);
    sb_expect(sb_send(a, STOP), 2, 2);
    sb_clear();
}
END_TEST

START_TEST(all_codes)
{
    int a = sb_chunk(600, 0, FREE | STOP);
    struct records got;
    unsigned at = 0;

    ck_ok(FTrace_actual_chunk_select(a));
    FTrace_enable();
    for (unsigned code = 0; code < 0xff; code++) {
        TRACER_LOGEVENT(code, code * 257, ~code);
        TRACER_LOGEVENT(code | 0xffff8000u, 0x12345, code);
    }
    got = sb_send(a, STOP);
    ck_assert_uint_eq(got.n, 2 * 0xfe); /* 0 is none */
    for (unsigned code = 1; code < 0xff; code++) {
        bool rate = code == FTrace_EVT_cycles_per_msec || code == FTrace_EVT_trace_start;

        ck_assert_uint_eq(got.at[at].code, code);
        ck_assert_uint_eq(got.at[at].par1, code * 257);
        ck_assert_uint_eq(got.at[at++].par2, rate ? FTRACE_CLK_PER_MSEC : ~code);
        ck_assert_uint_eq(got.at[at].code, code | 0x8000);
        ck_assert_uint_eq(got.at[at++].par1, 0x2345);
    }
    sb_clear();
}
END_TEST

START_TEST(families)
{
    int a = sb_chunk(100, 0, FREE | STOP);
    struct records got;

    ck_ok(FTrace_actual_chunk_select(a));
    FTrace_enable();
    FTrace_set_filter(FTrace_filter_user, 1);
    TRACER_LOGEVENT(FTrace_EVT_user_event_3, 1, 1);
    TRACER_LOGEVENT(FTrace_EVT_user_event_14, 1, 1);
    TRACER_LOGEVENT(FTrace_EVT_timer_post, 2, 2);
    FTrace_set_filter(FTrace_filter_timer, 77);
    TRACER_LOGEVENT(FTrace_EVT_timer_post, 3, 3);
    FTrace_set_filter(FTrace_filter_user, 0);
    TRACER_LOGEVENT(FTrace_EVT_user_event_0, 4, 4);
    FTrace_set_filter(0xef, 1); /* none of the filters */
    FTrace_set_filter(0xfc, 1);
    FTrace_set_filter(0xff, 1);
    FTrace_set_filter(9, 1);
    FTrace_set_filter(0x1f9, 1);
    TRACER_LOGEVENT(FTrace_EVT_user_event_0, 5, 5);
    got = sb_send(a, STOP);
    {
        const unsigned want[][2] = {
            { FTrace_filter_user, 1 },      { FTrace_EVT_timer_post, 2 },
            { FTrace_filter_timer, 1 },     { FTrace_filter_user, 0 },
            { FTrace_EVT_user_event_0, 4 }, { FTrace_EVT_user_event_0, 5 }
        };

        ck_assert_uint_eq(got.n, TH_COUNT(want));
        for (size_t i = 0; i < got.n; i++) {
            ck_assert_uint_eq(got.at[i].code, want[i][0]);
            ck_assert_uint_eq(got.at[i].par1, want[i][1]);
        }
    }
    sb_clear();
}
END_TEST

/* ---- threads ---- */

enum { THREADS = 8, EACH = 4000, CHUNKS = 5, PLACES = THREADS * EACH / (CHUNKS + 1), RESERVE = 10 };

static void *log_each(void *context)
{
    uint32_t thread = *(const uint32_t *)context;

    sb_log(thread * EACH, EACH);
    return NULL;
}

/* Of each thread the chunks have its first events, all of them, in order. */
static void expect_prefixes(const int *chunk, uint32_t *seen)
{
    for (int i = 0; i < CHUNKS; i++) {
        struct records got = sb_send(chunk[i], JTN);

        ck_assert_uint_eq(got.n, PLACES);
        for (size_t k = 0; k < got.n; k++) {
            uint32_t thread = got.at[k].par2 / EACH;

            ck_assert_uint_lt(thread, THREADS);
            ck_assert_uint_eq(got.at[k].par2 % EACH, seen[thread]++);
        }
    }
}

START_TEST(threads_fill_a_chain)
{
    struct th_thread thread[THREADS];
    uint32_t number[THREADS], seen[THREADS] = { 0 };
    uint64_t lost = 0;
    int chunk[CHUNKS];

    for (int i = 0; i < CHUNKS; i++) {
        chunk[i] = sb_chunk(PLACES, RESERVE, FREE | JTN);
        if (i)
            ck_ok(FTrace_chunk_link(chunk[i - 1], chunk[i]));
    }
    ck_ok(FTrace_actual_chunk_select(chunk[0]));
    FTrace_enable();
    for (uint32_t i = 0; i < THREADS; i++) {
        number[i] = i;
        th_thread_start(&thread[i], log_each, &number[i]);
    }
    for (int i = 0; i < THREADS; i++)
        th_thread_join(&thread[i]);
    for (int i = 0; i < CHUNKS; i++) {
        ck_assert_uint_eq(sb_flags(chunk[i]), JTN | FULL);
        lost += sb_look(chunk[i]).lost;
    }
    ck_assert_uint_eq(lost, (uint64_t)THREADS * EACH - (uint64_t)CHUNKS * PLACES);
    expect_prefixes(chunk, seen);
    sb_clear();
}
END_TEST

static pthread_barrier_t *all_have_logged;

static void *log_two(void *context)
{
    const uint32_t *thread = context;

    sb_log(2 * *thread, 2);
    if (all_have_logged)
        pthread_barrier_wait(all_have_logged);
    return NULL;
}

/* A chunk has as many events as places, however many threads they are of: all alive at
 * once, or each with the memory of one that has ended. */
START_TEST(a_few_of_many_threads)
{
    enum { MANY = 50 };
    struct th_thread thread[MANY];
    uint32_t number[MANY];
    pthread_barrier_t barrier;

    pthread_barrier_init(&barrier, NULL, MANY);
    for (int together = 0; together < 2; together++) {
        bool seen[2 * MANY] = { false };
        struct records got;
        int a = sb_chunk(2 * MANY, 0, FREE | STOP);

        all_have_logged = together ? &barrier : NULL;
        ck_ok(FTrace_actual_chunk_select(a));
        FTrace_enable();
        for (uint32_t i = 0; i < MANY; i++) {
            number[i] = i;
            th_thread_start(&thread[i], log_two, &number[i]);
            if (!together)
                th_thread_join(&thread[i]);
        }
        for (uint32_t i = 0; together && i < MANY; i++)
            th_thread_join(&thread[i]);
        got = sb_send(a, STOP);
        ck_assert_uint_eq(got.n, 2 * MANY);
        for (size_t i = 0; i < got.n; i++) {
            ck_assert(!seen[got.at[i].par2]);
            seen[got.at[i].par2] = true;
        }
        sb_clear();
    }
    pthread_barrier_destroy(&barrier);
}
END_TEST

/* ---- handlers ---- */

static uint32_t from_handler;

static void handler(int signal_number)
{
    (void)signal_number;
    TRACER_LOGEVENT(FTrace_EVT_signal, 1, from_handler++);
}

/* Both counts are whole and in order, whatever a handler has interrupted. */
static void expect_both(struct records got, uint32_t *points, uint32_t *signals)
{
    for (size_t i = 0; i < got.n; i++) {
        uint32_t *count = got.at[i].code == FTrace_EVT_signal ? signals : points;

        ck_assert_uint_eq(got.at[i].par2, *count);
        ++*count;
    }
}

START_TEST(handlers_log_too)
{
    struct itimerval often = { { 0, 100 }, { 0, 100 } }, never = { { 0, 0 }, { 0, 0 } };
    uint32_t logged = 0, points = 0, signals = 0;
    int chunk[4];

    from_handler = 0;
    for (int i = 0; i < 4; i++) {
        chunk[i] = sb_chunk(1000, 0, FREE | (i == 3 ? STOP : JTN));
        if (i)
            ck_ok(FTrace_chunk_link(chunk[i - 1], chunk[i]));
    }
    ck_ok(FTrace_actual_chunk_select(chunk[0]));
    FTrace_enable();
    ck_assert(signal(SIGALRM, handler) != SIG_ERR);
    ck_ok(setitimer(ITIMER_REAL, &often, NULL));
    while (!(sb_flags(chunk[3]) & FULL))
        sb_log(logged++, 1);
    ck_ok(setitimer(ITIMER_REAL, &never, NULL));
    signal(SIGALRM, SIG_DFL);
    for (int i = 0; i < 4; i++)
        expect_both(sb_send(chunk[i], STOP), &points, &signals);
    ck_assert_uint_eq(points + signals, 4000);
    ck_assert_uint_eq(points + signals + sb_look(chunk[3]).lost, logged + from_handler);
    sb_clear();
}
END_TEST

static void log_in_child(void *context)
{
    const int *parents = context;
    int own;

    ck_assert_ptr_null(FTrace_get_chunk_table()[*parents]);
    ck_errno(FTrace_send_chunk(*parents, 0, FREE), ENOENT);
    sb_log(100, 50); /* into nothing */
    own = sb_chunk(5, 0, FREE | STOP);
    ck_assert_int_eq(own, *parents);
    ck_ok(FTrace_actual_chunk_select(own));
    sb_log(7, 3);
    sb_expect(sb_send(own, STOP), 7, 3);
}

START_TEST(children_have_their_own)
{
    int a = sb_chunk(10, 0, FREE | STOP);

    ck_ok(FTrace_actual_chunk_select(a));
    FTrace_enable();
    sb_log(0, 1);
    th_in_child(log_in_child, &a);
    sb_log(1, 9);
    ck_assert_uint_eq(sb_look(a).lost, 0);
    sb_expect(sb_send(a, STOP), 0, 10);
    sb_clear();
}
END_TEST

/* A chunk is a stream like others, and other streams see its events. */
START_TEST(other_streams_record_too)
{
    trace_id_t other = th_stream(.name = "other");
    int a = sb_chunk(10, 0, FREE | STOP);
    struct th_list list;
    char name[TRACE_EVENT_NAME_MAX + 1];

    ck_ok(posix_trace_start(other));
    ck_ok(FTrace_actual_chunk_select(a));
    FTrace_enable();
    TRACER_LOGEVENT(FTrace_EVT_ipoint, 7, 0x01020304);
    list = th_drain(other);
    ck_assert_uint_eq(list.n, 2);
    ck_ok(posix_trace_eventid_get_name(other, list.at[1].info.posix_event_id, name));
    ck_assert_str_eq(name, "shark:chunk_0");
    ck_assert_uint_eq(list.at[1].len, 8);
    ck_ok(memcmp(list.at[1].data, "\x01\0\x07\0\x04\x03\x02\x01", 8));
    sb_expect(sb_send(a, STOP), 0x01020304, 1);
    ck_ok(posix_trace_shutdown(other));
    sb_clear();
}
END_TEST

static void add(TCase *tc)
{
    tcase_add_test(tc, nothing_without_chunk_or_enable);
    tcase_add_test(tc, all_codes);
    tcase_add_test(tc, families);
    tcase_add_test(tc, threads_fill_a_chain);
    tcase_add_test(tc, a_few_of_many_threads);
    tcase_add_test(tc, handlers_log_too);
    tcase_add_test(tc, children_have_their_own);
    tcase_add_test(tc, other_streams_record_too);
}

int main(void)
{
    return th_main("shark log", add);
}
