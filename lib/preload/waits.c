/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Conditions and semaphores.  A wait for a condition unlocks the mutex and locks it again inside
 * the C library, without a wrapped call.  Both are recorded here, so that the times for which a
 * mutex is held are right.
 */
#include <errno.h>
#include "preload/preload.h"
#include "preload/real.h"

struct cond_call {
    const void *cond, *mutex;
};

static void cond_ended(const struct cond_call *c, int mutex_error, int error)
{
    preload_pair(POSIXTRACE_MUTEX_LOCKED, c->mutex, mutex_error);
    preload_pair(POSIXTRACE_COND_WOKEN, c->cond, error);
}

/* Cleanup handlers run with the mutex locked. */
static void cond_cancelled(void *call)
{
    cond_ended(call, 0, ECANCELED);
}

/* Apart, as in locks.c.  A call that was refused has not unlocked the mutex: it is
 * "locked" all the same. */
#define COND(name, parameters, arguments)                                                        \
    static                                                                                       \
        __attribute__((noinline)) int traced_##name(const void *caller, PRELOAD_LIST parameters) \
    {                                                                                            \
        struct cond_call c = { cond, mutex };                                                    \
        int r;                                                                                   \
                                                                                                 \
        preload_object(POSIXTRACE_COND_WAIT, cond, caller);                                      \
        preload_object(POSIXTRACE_MUTEX_UNLOCK, mutex, caller);                                  \
        preload_cpu_time();                                                                      \
        pthread_cleanup_push(cond_cancelled, &c);                                                \
        r = real_##name arguments;                                                               \
        pthread_cleanup_pop(0);                                                                  \
        cond_ended(&c, r == EOWNERDEAD || r == ENOTRECOVERABLE ? r : 0, r);                      \
        preload_cpu_time();                                                                      \
        return r;                                                                                \
    }                                                                                            \
    PRELOAD_PUBLIC int name parameters                                                           \
    {                                                                                            \
        return PRELOAD_OFF(cond, POSIXTRACE_COND_WAIT, POSIXTRACE_COND_WOKEN) &&                 \
                       PRELOAD_OFF(cond, POSIXTRACE_MUTEX_UNLOCK, POSIXTRACE_MUTEX_LOCKED)       \
                   ? real_##name arguments                                                       \
                   : traced_##name(PRELOAD_CALLER, PRELOAD_LIST arguments);                      \
    }

COND(pthread_cond_wait, (pthread_cond_t *restrict cond, pthread_mutex_t *restrict mutex),
     (cond, mutex))
COND(pthread_cond_timedwait,
     (pthread_cond_t *restrict cond, pthread_mutex_t *restrict mutex,
      const struct timespec *restrict until),
     (cond, mutex, until))
COND(pthread_cond_clockwait,
     (pthread_cond_t *restrict cond, pthread_mutex_t *restrict mutex, clockid_t clock,
      const struct timespec *restrict until),
     (cond, mutex, clock, until))

PRELOAD_PUBLIC int pthread_cond_signal(pthread_cond_t *cond)
{
    if (!PRELOAD_OFF(cond, POSIXTRACE_COND_SIGNAL, POSIXTRACE_COND_SIGNAL))
        preload_object(POSIXTRACE_COND_SIGNAL, cond, PRELOAD_CALLER);
    return real_pthread_cond_signal(cond);
}

PRELOAD_PUBLIC int pthread_cond_broadcast(pthread_cond_t *cond)
{
    if (!PRELOAD_OFF(cond, POSIXTRACE_COND_SIGNAL, POSIXTRACE_COND_SIGNAL))
        preload_object(POSIXTRACE_COND_SIGNAL, cond, PRELOAD_CALLER);
    return real_pthread_cond_broadcast(cond);
}

#define SEM(name, parameters, arguments)                                                         \
    static                                                                                       \
        __attribute__((noinline)) int traced_##name(const void *caller, PRELOAD_LIST parameters) \
    {                                                                                            \
        struct preload_call c = { POSIXTRACE_SEM_TAKEN, sem, ECANCELED };                        \
        int r;                                                                                   \
                                                                                                 \
        preload_object(POSIXTRACE_SEM_WAIT, sem, caller);                                        \
        preload_cpu_time();                                                                      \
        pthread_cleanup_push(preload_cancelled, &c);                                             \
        r = real_##name arguments;                                                               \
        pthread_cleanup_pop(0);                                                                  \
        preload_pair(POSIXTRACE_SEM_TAKEN, sem, r == 0 ? 0 : errno);                             \
        preload_cpu_time();                                                                      \
        return r;                                                                                \
    }                                                                                            \
    PRELOAD_WRAPPER(int, sem, POSIXTRACE_SEM_WAIT, POSIXTRACE_SEM_TAKEN, name, parameters,       \
                    arguments)

SEM(sem_wait, (sem_t * sem), (sem))
SEM(sem_trywait, (sem_t * sem), (sem))
SEM(sem_timedwait, (sem_t *restrict sem, const struct timespec *restrict until), (sem, until))
SEM(sem_clockwait, (sem_t *restrict sem, clockid_t clock, const struct timespec *restrict until),
    (sem, clock, until))

PRELOAD_PUBLIC int sem_post(sem_t *sem)
{
    if (!PRELOAD_OFF(sem, POSIXTRACE_SEM_POST, POSIXTRACE_SEM_POST))
        preload_object(POSIXTRACE_SEM_POST, sem, PRELOAD_CALLER);
    return real_sem_post(sem);
}
