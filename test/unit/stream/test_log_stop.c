/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * A log with the policy UNTIL_FULL ends with one STOP, whichever event found no room: where the
 * stream was stopped before, its own STOP is the last event.  The same after SIGKILL, when the
 * log is read, recovered and read again, and after the file was cut.
 *
 * A log with a size, of either policy, has no events of before and after STOP and START, FILTER, or
 * OVERFLOW and RESUME, without these.
 */
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <posixtrace/event.h>
#include <posixtrace/log.h>
#include "support/flush_log.h"
#include "support/killed_child.h"
#include "support/log_file.h"
#include "support/run_suite.h"

#define LEAST 3000u /* bytes of the smallest log */
#define STEP  104u  /* from one size to the next */
#define SIZES 24

static trace_event_id_t tick;

static trace_id_t create(int fd, size_t size)
{
    trace_attr_t attr;
    trace_id_t trid;

    NEED(posix_trace_eventid_open("tick", &tick) == 0);
    NEED(posix_trace_attr_init(&attr) == 0);
    NEED(posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_UNTIL_FULL) == 0);
    NEED(posix_trace_attr_setlogsize(&attr, size) == 0);
    NEED(posix_trace_create_withlog(0, &attr, fd, &trid) == 0);
    return trid;
}

static bool is_full(trace_id_t trid)
{
    struct posix_trace_status_info status;

    NEED(posix_trace_get_status(trid, &status) == 0);
    return status.posix_log_full_status == POSIX_TRACE_FULL;
}

/* Windows of one event each; the flush is one of the stream while it is stopped. */
static void fill_log(trace_id_t trid)
{
    while (!is_full(trid)) {
        NEED(posix_trace_start(trid) == 0);
        posix_trace_event(tick, "tick", 4);
        NEED(posix_trace_stop(trid) == 0);
        flush_log(trid);
    }
}

/* How many of its STOPs follow another one. */
static void check_log(int fd)
{
    struct posix_trace_status_info status;
    trace_event_id_t last = 0;
    struct posixtrace_event e;
    trace_id_t trid;
    int none;

    ck_assert_int_eq(lseek(fd, 0, SEEK_SET), 0);
    ck_assert_int_eq(posix_trace_open(fd, &trid), 0);
    ck_assert_int_eq(posix_trace_get_status(trid, &status), 0);
    ck_assert_int_eq(status.posix_log_full_status, POSIX_TRACE_FULL);
    for (;;) {
        ck_assert_int_eq(posixtrace_next_event(trid, &e, sizeof e, &none), 0);
        if (none)
            break;
        ck_assert_msg(e.id != POSIX_TRACE_STOP || last != POSIX_TRACE_STOP,
                      "a STOP follows another");
        last = e.id;
    }
    ck_assert_int_eq(last, POSIX_TRACE_STOP);
    ck_assert_int_eq(posix_trace_close(trid), 0);
}

START_TEST(shut_down)
{
    int fd = log_file();
    trace_id_t trid = create(fd, LEAST + STEP * (size_t)_i);

    fill_log(trid);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
    check_log(fd);
    close(fd);
}
END_TEST

START_TEST(killed)
{
    struct posixtrace_recover_report report;
    int fd = log_file();
    pid_t pid = fork();

    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        fill_log(create(fd, LEAST + STEP * (size_t)_i));
        kill(getpid(), SIGKILL);
    }
    await_kill(pid);
    check_log(fd);
    ck_assert_int_eq(posixtrace_log_recover(fd, &report, sizeof report), 0);
    check_log(fd);
    close(fd);
}
END_TEST

/* It takes events until it is full again. */
START_TEST(cut)
{
    int fd = log_file();
    trace_id_t trid = create(fd, LEAST + STEP * (size_t)_i);
    struct stat st;

    fill_log(trid);
    ck_assert_int_eq(fstat(fd, &st), 0);
    ck_assert_int_eq(ftruncate(fd, st.st_size / 2), 0);
    do
        flush_log(trid);
    while (is_full(trid));
    fill_log(trid);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
    check_log(fd);
    close(fd);
}
END_TEST

