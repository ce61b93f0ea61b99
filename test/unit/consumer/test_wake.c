/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * A writer that is killed while it wakes who waits for events: a child is single-stepped
 * through an event until it has cleared the waiter bit, and killed there.  The events of the
 * parent wake the reader, and bring the flush thread to write, all the same.  The same of a
 * writer that passes a mark of posixtrace_watch_fill().
 */
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/eventfd.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <posixtrace/stream.h>
#include <trace.h>
#include "base/clock.h"
#include "shm/segment.h"
#include "stream/handle.h"
#include "stream/stream.h"
#include "support/run_suite.h"
#include "support/valgrind.h"

#define HANG_S 60
#define LAST   UINT64_C(77)

static trace_id_t trid;
static trace_event_id_t event_id;
static struct pt_stream *stream;
static int log_fd;

static void create(bool log)
{
    trace_attr_t attr;
    char path[] = "/tmp/posixtrace-wake.XXXXXX";

    alarm(HANG_S);
    ck_assert_int_eq(posix_trace_attr_init(&attr), 0);
    ck_assert_int_eq(posix_trace_attr_setinherited(&attr, POSIX_TRACE_INHERITED), 0);
    /* Short chunks. */
    ck_assert_int_eq(posix_trace_attr_setmaxdatasize(&attr, 64), 0);
    ck_assert_int_eq(posix_trace_attr_setstreamsize(&attr, 8192), 0);
    if (log) {
        log_fd = mkstemp(path);
        ck_assert(log_fd >= 0 && unlink(path) == 0);
        ck_assert_int_eq(posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_FLUSH), 0);
        ck_assert_int_eq(posix_trace_create_withlog(0, &attr, log_fd, &trid), 0);
    } else {
        ck_assert_int_eq(posix_trace_create(0, &attr, &trid), 0);
    }
    ck_assert_int_eq(posix_trace_attr_destroy(&attr), 0);
    ck_assert_int_eq(posix_trace_eventid_open("wake", &event_id), 0);
    ck_assert_int_eq(posix_trace_start(trid), 0);
    stream = pt_handle_get(trid, ~0u);
    ck_assert_ptr_nonnull(stream);
}

static void end(void)
{
    pt_handle_put(stream);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
}

static bool waits(uint32_t bit)
{
    return pt_load_seqcst(pt_attention(stream->seg->h)) & bit;
}

/* Has a slot and a chunk, so that the events that follow are short. */
static void child(unsigned events)
{
    uint64_t value = 1;

    posix_trace_event(event_id, &value, sizeof value);
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
        _exit(3);
    raise(SIGSTOP);
    for (unsigned i = 0; i < events; i++)
        posix_trace_event(event_id, &value, sizeof value);
    _exit(0);
}

/* A child that has stopped before it traces so many events. */
static pid_t start_child(unsigned events)
{
    pid_t pid = fork();
    int status;

    ck_assert_int_ge(pid, 0);
    if (pid == 0)
        child(events);
    ck_assert(waitpid(pid, &status, 0) == pid && WIFSTOPPED(status));
    return pid;
}

static void step_child(pid_t pid)
{
    int status;

    ck_assert(ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL) == 0);
    ck_assert(waitpid(pid, &status, 0) == pid);
    ck_assert_msg(WIFSTOPPED(status), "the child was not needed");
}

static void kill_child(pid_t pid)
{
    int status;

    ck_assert(kill(pid, SIGKILL) == 0 && waitpid(pid, &status, 0) == pid);
}

static void kill_while_it_wakes(uint32_t bit)
{
    pid_t pid = start_child(1);

    while (!waits(bit))
        usleep(1000);
    while (waits(bit))
        step_child(pid);
    kill_child(pid);
}

static void *read_to_the_last(void *unused)
{
    struct posix_trace_event_info info;
    uint64_t value = 0;
    int none;
    size_t len;

    (void)unused;
    while (value != LAST)
        if (posix_trace_getnext_event(trid, &info, &value, sizeof value, &len, &none) != 0)
            break;
    return value == LAST ? stream : NULL;
}

