/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Waits for work: calls that wait until one of several descriptors is ready.
 */
#include <errno.h>
#include "preload/preload.h"
#include "preload/real_io.h"

#define SECOND INT64_C(1000000000)

static int64_t poll_ms(int ms)
{
    return ms < 0 ? -1 : ms * INT64_C(1000000);
}

/* INT64_MAX where it is too far for a number. */
static int64_t poll_span(int64_t seconds, int64_t ns)
{
    if (seconds < 0 || ns < 0)
        return 0; /* EINVAL */
    return seconds > INT64_MAX / SECOND - 1 ? INT64_MAX : seconds * SECOND + ns;
}

static int64_t poll_us(const struct timeval *t)
{
    return t ? poll_span(t->tv_sec, t->tv_usec * INT64_C(1000)) : -1;
}

static int64_t poll_ns(const struct timespec *t)
{
    return t ? poll_span(t->tv_sec, t->tv_nsec) : -1;
}

static void began(const struct preload_io *c, uint64_t count, int64_t timeout, const void *caller)
{
    struct {
        uint32_t call;
        int32_t descriptor;
        uint64_t count;
        int64_t timeout;
        uint64_t caller;
    } data = { c->call, c->descriptor, count, timeout, (uintptr_t)caller };

    preload_event(POSIXTRACE_POLL, &data, sizeof data);
}

#define POLL(number, name, parameters, arguments, descriptor, count, timeout)                    \
    static                                                                                       \
        __attribute__((noinline)) int traced_##name(const void *caller, PRELOAD_LIST parameters) \
    {                                                                                            \
        struct preload_io call = { POSIXTRACE_POLL_DONE, POSIXTRACE_CALL_##number, descriptor }; \
        int r;                                                                                   \
                                                                                                 \
        began(&call, count, timeout, caller);                                                    \
        pthread_cleanup_push(preload_io_cancelled, &call);                                       \
        r = real_##name arguments;                                                               \
        pthread_cleanup_pop(0);                                                                  \
        preload_io_ended(&call, r < 0 ? -errno : r);                                             \
        return r;                                                                                \
    }                                                                                            \
    PRELOAD_PUBLIC int name parameters                                                           \
    {                                                                                            \
        return PRELOAD_OFF(NULL, POSIXTRACE_POLL, POSIXTRACE_POLL_DONE)                          \
                   ? real_##name arguments                                                       \
                   : traced_##name(PRELOAD_CALLER, PRELOAD_LIST arguments);                      \
    }

REAL_POLL(POLL)
