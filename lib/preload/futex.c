/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Waits for a futex by syscall(), by which runtimes and libraries have locks of their own.  All
 * other system calls are made as they are; that a descriptor is closed or replaced is noted.
 */
#include <errno.h>
#include <linux/futex.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include "preload/preload.h"
#include "preload/real.h"

_Static_assert(POSIXTRACE_FUTEX_WAIT + 1 == POSIXTRACE_FUTEX_WOKEN, "wait");

static bool waits(long number, long operation)
{
    if (number != SYS_futex)
        return false;
    switch (operation & FUTEX_CMD_MASK) {
    case FUTEX_WAIT:
    case FUTEX_WAIT_BITSET:
    case FUTEX_WAIT_REQUEUE_PI:
    case FUTEX_LOCK_PI:
#ifdef FUTEX_LOCK_PI2
    case FUTEX_LOCK_PI2:
#endif
        return true;
    default: return false;
    }
}

/* Called before the call and after it. */
static void note_descriptors(long number, const long a[2])
{
    switch (number) {
    case SYS_close: preload_descriptor_ends((int)a[0]); break;
#ifdef SYS_dup2
    case SYS_dup2:
#endif
    case SYS_dup3: preload_descriptor_ends((int)a[1]); break;
#ifdef SYS_close_range
    case SYS_close_range: preload_descriptors_end((unsigned)a[0], (unsigned)a[1]); break;
#endif
    default: break;
    }
}

/* As the C library's, it takes six arguments, however many there are. */
PRELOAD_PUBLIC long syscall(long number, ...)
{
    const void *word;
    long a[6], r;
    va_list more;

    va_start(more, number);
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(more, long);
    va_end(more);
    word = (const void *)a[0];
    if (!waits(number, a[1]) || PRELOAD_OFF(word, POSIXTRACE_FUTEX_WAIT, POSIXTRACE_FUTEX_WOKEN)) {
        note_descriptors(number, a);
        r = real_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
        note_descriptors(number, a);
        return r;
    }
    preload_object(POSIXTRACE_FUTEX_WAIT, word, PRELOAD_CALLER);
    r = real_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
    preload_pair(POSIXTRACE_FUTEX_WOKEN, word, r < 0 ? errno : 0);
    return r;
}
