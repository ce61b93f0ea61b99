/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Group J, fourth part: logs that cannot be written.
 *
 * A limit on the size of files works for every user and every file system;
 * SIGXFSZ keeps its default action, which would end the test: the library
 * must not let it reach the application.  A full file system takes a mount
 * namespace; where that is refused, the file size limit has to do.
 */
#include "support/trace_helpers.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>

#define LEN 100

static void limit_file_size(rlim_t bytes)
{
    struct rlimit limit;

    ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = bytes;
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* The flush error that the status tells, when the flush has ended: one flush may fail more than
 * once, and each look takes what has failed until then. */
static int wait_for_flush_error(trace_id_t trid)
{
    int64_t end = th_now_ns() + TH_WATCHDOG_S * INT64_C(1000000000);
    struct posix_trace_status_info s;
    int error = 0;

    do {
        s = th_status(trid);
        error = s.posix_stream_flush_error ? s.posix_stream_flush_error : error;
        ck_assert_msg(th_now_ns() < end, "the flush does not end");
        th_sleep_ms(1);
    } while (s.posix_stream_flush_status == POSIX_TRACE_FLUSHING);
    return error;
}

/* A stopped stream with 2000 events that are not in the log and do not fit into
 * a file any more.  With the policy LOOP no flush comes by itself, and they all fit. */
static trace_id_t with_unflushed(int fd)
{
    trace_id_t trid = th_stream_log(fd, .policy = POSIX_TRACE_LOOP,
                                    .log_policy = POSIX_TRACE_APPEND);

    ck_ok(posix_trace_start(trid));
    th_flush(trid);
    limit_file_size(65536);
    th_put_run(th_id("u"), 0, 2000, LEN);
    ck_ok(posix_trace_stop(trid));
    return trid;
}

/* The log has the first of the recorded events, without a gap. */
static void expect_prefix(const char *path)
{
    trace_id_t trid = th_open(path);
    trace_event_id_t id = th_id_named(trid, "u");

    th_expect_run(th_only(th_read_log(trid), id), 0);
    th_close(trid);
}

START_TEST(test_226_flush_error)
{
    char path[TH_PATH];
    int fd = th_file(path, O_RDWR), error;
    trace_id_t trid;

    trid = with_unflushed(fd);
    error = posix_trace_flush(trid);
    ck_assert_msg(error == 0 || error == EFBIG, "flush: %d", error);
    ck_assert_int_eq(wait_for_flush_error(trid), EFBIG);
    ck_assert_int_eq(th_status(trid).posix_stream_flush_error, 0);
    limit_file_size(RLIM_INFINITY);
    ck_ok(posix_trace_shutdown(trid));
    close(fd);
    expect_prefix(path);
}
END_TEST

static void shutdown_fails(trace_id_t trid, int expected)
{
    struct posix_trace_status_info status;

    ck_fails(posix_trace_shutdown(trid), expected);
    ck_fails(posix_trace_shutdown(trid), EINVAL);
    ck_fails(posix_trace_get_status(trid, &status), EINVAL);
}

static bool write_file(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    bool done = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

    if (fd >= 0)
        close(fd);
    return done;
}

/* A file system of one megabyte on dir, for this process only. */
static bool mount_small(const char *dir)
{
    bool root = geteuid() == 0;
    char users[64], groups[64];

    snprintf(users, sizeof users, "0 %u 1", (unsigned)geteuid());
    snprintf(groups, sizeof groups, "0 %u 1", (unsigned)getegid());
    if (unshare(CLONE_NEWNS | (root ? 0 : CLONE_NEWUSER)) < 0)
        return false;
    if (!root &&
        (!write_file("/proc/self/setgroups", "deny") || !write_file("/proc/self/uid_map", users) ||
         !write_file("/proc/self/gid_map", groups)))
        return false;
    return mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
           mount("none", dir, "tmpfs", 0, "size=1m") == 0;
}

static void fill_up(void)
{
    static const char block[4096];
    char path[TH_PATH];
    int fd = th_file(path, O_WRONLY);

    while (write(fd, block, sizeof block) > 0)
        ;
    ck_assert_int_eq(errno, ENOSPC);
    close(fd);
}

static void shutdown_on_full_file_system(void *unused)
{
    char dir[TH_PATH], path[TH_PATH];
    trace_id_t trid;
    int fd;

    (void)unused;
    snprintf(dir, sizeof dir, "%s.files", th_stream_dir());
    if (!mount_small(dir))
        return;
    fd = th_file(path, O_RDWR);
    trid = th_stream_log(fd, .log_policy = POSIX_TRACE_APPEND);
    ck_ok(posix_trace_start(trid));
    th_flush(trid);
    fill_up();
    th_put_run(th_id("u"), 0, 2000, LEN);
    shutdown_fails(trid, ENOSPC);
    close(fd);
    expect_prefix(path);
}

START_TEST(test_227_shutdown_error)
{
    char path[TH_PATH];
    int fd = th_file(path, O_RDWR);
    trace_id_t trid;

    th_in_child(shutdown_on_full_file_system, NULL);
    trid = with_unflushed(fd);
    shutdown_fails(trid, EFBIG);
    limit_file_size(RLIM_INFINITY);
    close(fd);
    expect_prefix(path);
}
END_TEST

static void add(TCase *tc)
{
    tcase_add_test(tc, test_226_flush_error);
    tcase_add_test(tc, test_227_shutdown_error);
}

int main(void)
{
    return th_main("J errors", add);
}
