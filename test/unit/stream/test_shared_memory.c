/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Children that share their parent's memory.  One has thread-local memory of its own
 * and runs beside its parent (clone with CLONE_VM and CLONE_SETTLS, without
 * CLONE_THREAD): a sweep must not take it for dead.  The other borrows that of the
 * thread that waits for it (vfork), and its event is the thread's first: the thread
 * goes on with the record, and a sweep after the child's end must not take the
 * thread for dead.
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <trace.h>
#include "base/atomics.h"
#include "base/sys.h"
#include "ring/slot.h"
#include "stream/handle.h"
#include "stream/thread.h"
#include "support/need.h"
#include "support/valgrind.h"

enum { EVENTS = 5, HANG_S = 60, STACK = 1 << 18 };

static trace_event_id_t type;
static uint32_t stage;   /* what the child has done, and may do */

static void await(uint32_t value)
{
    while (pt_load_seqcst(&stage) != value)
        sched_yield();
}

static void trace(void)
{
    for (uint64_t i = 0; i < EVENTS; i++)
        posix_trace_event(type, &i, sizeof i);
}

static trace_id_t stream(void)
{
    trace_id_t trid;

    NEED(posix_trace_create(0, NULL, &trid) == 0);
    NEED(posix_trace_start(trid) == 0);
    return trid;
}

static unsigned sweep(trace_id_t trid)
{
    struct pt_stream *s = pt_handle_get(trid, PT_STREAM_ACTIVE);
    unsigned ended;

    NEED(s);
    ended = pt_slot_sweep(s->seg);
    pt_handle_put(s);
    return ended;
}

/* The events of the stream, in order and all of that process. */
static void expect(trace_id_t trid, unsigned wanted, pid_t pid)
{
    struct posix_trace_event_info event;
    unsigned n = 0;
    uint64_t data;
    size_t length;
    int unavailable;

    for (;;) {
        NEED(posix_trace_trygetnext_event(trid, &event, &data, sizeof data, &length,
                                          &unavailable) == 0);
        if (unavailable)
            break;
        if (event.posix_event_id != type)
            continue;
        NEED(data == n++ % EVENTS);
        NEED(event.posix_pid == pid);
    }
    NEED(n == wanted);
    NEED(posix_trace_shutdown(trid) == 0);
}

/* A thread that ends for the kernel, but not for the C library: nothing else will use
 * its thread-local memory. */
static void *lend(void *to)
{
    *(void **)to = __builtin_thread_pointer();
    syscall(SYS_exit, 0L);
    return NULL;
}

static void *lent_memory(void)
{
    void *memory = NULL;
    pthread_t thread;
    clockid_t clock;

    NEED(pthread_create(&thread, NULL, lend, &memory) == 0);
    while (pthread_getcpuclockid(thread, &clock) == 0)   /* the kernel clears its number */
        sched_yield();
    NEED(memory);
    return memory;
}

static int run_beside(void *unused)
{
    struct pt_thread *record;

    (void)unused;
    trace();
    /* Events that take the slow path have the same record, and with it the same slot. */
    record = pt_thread_self;
    NEED(record && pt_thread_get(pt_self_get()) == record);
    pt_store_seqcst(&stage, 1u);
    await(2);
    trace();
    syscall(SYS_exit, 0L);
    return 0;
}

static void beside(void)
{
    char *stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    trace_id_t trid = stream();
    int status;
    pid_t child;

    NEED(stack != MAP_FAILED);
    child = clone(run_beside, stack + STACK, CLONE_VM | CLONE_SETTLS | SIGCHLD, NULL, NULL,
                  lent_memory());
    NEED(child > 0);
    await(1);
    NEED(sweep(trid) == 0);
    pt_store_seqcst(&stage, 2u);
    NEED(waitpid(child, &status, 0) == child && status == 0);
    expect(trid, 2 * EVENTS, child);
}

static void *borrow(void *trid)
{
    pid_t child = vfork();
    int status;

    if (child == 0) {
        trace();
        _exit(0);
    }
    NEED(child > 0);
    NEED(waitpid(child, &status, 0) == child && status == 0);
    NEED(sweep(*(trace_id_t *)trid) == 0);
    trace();
    return NULL;
}

static void borrowed(void)
{
    trace_id_t trid = stream();
    pthread_t thread;

    NEED(pthread_create(&thread, NULL, borrow, &trid) == 0);
    NEED(pthread_join(thread, NULL) == 0);
    expect(trid, 2 * EVENTS, getpid());
}

int main(void)
{
    if (is_under_valgrind())
        return TEST_SKIPPED;
    alarm(HANG_S);
    NEED(posix_trace_eventid_open("shared", &type) == 0);
    beside();
    borrowed();
    return 0;
}
