/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Functions of the program that decide about its events: for one type and for all, after event set
 * and expression, replaced and removed while threads trace, nested, in children, and without
 * anything to decide.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <posixtrace/event.h>
#include <posixtrace/filter.h>
#include <posixtrace/info.h>
#include <posixtrace/typed.h>
#include "support/run_suite.h"
#include "support/valgrind.h"

static trace_event_id_t a, b;

static trace_id_t begin(void)
{
    trace_attr_t attr;
    trace_id_t trid;

    ck_assert_int_eq(posix_trace_attr_init(&attr), 0);
    ck_assert_int_eq(posix_trace_attr_setinherited(&attr, POSIX_TRACE_INHERITED), 0);
    ck_assert_int_eq(posix_trace_create(0, &attr, &trid), 0);
    ck_assert_int_eq(posix_trace_start(trid), 0);
    ck_assert_int_eq(posixtrace_event_describe("a", "u32 n", &a), 0);
    ck_assert_int_eq(posix_trace_eventid_open("b", &b), 0);
    return trid;
}

static void trace_u32(trace_event_id_t id, uint32_t n)
{
    posix_trace_event(id, &n, sizeof n);
}

/* Sum of the numbers of what there is to read; of type b times 1,000. */
static unsigned sum(trace_id_t trid)
{
    struct posixtrace_event e;
    unsigned total = 0;
    int none = 0;

    for (;;) {
        uint32_t n;

        ck_assert_int_eq(posixtrace_next_event(trid, &e, sizeof e, &none), 0);
        if (none)
            return total;
        if (e.id <= POSIX_TRACE_ERROR)
            continue;
        ck_assert_uint_eq(e.data_len, sizeof n);
        memcpy(&n, e.data, sizeof n);
        total += n * (e.id == b ? 1000 : 1);
    }
}

struct asked {
    unsigned count;
    uint32_t least; /* that is wanted */
};

static bool at_least(void *context, const struct posixtrace_event *e)
{
    struct asked *asked = context;
    uint32_t n;

    memcpy(&n, e->data, sizeof n);
    asked->count++;
    /* Checks the event, which has no time yet. */
    if (e->ns != 0 || e->pid != getpid() || e->tid != gettid() || !e->prog_address ||
        e->thread_id != (uint64_t)pthread_self() || strcmp(e->name, e->id == a ? "a" : "b") != 0)
        abort();
    return n >= asked->least;
}

START_TEST(errors)
{
    trace_id_t trid = begin(), other;
    pid_t pid = fork();

    if (pid == 0) {
        pause();
        _exit(0);
    }
    ck_assert_int_eq(posixtrace_set_handler(trid, POSIX_TRACE_START, at_least, NULL), EINVAL);
    ck_assert_int_eq(posixtrace_set_handler(trid, 1u << 20, at_least, NULL), EINVAL);
    for (trace_event_id_t id = 1; id < 1300; id++) {
        char name[TRACE_EVENT_NAME_MAX + 1];
        bool is_type = posix_trace_eventid_get_name(trid, id, name) == 0 && id > POSIX_TRACE_ERROR;

        ck_assert_int_eq(posixtrace_set_handler(trid, id, at_least, NULL), is_type ? 0 : EINVAL);
        ck_assert_int_eq(posixtrace_set_handler(trid, id, NULL, NULL), is_type ? 0 : EINVAL);
    }
    ck_assert_int_eq(posixtrace_set_handler(trid + 1000, a, at_least, NULL), EINVAL);
    ck_assert_int_eq(posix_trace_create(pid, NULL, &other), 0);
    ck_assert_int_eq(posixtrace_set_handler(other, a, at_least, NULL), ESRCH);
    ck_assert_int_eq(posix_trace_shutdown(other), 0);
    ck_assert_int_eq(kill(pid, SIGKILL), 0);
    ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
}
END_TEST

START_TEST(one_type_and_all)
{
    struct asked of_a = { 0, 3 }, of_all = { 0, 2 };
    trace_id_t trid = begin();

    ck_assert_int_eq(posixtrace_set_handler(trid, a, at_least, &of_a), 0);
    ck_assert_int_eq(posixtrace_set_handler(trid, 0, at_least, &of_all), 0);
    for (uint32_t n = 1; n <= 3; n++) {
        trace_u32(a, n);
        trace_u32(b, n);
    }
    ck_assert_uint_eq(sum(trid), 3 + 5000);
    ck_assert_uint_eq(of_a.count, 3);
    ck_assert_uint_eq(of_all.count, 3);
    ck_assert_int_eq(posixtrace_set_handler(trid, 0, NULL, NULL), 0);
    trace_u32(b, 1);
    trace_u32(a, 1);
    ck_assert_uint_eq(sum(trid), 1000);
    of_a.least = 1;
    ck_assert_int_eq(posixtrace_set_handler(trid, a, NULL, NULL), 0);
    trace_u32(a, 7);
    ck_assert_uint_eq(sum(trid), 7);
    ck_assert_uint_eq(of_a.count, 4);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
}
END_TEST

