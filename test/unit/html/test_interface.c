/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The interface of posixtrace/page.h: errors, results of the caller's functions, an empty log.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <posixtrace/event.h>
#include <posixtrace/log.h>
#include <posixtrace/page.h>
#include "support/run_suite.h"

enum { EVENTS = 20000 };

static trace_id_t make_log(int count, int64_t step)
{
    FILE *file = tmpfile();
    posixtrace_log_builder_t *builder;
    trace_id_t trid;

    ck_assert(file && posixtrace_log_builder_create(fileno(file), NULL, &builder) == 0);
    for (int i = 0; i < count; i++) {
        struct posixtrace_event e = { .name = i & 1 ? "x:end" : "x:begin",
                                      .thread_name = "t",
                                      .pid = 1,
                                      .tid = 1,
                                      .ns = 1000 + i * step,
                                      .data = &i,
                                      .data_len = sizeof i };

        ck_assert_int_eq(posixtrace_log_builder_add(builder, &e, sizeof e), 0);
    }
    ck_assert_int_eq(posixtrace_log_builder_finish(builder), 0);
    ck_assert_int_eq(lseek(fileno(file), 0, SEEK_SET), 0);
    ck_assert_int_eq(posix_trace_open(fileno(file), &trid), 0);
    fclose(file);
    return trid;
}

struct made {
    char *text;
    size_t length, most; /* write fails after so many bytes; 0: never */
    uint64_t events, stop;
};

static int keep(void *context, const void *bytes, size_t length)
{
    struct made *m = context;

    if (m->most && m->length + length > m->most)
        return ENOSPC;
    m->text = realloc(m->text, m->length + length + 1);
    ck_assert_ptr_nonnull(m->text);
    memcpy(m->text + m->length, bytes, length);
    m->length += length;
    m->text[m->length] = '\0';
    return 0;
}

static int count(void *context, uint64_t events)
{
    struct made *m = context;

    ck_assert_uint_ge(events, m->events);
    m->events = events;
    return m->stop && events >= m->stop ? -7 : 0;
}

static int make(trace_id_t trid, struct made *m)
{
    const struct posixtrace_page_options o = {
        .name = "a<b>.ptl", .note = "kept", .write = keep, .progress = count, .context = m
    };

    return posixtrace_page_write(trid, &o, sizeof o);
}

START_TEST(wrong_arguments_are_einval)
{
    const struct posixtrace_page_options none = { .name = "x" };
    const struct posixtrace_page_options o = { .write = keep };
    trace_id_t trid = make_log(2, 1), active;

    ck_assert_int_eq(posixtrace_page_write(trid, NULL, sizeof o), EINVAL);
    ck_assert_int_eq(posixtrace_page_write(trid, &o, 0), EINVAL);
    ck_assert_int_eq(posixtrace_page_write(trid, &none, sizeof none), EINVAL);
    ck_assert_int_eq(posix_trace_create(0, NULL, &active), 0);
    ck_assert_int_eq(posixtrace_page_write(active, &o, sizeof o), EINVAL);
    ck_assert_int_eq(posix_trace_shutdown(active), 0);
    ck_assert_int_eq(posix_trace_close(trid), 0);
    ck_assert_int_eq(posixtrace_page_write(trid, &o, sizeof o), EINVAL);
}
END_TEST

START_TEST(results_of_functions_are_returned)
{
    trace_id_t trid = make_log(EVENTS, 100);
    struct made whole = { .length = 0 }, full = { .most = 5000 }, stopped = { .stop = 16384 };

    ck_assert_int_eq(make(trid, &full), ENOSPC);
    ck_assert_int_eq(make(trid, &stopped), -7);
    ck_assert_int_eq(make(trid, &whole), 0);
    ck_assert_ptr_nonnull(strstr(whole.text, "data-events=\"20000\""));
    ck_assert_ptr_nonnull(strstr(whole.text, "\"notes\":[\"kept\"]"));
    ck_assert_ptr_nonnull(strstr(whole.text, "<title>a?b?.ptl</title>"));
    ck_assert_ptr_null(strstr(whole.text, "a<b>"));
    ck_assert_int_eq(posix_trace_close(trid), 0);
    free(whole.text);
    free(full.text);
}
END_TEST

START_TEST(a_span_of_years_is_refused)
{
    struct made m = { .length = 0 };
    trace_id_t trid = make_log(2, INT64_C(1) << 53);

    ck_assert_int_eq(make(trid, &m), EOVERFLOW);
    ck_assert_int_eq(posix_trace_close(trid), 0);
    trid = make_log(2, (INT64_C(1) << 53) - 1);
    ck_assert_int_eq(make(trid, &m), 0);
    ck_assert_ptr_nonnull(strstr(m.text, "\"span\":9007199254740991,"));
    ck_assert_int_eq(posix_trace_close(trid), 0);
    free(m.text);
}
END_TEST

START_TEST(a_pipe_cannot_be_read_twice)
{
    struct made m = { .length = 0 };
    trace_id_t trid = make_log(2, 1), piped;
    FILE *file = tmpfile();
    posixtrace_log_builder_t *builder;
    char log[65536];
    int ends[2];
    size_t n;

    ck_assert(file && posixtrace_log_builder_create(fileno(file), NULL, &builder) == 0);
    ck_assert_int_eq(posixtrace_log_builder_finish(builder), 0);
    rewind(file);
    n = fread(log, 1, sizeof log, file);
    fclose(file);
    ck_assert_int_eq(pipe(ends), 0);
    ck_assert_int_eq(write(ends[1], log, n), (ssize_t)n);
    close(ends[1]);
    ck_assert_int_eq(posix_trace_open(ends[0], &piped), 0);
    ck_assert_int_eq(make(piped, &m), ESPIPE);
    ck_assert_int_eq(posix_trace_close(piped), 0);
    close(ends[0]);
    ck_assert_int_eq(posix_trace_close(trid), 0);
}
END_TEST

START_TEST(an_empty_log_has_a_page)
{
    struct made m = { .length = 0 };
    trace_id_t trid = make_log(0, 1);

    ck_assert(posixtrace_page_available());
    ck_assert_int_eq(make(trid, &m), 0);
    ck_assert_ptr_nonnull(strstr(m.text, "data-events=\"0\""));
    ck_assert_int_eq(posix_trace_close(trid), 0);
    free(m.text);
}
END_TEST

static void add_tests(TCase *tc)
{
    tcase_add_test(tc, wrong_arguments_are_einval);
    tcase_add_test(tc, results_of_functions_are_returned);
    tcase_add_test(tc, a_span_of_years_is_refused);
    tcase_add_test(tc, a_pipe_cannot_be_read_twice);
    tcase_add_test(tc, an_empty_log_has_a_page);
}

int main(void)
{
    return run_suite("html", "interface", NULL, add_tests);
}
