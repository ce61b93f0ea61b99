/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Recoveries of one log through one open file description: those of two threads, of a forked
 * child and its parent, of a child that a handler forks inside a recovery.  One of them writes,
 * the others get EBUSY, also where the file cannot be opened once more; and no lock outlives a
 * recovery that is killed.
 *
 * pwrite(), ftruncate(), pread() and flock() are this program's own: the other recovery comes in
 * the middle of a change, or a handler between two.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <posixtrace/info.h>
#include <posixtrace/log.h>
#include <posixtrace/stream.h>
#include <trace.h>
#include "log/writer/lock.h"
#include "place/dir.h"
#include "support/killed_child.h"
#include "support/run_suite.h"

enum { EVENTS = 50, CHANGES = 6, ROUNDS = 12, FORKS_MOST = 4 };
enum kind { THREAD, CHILD, KINDS };

static int log_fd;
static pid_t tester;
static int countdown; /* changes until at_change is called; 0: never */
static void (*at_change)(void);
static void (*at_flock)(void);
static enum kind other_kind;
static int other_answer; /* -1: there was none */
static int raise_at;     /* reads until there is a signal; 0: never */
static pid_t handler_child;

static void before_change(void)
{
    if (countdown > 0 && getpid() == tester && --countdown == 0)
        at_change();
}

ssize_t pwrite(int fd, const void *from, size_t bytes, off_t offset)
{
    before_change();
    return syscall(SYS_pwrite64, fd, from, bytes, offset);
}

int ftruncate(int fd, off_t size)
{
    before_change();
    return (int)syscall(SYS_ftruncate, fd, size);
}

ssize_t pread(int fd, void *to, size_t bytes, off_t offset)
{
    if (raise_at > 0 && getpid() == tester && --raise_at == 0)
        raise(SIGUSR1);
    return syscall(SYS_pread64, fd, to, bytes, offset);
}

/* Once, with the lock. */
int flock(int fd, int operation)
{
    void (*call)(void) = operation & LOCK_EX ? at_flock : NULL;
    int r = (int)syscall(SYS_flock, fd, operation);

    if (r == 0 && call) {
        at_flock = NULL;
        call();
    }
    return r;
}

static int recover(void)
{
    struct posixtrace_recover_report report;

    return posixtrace_log_recover(log_fd, &report, sizeof report);
}

/* LOOP: the flush thread makes no round of its own, which would add events. */
static void trace_and_die(void)
{
    trace_event_id_t id;
    trace_attr_t attr;
    trace_id_t trid;

    ck_assert_int_eq(posix_trace_attr_init(&attr), 0);
    ck_assert_int_eq(posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_LOOP), 0);
    ck_assert_int_eq(posix_trace_create_withlog(0, &attr, log_fd, &trid), 0);
    ck_assert_int_eq(posix_trace_eventid_open("claim", &id), 0);
    ck_assert_int_eq(posix_trace_start(trid), 0);
    for (int i = 0; i < EVENTS; i++)
        posix_trace_event(id, &i, sizeof i);
    kill(getpid(), SIGKILL);
}

static void make_left_log(void)
{
    char path[] = "/tmp/posixtrace-claim.XXXXXX";
    pid_t pid;

    countdown = raise_at = 0;
    at_flock = NULL;
    handler_child = 0;
    other_answer = -1;
    tester = getpid();
    log_fd = mkostemp(path, O_CLOEXEC);
    ck_assert_int_ge(log_fd, 0);
    unlink(path);
    pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0)
        trace_and_die();
    await_kill(pid);
}

static void close_left_log(void)
{
    close(log_fd);
}

static void check_whole(void)
{
    struct posixtrace_log_report checked;
    struct posixtrace_info info;
    trace_id_t trid;

    ck_assert_int_eq(posixtrace_log_check(log_fd, NULL, NULL, &checked, sizeof checked), 0);
    ck_assert_int_eq(checked.complete, 1);
    ck_assert_int_eq(checked.damaged, 0);
    ck_assert_int_eq(posix_trace_open(log_fd, &trid), 0);
    ck_assert_int_eq(posixtrace_get_info(trid, &info, sizeof info), 0);
    ck_assert_int_eq(info.end, POSIXTRACE_END_RECOVERED);
    /* With the START. */
    ck_assert_uint_eq(info.events, EVENTS + 1);
    for (int c = 0; c < POSIXTRACE_LOSS_CAUSES; c++)
        ck_assert_uint_eq(info.lost[c], 0);
    ck_assert_int_eq(posix_trace_close(trid), 0);
}

