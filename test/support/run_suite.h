/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * main() of a test program with check: one suite with one case.  prepare, if
 * any, gives the case its fixture or time limit; add gives it its tests.
 * CK_FORK, CK_VERBOSITY and CK_TIMEOUT_MULTIPLIER in the environment are check's.
 */
#ifndef SUPPORT_RUN_SUITE_H
#define SUPPORT_RUN_SUITE_H

#include <check.h>
#include <stdlib.h>

static inline int run_suite(const char *suite_name, const char *case_name,
                            void (*prepare)(TCase *t), void (*add)(TCase *t))
{
    Suite *suite = suite_create(suite_name);
    TCase *t = tcase_create(case_name);
    SRunner *runner;
    int failed;

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
