/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* Context switches that the system refuses, and what asks for them. */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <posixtrace/attr.h>
#include <trace.h>
#include "perf_target.h"
#include "support/log_file.h"
#include "support/refuse_call.h"

/* In a child, which keeps the filter; its exit status says what went wrong. */
static int trace_refused(int fd, int error)
{
    trace_attr_t *attr = attributes(1, POSIX_TRACE_CLOSE_FOR_CHILD);
    int refusal = -1;
    trace_id_t trid;

    if (!refuse_call(SYS_perf_event_open, error))
        return SKIPPED;
    if (posix_trace_create_withlog(0, attr, fd, &trid) != 0)
        return 1;
    if (posixtrace_stream_switches(trid, &refusal) != 0 || refusal != error)
        return 2;
    posix_trace_start(trid);
    posix_trace_event(own_id, "a", 1);
    sched_yield();
    posix_trace_event(own_id, "b", 1);
    return posix_trace_shutdown(trid) == 0 ? 0 : 3;
}

START_TEST(refused)
{
    static const int errors[] = { EACCES, EPERM, ENOSYS };
    int fd = log_file(), status;
    pid_t pid;

    attributes(1, POSIX_TRACE_CLOSE_FOR_CHILD);
    pid = fork();
    if (pid == 0)
        _exit(trace_refused(fd, errors[_i]));
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert(WIFEXITED(status));
    if (WEXITSTATUS(status) == SKIPPED)
        return;
    ck_assert_int_eq(WEXITSTATUS(status), 0);
    ck_assert_uint_eq(look(fd), 0);
    ck_assert_uint_eq(seen_of(pid, pid)->own, 2);
}
END_TEST

START_TEST(who_asks)
{
    int fd = log_file(), refusal = -1;
    bool value = false;
    trace_attr_t *attr = attributes(1, POSIX_TRACE_CLOSE_FOR_CHILD), got;
    trace_id_t trid;

    ck_assert_int_eq(posix_trace_create(0, attr, &trid), EINVAL);
    ck_assert_int_eq(posixtrace_attr_setswitches(NULL, 1), EINVAL);
    ck_assert_int_eq(posixtrace_attr_getswitches(attr, NULL), EINVAL);
    ck_assert_int_eq(posixtrace_attr_getswitches(attr, &value), 0);
    ck_assert_int_eq(value, 1);
    ck_assert_int_eq(posixtrace_attr_setswitches(attr, 0), 0);
    ck_assert_int_eq(posix_trace_create_withlog(0, attr, fd, &trid), 0);
    ck_assert_int_eq(posixtrace_stream_switches(trid, NULL), EINVAL);
    ck_assert_int_eq(posixtrace_stream_switches(trid, &refusal), 0);
    ck_assert_int_eq(refusal, ENODATA);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
    ck_assert_int_eq(posixtrace_stream_switches(trid, &refusal), EINVAL);

    ck_assert_int_eq(setenv("POSIXTRACE_SYSTEM_SWITCHES", "1", 1), 0);
    ck_assert_int_eq(posix_trace_create(0, attr, &trid), 0); /* without log: ignored */
    ck_assert_int_eq(posixtrace_stream_switches(trid, &refusal), 0);
    ck_assert_int_eq(refusal, ENODATA);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
    ck_assert_int_eq(posix_trace_create_withlog(0, attr, fd, &trid), 0);
    ck_assert_int_eq(unsetenv("POSIXTRACE_SYSTEM_SWITCHES"), 0);
    ck_assert_int_eq(posixtrace_stream_switches(trid, &refusal), 0);
    ck_assert_int_eq(refusal, 0);
    ck_assert_int_eq(posix_trace_get_attr(trid, &got), 0);
    ck_assert_int_eq(posixtrace_attr_getswitches(&got, &value), 0);
    ck_assert_int_eq(value, 1);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
    close(fd);
}
END_TEST

static void add_tests(TCase *t)
{
    tcase_add_loop_test(t, refused, 0, 3);
    tcase_add_test(t, who_asks);
}

int main(void)
{
    return run_perf_tests("perf_refused", add_tests);
}
