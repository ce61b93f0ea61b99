/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Calls that transfer or synchronise the data of a descriptor, accept() and connect(); and waits
 * for work, which are calls that wait until one of several descriptors is ready.
 */
#include <errno.h>
#include "preload/preload.h"
#include "preload/real_io.h"

#define SECOND INT64_C(1000000000)

#define IO(type, number, name, parameters, arguments)                              \
    PRELOAD_CALL_MORE(type, POSIXTRACE_IO, number, name, parameters, arguments, a, \
                      (preload_descriptor(a), preload_io_began(&call, caller)))

REAL_IO(IO)
REAL_IO_NEWER(IO)
REAL_IO_QUEUES(IO)

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

static void poll_began(const struct preload_io *c, uint64_t count, int64_t timeout,
                       const void *caller)
{
    struct {
        uint32_t call;
        int32_t descriptor;
        uint64_t count;
        int64_t timeout;
        uint64_t caller;
    } data = { c->call, c->descriptor, count, timeout, (uintptr_t)caller };

    preload_descriptor(c->descriptor);
    preload_event(POSIXTRACE_POLL, &data, sizeof data);
    preload_io_waits(c, caller);
}

#define READY_POLL         preload_ready_poll(a, b, r)
#define READY_PPOLL        preload_ready_poll(a, b, r)
#define READY_SELECT       preload_ready_select(a, b, c, d, r)
#define READY_PSELECT      preload_ready_select(a, b, c, d, r)
#define READY_EPOLL_WAIT   preload_ready_epoll(a, b, r)
#define READY_EPOLL_PWAIT  preload_ready_epoll(a, b, r)
#define READY_EPOLL_PWAIT2 preload_ready_epoll(a, b, r)

#define POLL(number, name, parameters, arguments, descriptor, count, timeout)                \
    PRELOAD_CALL_BOTH(int, POSIXTRACE_POLL, number, name, parameters, arguments, descriptor, \
                      poll_began(&call, count, timeout, caller), READY_##number)

REAL_POLL(POLL)
