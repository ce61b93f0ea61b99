/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * main() of a test program with check: one suite with one case.  prepare, if
 * any, gives the case its fixture or time limit; add gives it its tests.  Without another
 * limit a test may take SUITE_TEST_S: check's own 4 s are short on a machine that is busy.
 * CK_FORK, CK_VERBOSITY and CK_TIMEOUT_MULTIPLIER in the environment are check's.
 *
 * Each ck_assert() writes a message into a file without a name, also in children of a
 * test.  The program that runs the tests goes back to its start and reads it as soon as
 * the test's process has ended.  A child that lives a moment longer would write there, and
 * move the place where it reads: "Bad message type", "Error in call to punpack".
 * Therefore a test opens the file again, to append.
 */
#ifndef SUPPORT_RUN_SUITE_H
#define SUPPORT_RUN_SUITE_H

#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SUITE_TEST_S = 120 };

static pid_t suite_runner;

static inline void append_messages(void)
{
    char link[32], path[64];
    ssize_t n;
    int own;

    for (int fd = 0; fd < 64 && getpid() != suite_runner; fd++) {
        snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
        n = readlink(link, path, sizeof path - 1);
        path[n > 0 ? n : 0] = '\0';
        own = strstr(path, "/check_") && strstr(path, " (deleted)") ? open(link, O_RDWR | O_APPEND)
                                                                    : -1;
        if (own >= 0) {
            dup2(own, fd);
            close(own);
        }
    }
}

static inline int run_suite(const char *suite_name, const char *case_name,
                            void (*prepare)(TCase *t), void (*add)(TCase *t))
{
    Suite *suite = suite_create(suite_name);
    TCase *t = tcase_create(case_name);
    SRunner *runner;
    int failed;

    suite_runner = getpid();
    tcase_set_timeout(t, SUITE_TEST_S);
    tcase_add_checked_fixture(t, append_messages, NULL);
    if (prepare)
        prepare(t);
    add(t);
    suite_add_tcase(suite, t);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

#endif
