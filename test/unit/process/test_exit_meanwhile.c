/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * exit() while another thread shuts a stream down, creates one, takes a snapshot, or waits for a
 * lock: logs are complete, and the program ends.  Where the other thread is to be is forced by
 * wrapped functions: of a stream's creation and end, of the addition to a log, and of the question
 * how many threads there are.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <posixtrace/info.h>
#include <posixtrace/log.h>
#include <trace.h>
#include "base/atomics.h"
#include "base/clock.h"
#include "control/control.h"
#include "log/writer/builder.h"
#include "process/self.h"
#include "stream/handle.h"
#include "support/need.h"
#include "support/run_suite.h"
#include "support/valgrind.h"

#if defined __GLIBC__
#include <gnu/libc-version.h>
#endif

enum { HANG_S = 120, EVENTS = 100, STATUS = 7 };

int __real_pt_stream_destroy(struct pt_stream *s, uint64_t addr);
int __wrap_pt_stream_destroy(struct pt_stream *s, uint64_t addr);
int __real_pt_stream_create(struct pt_stream **s, const struct pt_attr *attr, int log_fd,
                            const struct pt_target *target);
int __wrap_pt_stream_create(struct pt_stream **s, const struct pt_attr *attr, int log_fd,
                            const struct pt_target *target);
int __real_pt_log_builder_add(struct pt_log_builder *b, const struct posixtrace_event *event);
int __wrap_pt_log_builder_add(struct pt_log_builder *b, const struct posixtrace_event *event);
uint32_t __real_pt_self_inside(const pt_u64 *count);
uint32_t __wrap_pt_self_inside(const pt_u64 *count);

static trace_id_t trid;
static trace_event_id_t tick;
static _Thread_local bool is_held; /* in the end of a stream, or in a snapshot */
static void (*in_shutdown)(void), (*in_snapshot)(void), (*before_create)(void), (*in_create)(void);
static uint32_t arrived, exits, waits; /* the other thread; then exit(), and it has found that */

int __wrap_pt_stream_destroy(struct pt_stream *s, uint64_t addr)
{
    if (in_shutdown && is_held)
        in_shutdown();
    return __real_pt_stream_destroy(s, addr);
}

int __wrap_pt_stream_create(struct pt_stream **s, const struct pt_attr *attr, int log_fd,
                            const struct pt_target *target)
{
    int r;

    if (before_create && is_held)
        before_create();
    r = __real_pt_stream_create(s, attr, log_fd, target);
    if (in_create && is_held)
        in_create();
    return r;
}

int __wrap_pt_log_builder_add(struct pt_log_builder *b, const struct posixtrace_event *event)
{
    void (*then)(void) = in_snapshot;

    in_snapshot = NULL;
    if (then && is_held)
        then();
    return __real_pt_log_builder_add(b, event);
}

/* Called in exit(), where the table has no stream any more: it sees the other thread's call. */
uint32_t __wrap_pt_self_inside(const pt_u64 *count)
{
    uint32_t n = __real_pt_self_inside(count);

    if (n > 0 && pt_load_seqcst(&exits) && !is_held)
        pt_store_seqcst(&waits, 1u);
    return n;
}

static void note_exit(void)
{
    pt_store_seqcst(&exits, 1u);
}

static void leave(int number)
{
    (void)number;
    exit(STATUS);
}

/* fd: of the log, -1: none.  Its exit handler runs before that of the library. */
static void create(int fd)
{
    trace_attr_t attr;

    NEED(signal(SIGUSR1, leave) != SIG_ERR);
    NEED(posix_trace_attr_init(&attr) == 0);
    NEED((fd < 0 ? posix_trace_create(0, &attr, &trid)
                 : posix_trace_create_withlog(0, &attr, fd, &trid)) == 0);
    NEED(posix_trace_eventid_open("tick", &tick) == 0);
    NEED(posix_trace_start(trid) == 0);
    for (int i = 0; i < EVENTS; i++)
        posix_trace_event(tick, &i, sizeof i);
    NEED(atexit(note_exit) == 0);
}

static void begin_thread(void *(*run)(void *), void *argument)
{
    pthread_t thread;

    NEED(pthread_create(&thread, NULL, run, argument) == 0);
}

static void wait_until(uint32_t *word)
{
    while (!pt_load_seqcst(word))
        sched_yield();
}

static void run_in_child(void (*run)(int), int fd)
{
    pid_t pid = fork();
    int status;

    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        alarm(HANG_S);
        run(fd);
        _exit(1);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == STATUS, "status %x", status);
}

