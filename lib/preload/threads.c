/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Threads, by wrapping their start function: a thread ends with the wrapper's frame, by return,
 * pthread_exit() or cancellation.  And waits for their end.
 */
#include <errno.h>
#include "preload/preload.h"
#include "preload/real.h"

/*
 * Where the program wants the thread's id may be gone by the time that pthread_create()
 * returns: the new thread may have freed it.  So who is to tell the id waits with its
 * new thread until it has both written and kept it.
 */
struct start {
    void *(*routine)(void *);
    void *argument;
    bool quiet;
    bool wait;
    pthread_mutex_t told;
};

static void tell(trace_event_id_t id, pthread_t thread)
{
    uint64_t data = (uint64_t)(uintptr_t)thread;

    if (posixtrace_system_wanted())
        preload_event(id, &data, sizeof data);
}

static void ended(void *unused)
{
    (void)unused;
    if (posixtrace_system_wanted())
        preload_cpu_time();
    tell(POSIXTRACE_THREAD_END, pthread_self());
}

/*
 * Uses the C library's own allocation, not the program's malloc(): our allocation is not the
 * program's, and locks in that malloc() would be traced.
 */
extern void *__libc_malloc(size_t size);
extern void __libc_free(void *block);

static void *run(void *context)
{
    struct start start = *(struct start *)context;
    void *result;

    if (start.wait) {
        real_pthread_mutex_lock(&((struct start *)context)->told);
        real_pthread_mutex_unlock(&((struct start *)context)->told);
    }
    __libc_free(context);
    if (start.quiet) {
        preload_quiet_thread = true;
        return start.routine(start.argument);
    }
    tell(POSIXTRACE_THREAD_BEGIN, pthread_self());
    if (posixtrace_system_wanted())
        preload_cpu_time();
    pthread_cleanup_push(ended, NULL);
    result = start.routine(start.argument);
    pthread_cleanup_pop(1);
    return result;
}

/* Also where no stream runs yet: the thread's end may be later than that. */
PRELOAD_PUBLIC int pthread_create(pthread_t *restrict thread, const pthread_attr_t *restrict attr,
                                  void *(*routine)(void *), void *restrict argument)
{
    struct start *start = __libc_malloc(sizeof *start);
    bool off = PRELOAD_OFF(NULL, POSIXTRACE_THREAD_CREATE, POSIXTRACE_THREAD_CREATE);
    pthread_t made;
    int r;

    if (!start)
        return EAGAIN;
    *start = (struct start){ routine, argument,
                             preload_quiet_thread || preload_is_ours(__builtin_return_address(0)),
                             !off, PTHREAD_MUTEX_INITIALIZER };
    if (!off)
        real_pthread_mutex_lock(&start->told);
    r = real_pthread_create(off ? thread : &made, attr, run, start);
    if (r == 0 && !off) {
        *thread = made;
        real_pthread_mutex_unlock(&start->told);
        preload_object(POSIXTRACE_THREAD_CREATE, (const void *)(uintptr_t)made, PRELOAD_CALLER);
    }
    if (r != 0)
        __libc_free(start);
    return r;
}

_Static_assert(POSIXTRACE_THREAD_JOIN + 1 == POSIXTRACE_THREAD_JOINED, "JOIN");

#define JOIN(name, parameters, arguments)                                                          \
    PRELOAD_TRACED(int, name, parameters)                                                          \
    {                                                                                              \
        const void *object = (const void *)(uintptr_t)thread;                                      \
        struct preload_call c = { POSIXTRACE_THREAD_JOINED, object, ECANCELED };                   \
                                                                                                   \
        preload_object(POSIXTRACE_THREAD_JOIN, object, caller);                                    \
        pthread_cleanup_push(preload_cancelled, &c);                                               \
        c.second = real_##name arguments;                                                          \
        pthread_cleanup_pop(0);                                                                    \
        preload_cancelled(&c);                                                                     \
        return (int)c.second;                                                                      \
    }                                                                                              \
    PRELOAD_WRAPPER(int, NULL, POSIXTRACE_THREAD_JOIN, POSIXTRACE_THREAD_JOINED, name, parameters, \
                    arguments)

JOIN(pthread_join, (pthread_t thread, void **result), (thread, result))
JOIN(pthread_tryjoin_np, (pthread_t thread, void **result), (thread, result))
JOIN(pthread_timedjoin_np, (pthread_t thread, void **result, const struct timespec *until),
     (thread, result, until))
JOIN(pthread_clockjoin_np,
     (pthread_t thread, void **result, clockid_t clock, const struct timespec *until),
     (thread, result, clock, until))