/* Root is let in by this capability alone where the file's mode forbids it. */
static void may_override(bool may)
{
    struct __user_cap_header_struct head = { _LINUX_CAPABILITY_VERSION_3, 0 };
    struct __user_cap_data_struct data[2];
    uint32_t bit = 1u << CAP_DAC_OVERRIDE;

    ck_assert_int_eq(syscall(SYS_capget, &head, data), 0);
    data[0].effective = may ? data[0].effective | (data[0].permitted & bit)
                            : data[0].effective & ~bit;
    ck_assert_int_eq(syscall(SYS_capset, &head, data), 0);
}

/* So that the file cannot be opened once more; or else it can. */
static void forbid(bool forbids)
{
    ck_assert_int_eq(fchmod(log_fd, forbids ? 0 : 0600), 0);
    may_override(!forbids);
}

static void *recover_in_thread(void *unused)
{
    other_answer = recover();
    return unused;
}

static void recover_too(void)
{
    pthread_t thread;
    int status;
    pid_t pid;

    if (other_kind == THREAD) {
        ck_assert_int_eq(pthread_create(&thread, NULL, recover_in_thread, NULL), 0);
        ck_assert_int_eq(pthread_join(thread, NULL), 0);
        return;
    }
    pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0)
        _exit(recover());
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    other_answer = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

START_TEST(one_at_a_time)
{
    bool forbids = _i / KINDS % 2;
    int r;

    other_kind = _i % KINDS;
    at_change = recover_too;
    countdown = 1 + _i / KINDS / 2;
    if (forbids)
        forbid(true);
    r = recover();
    if (forbids)
        forbid(false);
    ck_assert_int_eq(r, 0);
    ck_assert_int_eq(other_answer, countdown == 0 ? EBUSY : -1);
    /* The first changes are in each recovery. */
    ck_assert(countdown == 0 || _i / KINDS / 2 > 1);
    check_whole();
}
END_TEST

static int recover_at_last(void)
{
    int r;

    while ((r = recover()) == EBUSY)
        usleep(1000);
    return r;
}

static void *recover_in_race(void *answer)
{
    *(int *)answer = recover_at_last();
    return NULL;
}

/* All at once, and each until it is not busy. */
START_TEST(race)
{
    int answers[2], status;
    pthread_t threads[2];
    pid_t children[2];

    for (int i = 0; i < 2; i++) {
        children[i] = fork();
        ck_assert_int_ge(children[i], 0);
        if (children[i] == 0)
            _exit(recover_at_last());
    }
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, recover_in_race, &answers[i]), 0);
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
        ck_assert_int_eq(answers[i], 0);
        ck_assert_int_eq(waitpid(children[i], &status, 0), children[i]);
        ck_assert_int_eq(status, 0);
    }
    check_whole();
}
END_TEST

static int life[2]; /* a pipe; at its end the child ends */

static void fork_and_die(void)
{
    int ready[2];
    char byte;

    if (pipe(ready) < 0)
        _exit(1);
    if (fork() == 0) {
        close(life[1]);
        _exit(write(ready[1], "", 1) == 1 && read(life[0], &byte, 1) == 0 ? 0 : 1);
    }
    if (read(ready[0], &byte, 1) != 1)
        _exit(1);
    kill(getpid(), SIGKILL);
}

static int open_again(void)
{
    char path[40];
    int fd;

    snprintf(path, sizeof path, "/proc/self/fd/%d", log_fd);
    fd = open(path, O_RDWR | O_CLOEXEC);
    ck_assert_int_ge(fd, 0);
    return fd;
}

/* Its locks are gone with it, though a child lives that was forked in the middle. */
START_TEST(killed_with_child)
{
    int other;
    pid_t pid;

    ck_assert_int_eq(pipe(life), 0);
    pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        tester = getpid();
        countdown = 1 + _i;
        at_change = fork_and_die;
        recover();
        _exit(0);
    }
    await_kill(pid);
    other = open_again();
    ck_assert_int_eq(flock(other, LOCK_EX | LOCK_NB), 0);
    ck_assert_int_eq(flock(other, LOCK_UN), 0);
    ck_assert_int_eq(pt_log_byte_take(other, PT_LOG_BYTE_RECOVERY, PT_LOG_OF_DESCRIPTION), 0);
    close(other);
    ck_assert_int_eq(recover(), 0);
    check_whole();
    close(life[0]);
    close(life[1]);
}
END_TEST

