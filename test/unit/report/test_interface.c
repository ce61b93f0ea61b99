/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The interface of posixtrace/report.h: errors, texts, and a map that grows.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <posixtrace/event.h>
#include <posixtrace/log.h>
#include <posixtrace/report.h>
#include <posixtrace/system.h>
#include "analysis/report/report_map.h"
#include "support/run_suite.h"

enum { KEYS = 100000, THREADS = 3000 };

/* A log of two events of each thread, 10 ns apart. */
static trace_id_t make_log(int threads)
{
    FILE *f = tmpfile();
    posixtrace_log_builder_t *builder;
    trace_id_t trid;

    ck_assert(f && posixtrace_log_builder_create(fileno(f), NULL, &builder) == 0);
    for (int i = 0; i < 2 * threads; i++) {
        struct posixtrace_event e = { .ns = 1000 + i / threads * 10 + i % threads,
                                      .name = "x",
                                      .thread_name = "t",
                                      .pid = 1,
                                      .tid = 1 + i % threads };

        if (i >= threads)
            e.ns += threads;
        ck_assert_int_eq(posixtrace_log_builder_add(builder, &e, sizeof e), 0);
    }
    ck_assert_int_eq(posixtrace_log_builder_finish(builder), 0);
    ck_assert_int_eq(lseek(fileno(f), 0, SEEK_SET), 0);
    ck_assert_int_eq(posix_trace_open(fileno(f), &trid), 0);
    fclose(f);
    return trid;
}

START_TEST(wrong_arguments_are_einval)
{
    const struct posixtrace_report_options options = { .to_ns = INT64_MAX };
    trace_id_t trid = make_log(1);
    posixtrace_report_t *r = NULL;
    int unavailable;

    ck_assert_int_eq(posixtrace_report_create(trid, NULL, 0, NULL), EINVAL);
    ck_assert_int_eq(posixtrace_report_create(trid, &options, 0, &r), EINVAL);
    ck_assert_int_eq(posixtrace_report_create(trid + 1, NULL, 0, &r), EINVAL);
    ck_assert_ptr_null(r);
    ck_assert_int_eq(posixtrace_report_create(trid, &options, sizeof options, &r), 0);
    ck_assert_int_eq(posixtrace_report_take(NULL, 0, &unavailable), EINVAL);
    ck_assert_int_eq(posixtrace_report_take(r, 0, NULL), EINVAL);
    ck_assert_int_eq(posixtrace_report_end(NULL), EINVAL);
    ck_assert_ptr_null(posixtrace_report_thread(NULL, 0));
    ck_assert_ptr_null(posixtrace_report_thread(r, 0));
    ck_assert_ptr_null(posixtrace_report_object(r, 0));
    ck_assert_ptr_null(posixtrace_report_site(NULL, 0));
    ck_assert_ptr_null(posixtrace_report_site(r, 0));
    ck_assert_ptr_null(posixtrace_report_pair(r, 0));
    posixtrace_report_free(r);
    posixtrace_report_free(NULL);
    ck_assert_int_eq(posix_trace_close(trid), 0);
}
END_TEST

START_TEST(threads_come_in_the_order_of_their_events)
{
    const struct posixtrace_report_thread *t;
    trace_id_t trid = make_log(THREADS);
    posixtrace_report_t *r;
    int unavailable = 0;
    size_t i = 0;

    ck_assert_int_eq(posixtrace_report_create(trid, NULL, 0, &r), 0);
    while (!unavailable)
        ck_assert_int_eq(posixtrace_report_take(r, 100, &unavailable), 0);
    ck_assert_int_eq(posixtrace_report_end(r), 0);
    ck_assert_uint_eq(posixtrace_report_events(r), 2 * THREADS);
    for (; (t = posixtrace_report_thread(r, i)) != NULL; i++) {
        ck_assert_int_eq(t->tid, (pid_t)i + 1);
        ck_assert_int_eq(t->total_ns, THREADS + 10);
        ck_assert_int_eq(t->unknown_ns, t->total_ns);
    }
    ck_assert_uint_eq(i, THREADS);
    posixtrace_report_free(r);
    ck_assert_int_eq(posix_trace_close(trid), 0);
}
END_TEST

START_TEST(kinds_and_calls_have_texts)
{
    unsigned named = 0;

    for (unsigned k = 0; k <= POSIXTRACE_WAIT_SIGNAL; k++)
        ck_assert_ptr_nonnull(posixtrace_wait_text(k));
    ck_assert_ptr_null(posixtrace_wait_text(POSIXTRACE_WAIT_SIGNAL + 1));
    ck_assert_str_eq(posixtrace_call_text(POSIXTRACE_CALL_READ), "read");
    ck_assert_str_eq(posixtrace_call_text(POSIXTRACE_CALL_EPOLL_WAIT), "epoll_wait");
    for (unsigned call = 0; call <= POSIXTRACE_CALL_PAUSE; call++)
        named += posixtrace_call_text(call) != NULL;
    ck_assert_uint_gt(named, 60);
    ck_assert_ptr_null(posixtrace_call_text(UINT32_MAX));
}
END_TEST

START_TEST(a_map_finds_what_was_made)
{
    struct pt_report_map m = { .slots = NULL };

    for (uint64_t i = 0; i < KEYS; i++) {
        uint64_t *item = pt_report_map_make(&m, (struct pt_report_key){ i % 7, i, i % 3 },
                                            sizeof *item);

        ck_assert(item && *item == 0);
        *item = i + 1;
    }
    for (uint64_t i = 0; i < KEYS; i++) {
        struct pt_report_key key = { i % 7, i, i % 3 }, other = { i % 7 + 1, i, i % 3 };
        const uint64_t *item = pt_report_map_find(&m, key);

        ck_assert(item && *item == i + 1 && m.items[i] == item);
        ck_assert_ptr_eq(pt_report_map_make(&m, key, sizeof *item), item);
        ck_assert_ptr_null(pt_report_map_find(&m, other));
    }
    ck_assert_uint_eq(m.count, KEYS);
    pt_report_map_deinit(&m);
}
END_TEST

static void add(TCase *tc)
{
    tcase_add_test(tc, wrong_arguments_are_einval);
    tcase_add_test(tc, threads_come_in_the_order_of_their_events);
    tcase_add_test(tc, kinds_and_calls_have_texts);
    tcase_add_test(tc, a_map_finds_what_was_made);
}

int main(void)
{
    return run_suite("report", "interface", NULL, add);
}