/* The number of an event that follows another one without STOP or OVERFLOW is the next one. */
static void check_numbers(int fd)
{
    uint64_t number, next = 0;
    struct posixtrace_event e;
    bool mark = true;
    trace_id_t trid;
    int none;

    ck_assert_int_eq(posix_trace_open(fd, &trid), 0);
    for (;;) {
        ck_assert_int_eq(posixtrace_next_event(trid, &e, sizeof e, &none), 0);
        if (none)
            break;
        if (e.id != tick) {
            mark |= e.id == POSIX_TRACE_STOP || e.id == POSIX_TRACE_OVERFLOW ||
                    e.id == POSIX_TRACE_FILTER;
            continue;
        }
        memcpy(&number, e.data, sizeof number);
        ck_assert_uint_ge(number, next);
        ck_assert_msg(mark || number == next, "%lu is missing, no STOP says so",
                      (unsigned long)next);
        next = number + 1;
        mark = false;
    }
    ck_assert_uint_gt(next, 0);
    ck_assert_int_eq(posix_trace_close(trid), 0);
}

static trace_id_t create_loop(int fd, int log_policy, size_t log_size, size_t stream_size)
{
    trace_attr_t attr;
    trace_id_t trid;

    ck_assert_int_eq(posix_trace_eventid_open("tick", &tick), 0);
    ck_assert_int_eq(posix_trace_attr_init(&attr), 0);
    ck_assert_int_eq(posix_trace_attr_setmaxdatasize(&attr, 16), 0);
    ck_assert_int_eq(posix_trace_attr_setstreamsize(&attr, stream_size), 0);
    ck_assert_int_eq(posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_LOOP), 0);
    ck_assert_int_eq(posix_trace_attr_setlogfullpolicy(&attr, log_policy), 0);
    ck_assert_int_eq(posix_trace_attr_setlogsize(&attr, log_size), 0);
    ck_assert_int_eq(posix_trace_create_withlog(0, &attr, fd, &trid), 0);
    return trid;
}

static void trace(uint64_t *number, unsigned count)
{
    while (count-- > 0) {
        posix_trace_event(tick, number, sizeof *number);
        ++*number;
    }
}

static const int log_policies[] = { POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL };

/* A flush has many windows, and may be larger than the log. */
START_TEST(windows_in_a_flush)
{
    int fd = log_file();
    uint64_t number = 0;
    trace_id_t trid = create_loop(fd, log_policies[_i % 2], 1500 + 900 * (size_t)_i, 1 << 20);

    ck_assert_int_eq(posix_trace_start(trid), 0);
    trace(&number, 1);
    flush_log(trid);
    for (unsigned window = 0; window < 10; window++) {
        trace(&number, 200);
        ck_assert_int_eq(posix_trace_stop(trid), 0);
        number += 100;
        ck_assert_int_eq(posix_trace_start(trid), 0);
    }
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
    check_numbers(fd);
    close(fd);
}
END_TEST

/* The same with times in which a filter keeps events out. */
START_TEST(filters_in_a_flush)
{
    int fd = log_file();
    trace_event_set_t set;
    uint64_t number = 0;
    trace_id_t trid = create_loop(fd, log_policies[_i % 2], 1500 + 900 * (size_t)_i, 1 << 20);

    ck_assert_int_eq(posix_trace_eventset_empty(&set), 0);
    ck_assert_int_eq(posix_trace_eventset_add(tick, &set), 0);
    ck_assert_int_eq(posix_trace_start(trid), 0);
    for (unsigned i = 0; i < 10; i++) {
        trace(&number, 200);
        ck_assert_int_eq(posix_trace_set_filter(trid, &set, POSIX_TRACE_ADD_EVENTSET), 0);
        trace(&number, 100);
        ck_assert_int_eq(posix_trace_set_filter(trid, &set, POSIX_TRACE_SUB_EVENTSET), 0);
    }
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
    check_numbers(fd);
    close(fd);
}
END_TEST

/* The stream has overwritten events between two flushes. */
START_TEST(losses_before_a_flush)
{
    int fd = log_file();
    uint64_t number = 0;
    trace_id_t trid = create_loop(fd, log_policies[_i % 2], 800 + STEP * 3 * (size_t)_i / 2, 8192);

    ck_assert_int_eq(posix_trace_start(trid), 0);
    trace(&number, 10);
    flush_log(trid);
    trace(&number, 2000);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
    check_numbers(fd);
    close(fd);
}
END_TEST

static void add(TCase *tc)
{
    tcase_add_loop_test(tc, windows_in_a_flush, 0, 67);
    tcase_add_loop_test(tc, filters_in_a_flush, 0, 67);
    tcase_add_loop_test(tc, losses_before_a_flush, 0, 67);
    tcase_add_loop_test(tc, shut_down, 0, SIZES);
    tcase_add_loop_test(tc, killed, 0, SIZES);
    tcase_add_loop_test(tc, cut, 0, SIZES);
}

int main(void)
{
    return run_suite("log stop", "stream", NULL, add);
}
