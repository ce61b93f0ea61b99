/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Which descriptors ended a wait for work: POSIXTRACE_READY before the end of a call that found
 * some.  An epoll says of each only the data that it was given for it, so changes of an epoll are
 * recorded, too: POSIXTRACE_EPOLL_SET, after a descriptor is added, and before one is taken away.
 * Then two descriptors have the same data in the log only if they had it in the epoll.
 */
#include <errno.h>
#include "preload/preload.h"
#include "preload/real.h"
#include "preload/real_io.h"

enum { MOST = POSIXTRACE_READY_MAX };

struct ready {
    unsigned count;
    uint64_t which[MOST];
    uint16_t events[MOST];
};

/* Data without padding: i32 epoll, u32 result, the numbers with their count before them. */
static void record(const struct ready *ready, int epoll, int result)
{
    char data[2 * sizeof(uint32_t) + 2 * sizeof(uint16_t) + sizeof ready->which +
              sizeof ready->events];
    struct {
        int32_t epoll;
        uint32_t result;
    } head = { epoll, (uint32_t)result };
    uint16_t count = (uint16_t)ready->count;
    char *p = data;

    p = __builtin_mempcpy(p, &head, sizeof head);
    p = __builtin_mempcpy(p, &count, sizeof count);
    p = __builtin_mempcpy(p, ready->which, count * sizeof ready->which[0]);
    p = __builtin_mempcpy(p, &count, sizeof count);
    p = __builtin_mempcpy(p, ready->events, count * sizeof ready->events[0]);
    posixtrace_system_event(POSIXTRACE_READY, data, (size_t)(p - data));
}

static bool is_wanted(int result)
{
    return result > 0 && !preload_longer &&
           posixtrace_system_wants(POSIXTRACE_READY, POSIXTRACE_READY);
}

static void add(struct ready *ready, uint64_t which, unsigned events)
{
    ready->which[ready->count] = which;
    ready->events[ready->count++] = (uint16_t)events;
}

void preload_ready_poll(const struct pollfd *fds, unsigned long count, int result)
{
    struct ready ready = { .count = 0 };

    if (!is_wanted(result))
        return;
    for (unsigned long i = 0; i < count && ready.count < MOST && ready.count < (unsigned)result;
         i++) {
        if (!fds[i].revents)
            continue;
        preload_descriptor(fds[i].fd);
        add(&ready, (uint64_t)(int64_t)fds[i].fd, (unsigned short)fds[i].revents);
    }
    record(&ready, -1, result);
}

void preload_ready_epoll(int epoll, const struct epoll_event *events, int result)
{
    struct ready ready = { .count = 0 };

    if (!is_wanted(result))
        return;
    for (int i = 0; i < result && ready.count < MOST; i++)
        add(&ready, events[i].data.u64, events[i].events);
    record(&ready, epoll, result);
}

/* The result counts a descriptor in each set; here it is once. */
void preload_ready_select(int count, const fd_set *in, const fd_set *out, const fd_set *more,
                          int result)
{
    const fd_set *const sets[] = { in, out, more };
    static const unsigned events[] = { POLLIN, POLLOUT, POLLPRI };
    struct ready ready = { .count = 0 };
    int found = 0, total = 0;

    if (!is_wanted(result))
        return;
    for (int fd = 0; fd < count && fd < FD_SETSIZE && found < result; fd++) {
        unsigned all = 0;

        for (int i = 0; i < 3; i++) {
            if (!sets[i] || !FD_ISSET(fd, sets[i]))
                continue;
            all |= events[i];
            found++;
        }
        total += all != 0;
        if (!all || ready.count == MOST)
            continue;
        preload_descriptor(fd);
        add(&ready, (uint64_t)fd, all);
    }
    record(&ready, -1, found < result ? result : total);
}

static void record_set(int epoll, int operation, int fd, const struct epoll_event *event)
{
    struct {
        int32_t epoll, descriptor;
        uint32_t operation, events;
        uint64_t data;
    } data = { epoll, fd, (uint32_t)operation, 0, 0 };

    if (event && operation != EPOLL_CTL_DEL) {
        data.events = event->events;
        data.data = event->data.u64;
    }
    posixtrace_system_event(POSIXTRACE_EPOLL_SET, &data, sizeof data);
}

static __attribute__((noinline)) int traced_set(int epoll, int operation, int fd,
                                                struct epoll_event *event)
{
    int r;

    preload_descriptor(epoll);
    preload_descriptor(fd);
    if (operation == EPOLL_CTL_DEL)
        record_set(epoll, operation, fd, NULL);
    r = real_epoll_ctl(epoll, operation, fd, event);
    if (r == 0 && operation != EPOLL_CTL_DEL)
        record_set(epoll, operation, fd, event);
    return r;
}

PRELOAD_PUBLIC int epoll_ctl(int epoll, int operation, int fd, struct epoll_event *event)
{
    return preload_longer || PRELOAD_OFF(NULL, POSIXTRACE_EPOLL_SET, POSIXTRACE_EPOLL_SET)
               ? real_epoll_ctl(epoll, operation, fd, event)
               : traced_set(epoll, operation, fd, event);
}
