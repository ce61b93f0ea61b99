/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* Very many threads: at once, one after the other, with numbers that come again. */
#include <posixtrace/ada_metrics.h>
#include "scene.h"
#include "support/run_suite.h"

struct sums {
    uint64_t count;
    int64_t length;
};

static int add_up(void *context, const struct posixtrace_measurement *m)
{
    struct sums *s = context;

    s->count++;
    s->length += m->length_ns;
    return 0;
}

static struct sums measure(struct scene_trace *t, struct posixtrace_doubt *doubt)
{
    trace_id_t trid = scene_trace_open(t);
    posixtrace_metric_run_t *run;
    posixtrace_metric_t *metric;
    const posixtrace_metric_t *metrics[1];
    struct sums sums = { 0 };
    int none;

    ck_assert_int_eq(posixtrace_new_user_metric("m", "begin", "finish", true, &metric), 0);
    metrics[0] = metric;
    ck_assert_int_eq(posixtrace_metric_run_create(metrics, 1, trid, add_up, &sums, &run), 0);
    ck_assert_int_eq(posixtrace_metric_run_take(run, 0, &none), 0);
    posixtrace_metric_run_end(run);
    posixtrace_metric_run_doubt(run, 0, doubt, sizeof *doubt);
    posixtrace_metric_run_free(run);
    posixtrace_metric_free(metric);
    scene_trace_close(trid);
    return sums;
}

static int threads(void)
{
    return getenv("POSIXTRACE_TEST_SHORT") ? 500 : 5000;
}

START_TEST(all_at_once)
{
    struct scene_trace *t = scene_trace_begin();
    struct posixtrace_doubt doubt;
    int n = threads();
    struct sums sums;

    for (int i = 1; i <= n; i++)
        scene_trace_add(t, i, i, "begin", 0, 0, false);
    for (int i = 1; i <= n; i++)
        scene_trace_add(t, 2 * n + i, i, "finish", 0, 0, false);
    sums = measure(t, &doubt);
    ck_assert_uint_eq(sums.count, (uint64_t)n);
    ck_assert_int_eq(sums.length, (int64_t)n * 2 * n);
    ck_assert_uint_eq(doubt.unfinished, 0);
}
END_TEST

/* More than are kept in mind: those that measure nothing are forgotten, the others not. */
START_TEST(one_after_the_other)
{
    struct scene_trace *t = scene_trace_begin();
    struct posixtrace_doubt doubt;
    int n = 40 * threads();
    struct sums sums;

    scene_trace_add(t, 0, 1, "begin", 0, 0, false);
    for (int i = 2; i <= n; i++) {
        scene_trace_add(t, 2 * i, i, "begin", 0, 0, false);
        scene_trace_add(t, 2 * i + 1, i, "finish", 0, 0, false);
    }
    scene_trace_add(t, 2 * n + 2, 1, "finish", 0, 0, false);
    sums = measure(t, &doubt);
    ck_assert_uint_eq(sums.count, (uint64_t)n);
    ck_assert_int_eq(sums.length, n - 1 + 2 * n + 2);
}
END_TEST

/* A thread that ends inside, and another that gets its number. */
START_TEST(a_number_again)
{
    struct scene_trace *t = scene_trace_begin();
    struct posixtrace_doubt doubt;
    struct sums sums;

    scene_trace_add(t, 10, 5, "begin", 0, 0, false);
    scene_trace_add(t, 20, 5, "posixtrace_thread_end", 0, 0, false);
    scene_trace_add(t, 30, 5, "posixtrace_thread_begin", 0, 0, false);
    scene_trace_add(t, 40, 5, "begin", 0, 0, false);
    scene_trace_add(t, 45, 5, "finish", 0, 0, false);
    sums = measure(t, &doubt);
    ck_assert_uint_eq(sums.count, 1);
    ck_assert_int_eq(sums.length, 5);
    ck_assert_uint_eq(doubt.unfinished, 1);
    ck_assert_uint_eq(doubt.restarted, 0);
}
END_TEST

/* The same where nothing says that the first one ended. */
START_TEST(a_number_again_unseen)
{
    struct scene_trace *t = scene_trace_begin();
    struct posixtrace_doubt doubt;
    struct sums sums;

    scene_trace_add_as(t, 10, 5, 4096, "begin");
    scene_trace_add_as(t, 40, 5, 8192, "finish");
    scene_trace_add_as(t, 50, 5, 8192, "begin");
    scene_trace_add_as(t, 57, 5, 8192, "finish");
    sums = measure(t, &doubt);
    ck_assert_uint_eq(sums.count, 1);
    ck_assert_int_eq(sums.length, 7);
    ck_assert_uint_eq(doubt.unfinished, 1);
}
END_TEST

static const char woken[] = "metric m\n"
                            "  state idle out\n    knock, not i -> b\n"
                            "  state b begin\n    lambda -> run\n"
                            "  state run in\n    finish, i -> e\n"
                            "  state e end\n    lambda -> idle\n"
                            "end\n";

/* Events of others lead out of its first state: none of very many may be forgotten there. */
START_TEST(woken_by_another)
{
    enum { MANY = 66000 };
    struct scene_trace *t = scene_trace_begin();
    posixtrace_metric_set_t *set;
    posixtrace_metric_run_t *run;
    const posixtrace_metric_t *metrics[1];
    struct sums sums = { 0 };
    trace_id_t trid;
    int none;

    for (int i = 1; i <= MANY; i++)
        scene_trace_add(t, i, i, "finish", 0, 0, false);
    scene_trace_add(t, MANY + 10, MANY, "knock", 0, 0, false);
    for (int i = 1; i < 4; i++)
        scene_trace_add(t, MANY + 10 + i, i, "finish", 0, 0, false);
    trid = scene_trace_open(t);
    ck_assert_int_eq(posixtrace_metric_set_parse(woken, sizeof woken - 1, &set, NULL), 0);
    metrics[0] = posixtrace_metric_set_get(set, 0);
    ck_assert_int_eq(posixtrace_metric_run_create(metrics, 1, trid, add_up, &sums, &run), 0);
    ck_assert_int_eq(posixtrace_metric_run_take(run, 0, &none), 0);
    posixtrace_metric_run_end(run);
    posixtrace_metric_run_free(run);
    posixtrace_metric_set_free(set);
    scene_trace_close(trid);
    ck_assert_uint_eq(sums.count, 3);
    ck_assert_int_eq(sums.length, 1 + 2 + 3);
}
END_TEST

static void add(TCase *tc)
{
    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, all_at_once);
    tcase_add_test(tc, one_after_the_other);
    tcase_add_test(tc, a_number_again);
    tcase_add_test(tc, a_number_again_unseen);
    tcase_add_test(tc, woken_by_another);
}

int main(void)
{
    return run_suite("metrics", "threads", NULL, add);
}
