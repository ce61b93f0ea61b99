/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Group M, second part: threads.
 */
#include "support/trace_helpers.h"

#include <stdatomic.h>

#define THREADS 8
#define EVENTS  5000
#define LEN     32

static void *put_all(void *id)
{
    th_put_run(*(trace_event_id_t *)id, 0, EVENTS, LEN);
    return NULL;
}

START_TEST(test_258_threads)
{
    trace_id_t trid = th_stream(.policy = POSIX_TRACE_UNTIL_FULL, .stream_size = 16 << 20);
    trace_event_id_t id[THREADS];
    struct th_thread t[THREADS];
    struct th_list list;

    ck_ok(posix_trace_start(trid));
    for (int i = 0; i < THREADS; i++) {
        char name[16];
        snprintf(name, sizeof name, "thread %d", i);
        id[i] = th_id(name);
        th_thread_start(&t[i], put_all, &id[i]);
    }
    for (int i = 0; i < THREADS; i++)
        th_thread_join(&t[i]);
    ck_assert_int_eq(th_status(trid).posix_stream_overrun_status, POSIX_TRACE_NO_OVERRUN);
    list = th_drain(trid);
    ck_assert_uint_eq(list.n, THREADS * EVENTS + 1);
    for (size_t i = 1; i < list.n; i++)
        ck_assert_int_ge(th_ns(list.at[i].info.posix_timestamp),
                         th_ns(list.at[i - 1].info.posix_timestamp));
    for (int i = 0; i < THREADS; i++) {
        struct th_list own = th_only(list, id[i]);
        ck_assert_uint_eq(own.n, EVENTS);
        th_expect_run(own, 0);
    }
    ck_ok(posix_trace_shutdown(trid));
}
END_TEST

struct writer {
    trace_event_id_t id;
    atomic_bool *stop;
};

static void *put_until_stopped(void *context)
{
    struct writer *w = context;

    for (uint32_t i = 0; !atomic_load(w->stop); i++)
        th_put(w->id, i, 4 + i % 200);
    return NULL;
}

/* Events of the writers: whole, each writer's numbers rising. */
static void expect_rising(struct th_list list, const struct writer *w, size_t writers)
{
    for (size_t i = 0; i < writers; i++) {
        struct th_list own = th_only(list, w[i].id);

        for (size_t j = 0; j < own.n; j++) {
            ck_assert(th_intact(&own.at[j]));
            if (j > 0)
                ck_assert_uint_gt(th_seq(&own.at[j]), th_seq(&own.at[j - 1]));
        }
    }
}

static void one_life(const struct writer *w, size_t writers, int policy)
{
    trace_id_t trid = th_stream(.stream_size = 32768, .policy = policy);
    trace_event_set_t set = th_set(w[0].id);

    ck_ok(posix_trace_start(trid));
    ck_ok(posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET));
    ck_ok(posix_trace_set_filter(trid, &set, POSIX_TRACE_SUB_EVENTSET));
    ck_ok(posix_trace_clear(trid));
    ck_ok(posix_trace_stop(trid));
    expect_rising(th_drain(trid), w, writers);
    ck_ok(posix_trace_start(trid));
    ck_ok(posix_trace_clear(trid));
    ck_ok(posix_trace_start(trid));
    for (int i = 0; i < 50; i++)
        th_status(trid);
    ck_ok(posix_trace_stop(trid));
    expect_rising(th_drain(trid), w, writers);
    ck_ok(posix_trace_start(trid));
    ck_ok(posix_trace_shutdown(trid));
}

START_TEST(test_259_lifecycle_under_load)
{
    atomic_bool stop = false;
    struct writer w[3] = { { th_id("w0"), &stop }, { th_id("w1"), &stop }, { th_id("w2"), &stop } };
    struct th_thread t[3];

    for (int i = 0; i < 3; i++)
        th_thread_start(&t[i], put_until_stopped, &w[i]);
    for (int i = 0; i < 60; i++)
        one_life(w, 3, i % 2 ? POSIX_TRACE_LOOP : POSIX_TRACE_UNTIL_FULL);
    atomic_store(&stop, true);
    for (int i = 0; i < 3; i++)
        th_thread_join(&t[i]);
}
END_TEST

#define ROUNDS 200

struct opener {
    pthread_barrier_t *barrier;
    trace_event_id_t id[ROUNDS];
};

static void *open_same_names(void *context)
{
    struct opener *o = context;

    for (int i = 0; i < ROUNDS; i++) {
        char name[24];
        snprintf(name, sizeof name, "same %d", i);
        pthread_barrier_wait(o->barrier);
        if (posix_trace_eventid_open(name, &o->id[i]) != 0)
            o->id[i] = 0;
    }
    return NULL;
}

static void open_at_once(void *unused)
{
    static struct opener o[THREADS];
    pthread_barrier_t barrier;
    struct th_thread t[THREADS];

    (void)unused;
    pthread_barrier_init(&barrier, NULL, THREADS);
    for (int i = 0; i < THREADS; i++) {
        o[i].barrier = &barrier;
        th_thread_start(&t[i], open_same_names, &o[i]);
    }
    for (int i = 0; i < THREADS; i++)
        th_thread_join(&t[i]);
    for (int r = 0; r < ROUNDS; r++) {
        ck_assert_uint_gt(o[0].id[r], POSIX_TRACE_UNNAMED_USEREVENT);
        for (int i = 1; i < THREADS; i++)
            ck_assert_uint_eq(o[i].id[r], o[0].id[r]);
        for (int before = 0; before < r; before++)
            ck_assert_uint_ne(o[0].id[r], o[0].id[before]);
    }
    pthread_barrier_destroy(&barrier);
}

/* In many processes, because a process has only one first call, and all threads
 * making it together is the harder half. */
START_TEST(test_263_same_name_at_once)
{
    for (int i = 0; i < 50; i++)
        th_in_child(open_at_once, NULL);
}
END_TEST

static void add(TCase *tc)
{
    tcase_add_test(tc, test_258_threads);
    tcase_add_test(tc, test_259_lifecycle_under_load);
    tcase_add_test(tc, test_263_same_name_at_once);
}

int main(void)
{
    return th_main("M threads", add);
}
