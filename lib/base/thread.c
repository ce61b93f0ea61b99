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
#include "base/atomics.h"
#include "base/thread.h"

#define STACK_OURS   (256u << 10) /* 27 KiB is the most that was measured, in a recovery */
#define STACK_PLENTY (1u << 20)   /* a larger stack is not extended */

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

/* It shows in the clock of the thread: the complement of the number, times 8. */
int32_t pt_thread_number(void)
{
    clockid_t clock;

    if (pthread_getcpuclockid(pthread_self(), &clock) != 0)
        return 0;
    return (int32_t)(~(uint32_t)clock >> 3);
}

/*
 * The program's default size of a stack.  It may be as small as its own threads allow, but includes
 * the part that the C library takes from each stack (thread-local variables, the guard).
 */
static int default_stack(size_t *size)
{
    pthread_attr_t attr;
    int e = pthread_getattr_default_np(&attr);

    if (e)
        return e;
    e = pthread_attr_getstacksize(&attr, size);
    pthread_attr_destroy(&attr);
    return e;
}

/*
 * Our need is added to the size of the program's stacks.  No other default attribute is used: a
 * detached thread cannot be joined, one with a scheduling policy may not be allowed, one that is
 * bound to a processor may not run.  Detach state, scheduling and processors are those of a plain
 * thread, which inherits the last two from its creator.
 */
static int give_stack(pthread_attr_t *attr)
{
    size_t size;
    int e = default_stack(&size);

    if (e == 0)
        e = pthread_attr_init(attr);
    if (e)
        return e;
    e = pthread_attr_setdetachstate(attr, PTHREAD_CREATE_JOINABLE);
    if (e == 0)
        e = pthread_attr_setstacksize(attr, size < STACK_PLENTY ? size + STACK_OURS : size);
    if (e)
        pthread_attr_destroy(attr);
    return e;
}

int pt_thread_start(pthread_t *thread, void *(*run)(void *), void *argument)
{
    pthread_attr_t attr;
    sigset_t old;
    int e = give_stack(&attr);

    if (e == 0) {
        pt_thread_hold_signals(&old);
        e = pthread_create(thread, &attr, run, argument);
        pt_thread_let_signals(&old);
        pthread_attr_destroy(&attr);
    }
    return e == EAGAIN ? -ENOMEM : -e;
}

static _Thread_local bool has_own __attribute__((tls_model("initial-exec")));

bool pt_thread_has_own_descriptors(void)
{
    return has_own;
}

#if defined __SANITIZE_THREAD__
/* ThreadSanitizer knows one table of descriptors a process: it would report equal numbers in two
 * tables as a race, and could not print that without standard error and symbolizer. */
int pt_thread_own_descriptors(int fd)
{
    (void)fd;
    return 0;
}
#else
int pt_thread_own_descriptors(int fd)
{
    struct rlimit limit;

    if (syscall(SYS_close_range, fd + 1, ~0u, CLOSE_RANGE_UNSHARE) == 0) {
        if (fd > 0)
            syscall(SYS_close_range, 0, fd - 1, 0);
        has_own = true;
        return 0;
    }
    if (unshare(CLONE_FILES) < 0)
        return -errno;
    has_own = true;
    if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur > 65536)
        limit.rlim_cur = 65536;
    for (int i = 0; i < (int)limit.rlim_cur; i++)
        if (i != fd)
            close(i);
    return 0;
}
#endif
