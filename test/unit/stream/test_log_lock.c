/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * One writer for a log file: the second stream is refused, in the same process and in
 * another, and leaves the log alone; the file is free when the stream is shut down, and
 * when its process was killed, whatever that process has forked, and whatever its child has
 * inherited; not while a process holds it that cannot be seen from the pid namespace.  A
 * reader knows by the lock that a log is being written whose segment it cannot find.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>
#include <posixtrace/event.h>
#include <posixtrace/info.h>
#include <posixtrace/log.h>
#include <trace.h>
#include "log/writer/lock.h"
#include "place/dir.h"
#include "support/run_suite.h"

static char path[64];

static int open_log(int mode)
{
    int fd = open(path, mode | O_CREAT | O_CLOEXEC, 0600);

    ck_assert_int_ge(fd, 0);
    return fd;
}

static void make_path(void)
{
    int fd;

    strcpy(path, "/tmp/posixtrace-lock.XXXXXX");
    fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    close(fd);
}

static void remove_path(void)
{
    unlink(path);
}

static int create(int fd, trace_id_t *trid)
{
    return posix_trace_create_withlog(0, NULL, fd, trid);
}

/* What a stream of another process is answered. */
static int create_in_child(void)
{
    pid_t pid = fork();
    int status;

    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        trace_id_t trid;

        _exit(create(open_log(O_RDWR), &trid));
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void check_whole(void)
{
    struct posixtrace_log_report report;
    int fd = open_log(O_RDONLY);

    ck_assert_int_eq(posixtrace_log_check(fd, NULL, NULL, &report, sizeof report), 0);
    ck_assert_int_eq(report.complete, 1);
    ck_assert_int_eq(report.damaged, 0);
    close(fd);
}

START_TEST(same_process)
{
    static const int modes[] = { O_RDWR, O_WRONLY };
    int one = open_log(modes[_i]), two = open_log(modes[_i]);
    trace_id_t trid, other;

    ck_assert_int_eq(create(one, &trid), 0);
    ck_assert_int_eq(create(two, &other), EBUSY);
    ck_assert_int_eq(create(one, &other), EBUSY);
    /* A handle that is closed gives the lock not away. */
    close(one);
    ck_assert_int_eq(create(two, &other), EBUSY);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
    check_whole();
    ck_assert_int_eq(create(two, &trid), 0);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
    check_whole();
    close(two);
}
END_TEST

/* Free as soon as shutdown returns. */
START_TEST(again_and_again)
{
    int fd = open_log(O_RDWR);
    trace_id_t trid;

    for (unsigned i = 0; i < 100; i++) {
        ck_assert_int_eq(create(fd, &trid), 0);
        ck_assert_int_eq(posix_trace_shutdown(trid), 0);
    }
    close(fd);
}
END_TEST

START_TEST(file_without_name)
{
    int one = open_log(O_RDWR), two = open_log(O_RDWR);
    trace_id_t trid, other;

    unlink(path);
    ck_assert_int_eq(create(one, &trid), 0);
    ck_assert_int_eq(create(two, &other), EBUSY);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
    close(one);
    close(two);
}
END_TEST

/* The application has locked the file itself: for its own stream, for one only. */
START_TEST(locked_already)
{
    int one = open_log(O_RDWR), two = open_log(O_RDWR);
    trace_id_t trid, other;

    ck_assert_int_eq(flock(one, LOCK_EX), 0);
    ck_assert_int_eq(create(two, &other), EBUSY);
    ck_assert_int_eq(create(one, &trid), 0);
    ck_assert_int_eq(create(one, &other), EBUSY);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
    close(one);
    close(two);
}
END_TEST

START_TEST(no_regular_file)
{
    int fd = open("/dev/null", O_WRONLY);
    trace_attr_t attr;
    trace_id_t one, two;

    ck_assert_int_eq(posix_trace_attr_init(&attr), 0);
    ck_assert_int_eq(posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_APPEND), 0);
    ck_assert_int_eq(posix_trace_create_withlog(0, &attr, fd, &one), 0);
    ck_assert_int_eq(posix_trace_create_withlog(0, &attr, fd, &two), 0);
    ck_assert_int_eq(posix_trace_shutdown(one), 0);
    ck_assert_int_eq(posix_trace_shutdown(two), 0);
    close(fd);
}
END_TEST

/* A process that takes the file in that way, and a child of its own that outlives it. */
static pid_t start_holder(bool (*take)(int fd), int ready[2], pid_t *child)
{
    pid_t holder;

    ck_assert_int_eq(pipe(ready), 0);
    holder = fork();
    ck_assert_int_ge(holder, 0);
    if (holder == 0) {
        pid_t pid = take(open_log(O_RDWR)) ? fork() : -1;

        if (pid != 0 && write(ready[1], &pid, sizeof pid) != sizeof pid)
            _exit(1);
        for (;;)
            pause();
    }
    ck_assert_int_eq(read(ready[0], child, sizeof *child), sizeof *child);
    ck_assert_int_gt(*child, 0);
    return holder;
}

