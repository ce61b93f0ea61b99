/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The system calls of the first event of a new image that no stream traces: their number, with few
 * ancestors and many, with a directory and without; and a controller finds the process after it.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <posixtrace/info.h>
#include <trace.h>
#include "support/image.h"
#include "support/run_suite.h"
#include "support/valgrind.h"

#define MOST      20u
#define MAKES_DIR 1u /* more, to make the directory */
#define HANG_S    60
#define EVENTS    100

/* ---- in the new image ---- */

/* Stops before the event and after it: its tracer counts the calls in between. */
static int run_counted(void)
{
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
        return 77;
    raise(SIGSTOP);
    posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, "x", 1);
    raise(SIGSTOP);
    return 0;
}

static int run_target(void)
{
    char c;

    posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, "x", 1);
    if (write(STDOUT_FILENO, "x", 1) != 1 || read(STDIN_FILENO, &c, 1) != 1)
        return 1;
    for (int i = 0; i < EVENTS; i++)
        posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, "x", 1);
    if (write(STDOUT_FILENO, "x", 1) != 1 || read(STDIN_FILENO, &c, 1) != 1)
        return 2;
    return 0;
}

/* ---- its tracer ---- */

/* Up to a stop by SIGSTOP: calls that began, without the raise() around them; -1: it has ended. */
static int count_calls(pid_t pid, int *status)
{
    int stops = 0;

    for (;;) {
        if (ptrace(PTRACE_SYSCALL, pid, NULL, NULL) != 0 || waitpid(pid, status, 0) != pid ||
            !WIFSTOPPED(*status))
            return -1;
        if (WSTOPSIG(*status) == SIGSTOP)
            return (stops + 1) / 2;
        stops += WSTOPSIG(*status) == (SIGTRAP | 0x80);
    }
}

static int count_of(const char *what)
{
    int status, calls;
    pid_t pid = fork();

    if (pid == 0) {
        image_prepare(what);
        execvp(image_command[0], image_command);
        _exit(99);
    }
    if (waitpid(pid, &status, WUNTRACED) != pid || !WIFSTOPPED(status))
        return WIFEXITED(status) && WEXITSTATUS(status) == 77 ? 77 : 98;
    ptrace(PTRACE_SETOPTIONS, pid, NULL, (void *)(long)PTRACE_O_TRACESYSGOOD);
    calls = count_calls(pid, &status);
    /* Its exit removes its page; the page of a killed process would cost the next one more. */
    ptrace(PTRACE_DETACH, pid, NULL, NULL);
    kill(pid, SIGCONT);
    if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
        return 97;
    return calls < 0 ? 95 : calls;
}

/* Below so many processes that have no page. */
static int count_below(unsigned ancestors, const char *what)
{
    int status;
    pid_t pid;

    if (ancestors == 0)
        return count_of(what);
    pid = fork();
    if (pid == 0)
        _exit(count_below(ancestors - 1, what));
    if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
        return 96;
    return WEXITSTATUS(status);
}

/* What raise() and the end of the stop before cost: the same without an event. */
static int run_nothing(void)
{
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
        return 77;
    raise(SIGSTOP);
    raise(SIGSTOP);
    return 0;
}

static void expect_at_most(unsigned ancestors, unsigned most)
{
    int none = count_below(0, "nothing"), calls = count_below(ancestors, "counted");

    if (none == 77)
        return; /* no tracing of processes here */
    ck_assert_int_lt(none, 10);
    ck_assert_int_gt(calls - none, 0);
    ck_assert_int_le(calls - none, (int)most);
}

static const unsigned depths[] = { 2, 8 };

START_TEST(calls_with_a_directory)
{
    ck_assert_int_eq(count_below(0, "counted") > 90, count_below(0, "nothing") > 90);
    expect_at_most(depths[_i], MOST);
}
END_TEST

START_TEST(calls_without_a_directory)
{
    char path[4096];

    snprintf(path, sizeof path, "%s/deeper%d", getenv("POSIXTRACE_DIR"), _i);
    setenv("POSIXTRACE_DIR", path, 1);
    expect_at_most(depths[_i], MOST + MAKES_DIR);
}
END_TEST

START_TEST(controller_finds_it)
{
    int to[2], from[2], status;
    struct posixtrace_info info;
    trace_id_t trid;
    pid_t pid;
    char c;

    ck_assert_int_eq(pipe(to) | pipe(from), 0);
    pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        dup2(to[0], STDIN_FILENO);
        dup2(from[1], STDOUT_FILENO);
        image_prepare("target");
        execvp(image_command[0], image_command);
        _exit(99);
    }
    close(to[0]);
    close(from[1]);
    ck_assert_int_eq(read(from[0], &c, 1), 1);
    ck_assert_int_eq(posix_trace_create(pid, NULL, &trid), 0);
    ck_assert_int_eq(posix_trace_start(trid), 0);
    ck_assert_int_eq(write(to[1], "x", 1), 1);
    ck_assert_int_eq(read(from[0], &c, 1), 1);
    ck_assert_int_eq(posixtrace_get_info(trid, &info, sizeof info), 0);
    ck_assert_uint_eq(info.events, EVENTS);
    ck_assert_int_eq(write(to[1], "x", 1), 1);
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_int_eq(status, 0);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
}
END_TEST

static void add(TCase *t)
{
    tcase_set_timeout(t, HANG_S);
    if (!is_under_valgrind()) {
        tcase_add_loop_test(t, calls_with_a_directory, 0, 2);
        tcase_add_loop_test(t, calls_without_a_directory, 0, 2);
    }
    tcase_add_test(t, controller_finds_it);
}

int main(int argc, char **argv)
{
    if (argc == 2)
        return argv[1][0] == 'c' ? run_counted() : argv[1][0] == 't' ? run_target() : run_nothing();
    return run_suite("first calls", "the first event of a new image", NULL, add);
}
