/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * A child that the C library does not learn of: no handler of pthread_atfork() runs.  s390 takes
 * the stack first.
 */
#ifndef SUPPORT_RAW_CLONE_H
#define SUPPORT_RAW_CLONE_H

#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

static inline pid_t raw_clone(long flags)
{
#if defined __s390__
    return (pid_t)syscall(SYS_clone, 0L, flags, 0L, 0L, 0L);
#else
    return (pid_t)syscall(SYS_clone, flags, 0L, 0L, 0L, 0L);
#endif
}

#endif
