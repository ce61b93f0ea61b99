/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * posixtrace_watch_fill: it reports when the mark is passed, again after the stream was emptied,
 * also by events of other processes, and not before; the program's other files are not touched.  A
 * reader that waits for the next report and reads without blocking does not wait for ever.
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <posixtrace/event.h>
#include <posixtrace/stream.h>
#include "control/fill_watermark.h"
#include "shm/attention.h"
#include "support/run_suite.h"
#include "support/stream_inside.h"
#include "support/valgrind.h"

enum { TURNS = 500, EVENTS = 400000, BIG = 20000 };

static trace_event_id_t id;
static trace_id_t trid;
static int fd;

static void make_stream(int inheritance, size_t max_data)
{
    trace_attr_t attr;

    ck_assert_int_eq(posix_trace_eventid_open("fill", &id), 0);
    ck_assert_int_eq(posix_trace_attr_init(&attr), 0);
    ck_assert_int_eq(posix_trace_attr_setstreamsize(&attr, 256 << 10), 0);
    ck_assert_int_eq(posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_UNTIL_FULL), 0);
    ck_assert_int_eq(posix_trace_attr_setmaxdatasize(&attr, max_data), 0);
    ck_assert_int_eq(posix_trace_attr_setinherited(&attr, inheritance), 0);
    ck_assert_int_eq(posix_trace_create(0, &attr, &trid), 0);
    ck_assert_int_eq(posix_trace_attr_destroy(&attr), 0);
    ck_assert_int_eq(posix_trace_start(trid), 0);
    fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    ck_assert_int_ge(fd, 0);
}

static void begin(void)
{
    make_stream(POSIX_TRACE_INHERITED, 4096);
}

static void end(void)
{
    if (trid)
        ck_assert_int_eq(posix_trace_shutdown(trid), 0);
    close(fd);
}

static bool is_full(void)
{
    struct posix_trace_status_info status;

    ck_assert_int_eq(posix_trace_get_status(trid, &status), 0);
    return status.posix_stream_full_status == POSIX_TRACE_FULL;
}

static void fill(void)
{
    char data[64] = "";

    do {
        for (int i = 0; i < 100; i++)
            posix_trace_event(id, data, sizeof data);
    } while (!is_full());
}

/* Reads what there is, without blocking; how many events of the program. */
static long empty(void)
{
    struct posixtrace_event e;
    long count = 0;
    int none;

    for (;;) {
        ck_assert_int_eq(posixtrace_next_event(trid, &e, sizeof e, &none), 0);
        if (none)
            return count;
        count += e.id == id;
    }
}

static uint64_t read_count(void)
{
    uint64_t count = 0;

    ck_assert_int_eq(read(fd, &count, sizeof count), sizeof count);
    return count;
}

/* The value that a single report reads as: through a copy of the descriptor, as the library has
 * one.  An emulator of the other byte order does not swap bytes that are written to copies. */
static uint64_t count_of_one(void)
{
    int copy = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    uint64_t one = 1;

    ck_assert_int_eq(write(copy, &one, sizeof one), sizeof one);
    close(copy);
    return read_count();
}

/* Waits for a report; returns the count of the descriptor. */
static uint64_t await(void)
{
    struct pollfd p = { .fd = fd, .events = POLLIN };

    ck_assert_int_eq(poll(&p, 1, -1), 1);
    return read_count();
}

static bool is_told(void)
{
    struct pollfd p = { .fd = fd, .events = POLLIN };

    return poll(&p, 1, 0) == 1;
}

START_TEST(again_and_again)
{
    uint64_t once = count_of_one();

    ck_assert_int_eq(posixtrace_watch_fill(trid, 50, fd), 0);
    ck_assert(!is_told());
    for (int i = 0; i < 5; i++) {
        fill();
        ck_assert_uint_eq(await(), once);
        empty();
    }
    ck_assert(!is_told());
}
END_TEST

/* A descriptor of the caller's own may go. */
START_TEST(closed)
{
    int copy = fcntl(fd, F_DUPFD_CLOEXEC, 3);

    ck_assert_int_eq(posixtrace_watch_fill(trid, 1, copy), 0);
    close(copy);
    fill();
    await();
}
END_TEST

#if !defined __SANITIZE_THREAD__ /* with it the library has no table of its own */
/* A program may close all descriptors that it does not know, as daemons do, and open files: none
 * of them is taken for that of the library. */
START_TEST(files_of_the_program)
{
    int next = open("/dev/null", O_RDONLY | O_CLOEXEC), file;
    FILE *opened;
    struct stat st;

    close(next);
    ck_assert_int_eq(posixtrace_watch_fill(trid, 50, fd), 0);
    ck_assert_int_eq(fcntl(next, F_GETFD), -1);
    opened = tmpfile();
    file = fileno(opened);
    ck_assert_int_eq(file, next);
    fill();
    await();
    ck_assert_int_eq(fstat(file, &st), 0);
    ck_assert_int_eq(st.st_size, 0);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
    trid = 0;
    ck_assert_int_eq(fstat(file, &st), 0);
    fclose(opened);
}
END_TEST
#endif

