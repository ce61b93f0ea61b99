/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Children that outlive their test and assert something then: the result of the test is
 * read without harm (support/run_suite.h).
 */
#include <unistd.h>
#include "support/run_suite.h"

#define ROUNDS   100
#define CHILDREN 3
#define ASSERTS  15

/* In a session of its own: check does not end it with the test. */
static void outlive(pid_t parent)
{
    setsid();
    while (getppid() == parent)
        ;
    for (int n = 0; n < ASSERTS; n++)
        ck_assert_int_eq(n, n);
    _exit(0);
}

START_TEST(children_stay)
{
    pid_t parent = getpid();

    for (int i = 0; i < CHILDREN; i++) {
        pid_t child = fork();

        ck_assert_int_ge(child, 0);
        if (child == 0)
            outlive(parent);
    }
}
END_TEST

static void add(TCase *t)
{
    tcase_add_loop_test(t, children_stay, 0, ROUNDS);
}

int main(void)
{
    return run_suite("late children", "late children", NULL, add);
}
