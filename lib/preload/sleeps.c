/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Sleeps and timers, with the times at which they are due: ns since 1970, like the events' own
 * times, for all clocks of the program.
 */
#include <errno.h>
#include "preload/preload.h"
#include "preload/real.h"

#define SECOND   1000000000
#define NO_CLOCK INT64_MIN

/* INT64_MAX where it is too far for a number; -1: it is no time. */
static int64_t ns_of(const struct timespec *t)
{
    int64_t seconds = t ? t->tv_sec : -1;

    if (seconds < 0 || t->tv_nsec < 0 || t->tv_nsec >= SECOND)
        return -1;
    if (seconds > INT64_MAX / SECOND - 1)
        return INT64_MAX;
    return seconds * SECOND + t->tv_nsec;
}

static int64_t now(clockid_t clock)
{
    struct timespec t;
    int saved = errno, r = clock_gettime(clock, &t);

    errno = saved;
    return r == 0 ? ns_of(&t) : NO_CLOCK;
}

static int64_t after(int64_t begin, int64_t ns)
{
    return begin > INT64_MAX - ns ? INT64_MAX : begin + ns;
}

static int64_t due_in(const struct timespec *t)
{
    int64_t ns = ns_of(t);

    return ns < 0 ? 0 : after(now(CLOCK_REALTIME), ns);
}

/* 0: the clock does not advance with real time, as clocks of processor time. */
static int64_t due_at(clockid_t clock, const struct timespec *t)
{
    int64_t ns = ns_of(t), there;

    if (ns < 0)
        return 0;
    switch (clock) {
    case CLOCK_REALTIME:
    case CLOCK_REALTIME_ALARM: return ns;
    case CLOCK_MONOTONIC:
    case CLOCK_BOOTTIME:
    case CLOCK_BOOTTIME_ALARM:
    case CLOCK_TAI:
        there = now(clock);
        return there == NO_CLOCK ? 0 : after(now(CLOCK_REALTIME) - there, ns);
    default: return 0;
    }
}

static void began(trace_event_id_t id, const void *object, int64_t due, const void *caller)
{
    struct {
        uint64_t object;
        int64_t due;
        uint64_t caller;
    } data = { (uintptr_t)object, due, (uintptr_t)caller };

    preload_event(id, &data, sizeof data);
    if (id == POSIXTRACE_SLEEP)
        preload_call_begins(id, PRELOAD_NO_CALL, 0, caller);
}

#define SLEEP(type, when, call)                                     \
    struct preload_call c = { POSIXTRACE_SLEEP_DONE, NULL, 0 };     \
    type r;                                                         \
                                                                    \
    if (PRELOAD_OFF(NULL, POSIXTRACE_SLEEP, POSIXTRACE_SLEEP_DONE)) \
        return call;                                                \
    c.second = when;                                                \
    began(POSIXTRACE_SLEEP, NULL, c.second, PRELOAD_CALLER);        \
    preload_cpu_time();                                             \
    pthread_cleanup_push(preload_cancelled, &c);                    \
    r = call;                                                       \
    pthread_cleanup_pop(0);                                         \
    preload_cancelled(&c);                                          \
    preload_cpu_time();                                             \
    return r

PRELOAD_PUBLIC int nanosleep(const struct timespec *wanted, struct timespec *left)
{
    SLEEP(int, due_in(wanted), real_nanosleep(wanted, left));
}

PRELOAD_PUBLIC int clock_nanosleep(clockid_t clock, int flags, const struct timespec *wanted,
                                   struct timespec *left)
{
    SLEEP(int, flags &TIMER_ABSTIME ? due_at(clock, wanted) : due_in(wanted),
          real_clock_nanosleep(clock, flags, wanted, left));
}

PRELOAD_PUBLIC int usleep(useconds_t us)
{
    struct timespec wanted = { us / 1000000, us % 1000000 * 1000 };

    SLEEP(int, due_in(&wanted), real_usleep(us));
}

PRELOAD_PUBLIC unsigned sleep(unsigned seconds)
{
    struct timespec wanted = { .tv_sec = seconds };

    SLEEP(unsigned, due_in(&wanted), real_sleep(seconds));
}

/* Only the timer knows its clock: when an absolute time comes, it is asked. */
static int64_t timer_due(timer_t timer, int flags, const struct timespec *wanted, int64_t relative)
{
    struct itimerspec left;
    int saved = errno, r;

    if (ns_of(wanted) == 0 || !(flags & TIMER_ABSTIME))
        return ns_of(wanted) == 0 ? 0 : relative;
    r = timer_gettime(timer, &left);
    errno = saved;
    return r == 0 ? due_in(&left.it_value) : 0;
}

PRELOAD_PUBLIC int timer_settime(timer_t timer, int flags, const struct itimerspec *restrict wanted,
                                 struct itimerspec *restrict old)
{
    struct timespec value;
    int64_t relative;
    int r;

    if (PRELOAD_OFF(NULL, POSIXTRACE_TIMER_SET, POSIXTRACE_TIMER_SET) || !wanted)
        return real_timer_settime(timer, flags, wanted, old);
    value = wanted->it_value; /* old may be the same object */
    relative = due_in(&value);
    r = real_timer_settime(timer, flags, wanted, old);
    if (r == 0)
        began(POSIXTRACE_TIMER_SET, (const void *)timer, timer_due(timer, flags, &value, relative),
              PRELOAD_CALLER);
    return r;
}
