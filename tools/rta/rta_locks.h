/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Blocking by mutexes, Buser of equation 4, from the "Mutex Hold" of a log.
 *
 * A mutex can block a task if a thread of lower priority holds it, and a task of the same or a
 * higher priority holds it at other times.  With priority inheritance, each thread of lower
 * priority blocks a job at most once, and so does each mutex (Sha, Rajkumar and Lehoczky,
 * "Priority inheritance protocols", 1990).  So B is at most the smaller of two sums: over
 * threads, of the longest that each of them held such a mutex; over mutexes, of the longest
 * that each was held so.  Threads that are no task count as lower than all tasks.
 *
 * With priority ceilings (PTHREAD_PRIO_PROTECT) a job is blocked once at most, by one of them: B is
 * the longest.
 *
 * A hold is elapsed time, preemption of the holder included: B is larger than need be.
 */
#ifndef RTA_LOCKS_H
#define RTA_LOCKS_H

#include <posixtrace/metrics.h>

#include "rta/rta_log.h"

/* One thread and one mutex. */
struct rta_hold {
    struct rta_hold *next;
    uint64_t thread_id;
    pid_t pid, tid;
    uint64_t mutex;  /* its address; 0: one that events were lost of, so it may be any */
    int task;        /* of the thread, or -1 */
    int64_t largest; /* of the holds that are known */
    int64_t at_most; /* the longest time that an unknown one may have lasted */
    uint64_t unknown;
};

struct rta_locks {
    struct rta_hold *first;
    void *tree; /* tsearch(3), by process, mutex and thread */
};

enum rta_protocol { RTA_INHERITANCE, RTA_CEILING };

/* A measurement of "Mutex Hold", of that length. */
void rta_locks_add(struct rta_locks *l, const struct posixtrace_measurement *m, int64_t length);
/* How long they block tasks[i] at most, when the task of each hold is set. */
void rta_locks_block(const struct rta_locks *l, const struct rta_task *tasks, size_t i,
                     enum rta_protocol protocol, struct rta_measure *measure);
void rta_locks_free(struct rta_locks *l);

#endif
