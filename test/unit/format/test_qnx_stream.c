/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* QNX's interface: the stream that commands steer. */
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <posixtrace/info.h>
#include "qnx_scene.h"

#define END(trid) ck_assert_str_eq(next(trid), "")
#define USER5     "qnx:USER:5 d0=0x1 d1=0x2"

static int my_tid(void)
{
    return (int)syscall(SYS_gettid);
}

START_TEST(buffers)
{
    void *list = &list;
    trace_attr_t attr;
    trace_id_t trid;
    size_t size;
    int policy;

    reset();
    FAILS(posixtrace_qnx_stream(&trid), EFAULT);
    FAILS(TraceEvent(_NTO_TRACE_DEALLOCBUFFER), EFAULT);
    FAILS(TraceEvent(_NTO_TRACE_FLUSHBUFFER), EFAULT);
    FAILS(TraceEvent(_NTO_TRACE_QUERYEVENTS), EFAULT);
    WORKS(TraceEvent(_NTO_TRACE_STOP));
    FAILS(TraceEvent(_NTO_TRACE_ALLOCBUFFER, 4, NULL), EFAULT);
    FAILS(TraceEvent(_NTO_TRACE_ALLOCBUFFER, 0, &list), EINVAL);
    FAILS(TraceEvent(_NTO_TRACE_ALLOCBUFFER, 0xffffffff, &list), ENOMEM);
    WORKS(TraceEvent(_NTO_TRACE_ALLOCBUFFER, 4, &list));
    ck_assert_ptr_null(list);
    FAILS(TraceEvent(_NTO_TRACE_ALLOCBUFFER, 4, &list), EFAULT);
    FAILS(posixtrace_qnx_stream(NULL), EFAULT);
    WORKS(TraceEvent(_NTO_TRACE_SETRINGMODE));
    WORKS(posixtrace_qnx_stream(&trid));
    FAILS(posixtrace_qnx_use(trid), EFAULT);
    WORKS(posix_trace_get_attr(trid, &attr));
    WORKS(posix_trace_attr_getstreamsize(&attr, &size));
    WORKS(posix_trace_attr_getstreamfullpolicy(&attr, &policy));
    WORKS(posix_trace_attr_destroy(&attr));
    ck_assert_uint_ge(size, 4 * 16384);
    ck_assert_int_eq(policy, POSIX_TRACE_LOOP);
    WORKS(TraceEvent(_NTO_TRACE_STARTNOSTATE));
    WORKS(TraceEvent(_NTO_TRACE_STARTNOSTATE));
    WORKS(TraceEvent(_NTO_TRACE_SETRINGMODE));
    FAILS(TraceEvent(_NTO_TRACE_SETLINEARMODE), EFAULT);
    WORKS(trace_logi(5, 1, 2));
    ck_assert_int_ge(TraceEvent(_NTO_TRACE_QUERYEVENTS), 1);
    WORKS(TraceEvent(_NTO_TRACE_FLUSHBUFFER));
    ck_assert_str_eq(next(trid), USER5);
    WORKS(TraceEvent(_NTO_TRACE_DEALLOCBUFFER));
    FAILS(TraceEvent(_NTO_TRACE_DEALLOCBUFFER), EFAULT);
    ck_assert_int_eq(posix_trace_shutdown(trid), EINVAL);
}
END_TEST

enum { MANY = 20000 };

/* What a ring keeps is the newest, what a line keeps the oldest. */
START_TEST(modes)
{
    struct posixtrace_info info;
    void *list;
    trace_id_t trid;
    unsigned kept = 0;
    char last[QNX_TEXT] = "";
    const char *text;

    reset();
    if (_i)
        WORKS(TraceEvent(_NTO_TRACE_SETRINGMODE));
    WORKS(TraceEvent(_NTO_TRACE_ALLOCBUFFER, 2, &list));
    WORKS(TraceEvent(_NTO_TRACE_STARTNOSTATE));
    WORKS(posixtrace_qnx_stream(&trid));
    for (unsigned i = 0; i < MANY; i++)
        WORKS(trace_logi(5, i, 0));
    WORKS(posixtrace_get_info(trid, &info, sizeof info));
    WORKS(TraceEvent(_NTO_TRACE_STOP));
    while (*(text = next(trid))) {
        if (!kept++ && !_i)
            ck_assert_str_eq(text, "qnx:USER:5 d0=0x0 d1=0x0");
        snprintf(last, sizeof last, "%s", text);
    }
    ck_assert_uint_lt(kept, MANY);
    if (_i)
        ck_assert_str_eq(last, "qnx:USER:5 d0=0x4e1f d1=0x0");
    ck_assert_uint_gt(info.lost[_i ? POSIXTRACE_LOST_OVERWRITTEN : POSIXTRACE_LOST_FULL], 0);
}
END_TEST

