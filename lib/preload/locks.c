/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Mutexes, read-write locks, barriers.  An unlock is traced before it is done, so that
 * it is older than the lock that it makes possible.
 */
#include <errno.h>
#include "preload/preload.h"
#include "preload/real.h"

/* Records the request, makes the call, and records its result. */
#define LOCK(id, name, parameters, arguments) \
    PRELOAD_TRACED(int, name, parameters)     \
    {                                         \
        int r;                                \
                                              \
        preload_object(id, lock, caller);     \
        preload_cpu_time();                   \
        r = real_##name arguments;            \
        preload_pair(id + 1, lock, r);        \
        preload_cpu_time();                   \
        return r;                             \
    }                                         \
    PRELOAD_WRAPPER(int, lock, id, id + 1, name, parameters, arguments)

#define MUTEX(name, parameters, arguments) LOCK(POSIXTRACE_MUTEX_LOCK, name, parameters, arguments)
#define RWLOCK(name, parameters, arguments) \
    LOCK(POSIXTRACE_RWLOCK_LOCK, name, parameters, arguments)

_Static_assert(POSIXTRACE_MUTEX_LOCK + 1 == POSIXTRACE_MUTEX_LOCKED &&
                   POSIXTRACE_RWLOCK_LOCK + 1 == POSIXTRACE_RWLOCK_LOCKED,
               "LOCK");

MUTEX(pthread_mutex_lock, (pthread_mutex_t * lock), (lock))
MUTEX(pthread_mutex_trylock, (pthread_mutex_t * lock), (lock))
MUTEX(pthread_mutex_timedlock,
      (pthread_mutex_t *restrict lock, const struct timespec *restrict until), (lock, until))
MUTEX(pthread_mutex_clocklock,
      (pthread_mutex_t *restrict lock, clockid_t clock, const struct timespec *restrict until),
      (lock, clock, until))

PRELOAD_PUBLIC int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    if (!PRELOAD_OFF(mutex, POSIXTRACE_MUTEX_UNLOCK, POSIXTRACE_MUTEX_UNLOCK))
        preload_object(POSIXTRACE_MUTEX_UNLOCK, mutex, PRELOAD_CALLER);
    return real_pthread_mutex_unlock(mutex);
}

RWLOCK(pthread_rwlock_rdlock, (pthread_rwlock_t * lock), (lock))
RWLOCK(pthread_rwlock_tryrdlock, (pthread_rwlock_t * lock), (lock))
RWLOCK(pthread_rwlock_timedrdlock,
       (pthread_rwlock_t *restrict lock, const struct timespec *restrict until), (lock, until))
RWLOCK(pthread_rwlock_clockrdlock,
       (pthread_rwlock_t *restrict lock, clockid_t clock, const struct timespec *restrict until),
       (lock, clock, until))
RWLOCK(pthread_rwlock_wrlock, (pthread_rwlock_t * lock), (lock))
RWLOCK(pthread_rwlock_trywrlock, (pthread_rwlock_t * lock), (lock))
RWLOCK(pthread_rwlock_timedwrlock,
       (pthread_rwlock_t *restrict lock, const struct timespec *restrict until), (lock, until))
RWLOCK(pthread_rwlock_clockwrlock,
       (pthread_rwlock_t *restrict lock, clockid_t clock, const struct timespec *restrict until),
       (lock, clock, until))

PRELOAD_PUBLIC int pthread_rwlock_unlock(pthread_rwlock_t *lock)
{
    if (!PRELOAD_OFF(lock, POSIXTRACE_RWLOCK_UNLOCK, POSIXTRACE_RWLOCK_UNLOCK))
        preload_object(POSIXTRACE_RWLOCK_UNLOCK, lock, PRELOAD_CALLER);
    return real_pthread_rwlock_unlock(lock);
}

/* PTHREAD_BARRIER_SERIAL_THREAD, for one of them, is no error. */
PRELOAD_PUBLIC int pthread_barrier_wait(pthread_barrier_t *barrier)
{
    int r;

    if (PRELOAD_OFF(barrier, POSIXTRACE_BARRIER_WAIT, POSIXTRACE_BARRIER_PASSED))
        return real_pthread_barrier_wait(barrier);
    preload_object(POSIXTRACE_BARRIER_WAIT, barrier, PRELOAD_CALLER);
    preload_cpu_time();
    r = real_pthread_barrier_wait(barrier);
    preload_pair(POSIXTRACE_BARRIER_PASSED, barrier, r == PTHREAD_BARRIER_SERIAL_THREAD ? 0 : r);
    preload_cpu_time();
    return r;
}

/* Names of older programs for the same functions. */
#define ALIAS(name) \
    PRELOAD_PUBLIC extern __typeof__(name) __##name __attribute__((alias(#name), nothrow));

ALIAS(pthread_mutex_lock)
ALIAS(pthread_mutex_trylock)
ALIAS(pthread_mutex_unlock)
ALIAS(pthread_rwlock_rdlock)
ALIAS(pthread_rwlock_tryrdlock)
ALIAS(pthread_rwlock_wrlock)
ALIAS(pthread_rwlock_trywrlock)
ALIAS(pthread_rwlock_unlock)
