/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * See perf_pump.h.  An idle program makes no record and wakes no thread.  The pump sleeps in
 * epoll_wait(2), not in poll(2), which fails once the program lowers RLIMIT_NOFILE below the
 * number of rings.  A pump that cannot wait ends, and only rounds empty the rings.
 */
#include <errno.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>
#include "base/sys.h"
#include "base/thread.h"
#include "source/perf_pump.h"

#define NICE_FIRST (-20)
#define MOST_READY 16 /* rings that one wait reports */

/* The rings fill at the rate of switches, with any number of runnable threads.  So the pump gets a
 * higher priority if permitted, in real time or by its nice value. */
static void go_first(void)
{
    const struct sched_param first = { .sched_priority = sched_get_priority_min(SCHED_FIFO) };

    if (pthread_setschedparam(pthread_self(), SCHED_FIFO, &first) != 0)
        setpriority(PRIO_PROCESS, (id_t)pt_sys_tid(), NICE_FIRST);
}

/* Until a ring is half full.  False: the bell has rung, or waiting fails. */
static bool await_rings(const struct pt_perf_pump *p)
{
    struct epoll_event ready[MOST_READY];
    bool any = false;

    while (!any) {
        int n = epoll_wait(p->epoll, ready, MOST_READY, -1);

        if (n < 0 && errno != EINTR)
            return false;
        for (int i = 0; i < n; i++) {
            if (ready[i].data.fd == p->bell)
                return false;
            any |= (ready[i].events & EPOLLIN) != 0;
            /* It will not be ready in another way: no more of it. */
            if ((ready[i].events & ~(uint32_t)EPOLLIN) &&
                epoll_ctl(p->epoll, EPOLL_CTL_DEL, ready[i].data.fd, NULL) < 0)
                return false;
        }
    }
    return true;
}

static void *pump(void *arg)
{
    const struct pt_perf_pump *p = arg;

    go_first();
    prctl(PR_SET_NAME, "posixtrace-perf", 0, 0, 0);
    while (await_rings(p))
        p->empty(p->context);
    return NULL;
}

static int wait_for(const struct pt_perf_pump *p, int fd)
{
    struct epoll_event event = { .events = EPOLLIN, .data = { .fd = fd } };

    return epoll_ctl(p->epoll, EPOLL_CTL_ADD, fd, &event) < 0 ? -errno : 0;
}

void pt_perf_pump_init(struct pt_perf_pump *p, void (*empty)(void *), void *context)
{
    *p = (struct pt_perf_pump){ .epoll = -1, .bell = -1, .empty = empty, .context = context };
}

int pt_perf_pump_prepare(struct pt_perf_pump *p, const struct pt_perf_rings *rings)
{
    int e;

    p->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (p->epoll < 0)
        return -errno;
    p->bell = eventfd(0, EFD_CLOEXEC);
    if (p->bell < 0)
        return -errno;
    e = wait_for(p, p->bell);
    for (size_t i = 0; e == 0 && i < rings->count; i++)
        e = wait_for(p, rings->of[i].fd);
    return e;
}

int pt_perf_pump_start(struct pt_perf_pump *p)
{
    int e = pt_thread_start(&p->thread, pump, p);

    p->started = e == 0;
    return e;
}

void pt_perf_pump_stop(struct pt_perf_pump *p)
{
    const uint64_t one = 1;

    if (p->started) {
        while (write(p->bell, &one, sizeof one) < 0 && errno == EINTR)
            ;
        pthread_join(p->thread, NULL);
    }
    if (p->bell >= 0)
        close(p->bell);
    if (p->epoll >= 0)
        close(p->epoll);
}

void pt_perf_pump_init_lock(pthread_mutex_t *lock)
{
    pthread_mutexattr_t attr;

    pthread_mutexattr_init(&attr);
    if (pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT) != 0 ||
        pthread_mutex_init(lock, &attr) != 0)
        pthread_mutex_init(lock, NULL);
    pthread_mutexattr_destroy(&attr);
}