START_TEST(full_already)
{
    fill();
    ck_assert_int_eq(posixtrace_watch_fill(trid, 50, fd), 0);
    await();
    ck_assert_int_eq(posixtrace_watch_fill(trid, 50, fd), 0);
    await();
}
END_TEST

START_TEST(no_more)
{
    ck_assert_int_eq(posixtrace_watch_fill(trid, 50, fd), 0);
    ck_assert_int_eq(posixtrace_watch_fill(trid, 0, -1), 0);
    fill();
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
    trid = 0;
    ck_assert(!is_told());
}
END_TEST

/* The thread is not in the child, but the child's events are still reported. */
START_TEST(another_process)
{
    int status;
    pid_t pid;

    ck_assert_int_eq(posixtrace_watch_fill(trid, 50, fd), 0);
    pid = fork();
    if (pid == 0) {
        char data[64] = "";

        for (int i = 0; i < 20000; i++)
            posix_trace_event(id, data, sizeof data);
        _exit(0);
    }
    ck_assert_int_gt(pid, 0);
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_int_eq(status, 0);
    await();
}
END_TEST

static uint32_t arms, done; /* how often the mark was set; no more */

/* As often as a consumer that gives chunks back may. */
static void *arm_mark(void *header)
{
    while (!pt_load_seqcst(&done)) {
        pt_fill_watermark_arm(header);
        pt_add_seqcst(&arms, 1u);
    }
    return NULL;
}

/* A thread that sets the mark may be stopped before its store, and the watching thread may have
 * ended by then: the mark does not stay. */
START_TEST(mark_goes)
{
    struct pt_seg_header *h = segment_of(trid)->h;
    int turns = is_under_valgrind() ? 2 : TURNS; /* it runs one thread at a time */
    pthread_t thread;

    ck_assert_int_eq(pthread_create(&thread, NULL, arm_mark, h), 0);
    for (int i = 0; i < turns; i++) {
        uint32_t from;

        ck_assert_int_eq(posixtrace_watch_fill(trid, i % 2 ? 50 : 90, fd), 0);
        ck_assert_int_eq(posixtrace_watch_fill(trid, 0, -1), 0);
        /* What was begun before is over. */
        from = pt_load_seqcst(&arms);
        while (pt_load_seqcst(&arms) - from < 2)
            sched_yield();
        ck_assert_uint_eq(pt_load_seqcst(&h->fill_mark), 0);
    }
    pt_store_seqcst(&done, 1u);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    ck_assert(!is_told());
}
END_TEST

START_TEST(errors)
{
    ck_assert_int_eq(posixtrace_watch_fill(trid, 101, fd), EINVAL);
    ck_assert_int_eq(posixtrace_watch_fill(trid, 50, -1), EBADF);
    ck_assert_int_eq(posixtrace_watch_fill(trid + 1000, 50, fd), EINVAL);
    fill();
    ck_assert(!is_told());
}
END_TEST

/* A descriptor on which a write would block holds nothing up: the stream can be shut down. */
START_TEST(blocks)
{
    uint64_t most = UINT64_MAX - 1;

    close(fd);
    fd = eventfd(0, EFD_CLOEXEC);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, &most, sizeof most), sizeof most);
    ck_assert_int_eq(posixtrace_watch_fill(trid, 50, fd), 0);
    fill();
    ck_assert_int_eq(posixtrace_watch_fill(trid, 0, fd), 0);
    ck_assert_uint_eq(read_count(), most);
}
END_TEST

static bool is_told_within(int ms)
{
    struct pollfd p = { .fd = fd, .events = POLLIN };

    return poll(&p, 1, ms) == 1;
}

static pthread_barrier_t at_event, at_end;

static void *one_event(void *unused)
{
    (void)unused;
    posix_trace_event(id, NULL, 0);
    pthread_barrier_wait(&at_event);
    pthread_barrier_wait(&at_end);
    return NULL;
}

/* Another thread that has traced; its slot. */
static struct pt_slot *begin_other(pthread_t *other)
{
    posix_trace_event(id, NULL, 0);
    pthread_barrier_init(&at_event, NULL, 2);
    pthread_barrier_init(&at_end, NULL, 2);
    ck_assert_int_eq(pthread_create(other, NULL, one_event, NULL), 0);
    pthread_barrier_wait(&at_event);
    ck_assert_int_gt(empty(), 0);
    return slot_of_last_writer(segment_of(trid));
}

