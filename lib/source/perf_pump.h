/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* The thread that waits until one of the kernel's rings is half full. */
#ifndef PT_SOURCE_PERF_PUMP_H
#define PT_SOURCE_PERF_PUMP_H

#include <pthread.h>
#include "source/perf_rings.h"

struct pt_perf_pump {
    pthread_t thread;
    bool started;
    int epoll; /* the rings and the bell, by descriptor; or negative */
    int bell;  /* eventfd: the pump ends; or negative */
    /* Called by the thread when a ring is half full. */
    void (*empty)(void *context);
    void *context;
};

/* The three in this order, before threads write into the rings: epoll_ctl() takes the wakeup of
 * a ring that is half full.  0 or a negative errno. */
void pt_perf_pump_init(struct pt_perf_pump *p, void (*empty)(void *), void *context) PT_HIDDEN;
int pt_perf_pump_prepare(struct pt_perf_pump *p, const struct pt_perf_rings *rings) PT_HIDDEN;
int pt_perf_pump_start(struct pt_perf_pump *p) PT_HIDDEN;
/* Also of one that was not started. */
void pt_perf_pump_stop(struct pt_perf_pump *p) PT_HIDDEN;

/* Locks are held with the pump's priority while the pump waits for them. */
void pt_perf_pump_init_lock(pthread_mutex_t *lock) PT_HIDDEN;

#endif
