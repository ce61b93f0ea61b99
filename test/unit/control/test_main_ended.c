/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * A process whose main() has called pthread_exit(), and whose other thread works: the kernel shows
 * the process as a zombie without memory and directories.  It is traced from outside and by itself
 * as any other, until the other thread has ended, too.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <trace.h>
#include <unistd.h>
#include "mapping/mapping_scan.h"
#include "shm/liveness.h"
#include "support/run_suite.h"

enum { EVENTS = 100, TYPE = POSIX_TRACE_UNNAMED_USER_EVENT };

static int orders[2], answers[2];
static pid_t pid;

static void record(void)
{
    for (int i = 0; i < EVENTS; i++)
        posix_trace_event(TYPE, &i, sizeof i);
}

static int events_of(trace_id_t trid)
{
    struct posix_trace_event_info info;
    int count = 0, unavailable = 0;
    char data[64];
    size_t length;

    while (posix_trace_trygetnext_event(trid, &info, data, sizeof data, &length, &unavailable) ==
               0 &&
           !unavailable)
        count += info.posix_event_id == TYPE;
    return count;
}

static int own_stream(void)
{
    trace_id_t trid;
    int count;

    if (posix_trace_create(0, NULL, &trid) != 0)
        return -1;
    posix_trace_start(trid);
    record();
    count = events_of(trid);
    return posix_trace_shutdown(trid) == 0 ? count : -1;
}

static void count_object(void *count, const struct pt_mapped_object *o)
{
    *(int *)count += o->build_id_length > 0;
}

static int mappings(void)
{
    static struct pt_mapping_scan scan;
    int count = 0;

    scan.visit = count_object;
    scan.context = &count;
    return pt_mapping_scan(&scan) ? count : -1;
}

static void *obey(void *unused)
{
    char order;
    int answer;

    while (read(orders[0], &order, 1) == 1 && order != 'e') {
        answer = 0;
        if (order == 'r')
            record();
        else if (order == 's')
            answer = own_stream();
        else if (order == 'm')
            answer = mappings();
        else
            answer = pt_pid_namespace() != 0 && pt_mount_namespace() != 0;
        if (write(answers[1], &answer, sizeof answer) != sizeof answer)
            abort();
    }
    return unused;
}

static void be_process(bool records)
{
    pthread_t thread;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (records)
        record();
    if (pthread_create(&thread, NULL, obey, NULL) != 0)
        abort();
    pthread_exit(NULL);
}

static int ask(char order)
{
    int answer;

    ck_assert_int_eq(write(orders[1], &order, 1), 1);
    ck_assert_int_eq(read(answers[0], &answer, sizeof answer), sizeof answer);
    return answer;
}

static char state_of_process(void)
{
    char path[32], text[512], *end;
    FILE *f;

    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    f = fopen(path, "r");
    ck_assert_ptr_nonnull(f);
    text[fread(text, 1, sizeof text - 1, f)] = '\0';
    fclose(f);
    end = strrchr(text, ')');
    ck_assert_ptr_nonnull(end);
    return end[2];
}

static void begin(bool records)
{
    ck_assert_int_eq(pipe(orders), 0);
    ck_assert_int_eq(pipe(answers), 0);
    pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0)
        be_process(records);
    while (state_of_process() != 'Z')
        usleep(1000);
}

/* Without a status: it waits to be reaped. */
static void end(void)
{
    siginfo_t info;

    ck_assert_int_eq(write(orders[1], "e", 1), 1);
    ck_assert_int_eq(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
}

static void reap(void)
{
    ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}

static void trace(void)
{
    trace_id_t trid;

    ck_assert_int_eq(posix_trace_create(pid, NULL, &trid), 0);
    ck_assert_int_eq(posix_trace_start(trid), 0);
    ask('r');
    ck_assert_int_eq(events_of(trid), EVENTS);
    end();
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
    ck_assert_int_eq(posix_trace_create(pid, NULL, &trid), ESRCH);
    reap();
}

START_TEST(from_outside)
{
    begin(true);
    trace();
}
END_TEST

/* Its page is made by the controller. */
START_TEST(before_its_first_event)
{
    begin(false);
    trace();
}
END_TEST

START_TEST(first_event_after)
{
    begin(false);
    ask('r');
    trace();
}
END_TEST

START_TEST(by_itself)
{
    begin(false);
    ck_assert_int_eq(ask('s'), EVENTS);
    ck_assert_int_eq(ask('n'), 1);
    ck_assert_int_gt(ask('m'), 0);
    end();
    reap();
}
END_TEST

static void add(TCase *tc)
{
    tcase_add_test(tc, from_outside);
    tcase_add_test(tc, before_its_first_event);
    tcase_add_test(tc, first_event_after);
    tcase_add_test(tc, by_itself);
}

int main(void)
{
    return run_suite("main_ended", "processes whose main thread has ended", NULL, add);
}
