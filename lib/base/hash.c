/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See hash.h. */
#include "base/hash.h"
#include "base/sys.h"

uint64_t pt_hash_factor(void)
{
    uint64_t random = 0;

    pt_sys_random(&random, sizeof random);
    return random | 1;
}
