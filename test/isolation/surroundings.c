/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The library in surroundings that do not suit it: descriptors closed under
 * its feet, daemon(), locked memory, no membarrier, a tiny or read-only stream
 * directory, too many streams.  It may answer an error number where it cannot
 * work; it must not crash, hang, lose silently, or write into a file that is
 * not its own.
 *
 * Each case records EVENTS numbered events and reads them back, from the stream
 * or from its log.  It runs in a process that uses nothing of check's: a case
 * that takes all descriptors would take check's too, so NEED() reports on
 * standard error and by the exit status.
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <posixtrace/info.h>
#include <trace.h>
#include <unistd.h>
#include "support/need.h"
#include "support/refuse_call.h"

enum { EVENTS = 1000, STREAMS_MAX = 64, STREAMS_TRIED = 100, DESCRIPTORS = 64, NOT_TRIED = 77 };
#define STRANGER "a file of the application"
/* first argument of a process that is to work without membarrier; the second
 * is the log's path */
#define ALONE "alone"

static trace_event_id_t number_id;
static char log_path[256];

/* An answer for a stream that cannot be had here. */
static int is_refusal(int error)
{
    return error == ENOMEM || error == ENOSPC || error == EROFS || error == EACCES ||
           error == EPERM || error == EAGAIN;
}

static void record(void)
{
    NEED(posix_trace_eventid_open("number", &number_id) == 0);
    for (int i = 0; i < EVENTS; i++)
        posix_trace_event(number_id, &i, sizeof i);
}

typedef int next_function(trace_id_t, struct posix_trace_event_info *, void *, size_t, size_t *,
                          int *);

/* Reads to the end; the numbered events must be all there, once, in order. */
static void expect_all(trace_id_t trid, next_function *next_event)
{
    struct posix_trace_event_info info;
    size_t length;
    int data, unavailable = 0, next = 0;

    for (;;) {
        NEED(next_event(trid, &info, &data, sizeof data, &length, &unavailable) == 0);
        if (unavailable)
            break;
        if (info.posix_event_id == number_id)
            NEED(length == sizeof data && data == next++);
    }
    NEED(next == EVENTS);
}

static void expect_log(void)
{
    int fd = open(log_path, O_RDONLY | O_CLOEXEC);
    trace_id_t trid;

    NEED(fd >= 0);
    NEED(posix_trace_open(fd, &trid) == 0);
    expect_all(trid, posix_trace_getnext_event);
    NEED(posix_trace_close(trid) == 0);
    close(fd);
}

