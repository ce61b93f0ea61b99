/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * A thread that ends writes to its slots and chunks.  Each slot says so meanwhile, so that
 * another process does not give the memory of the stream back under it; afterwards it does not.
 * The record of the thread in its process is the next thread's: of one, where two find that its
 * thread has ended; and not that of a living one.
 */
#include <pthread.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>
#include <trace.h>
#include "process/thread.h"
#include "shm/slot.h"
#include "stream/handle.h"
#include "support/need.h"
#include "support/valgrind.h"

enum { HANG_S = 60, STREAMS = 2, KEYS = 40 };

static trace_event_id_t tick;
static unsigned detached;

void __real_pt_slot_detach(struct pt_seg *seg, uint32_t index, uint64_t last_ts);
void __wrap_pt_slot_detach(struct pt_seg *seg, uint32_t index, uint64_t last_ts);
void __wrap_pt_slot_detach(struct pt_seg *seg, uint32_t index, uint64_t last_ts)
{
    const struct pt_slot *slot = pt_seg_slot(seg, index);

    NEED(pt_load_relaxed(&slot->inside) != 0);
    __real_pt_slot_detach(seg, index, last_ts);
    NEED(pt_load_relaxed(&slot->inside) == 0);
    detached++;
}

static void *run(void *unused)
{
    posix_trace_event(tick, NULL, 0);
    return unused;
}

static unsigned count_records(const struct pt_self *self)
{
    unsigned all = 0, free = 0;

    for (const struct pt_thread *t = self->threads; t; t = t->next) {
        all++;
        free += pt_thread_is(t, PT_THREAD_FREE);
    }
    NEED(free == self->free_records && self->unwatched == 0);
    return all;
}

static void one_after_another(void)
{
    unsigned records = count_records(pt_self_get());
    pthread_t thread;

    NEED(records > 0);
    for (unsigned i = 0; i < 20; i++) {
        NEED(pthread_create(&thread, NULL, run, NULL) == 0);
        NEED(pthread_join(thread, NULL) == 0);
        NEED(count_records(pt_self_get()) == records);
    }
}

/* The first thread that finds the record of an ended one lets another be faster. */
static pthread_barrier_t found, claimed;
static bool slow;

bool __real_pt_sys_thread_exists(int32_t pid, int32_t tid);
bool __wrap_pt_sys_thread_exists(int32_t pid, int32_t tid);
bool __wrap_pt_sys_thread_exists(int32_t pid, int32_t tid)
{
    bool exists = __real_pt_sys_thread_exists(pid, tid);

    if (slow && !exists) {
        slow = false;
        pthread_barrier_wait(&found);
        pthread_barrier_wait(&claimed);
    }
    return exists;
}

static void *run_slowly(void *record)
{
    run(NULL);
    *(struct pt_thread **)record = pt_thread_current();
    return NULL;
}

static void *run_meanwhile(void *record)
{
    pthread_barrier_wait(&found);
    run_slowly(record);
    pthread_barrier_wait(&claimed);
    pthread_barrier_wait(&claimed);
    return NULL;
}

/* The library does not notice the ends of threads, since the program has many keys. */
static trace_id_t start_with_keys(void)
{
    pthread_key_t key;
    trace_id_t trid;

    for (unsigned i = 0; i < KEYS; i++)
        NEED(pthread_key_create(&key, NULL) == 0);
    NEED(posix_trace_eventid_open("tick", &tick) == 0);
    NEED(posix_trace_create(0, NULL, &trid) == 0 && posix_trace_start(trid) == 0);
    run(NULL);
    return trid;
}

static void two_find_a_record(void)
{
    struct pt_thread *ended = NULL, *fast_one = NULL, *slow_one = NULL;
    pthread_t dead, fast, late;
    trace_id_t trid = start_with_keys();

    NEED(pthread_barrier_init(&found, NULL, 2) == 0 &&
         pthread_barrier_init(&claimed, NULL, 2) == 0);
    NEED(pthread_create(&dead, NULL, run_slowly, &ended) == 0 && pthread_join(dead, NULL) == 0);
    while (__real_pt_sys_thread_exists(ended->pid, ended->tid))
        sched_yield();
    NEED(pthread_create(&fast, NULL, run_meanwhile, &fast_one) == 0);
    slow = true;
    NEED(pthread_create(&late, NULL, run_slowly, &slow_one) == 0 && pthread_join(late, NULL) == 0);
    pthread_barrier_wait(&claimed);
    NEED(pthread_join(fast, NULL) == 0);
    NEED(fast_one && slow_one && fast_one != slow_one);
    NEED(posix_trace_shutdown(trid) == 0);
}

static void *trace_in_a_namespace(void *record)
{
    pid_t pid;

    if (unshare(CLONE_NEWPID) != 0)
        return NULL; /* not allowed */
    pid = vfork();
    NEED(pid >= 0);
    if (pid == 0) {
        posix_trace_event(tick, NULL, 0);
        _exit(0);
    }
    NEED(waitpid(pid, NULL, 0) == pid);
    *(struct pt_thread **)record = pt_thread_current();
    NEED(pt_thread_current() && pt_thread_current()->tid == gettid());
    return NULL;
}

/* There the kernel knows no thread of its parent: none is dead for it. */
static void first_call_in_a_namespace(void)
{
    struct pt_thread *record = NULL;
    pthread_t thread;
    trace_id_t trid = start_with_keys();

    NEED(pthread_create(&thread, NULL, trace_in_a_namespace, &record) == 0);
    NEED(pthread_join(thread, NULL) == 0);
    NEED(pt_thread_current() && record != pt_thread_current());
    NEED(posix_trace_shutdown(trid) == 0);
}

static void in_a_child(void (*test)(void))
{
    pid_t pid = fork();
    int status;

    NEED(pid >= 0);
    if (pid == 0) {
        alarm(HANG_S);
        test();
        _exit(0);
    }
    NEED(waitpid(pid, &status, 0) == pid && status == 0);
}

int main(void)
{
    trace_id_t trids[STREAMS];
    pthread_t thread;

    in_a_child(two_find_a_record);
    if (!is_under_valgrind()) /* its vfork() is a fork() */
        in_a_child(first_call_in_a_namespace);
    alarm(HANG_S);
    NEED(posix_trace_eventid_open("tick", &tick) == 0);
    for (unsigned i = 0; i < STREAMS; i++)
        NEED(posix_trace_create(0, NULL, &trids[i]) == 0 && posix_trace_start(trids[i]) == 0);
    NEED(pthread_create(&thread, NULL, run, NULL) == 0);
    NEED(pthread_join(thread, NULL) == 0);
    NEED(detached == STREAMS);
    one_after_another();
    for (unsigned i = 0; i < STREAMS; i++)
        NEED(posix_trace_shutdown(trids[i]) == 0);
    return 0;
}