START_TEST(state_at_the_start)
{
    char wanted[200], line[20];
    trace_id_t trid;
    const char *text;
    bool running = false, process = false, thread = false, created = false;

    reset();
    WORKS(TraceEvent(_NTO_TRACE_SETCLASSWIDE, _NTO_TRACE_THREAD));
    WORKS(TraceEvent(_NTO_TRACE_START));
    WORKS(posixtrace_qnx_stream(&trid));
    snprintf(line, sizeof line, "%d", getpid());
    while (*(text = next(trid))) {
        snprintf(wanted, sizeof wanted, "qnx:THREAD:RUNNING.wide pid=%d tid=%d ", getpid(),
                 my_tid());
        running |= strncmp(text, wanted, strlen(wanted)) == 0;
        snprintf(wanted, sizeof wanted, "qnx:THREAD:CREATE.wide pid=%d tid=%d ", getpid(),
                 my_tid());
        created |= strncmp(text, wanted, strlen(wanted)) == 0;
        snprintf(wanted, sizeof wanted, "qnx:PROCESS:CREATE_NAME ppid=%d pid=%d name=\"", getppid(),
                 getpid());
        process |= strncmp(text, wanted, strlen(wanted)) == 0;
        snprintf(wanted, sizeof wanted, "qnx:PROCESS:THREAD_NAME pid=%d tid=%d name=\"", getpid(),
                 my_tid());
        thread |= strncmp(text, wanted, strlen(wanted)) == 0;
    }
    ck_assert(running && process && thread && created);
    WORKS(TraceEvent(_NTO_TRACE_START));
    END(trid);
}
END_TEST

START_TEST(stream_of_the_caller)
{
    trace_id_t trid, same;

    reset();
    FAILS(posixtrace_qnx_use(123456), EINVAL);
    WORKS(posix_trace_create(0, NULL, &trid));
    WORKS(posixtrace_qnx_use(trid));
    WORKS(posixtrace_qnx_stream(&same));
    ck_assert_uint_eq(same, trid);
    FAILS(TraceEvent(_NTO_TRACE_SETRINGMODE), EFAULT);
    WORKS(trace_logi(5, 1, 2));
    END(trid);
    WORKS(TraceEvent(_NTO_TRACE_STARTNOSTATE));
    WORKS(trace_logi(5, 1, 2));
    WORKS(TraceEvent(_NTO_TRACE_FLUSHBUFFER));
    ck_assert_str_eq(next(trid), USER5);
    WORKS(TraceEvent(_NTO_TRACE_DEALLOCBUFFER));
    FAILS(posixtrace_qnx_stream(&same), EFAULT);
    WORKS(posix_trace_shutdown(trid));
}
END_TEST

START_TEST(child_has_none)
{
    trace_id_t trid = start();
    int status;
    pid_t child = fork();

    if (child == 0)
        _exit(posixtrace_qnx_stream(&trid) == -1 && errno == EFAULT &&
                      TraceEvent(_NTO_TRACE_DEALLOCBUFFER) == -1
                  ? 0
                  : 1);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    WORKS(trace_logi(5, 1, 2));
    ck_assert_str_eq(next(trid), USER5);
}
END_TEST

static void add(TCase *t)
{
    tcase_add_test(t, buffers);
    tcase_add_loop_test(t, modes, 0, 2);
    tcase_add_test(t, state_at_the_start);
    tcase_add_test(t, stream_of_the_caller);
    tcase_add_test(t, child_has_none);
}

int main(void)
{
    return run_suite("format", "qnx stream", NULL, add);
}
