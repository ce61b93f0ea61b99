/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Waits for child processes, and for signals.
 */
#include <errno.h>
#include "preload/preload.h"
#include "preload/real.h"
#include "preload/real_io.h"

_Static_assert(POSIXTRACE_CHILD_WAIT + 1 == POSIXTRACE_CHILD_WAITED &&
                   POSIXTRACE_SIGNAL_WAIT + 1 == POSIXTRACE_SIGNAL_TAKEN,
               "PRELOAD_CALL");

/* As waitpid() says it.  A process that a descriptor names has no number here. */
static int32_t child_of(idtype_t type, id_t id)
{
    return type == P_PID ? (int32_t)id : type == P_PGID ? -(int32_t)id : -1;
}

#define CHILD(type, number, name, parameters, arguments, child) \
    PRELOAD_CALL(type, POSIXTRACE_CHILD_WAIT, number, name, parameters, arguments, child)
#define SIGNAL(type, number, name, parameters, arguments, zero) \
    PRELOAD_CALL(type, POSIXTRACE_SIGNAL_WAIT, number, name, parameters, arguments, zero)

REAL_CHILD(CHILD)
REAL_SIGNAL(SIGNAL)

/* Returns an error number, and stores the signal. */
PRELOAD_TRACED(int, sigwait, (const sigset_t *restrict set, int *restrict number))
{
    struct preload_io call = { POSIXTRACE_SIGNAL_TAKEN, POSIXTRACE_CALL_SIGWAIT, 0 };
    int r;

    preload_io_began(&call, caller);
    pthread_cleanup_push(preload_io_cancelled, &call);
    r = real_sigwait(set, number);
    pthread_cleanup_pop(0);
    preload_io_ended(&call, r ? -r : *number);
    return r;
}
PRELOAD_WRAPPER(int, NULL, POSIXTRACE_SIGNAL_WAIT, POSIXTRACE_SIGNAL_TAKEN, sigwait,
                (const sigset_t *restrict set, int *restrict number), (set, number))

PRELOAD_PUBLIC int pause(void)
{
    struct preload_io call = { POSIXTRACE_SIGNAL_TAKEN, POSIXTRACE_CALL_PAUSE, 0 };
    int r;

    if (PRELOAD_OFF(NULL, POSIXTRACE_SIGNAL_WAIT, POSIXTRACE_SIGNAL_TAKEN))
        return real_pause();
    preload_io_began(&call, PRELOAD_CALLER);
    pthread_cleanup_push(preload_io_cancelled, &call);
    r = real_pause();
    pthread_cleanup_pop(0);
    preload_io_ended(&call, -errno);
    return r;
}