/* The function is asked about nothing that is left out without it. */
START_TEST(comes_last)
{
    struct asked asked = { 0, 0 };
    trace_id_t trid = begin();
    trace_event_set_t set;

    ck_assert_int_eq(posixtrace_set_handler(trid, 0, at_least, &asked), 0);
    ck_assert_int_eq(posixtrace_set_expression(trid, "n > 5", NULL), 0);
    trace_u32(a, 5);
    trace_u32(a, 6);
    trace_u32(b, 6);
    ck_assert_uint_eq(asked.count, 1);
    ck_assert_int_eq(posix_trace_eventset_empty(&set), 0);
    ck_assert_int_eq(posix_trace_eventset_add(a, &set), 0);
    ck_assert_int_eq(posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET), 0);
    trace_u32(a, 7);
    ck_assert_int_eq(posix_trace_stop(trid), 0);
    ck_assert_int_eq(posix_trace_set_filter(trid, &set, POSIX_TRACE_SUB_EVENTSET), 0);
    trace_u32(a, 8);
    ck_assert_uint_eq(asked.count, 1);
    ck_assert_int_eq(posix_trace_start(trid), 0);
    trace_u32(a, 9);
    ck_assert_uint_eq(asked.count, 2);
    ck_assert_uint_eq(sum(trid), 6 + 9);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
}
END_TEST

static bool trace_another(void *context, const struct posixtrace_event *e)
{
    uint32_t n;

    memcpy(&n, e->data, sizeof n);
    if (n < *(uint32_t *)context)
        trace_u32(e->id, n + 1);
    return true;
}

/* Events of a function are nested; the fifth level has no room, and is counted. */
START_TEST(nested)
{
    struct posix_trace_status_info status;
    uint32_t until = 4;
    trace_id_t trid = begin();

    ck_assert_int_eq(posixtrace_set_handler(trid, a, trace_another, &until), 0);
    trace_u32(a, 1);
    ck_assert_uint_eq(sum(trid), 1 + 2 + 3 + 4);
    ck_assert_int_eq(posix_trace_get_status(trid, &status), 0);
    ck_assert_int_eq(status.posix_stream_overrun_status, POSIX_TRACE_NO_OVERRUN);
    until = 5;
    trace_u32(a, 1);
    ck_assert_uint_eq(sum(trid), 1 + 2 + 3 + 4);
    ck_assert_int_eq(posix_trace_get_status(trid, &status), 0);
    ck_assert_int_eq(status.posix_stream_overrun_status, POSIX_TRACE_OVERRUN);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
}
END_TEST

static bool trace_b_at_the_fifth(void *context, const struct posixtrace_event *e)
{
    uint32_t n;

    (void)context;
    memcpy(&n, e->data, sizeof n);
    trace_u32(n < 4 ? a : b, n + 1);
    return true;
}

static uint64_t lost_in(trace_id_t trid)
{
    struct posixtrace_info info;
    uint64_t lost = 0;

    ck_assert_int_eq(posixtrace_get_info(trid, &info, sizeof info), 0);
    for (unsigned i = 0; i < POSIXTRACE_LOSS_CAUSES; i++)
        lost += info.lost[i];
    ck_assert_uint_eq(lost, info.lost[POSIXTRACE_LOST_NESTED]);
    return lost;
}

static trace_id_t begin_without(trace_event_id_t type)
{
    trace_event_set_t set;
    trace_id_t trid = begin();

    ck_assert_int_eq(posix_trace_eventset_empty(&set), 0);
    ck_assert_int_eq(posix_trace_eventset_add(type, &set), 0);
    ck_assert_int_eq(posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET), 0);
    return trid;
}

/* The fifth level is counted where the event would have gone to, also in a stream into which
 * the thread has never written. */