static void fork_in_handler(int unused)
{
    (void)unused;
    handler_child = fork();
}

/* The child continues the recovery that it finds itself in. */
START_TEST(handler_forks)
{
    struct sigaction action = { .sa_handler = fork_in_handler }, old;
    int status, r;

    ck_assert_int_eq(sigaction(SIGUSR1, &action, &old), 0);
    raise_at = 1 + 3 * _i;
    r = recover();
    if (getpid() != tester)
        _exit(r);
    sigaction(SIGUSR1, &old, NULL);
    ck_assert_int_eq(r, 0);
    ck_assert(handler_child > 0);
    ck_assert_int_eq(waitpid(handler_child, &status, 0), handler_child);
    ck_assert(WIFEXITED(status));
    ck_assert_int_eq(WEXITSTATUS(status), EBUSY);
    check_whole();
}
END_TEST

static void limit_descriptors(rlim_t most, struct rlimit *old)
{
    struct rlimit limit;

    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, old), 0);
    limit = *old;
    limit.rlim_cur = most;
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

START_TEST(no_descriptor_left)
{
    struct pt_log_lock lock;
    struct rlimit old;
    struct stat before, after;
    int r, of_stream;

    ck_assert_int_eq(fstat(log_fd, &before), 0);
    limit_descriptors(0, &old);
    r = recover();
    of_stream = pt_log_lock_take(&lock, log_fd);
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &old), 0);
    ck_assert_int_eq(r, EMFILE);
    ck_assert_int_eq(of_stream, -EMFILE);
    ck_assert_int_eq(fstat(log_fd, &after), 0);
    ck_assert_int_eq(before.st_size, after.st_size);
    ck_assert_int_eq(recover(), 0);
    check_whole();
}
END_TEST

/* As a program that closes all that it has not opened. */
static void close_what_is_not_ours(void)
{
    struct stat log, st;

    ck_assert_int_eq(fstat(log_fd, &log), 0);
    for (int fd = 3; fd < 1024; fd++)
        if (fd != log_fd && fstat(fd, &st) == 0 && st.st_dev == log.st_dev &&
            st.st_ino == log.st_ino)
            close(fd);
}

START_TEST(closed_meanwhile)
{
    countdown = 1;
    at_change = close_what_is_not_ours;
    ck_assert_int_eq(recover(), EBADF);
    ck_assert_int_eq(recover(), 0);
    check_whole();
}
END_TEST

/* A lock of the caller's is no obstacle, and stays. */
START_TEST(callers_lock)
{
    int other;

    ck_assert_int_eq(flock(log_fd, LOCK_EX | LOCK_NB), 0);
    ck_assert_int_eq(recover(), 0);
    other = open_again();
    ck_assert_int_ne(flock(other, LOCK_EX | LOCK_NB), 0);
    close(other);
    check_whole();
}
END_TEST

static void fork_to_stay(void)
{
    char byte;

    if (fork() == 0) {
        close(life[1]);
        _exit(read(life[0], &byte, 1) == 0 ? 0 : 1);
    }
}

/* The lock of the stream directory goes with the call, too, not with a child that was forked
 * in the middle. */
START_TEST(reap_with_child)
{
    int dir;

    ck_assert_int_eq(pipe(life), 0);
    at_flock = fork_to_stay;
    ck_assert_int_eq(posixtrace_stream_reap(1, NULL, NULL), 0);
    ck_assert(!at_flock);
    dir = pt_dir_open(false);
    ck_assert_int_ge(dir, 0);
    ck_assert_int_eq(flock(dir, LOCK_EX | LOCK_NB), 0);
    close(dir);
    close(life[0]);
    close(life[1]);
}
END_TEST

static void add_tests(TCase *t)
{
    tcase_add_checked_fixture(t, make_left_log, close_left_log);
    tcase_add_loop_test(t, one_at_a_time, 0, CHANGES * KINDS * 2);
    tcase_add_loop_test(t, race, 0, ROUNDS);
    tcase_add_loop_test(t, killed_with_child, 0, 2);
    tcase_add_loop_test(t, handler_forks, 0, FORKS_MOST);
    tcase_add_test(t, no_descriptor_left);
    tcase_add_test(t, closed_meanwhile);
    tcase_add_test(t, callers_lock);
    tcase_add_test(t, reap_with_child);
}

int main(void)
{
    return run_suite("claim", "recoveries of one description", NULL, add_tests);
}
