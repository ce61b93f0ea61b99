/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Controllers that are killed while they create a stream for another process: before the stream
 * has a segment, or after, when the process does not know of it yet.  More of them than a process
 * can have streams; streams for it can be created as before.
 */
#include <check.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <trace.h>
#include <unistd.h>
#include "process/join.h"
#include "shm/segment.h"
#include "stream/handle.h"
#include "support/run_suite.h"
#include "support/valgrind.h"

enum { KILLS = PT_STREAMS + 6, HANG_S = 60 };
enum place { NOWHERE, BEFORE_SEGMENT, AFTER_SEGMENT, BEFORE_REGISTER, AFTER_REGISTER };

static enum place place; /* where this process is killed */

static void reach(enum place here)
{
    if (place == here)
        raise(SIGKILL);
}

int __real_pt_seg_create(struct pt_seg *seg, const struct pt_seg_request *q);
int __wrap_pt_seg_create(struct pt_seg *seg, const struct pt_seg_request *q);
int __real_pt_process_register(struct pt_seg *seg, uint32_t pid, uint64_t start,
                               struct pt_page *page, unsigned bit);
int __wrap_pt_process_register(struct pt_seg *seg, uint32_t pid, uint64_t start,
                               struct pt_page *page, unsigned bit);

int __wrap_pt_seg_create(struct pt_seg *seg, const struct pt_seg_request *q)
{
    int r;

    reach(BEFORE_SEGMENT);
    r = __real_pt_seg_create(seg, q);
    reach(AFTER_SEGMENT);
    return r;
}

int __wrap_pt_process_register(struct pt_seg *seg, uint32_t pid, uint64_t start,
                               struct pt_page *page, unsigned bit)
{
    int r;

    reach(BEFORE_REGISTER);
    r = __real_pt_process_register(seg, pid, start, page, bit);
    reach(AFTER_REGISTER);
    return r;
}

static int create_for(pid_t target)
{
    trace_attr_t attr;
    trace_id_t trid;
    int error = posix_trace_attr_init(&attr);

    if (error == 0)
        error = posix_trace_attr_setstreamsize(&attr, 64 << 10);
    if (error == 0)
        error = posix_trace_create(target, &attr, &trid);
    return error == 0 ? posix_trace_shutdown(trid) : error;
}

/* How the controller ends; it is not the test's thread, which has a stream then. */
static int run_controller(enum place where)
{
    pid_t target = getpid(), child = fork();
    int status;

    if (child == 0) {
        alarm(HANG_S);
        place = where;
        _exit(create_for(target));
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    return status;
}

static void kill_controllers(enum place where)
{
    trace_event_id_t id;

    ck_assert_int_eq(posix_trace_eventid_open("killed", &id), 0);
    for (int i = 0; i < KILLS; i++) {
        int status = run_controller(where);

        ck_assert_msg(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL,
                      "controller %d ends with %d", i, status);
    }
    ck_assert_int_eq(run_controller(NOWHERE), 0);
    ck_assert_int_eq(create_for(0), 0);
}

/* Those that live keep theirs. */
static void live_streams_stay(enum place where)
{
    struct pt_stream *s;
    struct pt_page *page;
    trace_id_t trid;
    unsigned bit;
    uint64_t epoch;

    ck_assert_int_eq(posix_trace_create(0, NULL, &trid), 0);
    s = pt_handle_get(trid, PT_STREAM_ACTIVE);
    ck_assert_ptr_nonnull(s);
    page = s->page;
    bit = s->bit;
    pt_handle_put(s);
    epoch = page->epoch[bit];
    kill_controllers(where);
    ck_assert_uint_eq(page->epoch[bit], epoch);
    ck_assert_uint_eq(page->used >> bit & 1, 1);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
}

START_TEST(before_segment)
{
    kill_controllers(BEFORE_SEGMENT);
}
END_TEST

START_TEST(after_segment)
{
    live_streams_stay(AFTER_SEGMENT);
}
END_TEST

START_TEST(before_register)
{
    live_streams_stay(BEFORE_REGISTER);
}
END_TEST

START_TEST(after_register)
{
    kill_controllers(AFTER_REGISTER);
}
END_TEST

static void add(TCase *tc)
{
    tcase_add_test(tc, before_register);
    if (is_under_valgrind())
        return;
    tcase_add_test(tc, before_segment);
    tcase_add_test(tc, after_segment);
    tcase_add_test(tc, after_register);
}

int main(void)
{
    return run_suite("killed_create", "killed_create", NULL, add);
}