static bool take_by_stream(int fd)
{
    trace_id_t trid;

    return create(fd, &trid) == 0;
}

START_TEST(other_process)
{
    int ready[2], fd, status;
    pid_t child, writer = start_holder(take_by_stream, ready, &child);
    struct posixtrace_recover_report report;
    trace_id_t trid;

    fd = open_log(O_RDWR);
    ck_assert_int_eq(create(fd, &trid), EBUSY);
    ck_assert_int_eq(posixtrace_log_recover(fd, &report, sizeof report), EBUSY);
    ck_assert_int_eq(kill(writer, SIGKILL), 0);
    ck_assert_int_eq(waitpid(writer, &status, 0), writer);
    ck_assert_int_eq(kill(child, 0), 0);
    ck_assert_int_eq(create(fd, &trid), 0);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
    check_whole();
    kill(child, SIGKILL);
    close(fd);
    close(ready[0]);
    close(ready[1]);
}
END_TEST

static bool take_by_lock(int fd)
{
    return flock(fd, LOCK_EX | LOCK_NB) == 0;
}

/* Only there the kernel shows the locks of dead processes: PROC_PID_INIT_INO. */
static bool is_first_pid_namespace(void)
{
    char name[32] = "";

    return readlink("/proc/self/ns/pid", name, sizeof name - 1) > 0 &&
           strcmp(name, "pid:[4026531836]") == 0;
}

/* Only a child still has the lock: the first stream takes the file over, and has it alone. */
START_TEST(forked_child_holds)
{
    int ready[2], one = open_log(O_RDWR), two = open_log(O_RDWR), status;
    pid_t child, holder = start_holder(take_by_lock, ready, &child);
    struct posixtrace_recover_report report;
    trace_id_t trid, other;

    ck_assert_int_eq(create(one, &trid), EBUSY);
    ck_assert_int_eq(kill(holder, SIGKILL), 0);
    ck_assert_int_eq(waitpid(holder, &status, 0), holder);
    ck_assert_int_ne(flock(two, LOCK_EX | LOCK_NB), 0);
    if (!is_first_pid_namespace()) {
        ck_assert_int_eq(create(one, &trid), EBUSY);
        kill(child, SIGKILL);
        return;
    }
    ck_assert_int_eq(create(one, &trid), 0);
    ck_assert_int_eq(create(two, &other), EBUSY);
    ck_assert_int_eq(create_in_child(), EBUSY);
    ck_assert_int_eq(posixtrace_log_recover(two, &report, sizeof report), EBUSY);
    /* The lock goes, and the file is not free. */
    ck_assert_int_eq(kill(child, SIGKILL), 0);
    ck_assert_int_eq(flock(two, LOCK_EX), 0);
    ck_assert_int_eq(flock(two, LOCK_UN), 0);
    ck_assert_int_eq(create_in_child(), EBUSY);
    ck_assert_int_eq(posixtrace_log_recover(two, &report, sizeof report), EBUSY);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
    check_whole();
    close(one);
    close(two);
    close(ready[0]);
    close(ready[1]);
}
END_TEST

/* The stream has the lock that it was given by itself: no child that was forked before. */
START_TEST(given)
{
    int fd = open_log(O_RDWR), two = open_log(O_RDWR), go[2];
    trace_id_t trid, other;
    pid_t child;
    char byte;

    ck_assert_int_eq(pipe(go), 0);
    ck_assert_int_eq(flock(fd, LOCK_EX | LOCK_NB), 0);
    child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        close(go[1]);
        _exit(read(go[0], &byte, 1) == 0 ? 0 : 1);
    }
    pt_log_lock_give(fd);
    ck_assert_int_eq(create(fd, &trid), 0);
    close(fd);
    ck_assert_int_ne(flock(two, LOCK_EX | LOCK_NB), 0);
    ck_assert_int_eq(create(two, &other), EBUSY);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
    ck_assert_int_eq(flock(two, LOCK_EX | LOCK_NB), 0);
    check_whole();
    close(go[0]);
    close(go[1]);
    ck_assert_int_eq(waitpid(child, NULL, 0), child);
    close(two);
}
END_TEST

static struct posixtrace_info info_of(trace_id_t trid)
{
    struct posixtrace_info info;

    ck_assert_int_eq(posixtrace_get_info(trid, &info, sizeof info), 0);
    return info;
}

/* As a new reader finds the log. */
static int end_now(void)
{
    int fd = open_log(O_RDONLY), end;
    trace_id_t trid;

    ck_assert_int_eq(posix_trace_open(fd, &trid), 0);
    end = info_of(trid).end;
    ck_assert_int_eq(posix_trace_close(trid), 0);
    close(fd);
    return end;
}

/* As if it was in another user's stream directory. */
static void remove_segment(trace_id_t log)
{
    struct posixtrace_info info = info_of(log);
    int dir = pt_dir_open(false);
    char file[64];

    ck_assert_int_ge(dir, 0);
    pt_dir_hex_name(file, sizeof file, 's', info.id, ".seg");
    ck_assert_int_eq(unlinkat(dir, file, 0), 0);
    close(dir);
}

