/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * NEED(condition): it holds, or the process says where it did not and ends.  For
 * processes that use nothing of check's and run no handlers of exit().
 */
#ifndef SUPPORT_NEED_H
#define SUPPORT_NEED_H

#include <stdio.h>
#include <unistd.h>

#define NEED(condition)                                                      \
    do {                                                                     \
        if (!(condition)) {                                                  \
            dprintf(2, "%s: line %d: %s\n", __FILE__, __LINE__, #condition); \
            _exit(1);                                                        \
        }                                                                    \
    } while (0)

#endif
