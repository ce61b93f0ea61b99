/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Group L, second part: a controller that ends without shutting its streams
 * down.  It traces itself; its parent, this test, opens the log afterwards.
 */
#include "support/trace_helpers.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

#define EVENTS 2000
#define LEN    40

enum ending { BY_EXIT, BY_UNDERSCORE_EXIT, BY_EXEC, BY_SIGKILL };

struct controller {
    enum ending ending;
    int log;
    int ready[2];
};

static void record_and_end(void *context)
{
    struct controller *c = context;
    trace_id_t trid = th_stream_log(c->log, .name = "left behind");

    ck_ok(posix_trace_start(trid));
    th_put_run(th_id("u"), 0, EVENTS, LEN);
    switch (c->ending) {
    case BY_EXIT: exit(0);
    case BY_UNDERSCORE_EXIT: _exit(0);
    case BY_EXEC:
        execl("/bin/true", "true", (char *)NULL);
        ck_abort_msg("/bin/true cannot be executed");
        break;
    case BY_SIGKILL:
        ck_assert_int_eq(write(c->ready[1], "!", 1), 1);
        for (;;)
            pause();
    }
}

static void run_controller(struct controller *c)
{
    char ready;
    int status;
    pid_t pid;

    ck_assert_int_eq(pipe(c->ready), 0);
    fflush(NULL);
    pid = th_fork(record_and_end, c);
    if (c->ending == BY_SIGKILL) {
        ck_assert_int_eq(read(c->ready[0], &ready, 1), 1);
        ck_assert_int_eq(kill(pid, SIGKILL), 0);
        ck_assert_int_eq(waitpid(pid, &status, 0), pid);
        ck_assert(WIFSIGNALED(status));
    } else {
        th_reap(pid);
    }
    close(c->ready[0]);
    close(c->ready[1]);
}

/* Everything that was recorded is in the log, and opening it again tells the
 * same. */
static void all_there(enum ending ending)
{
    char path[TH_PATH], name[TRACE_NAME_MAX + 1];
    struct controller c = { .ending = ending, .log = th_file(path, O_RDWR) };

    run_controller(&c);
    close(c.log);
    for (int i = 0; i < 2; i++) {
        trace_id_t trid = th_open(path);
        trace_event_id_t id = th_id_named(trid, "u");
        struct th_list list = th_without_flush_marks(th_read_log(trid)), user = th_only(list, id);
        trace_attr_t attr;

        ck_assert_uint_gt(list.n, EVENTS);
        ck_assert_uint_eq(list.at[0].info.posix_event_id, POSIX_TRACE_START);
        ck_assert_uint_eq(user.n, EVENTS);
        th_expect_run(user, 0);
        if (ending == BY_EXIT)
            ck_assert_uint_eq(list.at[list.n - 1].info.posix_event_id, POSIX_TRACE_STOP);
        ck_assert_int_eq(th_status(trid).posix_stream_status, POSIX_TRACE_SUSPENDED);
        ck_ok(posix_trace_get_attr(trid, &attr));
        ck_ok(posix_trace_attr_getname(&attr, name));
        ck_assert_str_eq(name, "left behind");
        th_close(trid);
    }
}

START_TEST(test_248_exit)
{
    all_there(BY_EXIT);
    all_there(BY_UNDERSCORE_EXIT);
}
END_TEST

START_TEST(test_249_exec)
{
    all_there(BY_EXEC);
}
END_TEST

static unsigned create_all(trace_id_t trid[TRACE_SYS_MAX + 1])
{
    trace_attr_t attr;
    unsigned n = 0;

    th_attr(&attr, &(struct th_conf){ .stream_size = 16384 });
    while (n <= TRACE_SYS_MAX && posix_trace_create(0, &attr, &trid[n]) == 0)
        n++;
    for (unsigned i = 0; i < n; i++)
        ck_ok(posix_trace_start(trid[i]));
    return n;
}

static void create_all_and_die(void *unused)
{
    trace_id_t trid[TRACE_SYS_MAX + 1];

    (void)unused;
    ck_assert_uint_eq(create_all(trid), TRACE_SYS_MAX);
    raise(SIGKILL);
}

START_TEST(test_250_killed_streams_vanish)
{
    trace_id_t trid[TRACE_SYS_MAX + 1];

    for (int i = 0; i < 3; i++) {
        pid_t pid = th_fork(create_all_and_die, NULL);
        int status;

        ck_assert_int_eq(waitpid(pid, &status, 0), pid);
        ck_assert(WIFSIGNALED(status));
    }
    ck_assert_uint_eq(create_all(trid), TRACE_SYS_MAX);
    for (unsigned i = 0; i < TRACE_SYS_MAX; i++)
        ck_ok(posix_trace_shutdown(trid[i]));
}
END_TEST

START_TEST(test_251_killed_with_log)
{
    all_there(BY_SIGKILL);
}
END_TEST

static void add(TCase *tc)
{
    tcase_add_test(tc, test_248_exit);
    tcase_add_test(tc, test_249_exec);
    tcase_add_test(tc, test_250_killed_streams_vanish);
    tcase_add_test(tc, test_251_killed_with_log);
}

int main(void)
{
    return th_main("L exit", add);
}
