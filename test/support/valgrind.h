/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Tests that valgrind cannot run, as it has no clone() but that of threads and of fork(), calls
 * leaked what the children of a test that does not fork hold, or ends at system calls that it
 * does not know.  They run without it, and under AddressSanitizer.
 */
#ifndef TEST_SUPPORT_VALGRIND_H
#define TEST_SUPPORT_VALGRIND_H

#include <stdlib.h>
#include <string.h>

#define TEST_SKIPPED 77   /* for meson */

static inline int is_under_valgrind(void)
{
    const char *preloaded = getenv("LD_PRELOAD");

    return preloaded && strstr(preloaded, "vgpreload") != NULL;
}

#endif
