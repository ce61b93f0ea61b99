/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Another process stores what a process's page once said, with the gates open, when the memory
 * of the streams of that time is no longer mapped: of the process's own streams after their
 * shutdown, and of a controller's streams after the process has mapped the next ones.  Nothing
 * may be read or written there, by threads that had writers of those streams.  In a child each: a
 * crash is its status.
 */
#include <pthread.h>
#include <semaphore.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include "process/self.h"
#include "support/run_suite.h"
#include "support/stream_inside.h"

enum { TYPE = POSIX_TRACE_UNNAMED_USER_EVENT, STREAMS = 2, READY = 4 };

static struct {
    uint64_t used, changes, epoch[PT_STREAMS];
} then;
static sem_t go, done;

static struct pt_page *own_page(void)
{
    return pt_self_peek()->page;
}

static void remember(void)
{
    then.used = own_page()->used;
    then.changes = own_page()->changes;
    memcpy(then.epoch, own_page()->epoch, sizeof then.epoch);
}

static void store_again(void)
{
    pt_store_seqcst(&own_page()->changes, then.changes);
    for (unsigned bit = 0; bit < PT_STREAMS; bit++)
        pt_store_seqcst(&own_page()->epoch[bit], then.epoch[bit]);
    pt_store_seqcst(&own_page()->gates[TYPE], then.used);
}

/* All paths: one size after the other, the same size several times. */
static void trace(void)
{
    static const uint64_t data[4];

    for (unsigned i = 0; i < READY; i++)
        posix_trace_event(TYPE, data, 8);
    posix_trace_event(TYPE, data, sizeof data);
    posix_trace_event(TYPE, NULL, 0);
}

static void *trace_when_asked(void *unused)
{
    for (;;) {
        sem_wait(&go);
        trace();
        sem_post(&done);
    }
    return unused;
}

static void trace_in_thread(void)
{
    sem_post(&go);
    sem_wait(&done);
}

static void start_thread(void)
{
    pthread_t thread;

    ck_assert_int_eq(sem_init(&go, 0, 0), 0);
    ck_assert_int_eq(sem_init(&done, 0, 0), 0);
    ck_assert_int_eq(pthread_create(&thread, NULL, trace_when_asked, NULL), 0);
}

static void make(pid_t pid, trace_id_t trid[], int streams)
{
    for (int i = 0; i < streams; i++) {
        ck_assert_int_eq(posix_trace_create(pid, NULL, &trid[i]), 0);
        ck_assert_int_eq(posix_trace_start(trid[i]), 0);
    }
}

static void shut_down(const trace_id_t trid[], int streams)
{
    for (int i = 0; i < streams; i++)
        ck_assert_int_eq(posix_trace_shutdown(trid[i]), 0);
}

/* _i + 1 streams. */
START_TEST(after_shutdown)
{
    trace_id_t trid[STREAMS];

    start_thread();
    make(0, trid, _i + 1);
    trace();
    trace_in_thread();
    remember();
    shut_down(trid, _i + 1);
    store_again();
    trace();
    trace_in_thread();
}
END_TEST

static void expect_byte(int fd)
{
    char byte;

    ck_assert_int_eq(read(fd, &byte, 1), 1);
}

static void send_byte(int fd)
{
    ck_assert_int_eq(write(fd, "", 1), 1);
}

/* The thread has writers of the first streams; the next ones are mapped without it. */
static void be_traced(int controller)
{
    start_thread();
    send_byte(controller);
    expect_byte(controller);
    trace();
    trace_in_thread();
    remember();
    send_byte(controller);
    expect_byte(controller);
    trace();
    store_again();
    trace_in_thread();
    trace();
    _exit(0);
}

START_TEST(after_the_next_is_mapped)
{
    trace_id_t first[STREAMS], next[STREAMS];
    int ends[2], status;
    pid_t target;

    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    target = fork();
    ck_assert_int_ge(target, 0);
    if (target == 0)
        be_traced(ends[1]);
    close(ends[1]);
    expect_byte(ends[0]);
    make(target, first, _i + 1);
    send_byte(ends[0]);
    expect_byte(ends[0]);
    shut_down(first, _i + 1);
    make(target, next, _i + 1);
    send_byte(ends[0]);
    ck_assert_int_eq(waitpid(target, &status, 0), target);
    ck_assert_msg(status == 0, "status %#x", (unsigned)status);
    shut_down(next, _i + 1);
    close(ends[0]);
}
END_TEST

static void add(TCase *tc)
{
    tcase_add_loop_test(tc, after_shutdown, 0, STREAMS);
    tcase_add_loop_test(tc, after_the_next_is_mapped, 0, STREAMS);
}

int main(void)
{
    return run_suite("process old_epoch", "stream old_epoch", NULL, add);
}