START_TEST(nested_elsewhere)
{
    trace_id_t first, second;

    ck_assert_int_eq(posixtrace_event_describe("a", "u32 n", &a), 0);
    ck_assert_int_eq(posix_trace_eventid_open("b", &b), 0);
    first = begin_without(b);
    second = begin_without(a);
    ck_assert_int_eq(posixtrace_set_handler(first, a, trace_b_at_the_fifth, NULL), 0);
    trace_u32(a, 1);
    trace_u32(a, 1);
    ck_assert_uint_eq(lost_in(first), 0);
    ck_assert_uint_eq(lost_in(second), 2);
    trace_u32(b, 1);
    trace_u32(a, 1);
    ck_assert_uint_eq(lost_in(second), 3);
    ck_assert_uint_eq(sum(first), 3 * (1 + 2 + 3 + 4));
    ck_assert_uint_eq(sum(second), 1000);
    ck_assert_int_eq(posix_trace_shutdown(first), 0);
    ck_assert_int_eq(posix_trace_shutdown(second), 0);
}
END_TEST

static bool fork_inside(void *context, const struct posixtrace_event *e)
{
    (void)e;
    *(pid_t *)context = fork();
    return true;
}

/* A function that forks: both return into the event. */
START_TEST(forks)
{
    trace_id_t trid = begin();
    pid_t pid = -1;
    unsigned total;
    int status;

    ck_assert_int_eq(posixtrace_set_handler(trid, a, fork_inside, &pid), 0);
    trace_u32(a, 5);
    if (pid == 0) {
        trace_u32(b, 1);
        _exit(7);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 7);
    trace_u32(b, 2);
    total = sum(trid);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0); /* else the next tests would fork, too */
    ck_assert_uint_eq(total, 5 + 1000 + 2000);
}
END_TEST

START_TEST(in_a_child)
{
    struct asked asked = { 0, 3 };
    trace_id_t trid = begin();
    int status;
    pid_t pid;

    ck_assert_int_eq(posixtrace_set_handler(trid, a, at_least, &asked), 0);
    trace_u32(a, 2);
    pid = fork();
    if (pid == 0) {
        trace_u32(a, 2);
        trace_u32(a, 3);
        trace_u32(b, 1);
        _exit((int)asked.count);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_int_eq(WEXITSTATUS(status), 3);
    trace_u32(a, 4);
    ck_assert_uint_eq(sum(trid), 3 + 1000 + 4);
    ck_assert_uint_eq(asked.count, 2);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
}
END_TEST

/* The next stream in the same place does not ask it. */
START_TEST(ends_with_its_stream)
{
    struct asked asked = { 0, 100 };
    trace_id_t trid = begin();

    ck_assert_int_eq(posixtrace_set_handler(trid, a, at_least, &asked), 0);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
    trid = begin();
    trace_u32(a, 1);
    ck_assert_uint_eq(sum(trid), 1);
    ck_assert_int_eq(posixtrace_set_handler(trid, b, at_least, &asked), 0);
    trace_u32(a, 1);
    trace_u32(b, 1);
    ck_assert_uint_eq(sum(trid), 1);
    ck_assert_uint_eq(asked.count, 1);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
}
END_TEST

static atomic_int over;

static void *trace_without_end(void *none)
{
    (void)none;
    while (!atomic_load(&over))
        trace_u32(a, 1);
    return NULL;
}

static bool is_alive(void *context, const struct posixtrace_event *e)
{
    (void)e;
    if (*(uint32_t *)context != 77)
        abort();
    return false;
}

/* When a function was taken away, its context is the program's again. */
START_TEST(taken_away_while_tracing)
{
    trace_id_t trid = begin();
    pthread_t thread[2];

    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(pthread_create(&thread[i], NULL, trace_without_end, NULL), 0);
    for (int round = 0; round < 300; round++) {
        uint32_t *context = malloc(sizeof *context), *next = malloc(sizeof *next);

        *context = *next = 77;
        ck_assert_int_eq(posixtrace_set_handler(trid, a, is_alive, context), 0);
        ck_assert_int_eq(posixtrace_set_handler(trid, a, is_alive, next), 0);
        *context = 0;
        free(context);
        ck_assert_int_eq(posixtrace_set_handler(trid, a, NULL, NULL), 0);
        *next = 0;
        free(next);
    }
    atomic_store(&over, 1);
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(pthread_join(thread[i], NULL), 0);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
}
END_TEST

static void add(TCase *t)
{
    tcase_add_test(t, errors);
    tcase_add_test(t, one_type_and_all);
    tcase_add_test(t, comes_last);
    tcase_add_test(t, nested);
    tcase_add_test(t, nested_elsewhere);
    /* Its children fork without end there, see support/valgrind.h. */
    if (!is_under_valgrind())
        tcase_add_test(t, forks);
    tcase_add_test(t, in_a_child);
    tcase_add_test(t, ends_with_its_stream);
    tcase_add_test(t, taken_away_while_tracing);
}

int main(void)
{
    return run_suite("stream", "handler", NULL, add);
}