/* The follower, and a reader that opens the log now. */
static void check_end(trace_id_t follower, int end)
{
    bool gap;

    ck_assert_int_eq(posixtrace_follow(follower, &gap), 0);
    ck_assert_int_eq(info_of(follower).end, end);
    ck_assert_int_eq(end_now(), end);
}

START_TEST(segment_out_of_reach)
{
    int ready[2], fd, status;
    pid_t child, writer = start_holder(take_by_stream, ready, &child);
    struct posixtrace_recover_report report;
    struct posixtrace_log_report checked;
    trace_id_t trid;

    fd = open_log(O_RDWR);
    ck_assert_int_eq(posix_trace_open(fd, &trid), 0);
    check_end(trid, POSIXTRACE_END_ACTIVE);
    remove_segment(trid);
    check_end(trid, POSIXTRACE_END_ACTIVE);
    ck_assert_int_eq(posixtrace_log_check(fd, NULL, NULL, &checked, sizeof checked), 0);
    ck_assert_int_eq(checked.complete, 0);
    ck_assert_int_eq(posixtrace_log_recover(fd, &report, sizeof report), EBUSY);
    ck_assert_int_eq(kill(writer, SIGKILL), 0);
    ck_assert_int_eq(waitpid(writer, &status, 0), writer);
    ck_assert_int_eq(kill(child, 0), 0);
    check_end(trid, POSIXTRACE_END_CUT);
    ck_assert_int_eq(posixtrace_log_recover(fd, &report, sizeof report), 0);
    ck_assert_int_eq(end_now(), POSIXTRACE_END_CUT);
    ck_assert_int_eq(posix_trace_close(trid), 0);
    kill(child, SIGKILL);
    close(fd);
    close(ready[0]);
    close(ready[1]);
}
END_TEST

/* Other locks, and those of a recovery, are no writer's. */
START_TEST(not_a_writer)
{
    int ready[2], fd, other, status;
    pid_t child, writer = start_holder(take_by_stream, ready, &child);
    trace_id_t trid;

    fd = open_log(O_RDWR);
    other = open_log(O_RDWR);
    ck_assert_int_eq(posix_trace_open(fd, &trid), 0);
    remove_segment(trid);
    ck_assert_int_eq(kill(writer, SIGKILL), 0);
    ck_assert_int_eq(waitpid(writer, &status, 0), writer);
    ck_assert_int_eq(flock(other, LOCK_EX | LOCK_NB), 0);
    ck_assert_int_eq(pt_log_byte_take(other, PT_LOG_BYTE_RECOVERY, PT_LOG_OF_DESCRIPTION), 0);
    check_end(trid, POSIXTRACE_END_CUT);
    ck_assert_int_eq(posix_trace_close(trid), 0);
    kill(child, SIGKILL);
    close(fd);
    close(other);
    close(ready[0]);
    close(ready[1]);
}
END_TEST

enum { NO_NAMESPACES = 255 };

/* As root of a user namespace where need be. */
static pid_t fork_into_pid_namespace(void)
{
    const int flags = CLONE_NEWPID | CLONE_NEWNS;

    if (unshare(flags) < 0 && unshare(CLONE_NEWUSER | flags) < 0)
        return -1;
    return fork();
}

static int create_inside(void)
{
    trace_id_t trid;

    if (mount("none", "/", "none", MS_REC | MS_PRIVATE, NULL) < 0 ||
        mount("proc", "/proc", "proc", 0, NULL) < 0)
        return NO_NAMESPACES;
    return create(open_log(O_RDWR), &trid);
}

/* A process outside the pid namespace has the lock, which /proc/locks does not show there. */
START_TEST(locked_outside)
{
    int fd = open_log(O_RDWR), status;
    pid_t child, inside;

    ck_assert_int_eq(flock(fd, LOCK_EX), 0);
    child = fork();
    if (child == 0) {
        inside = fork_into_pid_namespace();
        if (inside == 0)
            _exit(create_inside());
        _exit(inside < 0 || waitpid(inside, &status, 0) != inside || !WIFEXITED(status)
                  ? NO_NAMESPACES
                  : WEXITSTATUS(status));
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status));
    if (WEXITSTATUS(status) == NO_NAMESPACES)
        printf("no pid namespaces here\n");
    else
        ck_assert_int_eq(WEXITSTATUS(status), EBUSY);
    close(fd);
}
END_TEST

static void add_tests(TCase *t)
{
    tcase_add_checked_fixture(t, make_path, remove_path);
    tcase_add_loop_test(t, same_process, 0, 2);
    tcase_add_test(t, again_and_again);
    tcase_add_test(t, file_without_name);
    tcase_add_test(t, locked_already);
    tcase_add_test(t, no_regular_file);
    tcase_add_test(t, other_process);
    tcase_add_test(t, forked_child_holds);
    tcase_add_test(t, given);
    tcase_add_test(t, segment_out_of_reach);
    tcase_add_test(t, not_a_writer);
    tcase_add_test(t, locked_outside);
}

int main(void)
{
    return run_suite("log_lock", "one writer", NULL, add_tests);
}
