/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See assert.h. */
#include "base/assert.h"

#if PT_ASSERTIONS > 0
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void pt_assert_failed(const char *text)
{
    if (write(STDERR_FILENO, text, strlen(text)) < 0)
        abort();
    abort();
}
#else
typedef int pt_assert_is_off; /* a translation unit is not empty */
#endif
