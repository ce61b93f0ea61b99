/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * For tests that are not run under valgrind 3.19: it has no clone() but that of threads and of
 * fork() (shared_memory), fails an assertion of its own (barrier), or fails in children for
 * reasons that were not looked into (place, scribbled, a case of handler); a limit of address
 * space is valgrind's own, too (space).  They run without it, and under AddressSanitizer.
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
