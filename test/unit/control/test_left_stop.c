/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * A stream has stopped itself, and a thread that has a chunk closes it after its event.  A handler
 * that comes then leaves the event by siglongjmp().  When the stream runs again, the thread's
 * events do not go into that chunk, which is free by then, or another thread's.  pt_pool_close()
 * goes through the test.
 */
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <trace.h>
#include <unistd.h>
#include "shm/pool.h"
#include "support/run_suite.h"

enum { TYPE = POSIX_TRACE_UNNAMED_USER_EVENT, BEFORE = 4, AFTER = 10, MANY = 1 << 20 };

void __real_pt_pool_close(struct pt_seg *seg, uint32_t index, uint32_t slot, uint64_t last_ts);
void __wrap_pt_pool_close(struct pt_seg *seg, uint32_t index, uint32_t slot, uint64_t last_ts);

static trace_id_t trid;
static sem_t go, done;
static _Thread_local bool leaves;
static sigjmp_buf out;

void __wrap_pt_pool_close(struct pt_seg *seg, uint32_t index, uint32_t slot, uint64_t last_ts)
{
    __real_pt_pool_close(seg, index, slot, last_ts);
    if (!leaves)
        return;
    leaves = false;
    siglongjmp(out, 1);
}

/* All from one frame, so that the next event shows that the one before was left. */
static __attribute__((noinline)) void trace(uint64_t number)
{
    posix_trace_event(TYPE, &number, sizeof number);
}

static bool left;

static void *be_left(void *unused)
{
    (void)unused;

    for (uint64_t i = 0; i < BEFORE; i++)
        trace(i);
    sem_post(&done);
    sem_wait(&go);
    leaves = true;
    if (sigsetjmp(out, 0) == 0)
        trace(BEFORE);
    else
        left = true;
    leaves = false;
    sem_post(&done);
    sem_wait(&go);
    for (uint64_t i = 0; i < AFTER; i++)
        trace(MANY + i);
    return NULL;
}

/* Reads all that is there.  How many events have numbers from MANY on, in their order. */
static unsigned read_all(void)
{
    struct posix_trace_event_info info;
    unsigned found = 0;
    int unavailable = 0;
    uint64_t number;
    size_t len;

    for (;;) {
        ck_assert_int_eq(
            posix_trace_trygetnext_event(trid, &info, &number, sizeof number, &len, &unavailable),
            0);
        if (unavailable)
            return found;
        if (info.posix_event_id == TYPE && number >= MANY) {
            ck_assert_uint_eq(number, MANY + found);
            found++;
        }
    }
}

static bool runs(void)
{
    struct posix_trace_status_info status;

    ck_assert_int_eq(posix_trace_get_status(trid, &status), 0);
    return status.posix_stream_status == POSIX_TRACE_RUNNING;
}

START_TEST(closed_chunk)
{
    trace_attr_t attr;
    pthread_t thread;

    sem_init(&go, 0, 0);
    sem_init(&done, 0, 0);
    ck_assert_int_eq(posix_trace_attr_init(&attr), 0);
    ck_assert_int_eq(posix_trace_attr_setstreamsize(&attr, 1 << 16), 0);
    ck_assert_int_eq(posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_UNTIL_FULL), 0);
    ck_assert_int_eq(posix_trace_create(0, &attr, &trid), 0);
    ck_assert_int_eq(posix_trace_attr_destroy(&attr), 0);
    ck_assert_int_eq(posix_trace_start(trid), 0);
    ck_assert_int_eq(pthread_create(&thread, NULL, be_left, NULL), 0);
    sem_wait(&done);
    for (unsigned i = 0; i < MANY && runs(); i++)
        trace(0);
    ck_assert(!runs());
    sem_post(&go);
    sem_wait(&done);
    ck_assert_uint_eq(read_all(), 0);
    ck_assert(runs());
    sem_post(&go);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    ck_assert(left);
    ck_assert_uint_eq(read_all(), AFTER);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
}
END_TEST

static void add(TCase *tc)
{
    tcase_add_test(tc, closed_chunk);
}

int main(void)
{
    return run_suite("left_stop", "an event left while it closes a chunk", NULL, add);
}
