/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See thread.h. */
#include <errno.h>
#include <signal.h>
#include "base/thread.h"

int pt_thread_start(pthread_t *thread, void *(*run)(void *), void *argument)
{
    sigset_t all, old;
    int e;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    e = pthread_create(thread, NULL, run, argument);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return e == EAGAIN ? -ENOMEM : -e;
}
