/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * A log shows each thread by its latest name, for all its events: those from before it had that
 * name too, however the thread, its program or the log ends.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <posixtrace/event.h>
#include <posixtrace/info.h>
#include <posixtrace/system.h>
#include "base/sys.h"
#include "consumer/accounting.h"
#include "process/thread_name.h"
#include "support/flush_log.h"
#include "support/log_file.h"
#include "support/run_suite.h"

enum { EVENTS = 5 };

static trace_event_id_t tick;
static pthread_barrier_t meet;

static trace_id_t create(pid_t pid, int fd)
{
    trace_attr_t attr;
    trace_id_t trid;

    NEED(posix_trace_eventid_open("tick", &tick) == 0);
    NEED(posix_trace_attr_init(&attr) == 0);
    NEED(posix_trace_create_withlog(pid, &attr, fd, &trid) == 0);
    NEED(posix_trace_attr_destroy(&attr) == 0);
    NEED(posix_trace_start(trid) == 0);
    return trid;
}

static void trace(void)
{
    posix_trace_event(tick, "", 0);
}

static void *renamed(void *name)
{
    trace();
    pthread_barrier_wait(&meet); /* named by the other, or by itself, afterwards */
    pthread_barrier_wait(&meet);
    if (name)
        prctl(PR_SET_NAME, (unsigned long)name, 0, 0, 0);
    for (int i = 1; i < EVENTS; i++)
        trace();
    pthread_barrier_wait(&meet);
    pthread_barrier_wait(&meet);
    return NULL;
}

static pthread_t start_thread(const char *own_name)
{
    pthread_t thread;

    pthread_barrier_init(&meet, NULL, 2);
    NEED(pthread_create(&thread, NULL, renamed, (void *)(uintptr_t)own_name) == 0);
    pthread_barrier_wait(&meet);
    return thread;
}

/* Its events from now on have been recorded when this returns, and it waits. */
static void let_trace(void)
{
    pthread_barrier_wait(&meet);
    pthread_barrier_wait(&meet);
}

static void let_end(pthread_t thread)
{
    pthread_barrier_wait(&meet);
    pthread_join(thread, NULL);
}

/* All events of the one thread that has EVENTS of them, and its entry in the list. */
static void expect(int fd, const char *name)
{
    struct posixtrace_thread_info info;
    struct posixtrace_event e;
    unsigned found = 0, listed = 0;
    trace_id_t trid;
    int none;

    ck_assert_int_eq(posix_trace_open(fd, &trid), 0);
    while (posixtrace_next_event(trid, &e, sizeof e, &none) == 0 && !none) {
        if (strcmp(e.name, "tick") != 0 || e.tid == e.pid)
            continue;
        ck_assert_str_eq(e.thread_name, name);
        found++;
    }
    ck_assert_uint_eq(found, EVENTS);
    ck_assert_int_eq(posixtrace_threadlist_rewind(trid), 0);
    while (posixtrace_threadlist_getnext(trid, &info, sizeof info, &none) == 0 && !none) {
        if (info.recorded != EVENTS)
            continue;
        ck_assert_str_eq(info.name, name);
        listed++;
    }
    ck_assert_uint_eq(listed, 1);
    ck_assert_int_eq(posix_trace_close(trid), 0);
    close(fd);
}

START_TEST(renamed_by_itself)
{
    int fd = log_file();
    trace_id_t trid = create(0, fd);
    pthread_t thread = start_thread("itself");

    let_trace();
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
    let_end(thread);
    expect(fd, "itself");
}
END_TEST

START_TEST(renamed_by_another)
{
    int fd = log_file();
    trace_id_t trid = create(0, fd);
    pthread_t thread = start_thread(NULL);

    ck_assert_int_eq(pthread_setname_np(thread, "by another"), 0);
    let_trace();
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
    let_end(thread);
    expect(fd, "by another");
}
END_TEST

/* It has ended when the names are read. */
START_TEST(ended)
{
    int fd = log_file();
    trace_id_t trid = create(0, fd);
    pthread_t thread = start_thread("ended");

    let_trace();
    let_end(thread);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
    expect(fd, "ended");
}
END_TEST

