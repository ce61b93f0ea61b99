/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See thread.h. */
#include <errno.h>
#include <linux/close_range.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "base/thread.h"

void pt_thread_hold_signals(sigset_t *before)
{
    sigset_t all;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, before);
}

void pt_thread_let_signals(const sigset_t *before)
{
    pthread_sigmask(SIG_SETMASK, before, NULL);
}

int pt_thread_start(pthread_t *thread, void *(*run)(void *), void *argument)
{
    sigset_t old;
    int e;

    pt_thread_hold_signals(&old);
    e = pthread_create(thread, NULL, run, argument);
    pt_thread_let_signals(&old);
    return e == EAGAIN ? -ENOMEM : -e;
}

int pt_thread_own_descriptors(int fd)
{
    struct rlimit limit;

    if (syscall(SYS_close_range, fd + 1, ~0u, CLOSE_RANGE_UNSHARE) == 0) {
        if (fd > 0)
            syscall(SYS_close_range, 0, fd - 1, 0);
        return 0;
    }
    if (unshare(CLONE_FILES) < 0)
        return -errno;
    if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur > 65536)
        limit.rlim_cur = 65536;
    for (int i = 0; i < (int)limit.rlim_cur; i++)
        if (i != fd)
            close(i);
    return 0;
}
