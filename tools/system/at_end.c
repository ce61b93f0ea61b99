/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See at_end.h. */
#include "system/at_end.h"

#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>

static const int deadly[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE };

/* Set while signals are blocked. */
static void (*to_call)(void);

static void call_and_die(int number)
{
    if (to_call)
        to_call();
    signal(number, SIG_DFL);
    raise(number);
}

static void call_at_exit(void)
{
    if (to_call)
        to_call();
}

void at_end(void (*function)(void))
{
    static bool registered;
    struct sigaction action = { .sa_handler = call_and_die }, before;
    sigset_t all, mask;

    if (!registered)
        registered = atexit(call_at_exit) == 0;
    sigfillset(&all);
    sigfillset(&action.sa_mask);
    sigprocmask(SIG_BLOCK, &all, &mask);
    to_call = function;
    for (size_t i = 0; function && i < sizeof deadly / sizeof deadly[0]; i++) {
        if (sigaction(deadly[i], NULL, &before) == 0 && before.sa_handler == SIG_DFL)
            sigaction(deadly[i], &action, NULL);
    }
    sigprocmask(SIG_SETMASK, &mask, NULL);
}