/* The round that reads the name in between does not have the last word. */
START_TEST(renamed_back)
{
    int fd = log_file();
    trace_id_t trid = create(0, fd);
    pthread_t thread = start_thread("first");

    NEED(pthread_setname_np(thread, "between") == 0);
    flush_log(trid);
    let_trace();
    let_end(thread);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
    expect(fd, "first");
}
END_TEST

/* The names are read when the stream stops, however short a time after they were before. */
START_TEST(killed_after_stop)
{
    int fd = log_file();
    pid_t child = fork();

    ck_assert_int_ge(child, 0);
    if (child == 0) {
        trace_id_t trid = create(0, fd);

        start_thread("at the stop");
        flush_log(trid);
        let_trace();
        NEED(posix_trace_stop(trid) == 0);
        flush_log(trid);
        raise(SIGKILL);
    }
    waitpid(child, NULL, 0);
    expect(fd, "at the stop");
}
END_TEST

static void *end_program(void *unused)
{
    exit(0);
    return unused;
}

static void run_and_exit(int ready, int go)
{
    pthread_t other;
    char c;

    NEED(posix_trace_eventid_open("tick", &tick) == 0);
    NEED(write(ready, "", 1) == 1 && read(go, &c, 1) == 1);
    start_thread("living on");
    let_trace();
    pthread_create(&other, NULL, end_program, NULL);
    for (;;)
        pause();
}

/* Of a stream of another process, while the named thread waits. */
START_TEST(exit_from_another_thread)
{
    int fd = log_file(), ready[2], go[2], status;
    trace_id_t trid;
    pid_t child;
    char c;

    ck_assert_int_eq(pipe(ready) | pipe(go), 0);
    child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0)
        run_and_exit(ready[1], go[0]);
    ck_assert_int_eq(read(ready[0], &c, 1), 1);
    trid = create(child, fd);
    ck_assert_int_eq(write(go[1], "", 1), 1);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
    expect(fd, "living on");
    for (int i = 0; i < 2; i++) {
        close(ready[i]);
        close(go[i]);
    }
}
END_TEST

static void control_and_rename(int fd)
{
    trace_id_t trid;

    prctl(PR_SET_NAME, "first", 0, 0, 0);
    trid = create(0, fd);
    trace();
    prctl(PR_SET_NAME, "latest", 0, 0, 0);
    NEED(posix_trace_stop(trid) == 0);
    NEED(posix_trace_start(trid) == 0);
    prctl(PR_SET_NAME, "last of all", 0, 0, 0);
    NEED(posix_trace_shutdown(trid) == 0);
    _exit(0);
}

/* What a thread does to the stream that it records in has its name, too: START and STOP. */
START_TEST(control_records)
{
    unsigned found = 0;
    struct posixtrace_event e;
    int fd = log_file(), status, none;
    pid_t child = fork();
    trace_id_t trid;

    ck_assert_int_ge(child, 0);
    if (child == 0)
        control_and_rename(fd);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    ck_assert_int_eq(posix_trace_open(fd, &trid), 0);
    while (posixtrace_next_event(trid, &e, sizeof e, &none) == 0 && !none) {
        if (e.tid != child)
            continue;
        ck_assert_str_eq(e.thread_name, "last of all");
        found++;
    }
    ck_assert_uint_eq(found, 5);
    ck_assert_int_eq(posix_trace_close(trid), 0);
    close(fd);
}
END_TEST

enum { NAMERS = 2, NAMINGS = 300 };

static void *name_often(void *thread)
{
    char name[16];

    for (int i = 0; i < NAMINGS; i++) {
        snprintf(name, sizeof name, "%d of %d", i, pt_sys_tid());
        NEED(pthread_setname_np(*(pthread_t *)thread, name) == 0);
        posixtrace_thread_renamed(*(pthread_t *)thread);
    }
    return NULL;
}