/* How long exit() waited, and the child took otherwise. */
static uint64_t timed_run(void (*run)(int), int fd)
{
    uint64_t since = pt_clock_ns(CLOCK_MONOTONIC);

    run_in_child(run, fd);
    return pt_clock_ns(CLOCK_MONOTONIC) - since;
}

/* exit() gives other threads so much time for a creation or an event of a snapshot, and not once
 * more when the library goes.  A run that has lasted longer may be one in which a thread had no
 * processor for so long: then another one follows. */
#define PATIENCE_NS (2 * PT_STALL_NS)

static bool run_is_short(void (*run)(int), int fd)
{
    return timed_run(run, fd) < PATIENCE_NS;
}

static void run_impatient(void (*run)(int), int fd)
{
    while (timed_run(run, fd) >= 2 * PATIENCE_NS - PATIENCE_NS / 20)
        ;
}

static int open_log(void)
{
    char path[] = "/tmp/test_exit_meanwhile_XXXXXX";
    int fd = mkostemp(path, O_CLOEXEC);

    NEED(fd >= 0);
    unlink(path);
    return fd;
}

/* Is the log complete, with that many events? */
static bool log_has(int fd, int events)
{
    struct posix_trace_event_info event;
    struct posixtrace_info info;
    int none = 0, value, n = 0;
    trace_id_t log;
    size_t length;

    NEED(lseek(fd, 0, SEEK_SET) == 0);
    if (posix_trace_open(fd, &log) != 0)
        return false;
    NEED(posixtrace_get_info(log, &info, sizeof info) == 0);
    for (;;) {
        NEED(posix_trace_getnext_event(log, &event, &value, sizeof value, &length, &none) == 0);
        if (none)
            break;
        n += length == sizeof value && value == n;
    }
    NEED(posix_trace_close(log) == 0);
    return info.end == POSIXTRACE_END_SHUTDOWN && n == events;
}

static void check_log_has(int fd, int events)
{
    NEED(log_has(fd, events));
}

static void check_log(int fd)
{
    check_log_has(fd, EVENTS);
}

/* ---- a shutdown ---- */

static void *shut_down(void *unused)
{
    is_held = true;
    posix_trace_shutdown(trid);
    return unused;
}

/* The stream has no handle any more.  If exit() does not find this, it ends the program. */
static void wait_for_exit(void)
{
    pt_store_seqcst(&arrived, 1u);
    wait_until(&waits);
}

static void exit_in_shutdown(int fd)
{
    create(fd);
    in_shutdown = wait_for_exit;
    begin_thread(shut_down, NULL);
    wait_until(&arrived);
    exit(STATUS);
}

START_TEST(other_thread_shuts_down)
{
    int fd = open_log();

    run_in_child(exit_in_shutdown, fd);
    check_log(fd);
    close(fd);
}
END_TEST

static void interrupt(void)
{
    raise(SIGUSR1);
}

static void exit_in_own_shutdown(int fd)
{
    create(fd);
    in_shutdown = interrupt;
    shut_down(NULL);
}

START_TEST(handler_in_shutdown)
{
    int fd = open_log();

    run_in_child(exit_in_own_shutdown, fd);
    close(fd);
}
END_TEST

/* For ever, in the parent. */
static void stay(void)
{
    pt_store_seqcst(&arrived, 1u);
    for (;;)
        pause();
}

/* ThreadSanitizer lets no thread start in a child of several threads; for AddressSanitizer the
 * streams of threads that the child does not have are leaks. */
#if !defined __SANITIZE_THREAD__ && !defined __SANITIZE_ADDRESS__
/* Forks while another thread is in a shutdown; ends as its child does. */
static void fork_meanwhile(void (*run)(int), int fd)
{
    pid_t pid;
    int status;

    create(-1);
    in_shutdown = stay;
    begin_thread(shut_down, NULL);
    wait_until(&arrived);
    pid = fork();
    NEED(pid >= 0);
    if (pid == 0) {
        alarm(HANG_S / 2);
        run(fd);
    }
    NEED(waitpid(pid, &status, 0) == pid);
    _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}

static void exit_in_new_shutdown(int fd)
{
    pt_store_seqcst(&arrived, 0u);
    exit_in_shutdown(fd);
}

static void exit_with_log(int fd)
{
    create(fd);
    exit(STATUS);
}

/* A child forked meanwhile does not wait for a thread that it does not have; and it does wait for
 * its own. */
static void fork_in_shutdown(int fd)
{
    fork_meanwhile(exit_in_new_shutdown, fd);
}

static void exit_in_forked_child(int fd)
{
    fork_meanwhile(exit_with_log, fd);
}

START_TEST(forked_child)
{
    int fd = open_log();

    run_in_child(_i == 0 ? exit_in_forked_child : fork_in_shutdown, fd);
    check_log(fd);
    close(fd);
}
END_TEST
#endif

