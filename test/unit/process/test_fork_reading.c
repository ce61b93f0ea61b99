/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * A handler forks inside a call that reads events, and parent and child both return into it.  The
 * child takes nothing from its parent: neither in the half call, which ends before the parent's
 * continues, nor when its call looks for events again.  It gives none of its parent's slots back
 * either, where the call takes the counts of threads.  The calls in which a handler would fork are
 * wrapped.
 */
#include <errno.h>
#include <posixtrace/info.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <trace.h>
#include "base/sys.h"
#include "consumer/consumer.h"
#include "support/need.h"
#include "support/valgrind.h"

enum { EVENTS = 1000, WATCH_S = 60 };

void __real_pt_cursor_consume(struct pt_consumer *l, struct pt_cursor *c);
void __wrap_pt_cursor_consume(struct pt_consumer *l, struct pt_cursor *c);
void __real_pt_slot_release(struct pt_seg *seg, uint32_t index);
void __wrap_pt_slot_release(struct pt_seg *seg, uint32_t index);
int __real_pt_futex_wait(uint32_t *word, uint32_t value, clockid_t clock,
                         const struct timespec *until);
int __wrap_pt_futex_wait(uint32_t *word, uint32_t value, clockid_t clock,
                         const struct timespec *until);

static trace_event_id_t type;
static trace_id_t trid;
static int armed; /* how many calls from now on forks; 0: none */
static pid_t child = -1;
static unsigned forks;

static int read_next(void)
{
    struct posix_trace_event_info event;
    int none;
    uint64_t data;
    size_t length;
    int r = posix_trace_trygetnext_event(trid, &event, &data, sizeof data, &length, &none);

    return r ? -r : none ? 0 : event.posix_event_id == type ? 1 : 2;
}

/* The parent waits here for the child's end; the child returns. */
static void fork_here(void)
{
    int status;

    if (armed == 0 || --armed > 0)
        return;
    forks++;
    child = fork();
    NEED(child >= 0);
    if (child == 0) {
        alarm(WATCH_S);
        return;
    }
    NEED(waitpid(child, &status, 0) == child && status == 0);
}

/* The end of the child, once its half call has returned r. */
static void end_child(void)
{
    if (child != 0)
        return;
    NEED(read_next() == -EINVAL);
    posix_trace_event(type, &child, sizeof child);
    _exit(0);
}

void __wrap_pt_cursor_consume(struct pt_consumer *l, struct pt_cursor *c)
{
    struct pt_chunk *chunk = pt_seg_chunk(l->seg, c->index);
    uint64_t word = pt_seg_info(l->seg, c->index)->word, consumed = chunk->consumed;

    fork_here();
    if (child > 0) {
        NEED(pt_seg_info(l->seg, c->index)->word == word);
        NEED(chunk->consumed == consumed);
    }
    __real_pt_cursor_consume(l, c);
}

/* There is an event for the parent. */
int __wrap_pt_futex_wait(uint32_t *word, uint32_t value, clockid_t clock,
                         const struct timespec *until)
{
    uint64_t data = 0;

    if (!armed)
        return __real_pt_futex_wait(word, value, clock, until);
    posix_trace_event(type, &data, sizeof data);
    fork_here();
    return 0;
}

static void on_signal(int sig)
{
    (void)sig;
    fork_here();
}

void __wrap_pt_slot_release(struct pt_seg *seg, uint32_t index)
{
    uint32_t state = pt_seg_slot(seg, index)->state;

    if (armed) {
        raise(SIGUSR1);
        NEED(child == 0 || pt_seg_slot(seg, index)->state == state);
    }
    __real_pt_slot_release(seg, index);
}

static void *trace_once(void *data)
{
    posix_trace_event(type, data, sizeof(uint64_t));
    return NULL;
}

/* A call that takes the counts of an ended thread, whose slot is free then. */
static void fork_in_info(void)
{
    unsigned before = forks;
    struct posixtrace_info info;
    pthread_t thread;
    uint64_t data = 0;

    NEED(signal(SIGUSR1, on_signal) != SIG_ERR);
    NEED(pthread_create(&thread, NULL, trace_once, &data) == 0);
    NEED(pthread_join(thread, NULL) == 0);
    armed = 1;
    child = -1;
    NEED(posixtrace_get_info(trid, &info, sizeof info) == 0);
    end_child();
    NEED(forks == before + 1);
    NEED(read_next() == 1);
}

/* A child at every call that takes an event. */
static void fork_in_each(void)
{
    unsigned events = 0;
    int r = 2;

    for (uint64_t i = 0; i < EVENTS; i++)
        posix_trace_event(type, &i, sizeof i);
    for (unsigned i = 0; r > 0; i++) {
        armed = i % 10 == 0;
        child = -1;
        r = read_next();
        end_child();
        NEED(r >= 0);
        events += r == 1;
    }
    NEED(events == EVENTS);
    NEED(forks >= EVENTS / 10);
}

static void fork_in_sleep(void)
{
    struct posix_trace_event_info event;
    uint64_t data;
    size_t length;
    int none, r;

    armed = 1;
    child = -1;
    r = posix_trace_getnext_event(trid, &event, &data, sizeof data, &length, &none);
    if (child == 0) {
        NEED(r == EINVAL);
        end_child();
    }
    NEED(r == 0 && !none && event.posix_event_id == type);
}

int main(void)
{
    struct posix_trace_status_info status;
    trace_attr_t attr;

    if (is_under_valgrind())
        return TEST_SKIPPED;
    alarm(3 * WATCH_S);
    NEED(posix_trace_attr_init(&attr) == 0);
    NEED(posix_trace_attr_setstreamsize(&attr, 64 << 10) == 0);
    NEED(posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_UNTIL_FULL) == 0);
    NEED(posix_trace_create(0, &attr, &trid) == 0);
    NEED(posix_trace_eventid_open("event", &type) == 0);
    NEED(posix_trace_start(trid) == 0);
    fork_in_each();
    fork_in_sleep();
    fork_in_info();
    NEED(posix_trace_get_status(trid, &status) == 0);
    NEED(status.posix_stream_overrun_status == POSIX_TRACE_NO_OVERRUN);
    NEED(posix_trace_shutdown(trid) == 0);
    return 0;
}