static void end_other(pthread_t other)
{
    pthread_barrier_wait(&at_end);
    ck_assert_int_eq(pthread_join(other, NULL), 0);
}

/* As long as a writer is inside an event, which holds others back, there is nothing to read, and no
 * report. */
START_TEST(what_is_told_can_be_read)
{
    pthread_t other;
    struct pt_slot *slot = begin_other(&other);

    ck_assert_int_eq(posixtrace_watch_fill(trid, 50, fd), 0);
    pt_store_seqcst(&slot->inside, 1u);
    fill();
    ck_assert(!is_told_within(100));
    pt_store_seqcst(&slot->inside, 0u);
    await();
    ck_assert_int_gt(empty(), 0);
    end_other(other);
}
END_TEST

/* A writer that is inside an event for longer than readers wait for it delays no report, nor the
 * end. */
START_TEST(held_up)
{
    pthread_t other;
    struct pt_slot *slot = begin_other(&other);

    pt_store_seqcst(&slot->inside, 1u);
    ck_assert_int_eq(posixtrace_watch_fill(trid, 50, fd), 0);
    fill();
    await();
    ck_assert_int_eq(posixtrace_watch_fill(trid, 50, fd), 0);
    ck_assert_int_eq(posixtrace_watch_fill(trid, 0, -1), 0);
    pt_store_seqcst(&slot->inside, 0u);
    end_other(other);
}
END_TEST

/* A writer enters an event after the report and before the reader has read. */
START_TEST(told_again_when_they_leave)
{
    pthread_t other;
    struct pt_slot *slot = begin_other(&other);

    ck_assert_int_eq(posixtrace_watch_fill(trid, 100, fd), 0);
    fill();
    await();
    pt_store_seqcst(&slot->inside, 1u);
    ck_assert_int_eq(empty(), 0);
    ck_assert(!is_told_within(100));
    pt_store_seqcst(&slot->inside, 0u);
    await();
    ck_assert_int_gt(empty(), 0);
    ck_assert(!is_told_within(100));
    end_other(other);
}
END_TEST

static void *read_when_told(void *unused)
{
    struct pollfd p = { .fd = fd, .events = POLLIN };

    (void)unused;
    while (!pt_load_seqcst(&done)) {
        if (poll(&p, 1, 10) != 1)
            continue;
        read_count();
        empty();
    }
    return NULL;
}

START_TEST(reader_that_does_not_block)
{
    struct pt_seg_header *h = segment_of(trid)->h;
    int events = is_under_valgrind() ? EVENTS / 100 : EVENTS;
    char data[64] = "";
    pthread_t reader;

    pt_store_seqcst(&done, 0u);
    ck_assert_int_eq(posixtrace_watch_fill(trid, 25, fd), 0);
    ck_assert_int_eq(pthread_create(&reader, NULL, read_when_told, NULL), 0);
    for (int i = 0; i < events; i++)
        posix_trace_event(id, data, sizeof data);
    while (pt_load_seqcst(&h->full_chunks) >= pt_load_seqcst(&h->fill_level))
        usleep(1000);
    pt_store_seqcst(&done, 1u);
    ck_assert_int_eq(pthread_join(reader, NULL), 0);
}
END_TEST

static void *big_event(void *data)
{
    posix_trace_event(id, data, BIG);
    return NULL;
}

/* Threads that end leave chunks in which others find no room.  Those close them. */
START_TEST(closed_by_others)
{
    static char data[BIG];
    pthread_t thread;

    end();
    make_stream(POSIX_TRACE_CLOSE_FOR_CHILD, BIG);
    ck_assert_int_eq(posixtrace_watch_fill(trid, 50, fd), 0);
    do {
        ck_assert_int_eq(pthread_create(&thread, NULL, big_event, data), 0);
        ck_assert_int_eq(pthread_join(thread, NULL), 0);
    } while (!is_full());
    await();
    ck_assert_int_gt(empty(), 0);
}
END_TEST

static void prepare(TCase *c)
{
    tcase_add_checked_fixture(c, begin, end);
}

static void add(TCase *c)
{
    tcase_add_test(c, again_and_again);
    tcase_add_test(c, closed);
#if !defined __SANITIZE_THREAD__
    tcase_add_test(c, files_of_the_program);
#endif
    tcase_add_test(c, full_already);
    tcase_add_test(c, no_more);
    tcase_add_test(c, another_process);
    tcase_add_test(c, mark_goes);
    tcase_add_test(c, errors);
    tcase_add_test(c, blocks);
    tcase_add_test(c, what_is_told_can_be_read);
    tcase_add_test(c, held_up);
    tcase_add_test(c, told_again_when_they_leave);
    tcase_add_test(c, reader_that_does_not_block);
    tcase_add_test(c, closed_by_others);
}

int main(void)
{
    return run_suite("fill", "fill", prepare, add);
}