static int create_with_log(trace_id_t *trid)
{
    int fd = open(log_path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    int error;

    NEED(fd >= 0);
    error = posix_trace_create_withlog(0, NULL, fd, trid);
    if (!error)
        NEED(posix_trace_start(*trid) == 0);
    return error;
}

/* A whole life of a stream in memory; create's error number if it refuses. */
static int live_round(void)
{
    trace_id_t trid;
    int error = posix_trace_create(0, NULL, &trid);

    if (error)
        return error;
    NEED(posix_trace_start(trid) == 0);
    record();
    expect_all(trid, posix_trace_trygetnext_event);
    NEED(posix_trace_shutdown(trid) == 0);
    return 0;
}

/* The same with a log. */
static int log_round(void)
{
    trace_id_t trid;
    int error = create_with_log(&trid);

    if (error)
        return error;
    record();
    NEED(posix_trace_shutdown(trid) == 0);
    expect_log();
    return 0;
}

/* The application closes what it did not open, and opens files of its own that
 * get the same numbers. */
static void descriptors_closed(void)
{
    char stranger_path[300], text[sizeof STRANGER];
    int strangers[8];
    trace_id_t trid;

    NEED(create_with_log(&trid) == 0);
    close_range(3, ~0U, 0);
    snprintf(stranger_path, sizeof stranger_path, "%s.stranger", log_path);
    for (int i = 0; i < 8; i++) {
        strangers[i] = open(stranger_path, O_RDWR | O_CREAT, 0600);
        NEED(strangers[i] >= 3);
    }
    NEED(pwrite(strangers[0], STRANGER, sizeof STRANGER, 0) == sizeof STRANGER);

    record();
    NEED(posix_trace_flush(trid) == 0);
    NEED(posix_trace_shutdown(trid) == 0);
    NEED(pread(strangers[7], text, sizeof text, 0) == sizeof STRANGER);
    NEED(!memcmp(text, STRANGER, sizeof text));
    NEED(lseek(strangers[7], 0, SEEK_END) == sizeof STRANGER);
    unlink(stranger_path);
    expect_log();
}

/* Shutdown must not close a descriptor that is no longer its own. */
static void descriptors_taken(void)
{
    trace_id_t trid;
    int null;

    NEED(posix_trace_create(0, NULL, &trid) == 0);
    NEED(posix_trace_start(trid) == 0);
    close_range(3, ~0U, 0);
    null = open("/dev/null", O_RDWR);
    for (int fd = null + 1; fd < DESCRIPTORS; fd++)
        NEED(dup2(null, fd) == fd);
    record();
    expect_all(trid, posix_trace_trygetnext_event);
    NEED(posix_trace_shutdown(trid) == 0);
    for (int fd = null; fd < DESCRIPTORS; fd++)
        NEED(fcntl(fd, F_GETFD) >= 0);
}

/* The stream of before belongs to the process that daemon() left; the daemon
 * has none, records into nothing, and can make its own. */
static void daemon_process(void)
{
    int report[2], done = 0, status;
    pid_t child;

    NEED(pipe(report) == 0);
    child = fork();
    NEED(child >= 0);
    if (child == 0) {
        trace_id_t before;

        NEED(posix_trace_create(0, NULL, &before) == 0);
        NEED(posix_trace_start(before) == 0);
        record();
        NEED(daemon(1, 1) == 0);
        record();
        NEED(live_round() == 0);
        NEED(log_round() == 0);
        done = 1;
        NEED(write(report[1], &done, sizeof done) == sizeof done);
        _exit(0);
    }
    close(report[1]);
    NEED(waitpid(child, &status, 0) == child && status == 0);
    NEED(read(report[0], &done, sizeof done) == sizeof done && done);
}

static void memory_locked(void)
{
    if (mlockall(MCL_CURRENT | MCL_FUTURE))
        _exit(NOT_TRIED);
    NEED(live_round() == 0);
    NEED(log_round() == 0);
}

/* From here on membarrier is refused, as by a container's filter. */
static void refuse_membarrier(void)
{
    if (!refuse_call(SYS_membarrier, EPERM))
        _exit(NOT_TRIED);
}

static void work_without_membarrier(void)
{
    struct posixtrace_info info;
    trace_id_t trid;

    NEED(live_round() == 0);
    NEED(log_round() == 0);
    NEED(posix_trace_create(0, NULL, &trid) == 0);
    NEED(posixtrace_get_info(trid, &info, sizeof info) == 0);
    NEED(info.barrier == 0);
    NEED(posix_trace_shutdown(trid) == 0);
}

/* A container: refused before the program was loaded. */
static void membarrier_refused_at_start(void)
{
    refuse_membarrier();
    execl("/proc/self/exe", "surroundings", ALONE, log_path, (char *)NULL);
    NEED(!"exec");
}

/* A program that locks itself in after it was loaded. */
static void membarrier_refused_later(void)
{
    refuse_membarrier();
    work_without_membarrier();
}

/* The same in the middle of a stream's life. */
static void membarrier_refused_midway(void)
{
    trace_id_t trid;

    NEED(posix_trace_create(0, NULL, &trid) == 0);
    NEED(posix_trace_start(trid) == 0);
    refuse_membarrier();
    record();
    expect_all(trid, posix_trace_trygetnext_event);
    NEED(posix_trace_shutdown(trid) == 0);
}

static void hundred_streams(void)
{
    trace_id_t trids[STREAMS_TRIED];
    trace_attr_t attr;
    int made = 0;

    NEED(posix_trace_attr_init(&attr) == 0);
    NEED(posix_trace_attr_setstreamsize(&attr, 16 * 1024) == 0);
    for (int i = 0; i < STREAMS_TRIED; i++) {
        int error = posix_trace_create(0, &attr, &trids[made]);

        NEED(error == (i < STREAMS_MAX ? 0 : EAGAIN));
        if (!error)
            NEED(posix_trace_start(trids[made++]) == 0);
    }
    record();
    NEED(posix_trace_shutdown(trids[17]) == 0);
    NEED(posix_trace_create(0, &attr, &trids[17]) == 0);
    for (int i = 0; i < made; i++)
        NEED(posix_trace_shutdown(trids[i]) == 0);
}

/* Puts a tmpfs over the stream directory. */
static void mount_over_directory(unsigned long flags, const char *options)
{
    if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
        mount("tmpfs", getenv("POSIXTRACE_DIR"), "tmpfs", flags, options))
        _exit(NOT_TRIED);
}