START_TEST(reader)
{
    uint64_t last = LAST;
    pthread_t thread;
    void *woken;

    create(false);
    ck_assert_int_eq(pthread_create(&thread, NULL, read_to_the_last, NULL), 0);
    kill_while_it_wakes(PT_WAIT_READER);
    posix_trace_event(event_id, &last, sizeof last);
    ck_assert_int_eq(pthread_join(thread, &woken), 0);
    ck_assert_ptr_nonnull(woken);
    end();
}
END_TEST

static off_t log_size(void)
{
    struct stat st;

    ck_assert_int_eq(fstat(log_fd, &st), 0);
    return st.st_size;
}

START_TEST(flush_thread)
{
    uint64_t value = LAST;
    off_t before;

    create(true);
    kill_while_it_wakes(PT_WAIT_FLUSHER);
    before = log_size();
    posix_trace_event(event_id, &value, sizeof value);
    while (log_size() == before)
        usleep(1000);
    end();
    close(log_fd);
}
END_TEST

static void flush(void)
{
    struct posix_trace_status_info status;

    ck_assert_int_eq(posix_trace_flush(trid), 0);
    do
        ck_assert_int_eq(posix_trace_get_status(trid, &status), 0);
    while (status.posix_stream_flush_status == POSIX_TRACE_FLUSHING);
}

#define BUSY_NS 10000000u /* half of the time for which the flush thread expects events */

/* A round of several chunks; true: no event would have woken the flush thread for a while.  The
 * clock is read after each look: a look counts if it was made in that time. */
static bool round_expects_more(void)
{
    uint64_t value = 0, begin;
    unsigned looks = 0;

    for (unsigned i = 0; i < stream->seg->h->chunk_size / 8; i++)
        posix_trace_event(event_id, &value, sizeof value);
    begin = pt_clock_ns(CLOCK_MONOTONIC);
    flush();
    for (;; looks++) {
        bool woken = waits(PT_WAIT_FLUSHER);

        if (pt_clock_ns(CLOCK_MONOTONIC) - begin >= BUSY_NS)
            return looks > 0;
        if (woken)
            return false;
    }
}

/* In a stream that is busy no event wakes the flush thread; after that the first one does. */
START_TEST(busy_stream)
{
    create(true);
    while (!round_expects_more()) /* the machine may be busy, too */
        ;
    while (!waits(PT_WAIT_FLUSHER))
        usleep(1000);
    end();
    close(log_fd);
}
END_TEST

/* The child dies after it has closed a chunk, with its first store for those who wait. */
START_TEST(fill_thread)
{
    struct pollfd p = { .fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC), .events = POLLIN };
    struct pt_seg_header *h;
    uint64_t value = LAST;
    uint32_t futex;
    pid_t pid;

    create(false);
    h = stream->seg->h;
    ck_assert(p.fd >= 0 && posixtrace_watch_fill(trid, 1, p.fd) == 0);
    futex = pt_load_seqcst(&h->fill_futex);
    pid = start_child(h->chunk_size / 8);
    while (pt_load_seqcst(&h->fill_mark) && pt_load_seqcst(&h->fill_futex) == futex)
        step_child(pid);
    kill_child(pid);
    while (poll(&p, 1, 0) == 0)
        posix_trace_event(event_id, &value, sizeof value);
    close(p.fd);
    end();
}
END_TEST

static void add(TCase *t)
{
    tcase_set_timeout(t, HANG_S);
    tcase_add_test(t, reader);
    tcase_add_test(t, flush_thread);
    tcase_add_test(t, busy_stream);
    tcase_add_test(t, fill_thread);
}

int main(void)
{
    if (is_under_valgrind())
        return TEST_SKIPPED;
    return run_suite("wake", "a writer that is killed while it wakes", NULL, add);
}
