/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* Sums of times.  Logs that were imported may span centuries, and threads of such a log more than
 * a number of ns has room for. */
#ifndef PT_TEXT_SUM_H
#define PT_TEXT_SUM_H

#include <stdint.h>

/* Adds ns, which is not negative; the sum is INT64_MAX at most. */
static inline void pt_sum_add(int64_t *sum, int64_t ns)
{
    if (__builtin_add_overflow(*sum, ns, sum))
        *sum = INT64_MAX;
}

/* The same of a number that may be anything, as a time. */
static inline int64_t pt_sum_rounded(double ns)
{
    return ns >= 9223372036854775807.0 ? INT64_MAX : ns <= 0 ? 0 : (int64_t)ns;
}

#endif
