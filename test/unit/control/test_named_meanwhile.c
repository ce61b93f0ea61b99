/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * While a thread opens a name, and decides by it whether streams want the type, another one changes
 * what that decision is made of: the filter of a successor in a chain, a function of the program,
 * or the stream itself, which another process ends and replaces.
 * pt_expression_parse() and pt_names_read_name() go through the test, which makes the change there.
 */
#include <errno.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>
#include <posixtrace/event.h>
#include <posixtrace/filter.h>
#include <posixtrace/stream.h>
#include <trace.h>
#include "page/names.h"
#include "support/call_once.h"
#include "support/run_suite.h"

enum { EVENTS = 10, HANG_S = 60 };

static trace_id_t first, second;
static trace_event_id_t old_type, new_type;
static void (*when_parsed)(void), (*when_named)(void);
static unsigned asked;

int __real_pt_expression_parse(const char *text, struct posixtrace_expression **expression,
                               struct posixtrace_expression_fault *fault);
int __wrap_pt_expression_parse(const char *text, struct posixtrace_expression **expression,
                               struct posixtrace_expression_fault *fault);
const char *__real_pt_names_read_name(const struct pt_names *names, uint32_t id,
                                      char to[TRACE_EVENT_NAME_MAX + 1], pt_u64 *backed);
const char *__wrap_pt_names_read_name(const struct pt_names *names, uint32_t id,
                                      char to[TRACE_EVENT_NAME_MAX + 1], pt_u64 *backed);

int __wrap_pt_expression_parse(const char *text, struct posixtrace_expression **expression,
                               struct posixtrace_expression_fault *fault)
{
    call_once(&when_parsed);
    return __real_pt_expression_parse(text, expression, fault);
}

/* The program opens old and then new. */
const char *__wrap_pt_names_read_name(const struct pt_names *names, uint32_t id,
                                      char to[TRACE_EVENT_NAME_MAX + 1], pt_u64 *backed)
{
    if (id == old_type + 1)
        call_once(&when_named);
    return __real_pt_names_read_name(names, id, to, backed);
}

/* A stream that runs, with that expression. */
static trace_id_t create(pid_t pid, const char *expression)
{
    trace_attr_t attr;
    trace_id_t trid;

    ck_assert_int_eq(posix_trace_attr_init(&attr), 0);
    ck_assert_int_eq(posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_UNTIL_FULL), 0);
    ck_assert_int_eq(posix_trace_create(pid, &attr, &trid), 0);
    ck_assert_int_eq(posix_trace_attr_destroy(&attr), 0);
    ck_assert_int_eq(posixtrace_set_expression(trid, expression, NULL), 0);
    ck_assert_int_eq(posix_trace_start(trid), 0);
    return trid;
}

static void trace(trace_event_id_t id)
{
    for (unsigned i = 0; i < EVENTS; i++)
        posix_trace_event(id, &i, sizeof i);
}

static void open_new(const char *name)
{
    ck_assert_int_eq(posix_trace_eventid_open(name, &new_type), 0);
    ck_assert_uint_eq(new_type, old_type + 1);
    ck_assert(!when_parsed && !when_named);
}

/* Reads all that is there: how many are of the program's types. */
static unsigned count_events(trace_id_t trid)
{
    struct posixtrace_event event;
    unsigned n = 0;
    int unavailable;

    for (;;) {
        ck_assert_int_eq(posixtrace_next_event(trid, &event, sizeof event, &unavailable), 0);
        if (unavailable)
            return n;
        n += event.id >= old_type;
    }
}

/* ---- a successor ---- */

static void remove_expression(void)
{
    ck_assert_int_eq(posixtrace_set_expression(second, "", NULL), 0);
}

/* Its gates stay closed: the events come to it only from the stream before it. */
START_TEST(successor)
{
    ck_assert_int_eq(posix_trace_eventid_open("old of a chain", &old_type), 0);
    first = create(0, "");
    second = create(0, "event \"new*\"");
    ck_assert_int_eq(posixtrace_chain(first, second), 0);
    when_parsed = remove_expression;
    open_new("new of a chain");
    trace(old_type);
    trace(new_type);
    ck_assert_uint_eq(count_events(first), 2 * EVENTS);
    ck_assert_uint_eq(count_events(second), 0);
    ck_assert_int_eq(posix_trace_shutdown(first), 0);
    ck_assert_int_eq(posix_trace_shutdown(second), 0);
}
END_TEST

/* ---- a function ---- */

static bool refuse(void *none, const struct posixtrace_event *event)
{
    (void)none;
    asked += event->id == new_type;
    return false;
}

static void set_function(void)
{
    ck_assert_int_eq(posixtrace_set_handler(first, 0, refuse, NULL), 0);
}

START_TEST(function)
{
    ck_assert_int_eq(posix_trace_eventid_open("old", &old_type), 0);
    first = create(0, "event \"new*\"");
    when_named = set_function;
    open_new("new");
    trace(new_type);
    ck_assert_uint_eq(asked, EVENTS);
    ck_assert_uint_eq(count_events(first), 0);
    ck_assert_int_eq(posix_trace_shutdown(first), 0);
}
END_TEST

/* ---- another stream ---- */

static int to_controller[2], to_program[2];

static void say(int fd)
{
    ck_assert_int_eq(write(fd, "x", 1), 1);
}

static void hear(int fd)
{
    char byte;

    ck_assert_int_eq(read(fd, &byte, 1), 1);
}

/* In another process. */
static void control(pid_t program)
{
    trace_id_t trid = create(program, "event \"other\"");

    say(to_program[1]);
    hear(to_controller[0]);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
    trid = create(program, "length 4"); /* the data decide */
    say(to_program[1]);
    hear(to_controller[0]);
    ck_assert_uint_eq(count_events(trid), EVENTS);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
}

static void replace_stream(void)
{
    say(to_controller[1]);
    hear(to_program[0]);
}

START_TEST(stream)
{
    pid_t program = getpid(), controller;
    int status;

    ck_assert_int_eq(posix_trace_eventid_open("old of a stream", &old_type), 0);
    ck_assert_int_eq(pipe(to_controller), 0);
    ck_assert_int_eq(pipe(to_program), 0);
    controller = fork();
    ck_assert_int_ge(controller, 0);
    if (controller == 0) {
        alarm(HANG_S);
        control(program);
        _exit(0);
    }
    hear(to_program[0]);
    when_named = replace_stream;
    open_new("new of a stream");
    trace(new_type);
    say(to_controller[1]);
    ck_assert_int_eq(waitpid(controller, &status, 0), controller);
    ck_assert_int_eq(status, 0);
}
END_TEST

static void add(TCase *tc)
{
    tcase_add_test(tc, successor);
    tcase_add_test(tc, function);
    tcase_add_test(tc, stream);
}

int main(void)
{
    return run_suite("named_meanwhile", "named_meanwhile", NULL, add);
}
