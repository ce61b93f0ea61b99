/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The interface of posixtrace/jobs.h: errors, what callbacks return, jobs before the first context
 * switch of a thread.  cli/jobs random has the numbers.
 */
#include <errno.h>
#include <stdio.h>
#include <unistd.h>
#include <posixtrace/event.h>
#include <posixtrace/jobs.h>
#include <posixtrace/log.h>
#include <posixtrace/system.h>
#include "support/run_suite.h"

struct step {
    int64_t ns;
    const char *event;
};

static const struct step working[] = {
    { 100, "b" }, { 180, "e" }, { 200, "b" }, { 250, "e" }, { 300, NULL }
};

/* The steps of a thread, and then the last event. */
static trace_id_t make_log(const struct step *steps, const char *last)
{
    FILE *f = tmpfile();
    posixtrace_log_builder_t *builder;
    trace_id_t trid;
    bool more;

    ck_assert(f && posixtrace_log_builder_create(fileno(f), NULL, &builder) == 0);
    do {
        struct posixtrace_event e = { .ns = steps->ns, .thread_name = "t", .pid = 1, .tid = 2 };

        more = steps->event != NULL;
        e.name = more ? steps++->event : last;
        ck_assert_int_eq(posixtrace_log_builder_add(builder, &e, sizeof e), 0);
    } while (more);
    ck_assert_int_eq(posixtrace_log_builder_finish(builder), 0);
    ck_assert_int_eq(lseek(fileno(f), 0, SEEK_SET), 0);
    ck_assert_int_eq(posix_trace_open(fileno(f), &trid), 0);
    fclose(f);
    return trid;
}

static const struct posixtrace_job_rule pair = { POSIXTRACE_JOB_EVENTS, "b", "e" };
static struct posixtrace_job seen[8];
static size_t count;
static int result;

static int job(void *context, const struct posixtrace_job *j)
{
    ck_assert_ptr_eq(context, seen);
    ck_assert_uint_lt(count, sizeof seen / sizeof seen[0]);
    seen[count++] = *j;
    return result;
}

static int run_over(trace_id_t trid)
{
    struct posixtrace_jobs_options options = {
        .rules = &pair, .rule_count = 1, .to_ns = INT64_MAX, .job = job, .context = seen
    };
    posixtrace_jobs_t *j;
    int unavailable = 0, error = 0;

    count = 0;
    ck_assert_int_eq(posixtrace_jobs_create(trid, &options, sizeof options, &j), 0);
    while (error == 0 && !unavailable)
        error = posixtrace_jobs_take(j, 1, &unavailable);
    if (error == 0)
        error = posixtrace_jobs_end(j);
    if (error == 0) {
        ck_assert_uint_eq(posixtrace_jobs_events(j), 5);
        ck_assert_uint_eq(posixtrace_jobs_count(j, 0)->jobs, count);
        ck_assert_int_eq(posixtrace_jobs_summary(j)->last_ns, 300);
    }
    posixtrace_jobs_free(j);
    ck_assert_int_eq(posix_trace_close(trid), 0);
    return error;
}

START_TEST(wrong_arguments_are_einval)
{
    struct posixtrace_job_rule rules[9];
    struct posixtrace_jobs_options options = { .to_ns = INT64_MAX };
    trace_id_t trid = make_log(working, "x");
    posixtrace_jobs_t *j = NULL;
    int unavailable;

    ck_assert_int_eq(posixtrace_jobs_create(trid, NULL, sizeof options, &j), EINVAL);
    ck_assert_int_eq(posixtrace_jobs_create(trid, &options, 0, &j), EINVAL);
    ck_assert_int_eq(posixtrace_jobs_create(trid, &options, sizeof options, NULL), EINVAL);
    ck_assert_int_eq(posixtrace_jobs_create(trid + 1, &options, sizeof options, &j), EINVAL);
    options.rule_count = 1;
    ck_assert_int_eq(posixtrace_jobs_create(trid, &options, sizeof options, &j), EINVAL);
    for (size_t i = 0; i < 9; i++)
        rules[i] = pair;
    options.rules = rules;
    options.rule_count = 9;
    ck_assert_int_eq(posixtrace_jobs_create(trid, &options, sizeof options, &j), EINVAL);
    options.rule_count = 8;
    rules[7].end = NULL;
    ck_assert_int_eq(posixtrace_jobs_create(trid, &options, sizeof options, &j), EINVAL);
    rules[7] = (struct posixtrace_job_rule){ .source = POSIXTRACE_JOB_EVENTS + 1 };
    ck_assert_int_eq(posixtrace_jobs_create(trid, &options, sizeof options, &j), EINVAL);
    ck_assert_ptr_null(j);
    rules[7].source = POSIXTRACE_JOB_TIMED;
    ck_assert_int_eq(posixtrace_jobs_create(trid, &options, sizeof options, &j), 0);
    ck_assert_int_eq(posixtrace_jobs_take(j, 0, NULL), EINVAL);
    ck_assert_int_eq(posixtrace_jobs_take(NULL, 0, &unavailable), EINVAL);
    ck_assert_int_eq(posixtrace_jobs_end(NULL), EINVAL);
    ck_assert_ptr_null(posixtrace_jobs_summary(NULL));
    ck_assert_ptr_null(posixtrace_jobs_count(j, 8));
    ck_assert_ptr_nonnull(posixtrace_jobs_count(j, 7));
    posixtrace_jobs_free(j);
    posixtrace_jobs_free(NULL);
    ck_assert_int_eq(posix_trace_close(trid), 0);
}
END_TEST

START_TEST(a_result_ends_the_pass)
{
    result = 77;
    ck_assert_int_eq(run_over(make_log(working, "x")), 77);
    ck_assert_uint_eq(count, 1);
    result = 0;
}
END_TEST

/* Without a switch nothing is known of the time outside of calls. */
START_TEST(without_switches_time_is_unknown)
{
    ck_assert_int_eq(run_over(make_log(working, "x")), 0);
    ck_assert_uint_eq(count, 2);
    ck_assert(!seen[0].by_switches && seen[0].unknown_ns == 80 && seen[0].run_ns == 0);
    ck_assert_int_eq(seen[1].period_ns, 100);
    ck_assert_int_eq(seen[0].period_ns, -1);
}
END_TEST

/* The first switch says it of the jobs before it. */
START_TEST(the_first_switch_settles_jobs)
{
    ck_assert_int_eq(run_over(make_log(working, "posixtrace_switch_out")), 0);
    ck_assert_uint_eq(count, 2);
    ck_assert(seen[0].by_switches && seen[0].run_ns == 80 && seen[0].unknown_ns == 0);
    ck_assert(seen[1].by_switches && seen[1].run_ns == 50 && seen[1].unknown_ns == 0);
    ck_assert_int_eq(run_over(make_log(working, "posixtrace_switch_in")), 0);
    ck_assert_uint_eq(count, 2);
    ck_assert(seen[0].run_ns == 0 && seen[0].unknown_ns == 80);
    ck_assert(seen[1].run_ns == 0 && seen[1].unknown_ns == 50);
}
END_TEST

static void add(TCase *tc)
{
    tcase_add_test(tc, wrong_arguments_are_einval);
    tcase_add_test(tc, a_result_ends_the_pass);
    tcase_add_test(tc, without_switches_time_is_unknown);
    tcase_add_test(tc, the_first_switch_settles_jobs);
}

int main(void)
{
    return run_suite("report", "jobs", NULL, add);
}
