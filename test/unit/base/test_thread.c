/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* What a program has set as the default for its threads does not harm those of the library. */
#include <sched.h>
#include <unistd.h>
#include "base/thread.h"
#include "support/run_suite.h"

enum { USED = 64 << 10 }; /* ThreadSanitizer gives no more than 128 KiB */

static void *use_stack(void *used)
{
    volatile char bytes[USED];

    for (int i = 0; i < USED; i += 1024)
        bytes[USED - 1 - i] = 1;
    *(int *)used = bytes[USED - 1];
    return NULL;
}

static void set_default(pthread_attr_t *attr)
{
    ck_assert_int_eq(pthread_setattr_default_np(attr), 0);
    ck_assert_int_eq(pthread_attr_destroy(attr), 0);
}

static void starts(pthread_attr_t *attr)
{
    pthread_t thread;
    int used = 0;

    set_default(attr);
    ck_assert_int_eq(pt_thread_start(&thread, use_stack, &used), 0);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    ck_assert_int_eq(used, 1);
}

START_TEST(small_default)
{
    pthread_attr_t attr;

    ck_assert_int_eq(pthread_attr_init(&attr), 0);
    ck_assert_int_eq(pthread_attr_setstacksize(&attr, (size_t)sysconf(_SC_THREAD_STACK_MIN)), 0);
    starts(&attr);
}
END_TEST

static void *note_detached(void *detached)
{
    pthread_attr_t attr;

    *(int *)detached = -1;
    if (pthread_getattr_np(pthread_self(), &attr) == 0) {
        pthread_attr_getdetachstate(&attr, detached);
        pthread_attr_destroy(&attr);
    }
    return NULL;
}

START_TEST(detached_default)
{
    pthread_attr_t attr;
    pthread_t thread;
    int state;

    ck_assert_int_eq(pthread_attr_init(&attr), 0);
    ck_assert_int_eq(pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED), 0);
    set_default(&attr);
    ck_assert_int_eq(pt_thread_start(&thread, note_detached, &state), 0);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    ck_assert_int_eq(state, PTHREAD_CREATE_JOINABLE);
}
END_TEST

/* A processor that there is not: no thread that is bound to it can be created. */
START_TEST(bound_default)
{
    pthread_attr_t attr;
    cpu_set_t none;

    CPU_ZERO(&none);
    CPU_SET(CPU_SETSIZE - 1, &none);
    ck_assert_int_eq(pthread_attr_init(&attr), 0);
    ck_assert_int_eq(pthread_attr_setaffinity_np(&attr, sizeof none, &none), 0);
    starts(&attr);
}
END_TEST

static void *note_policy(void *policy)
{
    *(int *)policy = sched_getscheduler(0);
    return NULL;
}

static int policy_of_started(void)
{
    pthread_t thread;
    int policy = -1;

    ck_assert_int_eq(pt_thread_start(&thread, note_policy, &policy), 0);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    return policy;
}

/* A policy that the program had the right to when it set it, and lost. */
START_TEST(scheduled_default)
{
    const struct sched_param lowest = { .sched_priority = sched_get_priority_min(SCHED_FIFO) };
    pthread_attr_t attr;

    ck_assert_int_eq(pthread_attr_init(&attr), 0);
    ck_assert_int_eq(pthread_attr_setinheritsched(&attr, PTHREAD_EXPLICIT_SCHED), 0);
    ck_assert_int_eq(pthread_attr_setschedpolicy(&attr, SCHED_FIFO), 0);
    ck_assert_int_eq(pthread_attr_setschedparam(&attr, &lowest), 0);
    set_default(&attr);
    ck_assert_int_eq(policy_of_started(), sched_getscheduler(0));
}
END_TEST

static void add(TCase *tc)
{
    tcase_add_test(tc, small_default);
    tcase_add_test(tc, detached_default);
    tcase_add_test(tc, bound_default);
    tcase_add_test(tc, scheduled_default);
}

int main(void)
{
    return run_suite("thread", "thread", NULL, add);
}
