/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * posixtrace/context.h: the events of a good header, a bad one and none; the fields by their
 * names; the filter; the first call of a process, in a signal handler; and the log.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <posixtrace/context.h>
#include <posixtrace/log.h>
#include <posixtrace/typed.h>
#include <trace.h>
#include "support/run_suite.h"

#define TRACE "4bf92f3577b34da6a3ce929d0e0e4736"
#define SPAN  "00f067aa0ba902b7"
#define GOOD  "00-" TRACE "-" SPAN "-01"

static trace_id_t trid;

static void setup(void)
{
    ck_assert_int_eq(posix_trace_create(0, NULL, &trid), 0);
    ck_assert_int_eq(posix_trace_start(trid), 0);
}

static void teardown(void)
{
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
}

/* The next context; false: there is none. */
static bool next(struct posixtrace_event *e)
{
    int end = 0;

    while (posixtrace_next_event(trid, e, sizeof *e, &end) == 0 && !end)
        if (e->id == POSIXTRACE_CONTEXT)
            return true;
    return false;
}

static void expect_text(const struct posixtrace_event *e, const char *field, const char *text)
{
    struct posixtrace_field_value v;

    ck_assert_int_eq(posixtrace_event_field(trid, e, field, &v, sizeof v), 0);
    ck_assert_uint_eq(v.text_len, strlen(text));
    ck_assert_mem_eq(v.text, text, v.text_len);
}

static void expect_flags(const struct posixtrace_event *e, unsigned flags)
{
    struct posixtrace_field_value v;

    ck_assert_int_eq(posixtrace_event_field(trid, e, "flags", &v, sizeof v), 0);
    ck_assert_uint_eq(v.integer, flags);
}

START_TEST(recorded)
{
    char text[POSIXTRACE_TRACEPARENT_SIZE] = "untouched";
    struct posixtrace_event e;

    errno = EXDEV;
    ck_assert_int_eq(posixtrace_context(GOOD), 0);
    ck_assert_int_eq(posixtrace_context("01-" TRACE "-" SPAN "-03-more"), 0);
    ck_assert_int_eq(errno, EXDEV);
    ck_assert(next(&e));
    ck_assert_str_eq(e.name, "posixtrace_context");
    ck_assert_int_eq(e.tid, gettid());
    expect_text(&e, "trace_id", TRACE);
    expect_text(&e, "span_id", SPAN);
    expect_flags(&e, 1);
    ck_assert(posixtrace_context_text(&e, text));
    ck_assert_str_eq(text, GOOD);
    ck_assert(next(&e));
    expect_flags(&e, 1);
    ck_assert(!next(&e));
}
END_TEST

/* The work is not part of the request of before. */
START_TEST(cleared)
{
    static const char *const wrong[] = { NULL, "", "ff-" TRACE "-" SPAN "-01", "00-" TRACE };
    char text[POSIXTRACE_TRACEPARENT_SIZE] = "untouched";
    struct posixtrace_event e;

    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        ck_assert_int_eq(posixtrace_context(GOOD), 0);
        ck_assert_int_eq(posixtrace_context(wrong[i]), wrong[i] ? EINVAL : 0);
        ck_assert(next(&e) && next(&e));
        expect_text(&e, "trace_id", "");
        expect_text(&e, "span_id", "");
        expect_flags(&e, 0);
        ck_assert(!posixtrace_context_text(&e, text));
        ck_assert_str_eq(text, "untouched");
    }
}
END_TEST

START_TEST(filtered)
{
    struct posixtrace_event e;
    trace_event_set_t set;

    ck_assert_int_eq(posix_trace_eventset_empty(&set), 0);
    ck_assert_int_eq(posix_trace_eventset_add(POSIXTRACE_CONTEXT, &set), 0);
    ck_assert_int_eq(posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET), 0);
    ck_assert_int_eq(posixtrace_context(GOOD), 0);
    ck_assert_int_eq(posixtrace_context("nonsense"), EINVAL);
    ck_assert(!next(&e));
    ck_assert_int_eq(posix_trace_set_filter(trid, &set, POSIX_TRACE_SUB_EVENTSET), 0);
    ck_assert_int_eq(posixtrace_context(GOOD), 0);
    ck_assert(next(&e));
}
END_TEST

static int first;

static void handler(int number)
{
    (void)number;
    first = posixtrace_context(GOOD);
}

/* No call of the library came before in this thread. */
START_TEST(first_in_handler)
{
    struct posixtrace_event e;

    first = -1;
    ck_assert_ptr_ne(signal(SIGUSR1, handler), SIG_ERR);
    ck_assert_int_eq(raise(SIGUSR1), 0);
    ck_assert_int_eq(first, 0);
    ck_assert(next(&e));
    expect_text(&e, "trace_id", TRACE);
}
END_TEST

/* Other events are no contexts, nor is one of another length, which any program may record. */
START_TEST(other_events)
{
    char text[POSIXTRACE_TRACEPARENT_SIZE];
    struct posixtrace_event e;

    posixtrace_system_event(POSIXTRACE_CONTEXT, "4bf9", 4);
    posixtrace_system_event(POSIXTRACE_CONTEXT, NULL, 0);
    ck_assert(next(&e) && !posixtrace_context_text(&e, text));
    ck_assert(next(&e) && !posixtrace_context_text(&e, text));
    ck_assert_int_eq(posixtrace_context(GOOD), 0);
    ck_assert(next(&e) && posixtrace_context_text(&e, text));
    e.id = POSIXTRACE_MUTEX_LOCK;
    ck_assert(!posixtrace_context_text(&e, text));
}
END_TEST

START_TEST(in_log)
{
    int fd = memfd_create("log", MFD_CLOEXEC);
    struct posixtrace_event e;
    trace_id_t stream;

    ck_assert_int_eq(posix_trace_create_withlog(0, NULL, fd, &stream), 0);
    ck_assert_int_eq(posix_trace_start(stream), 0);
    ck_assert_int_eq(posixtrace_context(GOOD), 0);
    ck_assert_int_eq(posix_trace_shutdown(stream), 0);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
    ck_assert_int_eq(posix_trace_open(fd, &trid), 0);
    ck_assert(next(&e));
    expect_text(&e, "trace_id", TRACE);
    expect_text(&e, "span_id", SPAN);
    expect_flags(&e, 1);
    ck_assert_int_eq(posix_trace_close(trid), 0);
    close(fd);
    setup();
}
END_TEST

static void add(TCase *t)
{
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, recorded);
    tcase_add_test(t, cleared);
    tcase_add_test(t, filtered);
    tcase_add_test(t, first_in_handler);
    tcase_add_test(t, other_events);
    tcase_add_test(t, in_log);
}

int main(void)
{
    return run_suite("stream", "context", NULL, add);
}