/* ---- a creation ---- */

static int log_of_create;

/* A stream with that log, which is not shut down. */
static int create_more(void)
{
    trace_attr_t attr;
    trace_id_t more;

    NEED(posix_trace_attr_init(&attr) == 0);
    return posix_trace_create_withlog(0, &attr, log_of_create, &more);
}

static void *create_held(void *unused)
{
    is_held = true;
    create_more();
    for (;;)
        pause();
    return unused;
}

/* first: the stream is the first one of the process. */
static void exit_in_create(int fd, bool first)
{
    log_of_create = fd;
    if (!first)
        create(-1);
    begin_thread(create_held, NULL);
    wait_until(&arrived);
    /* After the creation has registered the library's handler, which runs later, then. */
    NEED(!first || atexit(note_exit) == 0);
    exit(STATUS);
}

static void exit_before_create(int fd)
{
    before_create = wait_for_exit;
    exit_in_create(fd, false);
}

static void exit_after_create(int fd)
{
    in_create = wait_for_exit;
    exit_in_create(fd, false);
}

static void exit_after_first_create(int fd)
{
    in_create = wait_for_exit;
    exit_in_create(fd, true);
}

static void exit_before_first_create(int fd)
{
    before_create = wait_for_exit;
    exit_in_create(fd, true);
}

static unsigned count_files(const char *path)
{
    DIR *dir = opendir(path);
    unsigned n = 0;

    NEED(dir);
    for (const struct dirent *e; (e = readdir(dir)) != NULL;)
        n += e->d_name[0] != '.';
    closedir(dir);
    return n;
}

static void remove_files(const char *path)
{
    DIR *dir = opendir(path);

    NEED(dir);
    for (const struct dirent *e; (e = readdir(dir)) != NULL;)
        unlinkat(dirfd(dir), e->d_name, 0);
    closedir(dir);
    NEED(rmdir(path) == 0);
}

/* The log of a creation that exit() finds is complete, and nothing stays in the directory. */
START_TEST(other_thread_creates)
{
    static void (*const runs[])(int) = { exit_before_create, exit_after_create,
                                         exit_before_first_create, exit_after_first_create };
    bool is_short, whole;

    do {
        char path[] = "/tmp/test_exit_meanwhile_XXXXXX";
        int fd = open_log();

        NEED(mkdtemp(path));
        NEED(setenv("POSIXTRACE_DIR", path, 1) == 0);
        is_short = run_is_short(runs[_i], fd);
        whole = log_has(fd, 0) && count_files(path) == 0;
        close(fd);
        remove_files(path);
        NEED(unsetenv("POSIXTRACE_DIR") == 0);
    } while (!whole && !is_short);
    ck_assert(whole);
}
END_TEST

static void exit_in_endless_create(int fd)
{
    create(-1);
    log_of_create = fd;
    in_create = stay;
    begin_thread(create_held, NULL);
    wait_until(&arrived);
    exit(STATUS);
}

START_TEST(creation_does_not_end)
{
    int fd = open_log();

    run_impatient(exit_in_endless_create, fd);
    close(fd);
}
END_TEST

static void *create_in_exit(void *unused)
{
    NEED(create_more() == EAGAIN);
    NEED(lseek(log_of_create, 0, SEEK_END) == 0);
    return unused;
}

/* In the shutdown by exit(). */
static void create_in_thread(void)
{
    pthread_t thread;

    NEED(pthread_create(&thread, NULL, create_in_exit, NULL) == 0);
    NEED(pthread_join(thread, NULL) == 0);
}

static void create_meanwhile(int fd)
{
    log_of_create = open_log();
    create(fd);
    in_shutdown = create_in_thread;
    is_held = true;
    exit(STATUS);
}

START_TEST(creation_in_exit_is_refused)
{
    int fd = open_log();

    run_in_child(create_meanwhile, fd);
    check_log(fd);
    close(fd);
}
END_TEST

static void create_late(void)
{
    NEED(create_more() == 0);
}

/* By an exit handler that runs after that of the library. */
static void exit_then_create(int fd)
{
    NEED(atexit(create_late) == 0);
    create(-1);
    log_of_create = fd;
    exit(STATUS);
}

START_TEST(exit_handler_creates)
{
    int fd = open_log();

    run_in_child(exit_then_create, fd);
    check_log_has(fd, 0);
    close(fd);
}
END_TEST

/* ---- exit() in two threads at once ---- */

/* Where that is possible. */
static bool two_can_exit(void)
{
#if defined __GLIBC__
    int major = 0, minor = 0;

    return sscanf(gnu_get_libc_version(), "%d.%d", &major, &minor) == 2 && major == 2 && minor < 41;
#else
    return false;
#endif
}