static void rename_and_die(int fd, int names)
{
    trace_id_t trid = create(0, fd);
    pthread_t thread = start_thread(NULL), namers[NAMERS];
    char name[16] = "";

    flush_log(trid);
    for (int i = 0; i < NAMERS; i++)
        NEED(pthread_create(&namers[i], NULL, name_often, &thread) == 0);
    let_trace();
    for (int i = 0; i < NAMERS; i++)
        pthread_join(namers[i], NULL);
    NEED(pthread_getname_np(thread, name, sizeof name) == 0);
    NEED(write(names, name, sizeof name) == (ssize_t)sizeof name);
    raise(SIGKILL);
}

/* Two threads set the name of a third one that records, and report it.  The slot ends up with the
 * last name of the kernel, not a mixture, without a round that reads names. */
START_TEST(said_by_two)
{
    int fd = log_file(), names[2];
    char name[16];
    pid_t child;

    ck_assert_int_eq(pipe(names), 0);
    child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0)
        rename_and_die(fd, names[1]);
    close(names[1]);
    ck_assert_int_eq(read(names[0], name, sizeof name), sizeof name);
    waitpid(child, NULL, 0);
    expect(fd, name);
    close(names[0]);
}
END_TEST

/* Nothing to do, and no error. */
START_TEST(said_of_strangers)
{
    int fd = log_file();
    trace_id_t trid;

    posixtrace_thread_renamed(pthread_self());
    trid = create(0, fd);
    errno = EDOM;
    posixtrace_thread_renamed((pthread_t)0);
    posixtrace_thread_renamed((pthread_t)4711);
    ck_assert_int_eq(errno, EDOM);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
    close(fd);
}
END_TEST

START_TEST(once_a_second)
{
    const uint64_t second = 1000000000u;
    struct pt_name_turn turn = { 5 * second, 2, false };
    uint64_t a = 0, b = 0, c = 0;

    ck_assert(pt_thread_name_is_due(&turn, &a));
    ck_assert(!pt_thread_name_is_due(&turn, &a));
    ck_assert(pt_thread_name_is_due(&turn, &b));
    ck_assert(!pt_thread_name_is_due(&turn, &c)); /* enough for this round */
    turn = (struct pt_name_turn){ 6 * second - 1, 3, false };
    ck_assert(!pt_thread_name_is_due(&turn, &a));
    ck_assert(pt_thread_name_is_due(&turn, &c));
    turn.now++;
    ck_assert(pt_thread_name_is_due(&turn, &a));
    turn = (struct pt_name_turn){ 6 * second + 1, 0, true };
    ck_assert(pt_thread_name_is_due(&turn, &a));
}
END_TEST

/* Whatever bytes a name has. */
START_TEST(what_the_kernel_has)
{
    static const char *const names[] = { "x", "123456789012345", "two\nlines\n", "\x1b[31m\xff" };
    char had[16], name[16];

    prctl(PR_GET_NAME, (unsigned long)had, 0, 0, 0);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        prctl(PR_SET_NAME, (unsigned long)names[i], 0, 0, 0);
        ck_assert(pt_thread_name_read(pt_sys_pid(), pt_sys_tid(), name));
        ck_assert_str_eq(name, names[i]);
    }
    prctl(PR_SET_NAME, (unsigned long)had, 0, 0, 0);
    strcpy(name, "kept");
    ck_assert(!pt_thread_name_read(pt_sys_pid(), INT32_MAX, name));
    ck_assert_str_eq(name, "kept");
}
END_TEST

static void add(TCase *t)
{
    tcase_add_test(t, renamed_by_itself);
    tcase_add_test(t, renamed_by_another);
    tcase_add_test(t, ended);
    tcase_add_test(t, renamed_back);
    tcase_add_test(t, killed_after_stop);
    tcase_add_test(t, exit_from_another_thread);
    tcase_add_test(t, control_records);
    tcase_add_test(t, said_by_two);
    tcase_add_test(t, said_of_strangers);
    tcase_add_test(t, once_a_second);
    tcase_add_test(t, what_the_kernel_has);
}

int main(void)
{
    return run_suite("thread_name", "the latest name of a thread", NULL, add);
}
