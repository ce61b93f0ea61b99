/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * _Fork() of programs that link the static library, by the linker's --wrap=_Fork: calls of the name
 * come here, also that of the C library's own fork().  Only programs that are linked with
 * -u __wrap__Fork, too, have this file, so that others need no such option.
 */
#include "process/fork.h"

pid_t __real__Fork(void);
pid_t __wrap__Fork(void);

pid_t __wrap__Fork(void)
{
    return pt_fork_call(__real__Fork);
}
