/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * A recovery gives way to a stream that wants its file, at each of its writes: the restarted
 * program truncates the log of its killed predecessor and creates a stream during the write.  It is
 * not refused, and its log is the same as without a recovery.
 *
 * And another process truncates the log before or after each write, to any size: the rest of the
 * file is not changed.
 *
 * pwrite(), ftruncate() and flock() are this program's own: they let the program restart, and the
 * write continues when that has failed to get the lock, or has its result.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <posixtrace/info.h>
#include <posixtrace/log.h>
#include <trace.h>
#include "support/killed_child.h"
#include "support/run_suite.h"

enum { EVENTS = 50, CHANGES = 6, MODES = 3, ASKED = 2, SIZES = 5, LOG_MOST = 1 << 16 };

/* Cut when it is opened, or by the stream. */
static const int modes[MODES] = { O_RDWR | O_TRUNC, O_WRONLY | O_APPEND | O_TRUNC, O_RDWR };

static char path[64];
static struct stat log_file;
static _Thread_local int countdown;  /* changes until the program comes back; 0: it does not */
static int cut_countdown;            /* changes until the log is cut; 0: it is not */
static bool cut_after;               /* the change */
static int cut_share;                /* of SIZES - 1, how much of it is left */
static uint8_t old_bytes[LOG_MOST];  /* before the change */
static uint8_t left_bytes[LOG_MOST]; /* after the cut */
static off_t left_size;
static int mode;
static pthread_t program;
static _Atomic int asked, answer; /* answer -1: there is none yet */

static bool is_log(int fd)
{
    struct stat st;

    return fstat(fd, &st) == 0 && st.st_dev == log_file.st_dev && st.st_ino == log_file.st_ino;
}

int flock(int fd, int operation)
{
    long r = syscall(SYS_flock, fd, operation);
    int error = errno;

    if (r < 0 && is_log(fd))
        asked++;
    errno = error;
    return (int)r;
}

static void trace(trace_id_t trid)
{
    trace_event_id_t id;

    ck_assert_int_eq(posix_trace_eventid_open("give way", &id), 0);
    ck_assert_int_eq(posix_trace_start(trid), 0);
    for (int i = 0; i < EVENTS; i++)
        posix_trace_event(id, &i, sizeof i);
}

static void *come_back(void *descriptor)
{
    int fd = *(int *)descriptor, r;
    trace_attr_t attr;
    trace_id_t trid;

    posix_trace_attr_init(&attr);
    posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_APPEND);
    posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_LOOP); /* see make_left_log() */
    r = posix_trace_create_withlog(0, &attr, fd, &trid);
    answer = r;
    posix_trace_attr_destroy(&attr);
    if (r == 0) {
        trace(trid);
        ck_assert_int_eq(posix_trace_shutdown(trid), 0);
    }
    close(fd);
    return NULL;
}

static void start_program(void)
{
    static int fd;

    fd = open(path, modes[mode] | O_CLOEXEC);
    ck_assert_int_ge(fd, 0);
    asked = 0;
    answer = -1;
    ck_assert_int_eq(pthread_create(&program, NULL, come_back, &fd), 0);
}

static void before_change(void)
{
    if (countdown == 0 || --countdown > 0)
        return;
    start_program();
    while (asked < ASKED && answer < 0)
        sched_yield();
}

static void cut(int fd, bool after)
{
    ssize_t n;

    if (!after && cut_countdown == 1)
        ck_assert_int_gt(pread(fd, old_bytes, sizeof old_bytes, 0), 0);
    if (cut_countdown == 0 || cut_after != after || --cut_countdown > 0)
        return;
    n = pread(fd, left_bytes, sizeof left_bytes, 0);
    ck_assert(n > 0 && n < LOG_MOST);
    left_size = n * cut_share / (SIZES - 1);
    /* Zeros at the end may come back. */
    while (cut_share == SIZES - 1 && left_bytes[left_size] == 0)
        left_size--;
    ck_assert_int_eq(syscall(SYS_ftruncate, fd, left_size), 0);
}

ssize_t pwrite(int fd, const void *from, size_t bytes, off_t offset)
{
    ssize_t n;

    before_change();
    cut(fd, false);
    n = syscall(SYS_pwrite64, fd, from, bytes, offset);
    cut(fd, true);
    return n;
}

int ftruncate(int fd, off_t size)
{
    int r;

    before_change();
    cut(fd, false);
    r = (int)syscall(SYS_ftruncate, fd, size);
    cut(fd, true);
    return r;
}