/* No room for the default stream, with its tables; less for a larger one. */
static void tiny_directory(void)
{
    trace_attr_t attr;
    trace_id_t trid;
    int error;

    mount_over_directory(0, "size=1m,mode=0700");
    error = live_round();
    NEED(!error || is_refusal(error));
    error = log_round();
    NEED(!error || is_refusal(error));
    NEED(posix_trace_attr_init(&attr) == 0);
    NEED(posix_trace_attr_setstreamsize(&attr, 64 * 1024 * 1024) == 0);
    error = posix_trace_create(0, &attr, &trid);
    NEED(!error || is_refusal(error));
    if (error)
        return;
    NEED(posix_trace_start(trid) == 0);
    record();
    expect_all(trid, posix_trace_trygetnext_event);
    NEED(posix_trace_shutdown(trid) == 0);
}

static void read_only_directory(void)
{
    int error;

    mount_over_directory(MS_RDONLY, "size=1m,mode=0700");
    error = live_round();
    NEED(!error || is_refusal(error));
    error = log_round();
    NEED(!error || is_refusal(error));
}

/* A user has a quota of 1 MiB. */
static int has_quota;

/* What the library calls. */
int fallocate(int fd, int mode, off_t offset, off_t length)
{
    struct stat st;

    if (has_quota && length > (1 << 20) && fstat(fd, &st) == 0 && st.st_nlink > 0) {
        errno = EDQUOT;
        return -1;
    }
    return (int)syscall(SYS_fallocate, fd, mode, offset, length);
}

/* A stream has memory without a name, as where the directory is full. */
static void small_quota(void)
{
    trace_id_t trid;
    trace_attr_t attr;

    has_quota = 1;
    NEED(live_round() == 0);
    NEED(log_round() == 0);
    NEED(posix_trace_attr_init(&attr) == 0);
    NEED(posix_trace_attr_setstreamsize(&attr, 512 * 1024 * 1024) == 0);
    NEED(posix_trace_create(0, &attr, &trid) == ENOMEM);
}

static const struct {
    const char *name;
    void (*run)(void);
} cases[] = {
    { "descriptors closed", descriptors_closed },
    { "descriptors taken", descriptors_taken },
    { "daemon", daemon_process },
    { "memory locked", memory_locked },
    { "membarrier refused at start", membarrier_refused_at_start },
    { "membarrier refused later", membarrier_refused_later },
    { "membarrier refused midway", membarrier_refused_midway },
    { "hundred streams", hundred_streams },
    { "tiny directory", tiny_directory },
    { "read-only directory", read_only_directory },
    { "small quota", small_quota },
};

START_TEST(test_case)
{
    int status = -1;
    pid_t child;

    snprintf(log_path, sizeof log_path, "%s.%d.log", getenv("POSIXTRACE_DIR"), (int)getpid());
    child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        cases[_i].run();
        _exit(0);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    unlink(log_path);
    if (WIFEXITED(status) && WEXITSTATUS(status) == NOT_TRIED)
        printf("not possible here, so not tried: %s\n", cases[_i].name);
    else
        ck_assert_msg(status == 0, "%s: wait status 0x%x", cases[_i].name, (unsigned)status);
}
END_TEST

/* The process that membarrier_refused_at_start() becomes.  It ends like every case: if no grace
 * period can be waited for, the library keeps the handles of closed streams, which this test does
 * not check. */
static void work_alone(const char *path)
{
    snprintf(log_path, sizeof log_path, "%s", path);
    work_without_membarrier();
    _exit(0);
}

int main(int argc, char **argv)
{
    Suite *suite;
    TCase *tcase;
    SRunner *runner;
    int failed;

    if (argc == 3 && !strcmp(argv[1], ALONE))
        work_alone(argv[2]);
    suite = suite_create("surroundings");
    tcase = tcase_create("cases");
    runner = srunner_create(suite);
    suite_add_tcase(suite, tcase);
    tcase_set_timeout(tcase, 60);
    tcase_add_loop_test(tcase, test_case, 0, (int)(sizeof cases / sizeof cases[0]));
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
