/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Children that share their parent's memory.  One has thread-local memory of its own
 * and runs beside its parent (clone with CLONE_VM and CLONE_SETTLS, without
 * CLONE_THREAD): a sweep must not take it for dead.  The other uses the thread-local memory of the
 * thread that waits for it (vfork), and its event is the thread's first: the thread continues with
 * the record, and a sweep after the child's end must not take the thread for dead.
 *
 * And the first call of the library in that memory can be the child's: the page that it makes is
 * that of the parent, which others find by its pid.  The parent is an image that exec has started,
 * or a child of fork(), or of the bare system call, for which no fork handler runs: the children
 * are made before the first call of this program.
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <linux/kcmp.h>
#if defined __i386__
#include <asm/ldt.h>
#endif
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <trace.h>
#include "base/atomics.h"
#include "base/sys.h"
#include "process/thread.h"
#include "shm/liveness.h"
#include "shm/slot.h"
#include "stream/handle.h"
#include "support/need.h"
#include "support/raw_clone.h"
#include "support/valgrind.h"

enum { EVENTS = 5, HANG_S = 60, STACK = 1 << 18 };

static trace_event_id_t type;
static uint32_t *stage; /* shared: what the child has done, and may do */

static void await(uint32_t value)
{
    while (pt_load_seqcst(stage) != value)
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
    while (pthread_getcpuclockid(thread, &clock) == 0) /* the kernel clears its number */
        sched_yield();
    NEED(memory);
    return memory;
}

/* What clone() takes for it. */
static void *storage(void *memory)
{
#if defined __i386__
    static struct user_desc segment;
    unsigned gs;

    __asm__("mov %%gs, %0" : "=r"(gs));
    segment = (struct user_desc){ .entry_number = gs >> 3,
                                  .base_addr = (unsigned)(uintptr_t)memory,
                                  .limit = 0xfffff,
                                  .seg_32bit = 1,
                                  .limit_in_pages = 1,
                                  .useable = 1 };
    return &segment;
#else
    return memory;
#endif
}

static int run_beside(void *unused)
{
    struct pt_thread *record;

    (void)unused;
    trace();
    /* Events that take the slow path have the same record, and with it the same slot. */
    record = pt_thread_current();
    NEED(record && pt_thread_get(pt_self_get()) == record);
    pt_store_seqcst(stage, 1u);
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
                  storage(lent_memory()));
    NEED(child > 0);
    await(1);
    NEED(sweep(trid) == 0);
    pt_store_seqcst(stage, 2u);
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

static void wait_for(pid_t child)
{
    int status;

    NEED(child > 0);
    NEED(waitpid(child, &status, 0) == child && status == 0);
}

/* The library has the caller's numbers for the process. */
static void is_known(void)
{
    struct pt_self *self = pt_self_peek();

    NEED(self && self->pid == (uint32_t)getpid());
    NEED(self->start == pt_process_start((uint32_t)getpid()));
    NEED(self->page->pid == self->pid && self->page->start == self->start);
}

static bool shares_memory(pid_t a, pid_t b)
{
    return syscall(SYS_kcmp, (long)a, (long)b, (long)KCMP_VM, 0L, 0L) == 0;
}

/* Another process, which knows this one by its number alone, traces it. */
static void trace_from_outside(void)
{
    pid_t traced = getpid(), child;
    trace_id_t trid;

    pt_store_seqcst(stage, 0u);
    child = fork();
    if (child == 0) {
        NEED(posix_trace_create(traced, NULL, &trid) == 0);
        NEED(posix_trace_start(trid) == 0);
        pt_store_seqcst(stage, 1u);
        await(2);
        expect(trid, EVENTS, traced);
        _exit(0);
    }
    await(1);
    trace();
    pt_store_seqcst(stage, 2u);
    wait_for(child);
}

static void call_first(void)
{
    static volatile uint32_t seen;
    trace_id_t trid;
    pid_t child = vfork();

    if (child == 0) {
        NEED(posix_trace_eventid_open("shared", &type) == 0);
        seen = pt_self_get() ? pt_self_get()->pid : 0;
        _exit(0);
    }
    wait_for(child);
    NEED(seen == 0 || seen == (uint32_t)getpid()); /* 0: a sanitizer makes a fork of it */
    is_known();
    trid = stream();
    trace();
    expect(trid, EVENTS, getpid());
    trace_from_outside();
}

static void call_own(void)
{
    NEED(posix_trace_eventid_open("shared", &type) == 0);
    is_known();
}

static void in_child_of_fork(void (*run)(void))
{
    pid_t child = fork();

    if (child == 0) {
        run();
        _exit(0);
    }
    wait_for(child);
}

/* The C library does not learn of it: it has the numbers of the parent's thread. */
static void in_child_of_kernel(void (*run)(void))
{
    pid_t child = raw_clone(SIGCHLD);

    if (child == 0) {
        run();
        _exit(0);
    }
    wait_for(child);
}

static void first_calls(void)
{
    in_child_of_fork(call_own);
    in_child_of_fork(call_first);
    in_child_of_kernel(call_own);
    /* Only the kernel tells these children from those of the bare call. */
    if (shares_memory(getpid(), getpid()))
        in_child_of_kernel(call_first);
    call_first();
}

int main(void)
{
    if (is_under_valgrind())
        return TEST_SKIPPED;
    alarm(HANG_S);
    stage = mmap(NULL, sizeof *stage, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    NEED(stage != MAP_FAILED);
    first_calls();
    NEED(posix_trace_eventid_open("shared", &type) == 0);
    pt_store_seqcst(stage, 0u);
    beside();
    borrowed();
    return 0;
}