/* LOOP: the flush thread makes no round of its own, which would add events. */
static void make_left_log(void)
{
    int fd;
    pid_t pid;

    /* What an earlier test of this process did not come to. */
    countdown = cut_countdown = 0;
    strcpy(path, "/tmp/posixtrace-way.XXXXXX");
    fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(fstat(fd, &log_file), 0);
    pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        trace_attr_t attr;
        trace_id_t trid;

        posix_trace_attr_init(&attr);
        posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_LOOP);
        ck_assert_int_eq(posix_trace_create_withlog(0, &attr, fd, &trid), 0);
        trace(trid);
        kill(getpid(), SIGKILL);
    }
    await_kill(pid);
    close(fd);
}

static void remove_left_log(void)
{
    unlink(path);
}

static uint64_t check_whole(void)
{
    struct posixtrace_log_report report;
    struct posixtrace_info info;
    trace_id_t trid;
    int fd = open(path, O_RDONLY);

    ck_assert_int_eq(posixtrace_log_check(fd, NULL, NULL, &report, sizeof report), 0);
    ck_assert_int_eq(report.complete, 1);
    ck_assert_int_eq(report.damaged, 0);
    ck_assert_int_eq(posix_trace_open(fd, &trid), 0);
    ck_assert_int_eq(posixtrace_get_info(trid, &info, sizeof info), 0);
    ck_assert_int_eq(info.end, POSIXTRACE_END_SHUTDOWN);
    ck_assert_int_eq(posix_trace_close(trid), 0);
    close(fd);
    return info.events;
}

START_TEST(program_comes_back)
{
    int fd = open(path, O_RDWR), r;
    struct posixtrace_recover_report report;

    mode = _i % MODES;
    countdown = 1 + _i / MODES;
    r = posixtrace_log_recover(fd, &report, sizeof report);
    if (countdown > 0) {
        /* It has fewer changes, and is over. */
        countdown = 0;
        ck_assert_int_eq(r, 0);
        start_program();
    }
    ck_assert_int_eq(pthread_join(program, NULL), 0);
    ck_assert_int_eq(answer, 0);
    ck_assert(r == 0 || r == EBUSY);
    /* START, STOP and what was traced. */
    ck_assert_uint_eq(check_whole(), EVENTS + 2);
    close(fd);
}
END_TEST

static void *recover_in_vain(void *unused)
{
    struct posixtrace_recover_report report;
    int fd = open(path, O_RDWR);

    answer = posixtrace_log_recover(fd, &report, sizeof report);
    close(fd);
    return unused;
}

/* Two recoveries keep out of each other's way, also between the writes of one. */
START_TEST(second_recovery)
{
    struct posixtrace_recover_report report;
    int fd = open(path, O_RDWR), other = open(path, O_RDWR);
    struct flock byte = {
        .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1, .l_start = ((off_t)1 << 62) + 1
    };
    pthread_t thread;

    ck_assert_int_eq(fcntl(other, F_OFD_SETLK, &byte), 0);
    ck_assert_int_eq(pthread_create(&thread, NULL, recover_in_vain, NULL), 0);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    ck_assert_int_eq(answer, EBUSY);
    close(other);
    ck_assert_int_eq(posixtrace_log_recover(fd, &report, sizeof report), 0);
    ck_assert_int_eq(report.was_complete, 0);
    ck_assert_int_eq(posixtrace_log_recover(fd, &report, sizeof report), 0);
    ck_assert_int_eq(report.was_complete, 1);
    close(fd);
}
END_TEST

/* What was left is there, with the change or without, and nothing else but zeros. */
static void check_left(int fd)
{
    static uint8_t bytes[LOG_MOST];
    ssize_t n = pread(fd, bytes, sizeof bytes, 0);

    ck_assert_int_ge(n, left_size);
    for (ssize_t i = 0; i < left_size; i++)
        ck_assert(bytes[i] == left_bytes[i] || bytes[i] == old_bytes[i]);
    for (ssize_t i = left_size; i < n; i++)
        ck_assert_uint_eq(bytes[i], 0);
    if (left_size == 0)
        ck_assert_int_eq(n, 0);
}

START_TEST(cut_meanwhile)
{
    int fd = open(path, O_RDWR), r;
    struct posixtrace_recover_report report;

    cut_share = _i % SIZES;
    cut_after = _i / SIZES % 2;
    cut_countdown = 1 + _i / SIZES / 2;
    r = posixtrace_log_recover(fd, &report, sizeof report);
    if (cut_countdown == 0) {
        ck_assert_int_eq(r, EBUSY);
        check_left(fd);
    } else {
        ck_assert_int_eq(r, 0);
    }
    close(fd);
}
END_TEST

static void add_tests(TCase *t)
{
    tcase_add_checked_fixture(t, make_left_log, remove_left_log);
    tcase_add_loop_test(t, program_comes_back, 0, CHANGES * MODES);
    tcase_add_test(t, second_recovery);
    tcase_add_loop_test(t, cut_meanwhile, 0, CHANGES * SIZES * 2);
}

int main(void)
{
    return run_suite("give_way", "recovery", NULL, add_tests);
}
