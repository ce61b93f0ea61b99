/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See size_limit.h. */
#include "system/size_limit.h"

#include <signal.h>

static void (*before)(int);

void size_limit_is_error(void)
{
    before = signal(SIGXFSZ, SIG_IGN);
}

void size_limit_restore(void)
{
    signal(SIGXFSZ, before);
}
