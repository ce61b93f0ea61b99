/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * --caller: which events of calls are kept, with addresses in the place of names, as --no-symbols
 * has them.  test/cli/cases/symbols.case has names.
 */
#include <check.h>
#include <posixtrace/system.h>
#include <stdlib.h>
#include <string.h>
#include "input/caller_option.h"
#include "support/run_suite.h"

enum { WANTED = 0x1000, OTHER = 0x2000, THREADS = 5000 };

static struct sites sites = { .off = true };
static struct caller_option option;
static trace_id_t trid;

static bool wants_data(pid_t tid, trace_event_id_t id, const void *data, size_t size)
{
    const struct posixtrace_event e = {
        .ns = 1, .data = data, .data_len = size, .id = id, .pid = 7, .tid = tid, .name = ""
    };

    return caller_option_wants(&option, trid, &e);
}

/* An event of two numbers. */
static bool wants(pid_t tid, trace_event_id_t id, uint64_t first, uint64_t second)
{
    const uint64_t data[2] = { first, second };

    return wants_data(tid, id, data, sizeof data);
}

static void begin(void)
{
    ck_assert_int_eq(posix_trace_create(0, NULL, &trid), 0);
    ck_assert_int_eq(caller_option_add(&option, "0x1*"), 0);
    option.sites = &sites;
}

static void end(void)
{
    caller_option_free(&option);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
}

START_TEST(the_end_goes_with_its_call)
{
    ck_assert(wants(1, POSIXTRACE_MUTEX_LOCK, 5, WANTED));
    ck_assert(!wants(2, POSIXTRACE_MUTEX_LOCK, 5, OTHER));
    ck_assert(!wants(2, POSIXTRACE_MUTEX_LOCKED, 5, 0));
    ck_assert(!wants(1, POSIXTRACE_SEM_WAIT, 5, OTHER)); /* in a handler */
    ck_assert(!wants(1, POSIXTRACE_SEM_TAKEN, 5, 0));
    ck_assert(wants(1, POSIXTRACE_MUTEX_LOCKED, 5, 0));
    ck_assert(!wants(1, POSIXTRACE_MUTEX_LOCKED, 5, 0)); /* of nothing */
    ck_assert(!wants(1, POSIXTRACE_SEM_POST, 5, OTHER));
    ck_assert(wants(1, POSIXTRACE_SEM_POST, 5, WANTED));
    ck_assert(!wants(1, 1100, WANTED, WANTED)); /* nothing describes it */
}
END_TEST

START_TEST(an_end_after_a_gap_is_of_nothing)
{
    ck_assert(wants(1, POSIXTRACE_MUTEX_LOCK, 5, WANTED));
    ck_assert(!wants(0, POSIX_TRACE_RESUME, 0, 0));
    ck_assert(!wants(1, POSIXTRACE_MUTEX_LOCKED, 5, 0));
}
END_TEST

START_TEST(functions_nest)
{
    for (unsigned depth = 0; depth < 100; depth++)
        ck_assert(wants(1, POSIXTRACE_FUNCTION_ENTER, 5, depth % 3 ? OTHER : WANTED) ==
                  (depth % 3 == 0));
    for (unsigned depth = 100; depth-- > 0;)
        ck_assert(wants(1, POSIXTRACE_FUNCTION_EXIT, 5, 0) == (depth % 3 == 0 && depth >= 36));
}
END_TEST

static bool wants_stack(uint16_t count, uint64_t last, size_t cut)
{
    unsigned char data[2 + 8 * POSIXTRACE_STACK_MAX] = { 0 };

    memcpy(data, &count, sizeof count);
    if (count > 0 && count <= POSIXTRACE_STACK_MAX)
        memcpy(data + 2 + 8 * (count - 1), &last, sizeof last);
    return wants_data(1, POSIXTRACE_STACK, data, cut);
}

START_TEST(a_stack_is_of_its_call_or_has_the_function)
{
    ck_assert(wants_stack(3, WANTED, 2 + 3 * 8));
    ck_assert(!wants_stack(3, OTHER, 2 + 3 * 8));
    ck_assert(!wants_stack(3, WANTED, 2 + 3 * 8 - 1));
    ck_assert(!wants_stack(UINT16_MAX, WANTED, 2 + 8 * POSIXTRACE_STACK_MAX));
    ck_assert(!wants_stack(0, 0, 1));
    ck_assert(!wants_stack(0, 0, 0));
    ck_assert(wants(1, POSIXTRACE_MUTEX_LOCK, 5, WANTED));
    ck_assert(wants(1, POSIXTRACE_MUTEX_LOCKED, 5, 0));
    ck_assert(!wants(2, POSIXTRACE_SEM_POST, 5, OTHER)); /* of another thread */
    ck_assert(wants_stack(3, OTHER, 2 + 3 * 8));
    ck_assert(!wants(1, POSIXTRACE_SEM_POST, 5, OTHER));
    ck_assert(!wants_stack(3, OTHER, 2 + 3 * 8));
}
END_TEST

START_TEST(any_data_is_taken)
{
    const uint64_t data[3] = { WANTED, WANTED, WANTED };

    for (trace_event_id_t id = 0; id < 1100; id++)
        for (size_t size = 0; size <= sizeof data; size++)
            wants_data(1, id, data, size);
    ck_assert(!wants_data(1, POSIXTRACE_MUTEX_LOCK, data, 8)); /* of a log of 0.1 */
}
END_TEST

START_TEST(many_threads)
{
    for (pid_t tid = 1; tid <= THREADS; tid++)
        ck_assert(wants(tid, POSIXTRACE_MUTEX_LOCK, 5, tid % 2 ? WANTED : OTHER) == (tid % 2 == 1));
    for (pid_t tid = 1; tid <= THREADS; tid++)
        ck_assert(wants(tid, POSIXTRACE_MUTEX_LOCKED, 5, 0) == (tid % 2 == 1));
    ck_assert_uint_eq(option.thread_count, THREADS);
}
END_TEST

static void add(TCase *t)
{
    tcase_add_checked_fixture(t, begin, end);
    tcase_add_test(t, the_end_goes_with_its_call);
    tcase_add_test(t, an_end_after_a_gap_is_of_nothing);
    tcase_add_test(t, functions_nest);
    tcase_add_test(t, a_stack_is_of_its_call_or_has_the_function);
    tcase_add_test(t, any_data_is_taken);
    tcase_add_test(t, many_threads);
}

int main(void)
{
    return run_suite("tools", "caller", NULL, add);
}
