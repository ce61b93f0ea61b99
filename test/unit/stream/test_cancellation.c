/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The functions beyond <trace.h> that use files are no cancellation points: each returns to a
 * thread whose cancellation is pending.  conformance/group_m_calls has those of <trace.h>.
 */
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>
#include <posixtrace/attach.h>
#include <posixtrace/environment.h>
#include <posixtrace/event.h>
#include <posixtrace/info.h>
#include <posixtrace/log.h>
#include <posixtrace/stream.h>
#include <posixtrace/system.h>
#include "support/trace_helpers.h"

enum { BUILT = 40000 }; /* events: more than a round of a builder */

static int log_fd;         /* open: close() and open() are cancellation points */
static char path[TH_PATH]; /* of the log */
static char file[128];     /* of the stream */
static trace_id_t trid;

static int note_stream(void *unused, const struct posixtrace_stream *s)
{
    (void)unused;
    if (s->owner != getpid())
        return 0;
    memcpy(file, s->file, sizeof file);
    return 1;
}

static int note_pid(void *unused, pid_t pid)
{
    (void)unused;
    return pid == getpid();
}

static int note_finding(void *unused, const struct posixtrace_log_finding *finding)
{
    (void)unused;
    (void)finding;
    return 0;
}

static bool call_waiting(void)
{
    struct posixtrace_waiting w = { .type = POSIXTRACE_MUTEX_LOCK };

    posixtrace_waiting_begin(&w);
    posixtrace_waiting_end(&w, NULL);
    return posixtrace_waiting_ns(&w) >= 0;
}

static bool call_environment(void)
{
    struct posixtrace_environment e;
    char text[64];
    int why;

    return posixtrace_get_environment(&e, sizeof e) == 0 &&
           posixtrace_get_self_record(text, sizeof text, &why) == 0;
}

static bool call_list(void)
{
    return posixtrace_stream_list(note_stream, NULL) == 1;
}

static bool call_traced(void)
{
    return posixtrace_stream_traced(file, note_pid, NULL) == 1;
}

static bool call_directory(void)
{
    return posixtrace_stream_directory()[0] == '/';
}

static bool call_reap(void)
{
    unsigned removed, kept;

    posixtrace_stream_lost(NULL, NULL);
    return posixtrace_stream_reap(0, &removed, &kept) == 0;
}

static bool call_attach(void)
{
    trace_id_t onlooker;

    return posixtrace_attach_pid(getpid(), &onlooker) == 0 && posixtrace_detach(onlooker) == 0 &&
           posixtrace_attach(file, &onlooker) == 0 && posixtrace_detach(onlooker) == 0;
}

static bool call_take_ids(void)
{
    return posixtrace_take_ids_of(getpid()) >= 0;
}

static bool call_snapshot(void)
{
    return posixtrace_snapshot(trid, log_fd, NULL, 0) == 0;
}

static bool call_open(void)
{
    trace_id_t log;

    return posixtrace_open_path(path, &log) == 0 && posix_trace_close(log) == 0;
}

static bool call_check(void)
{
    struct posixtrace_recover_report recovered;
    struct posixtrace_log_report report;

    return posixtrace_log_check(log_fd, note_finding, NULL, &report, sizeof report) == 0 &&
           posixtrace_log_recover(log_fd, &recovered, sizeof recovered) == 0;
}

static bool call_builder(void)
{
    struct posixtrace_event e = {
        .name = "built", .thread_name = "", .data = path, .data_len = sizeof path
    };
    posixtrace_log_builder_t *builder;

    if (posixtrace_log_builder_create(log_fd, NULL, &builder) != 0)
        return false;
    for (e.ns = 0; e.ns < BUILT; e.ns++)
        if (posixtrace_log_builder_add(builder, &e, sizeof e) != 0)
            return false;
    return posixtrace_log_builder_describe(builder, "other", "u32 a") == 0 &&
           posixtrace_log_builder_finish(builder) == 0;
}

struct call {
    const char *name;
    bool (*function)(void);
    bool returned, is_right;
};

static void *run(void *context)
{
    struct call *call = context;

    pthread_cancel(pthread_self());
    call->is_right = call->function();
    call->returned = true;
    return NULL;
}

static void check(struct call call)
{
    pthread_t thread;

    ck_ok(pthread_create(&thread, NULL, run, &call));
    ck_ok(pthread_join(thread, NULL));
    ck_assert_msg(call.returned, "%s is a cancellation point", call.name);
    ck_assert_msg(call.is_right, "%s has failed", call.name);
}

/* The clock is chosen by the first call. */
START_TEST(first_call)
{
    check((struct call){ .name = "waiting", .function = call_waiting });
}
END_TEST

START_TEST(later_calls)
{
    static const struct call calls[] = {
        { .name = "environment", .function = call_environment },
        { .name = "list", .function = call_list },
        { .name = "traced", .function = call_traced },
        { .name = "directory", .function = call_directory },
        { .name = "attach", .function = call_attach },
        { .name = "take_ids", .function = call_take_ids },
        { .name = "snapshot", .function = call_snapshot },
        { .name = "open", .function = call_open },
        { .name = "check", .function = call_check },
        { .name = "reap", .function = call_reap },
        { .name = "builder", .function = call_builder },
    };

    trid = th_stream();
    ck_ok(posix_trace_start(trid));
    log_fd = th_file(path, O_RDWR);
    for (unsigned i = 0; i < TH_COUNT(calls); i++)
        check(calls[i]);
    ck_ok(posix_trace_shutdown(trid));
    close(log_fd);
}
END_TEST

static void add(TCase *t)
{
    th_add_fresh(t, first_call);
    tcase_add_test(t, later_calls);
}

int main(void)
{
    return th_main("cancellation", add);
}
