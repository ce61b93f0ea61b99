/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* A thread of the library has the stack that it needs, however small the program's are. */
#include <unistd.h>
#include "base/thread.h"
#include "support/run_suite.h"

enum { USED = 64 << 10 };   /* ThreadSanitizer gives no more than 128 KiB */

static void *use_stack(void *used)
{
    volatile char bytes[USED];

    for (int i = 0; i < USED; i += 1024)
        bytes[USED - 1 - i] = 1;
    *(int *)used = bytes[USED - 1];
    return NULL;
}

START_TEST(small_default)
{
    pthread_attr_t attr;
    pthread_t thread;
    int used = 0;

    ck_assert_int_eq(pthread_attr_init(&attr), 0);
    ck_assert_int_eq(pthread_attr_setstacksize(&attr, (size_t)sysconf(_SC_THREAD_STACK_MIN)), 0);
    ck_assert_int_eq(pthread_setattr_default_np(&attr), 0);
    ck_assert_int_eq(pt_thread_start(&thread, use_stack, &used), 0);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    ck_assert_int_eq(used, 1);
}
END_TEST

static void add(TCase *tc)
{
    tcase_add_test(tc, small_default);
}

int main(void)
{
    return run_suite("thread", "thread", NULL, add);
}
