/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * A child made while another thread holds all locks of liburcu, as a first control call or a grace
 * period does for a moment.  No thread releases them in the child.  It traces into the inherited
 * stream, creates, reads and shuts down one of its own, and runs exit(), for each call that makes a
 * child; a child that hangs is killed by its alarm.
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <posixtrace/info.h>
#include <trace.h>
#include <urcu/urcu-bp.h>
#include "process/fork.h"
#include "support/need.h"
#include "support/raw_clone.h"

enum { HANG_S = 60, EVENTS = 100 };

static trace_event_id_t type;
static pthread_barrier_t meeting;

/* liburcu names this what a fork handler calls: it takes the registry's mutex and
 * that of the grace periods. */
static void *hold_locks(void *unused)
{
    (void)unused;
    urcu_bp_before_fork();
    pthread_barrier_wait(&meeting);
    pthread_barrier_wait(&meeting);
    urcu_bp_after_fork_parent();
    return NULL;
}

static void trace(void)
{
    for (uint64_t i = 0; i < EVENTS; i++)
        posix_trace_event(type, &i, sizeof i);
}

static int count(trace_id_t trid)
{
    struct posix_trace_event_info event;
    int unavailable, n = 0;
    uint64_t data;
    size_t length;

    for (;; n += event.posix_event_id == type) {
        NEED(posix_trace_trygetnext_event(trid, &event, &data, sizeof data, &length,
                                          &unavailable) == 0);
        if (unavailable)
            return n;
    }
}

static void live_as_child(void)
{
    trace_id_t own;

    alarm(HANG_S);
    trace();
    NEED(posix_trace_create(0, NULL, &own) == 0);
    NEED(posix_trace_start(own) == 0);
    trace();
    NEED(count(own) == EVENTS);
    NEED(posix_trace_shutdown(own) == 0);
    NEED(posix_trace_create(0, NULL, &own) == 0); /* exit() shuts it down */
    exit(0);
}

/* A child made inside an event: the record of its half waits for no thread, and no thread waits for
 * it. */
static void fork_inside(void)
{
    struct pt_thread *t = pt_thread_current();
    pid_t child;
    int status;

    NEED(t && pt_thread_enter(t));
    child = fork();
    NEED(child >= 0);
    if (child == 0) {
        NEED(pt_fork_has_cut(t));
        NEED(pt_threads_left() && pt_threads_are_out());
        _exit(0);
    }
    pt_thread_leave(t);
    NEED(waitpid(child, &status, 0) == child && status == 0);
}

static pid_t clone_here(void)
{
    return raw_clone(SIGCHLD);
}

static const struct {
    const char *name;
    pid_t (*make)(void);
} ways[] = { { "fork", fork }, { "_Fork", _Fork }, { "clone", clone_here } };

int main(void)
{
    int failed = 0, ways_count = (int)(sizeof ways / sizeof ways[0]);
    trace_attr_t attr;
    pthread_t holder;
    trace_id_t trid;

    NEED(pthread_barrier_init(&meeting, NULL, 2) == 0);
    NEED(posix_trace_attr_init(&attr) == 0);
    NEED(posix_trace_attr_setinherited(&attr, POSIX_TRACE_INHERITED) == 0);
    NEED(pthread_create(&holder, NULL, hold_locks, NULL) == 0);
    pthread_barrier_wait(&meeting);
    /* The parent itself needs none of those locks either. */
    alarm(HANG_S * 4);
    NEED(posix_trace_create(0, &attr, &trid) == 0);
    NEED(posix_trace_eventid_open("a child's", &type) == 0);
    NEED(posix_trace_start(trid) == 0);
    for (int i = 0; i < ways_count; i++) {
        pid_t child = ways[i].make();
        int status;

        NEED(child >= 0);
        if (child == 0)
            live_as_child();
        NEED(waitpid(child, &status, 0) == child);
        if (status != 0)
            dprintf(2, "a child made by %s: wait status 0x%x\n", ways[i].name, (unsigned)status);
        failed += status != 0;
    }
    trace();
    fork_inside();
    /* Of each child the second half is in both streams. */
    NEED(count(trid) == (ways_count * 2 + 1) * EVENTS);
    pthread_barrier_wait(&meeting);
    NEED(pthread_join(holder, NULL) == 0);
    NEED(posix_trace_shutdown(trid) == 0);
    return failed != 0;
}