static void *exit_second(void *unused)
{
    wait_until(&arrived);
    exit(STATUS);
    return unused;
}

static void exit_twice(int fd)
{
    create(fd);
    in_shutdown = wait_for_exit;
    is_held = true;
    begin_thread(exit_second, NULL);
    exit(STATUS);
}

START_TEST(two_threads_exit)
{
    int fd = open_log();

    if (two_can_exit()) {
        run_in_child(exit_twice, fd);
        check_log(fd);
    }
    close(fd);
}
END_TEST

/* ---- a snapshot ---- */

static void *take_snapshot(void *fd)
{
    is_held = true;
    posixtrace_snapshot(trid, *(int *)fd, NULL, 0);
    return NULL;
}

static void exit_in_snapshot(int fd)
{
    int file = open_log();

    create(fd);
    in_snapshot = stay;
    begin_thread(take_snapshot, &file);
    wait_until(&arrived);
    exit(STATUS);
}

START_TEST(snapshot_does_not_end)
{
    int fd = open_log();

    run_impatient(exit_in_snapshot, fd);
    check_log(fd);
    close(fd);
}
END_TEST

static void exit_before_snapshot(int fd)
{
    static int file;

    file = fd;
    create(-1);
    in_snapshot = wait_for_exit;
    begin_thread(take_snapshot, &file);
    wait_until(&arrived);
    exit(STATUS);
}

START_TEST(snapshot_ends)
{
    bool is_short, whole;

    do {
        int fd = open_log();

        is_short = run_is_short(exit_before_snapshot, fd);
        whole = log_has(fd, EVENTS);
        close(fd);
    } while (!whole && !is_short);
    ck_assert(whole);
}
END_TEST

static void shut_down_stream(void)
{
    NEED(posix_trace_shutdown(trid) == 0);
}

/* The shutdown does not wait for the snapshot, which gets all events. */
START_TEST(shutdown_in_snapshot)
{
    struct posixtrace_snapshot_report report;
    int fd = open_log();

    alarm(HANG_S);
    create(-1);
    in_snapshot = shut_down_stream;
    is_held = true;
    ck_assert_int_eq(posixtrace_snapshot(trid, fd, &report, sizeof report), 0);
    is_held = false;
    ck_assert_ptr_null(in_snapshot);
    ck_assert_uint_ge(report.events, EVENTS);
    for (unsigned c = 0; c < POSIXTRACE_LOSS_CAUSES; c++)
        ck_assert_uint_eq(report.lost_during[c] + report.lost_before[c], 0);
    ck_assert_int_eq(posix_trace_shutdown(trid), EINVAL);
    check_log(fd);
    close(fd);
    alarm(0);
}
END_TEST

/* ---- a lock of the call that a handler has interrupted ---- */

/* As a call that reads. */
static void *lock_too(void *unused)
{
    struct pt_stream *s = pt_handle_get(trid, ~0u);

    pt_store_seqcst(&arrived, 1u);
    pt_stream_lock_reading(s);
    return unused;
}

/* The call has the lock of reading; the other thread waits for it, and has a reference. */
static void exit_with_lock(int fd)
{
    struct pt_stream *s;

    create(fd);
    s = pt_handle_get(trid, ~0u);
    pt_stream_lock_reading(s);
    begin_thread(lock_too, NULL);
    wait_until(&arrived);
    raise(SIGUSR1);
}

START_TEST(other_thread_waits_for_lock)
{
    run_in_child(exit_with_lock, -1);
}
END_TEST

static void add(TCase *t)
{
    tcase_set_timeout(t, 2 * HANG_S);
    tcase_add_test(t, other_thread_shuts_down);
    tcase_add_test(t, handler_in_shutdown);
#if !defined __SANITIZE_THREAD__ && !defined __SANITIZE_ADDRESS__
    tcase_add_loop_test(t, forked_child, 0, 2);
#endif
    tcase_add_loop_test(t, other_thread_creates, 0, 4);
    tcase_add_test(t, creation_does_not_end);
    tcase_add_test(t, creation_in_exit_is_refused);
    tcase_add_test(t, exit_handler_creates);
    tcase_add_test(t, two_threads_exit);
    tcase_add_test(t, snapshot_does_not_end);
    tcase_add_test(t, snapshot_ends);
    tcase_add_test(t, shutdown_in_snapshot);
    tcase_add_test(t, other_thread_waits_for_lock);
}

int main(void)
{
    if (is_under_valgrind())
        return TEST_SKIPPED;
    return run_suite("exit meanwhile", "exit() while other threads are in calls", NULL, add);
}
