/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* For wrapped functions: what a test wants to happen there, the first time. */
#ifndef TEST_SUPPORT_CALL_ONCE_H
#define TEST_SUPPORT_CALL_ONCE_H

#include <stddef.h>

static inline void call_once(void (**at)(void))
{
    void (*call)(void) = *at;

    *at = NULL;
    if (call)
        call();
}

#endif
