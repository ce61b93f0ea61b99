/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* Statistics against sorted values, and sums of two against one over all. */
#include <errno.h>
#include <math.h>
#include <posixtrace/metrics.h>
#include "support/run_suite.h"

enum { VALUES = 20000 };

static int64_t values[VALUES];

static int by_size(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;

    return *x < *y ? -1 : *x > *y;
}

/* From nanoseconds to hours. */
static int64_t any_value(void)
{
    return (int64_t)exp((double)random() / RAND_MAX * 30);
}

static void check_percentile(const posixtrace_statistics_t *s, double percent)
{
    size_t rank = (size_t)ceil(percent / 100 * VALUES);
    int64_t exact = values[rank ? rank - 1 : 0];
    int64_t got = posixtrace_statistics_percentile(s, percent);

    ck_assert_msg(llabs(got - exact) <= exact / 512 + 1, "p%g: %lld, exactly %lld", percent,
                  (long long)got, (long long)exact);
}

START_TEST(against_sorted)
{
    static const double percents[] = { 0, 0.01, 1, 10, 50, 90, 99, 99.9, 99.99, 100 };
    posixtrace_statistics_t *s;
    struct posixtrace_summary sum;
    double mean = 0, squares = 0;
    int64_t from, to, last = -1;
    uint64_t n, all = 0;

    srandom((unsigned)_i + 1);
    ck_assert_int_eq(posixtrace_statistics_create(&s), 0);
    for (size_t i = 0; i < VALUES; i++) {
        values[i] = _i ? any_value() : random() % 100;
        mean += (double)values[i] / VALUES;
        ck_assert_int_eq(posixtrace_statistics_add(s, values[i]), 0);
    }
    for (size_t i = 0; i < VALUES; i++)
        squares += ((double)values[i] - mean) * ((double)values[i] - mean) / VALUES;
    qsort(values, VALUES, sizeof values[0], by_size);
    for (size_t i = 0; i < sizeof percents / sizeof percents[0]; i++)
        check_percentile(s, percents[i]);
    posixtrace_statistics_summary(s, &sum, sizeof sum);
    ck_assert_uint_eq(sum.count, VALUES);
    ck_assert_int_eq(sum.min_ns, values[0]);
    ck_assert_int_eq(sum.max_ns, values[VALUES - 1]);
    ck_assert_double_eq_tol(sum.mean_ns / mean, 1, 1e-9);
    ck_assert_double_eq_tol(sum.deviation_ns / sqrt(squares), 1, 1e-6);
    for (size_t i = 0; posixtrace_statistics_bar(s, i, &from, &to, &n) == 0; i++) {
        ck_assert_int_gt(from, last);
        ck_assert_int_ge(to, from);
        last = to;
        all += n;
    }
    ck_assert_uint_eq(all, VALUES);
    ck_assert_int_eq(posixtrace_statistics_bar(s, SIZE_MAX, &from, &to, &n), ENOENT);
    ck_assert_int_eq(posixtrace_statistics_bar(s, 0, &from, &to, NULL), EINVAL);
    ck_assert_int_eq(posixtrace_statistics_bar(NULL, 0, &from, &to, &n), EINVAL);
    posixtrace_statistics_free(s);
}
END_TEST

/* A rank that is a whole number is not missed because percents are no binary fractions. */
START_TEST(whole_ranks)
{
    posixtrace_statistics_t *s;

    ck_assert_int_eq(posixtrace_statistics_create(&s), 0);
    for (int64_t i = 1; i <= 100; i++)
        ck_assert_int_eq(posixtrace_statistics_add(s, i), 0);
    for (int64_t p = 1; p <= 100; p++)
        ck_assert_int_eq(posixtrace_statistics_percentile(s, (double)p), p);
    for (int64_t i = 0; i < 900; i++)
        ck_assert_int_eq(posixtrace_statistics_add(s, 0), 0);
    for (int64_t p = 901; p <= 1000; p++)
        ck_assert_int_eq(posixtrace_statistics_percentile(s, (double)p / 10), p - 900);
    posixtrace_statistics_free(s);
}
END_TEST

static void check_exact(const posixtrace_statistics_t *s, size_t count)
{
    for (size_t i = count; i > 0; i -= i > count / 50 ? count / 50 + 1 : i) {
        int64_t got = posixtrace_statistics_percentile(s, 100.0 * (double)i / (double)count);

        ck_assert_msg(got == values[i - 1], "%zu of %zu: %lld, exactly %lld", i, count,
                      (long long)got, (long long)values[i - 1]);
    }
}

/* Of up to 1024 values, negative ones and extremes too, also as a sum of two. */
START_TEST(few_are_exact)
{
    static const size_t counts[] = { 1, 2, 15, 16, 17, 100, 1000, 1023, 1024 };
    size_t count = counts[_i];
    posixtrace_statistics_t *all, *part[2];

    ck_assert_int_eq(posixtrace_statistics_create(&all), 0);
    ck_assert_int_eq(posixtrace_statistics_create(&part[0]), 0);
    ck_assert_int_eq(posixtrace_statistics_create(&part[1]), 0);
    for (size_t i = 0; i < count; i++) {
        values[i] = i % 50 == 7   ? INT64_MAX - (int64_t)i
                    : i % 50 == 8 ? INT64_MIN + (int64_t)i
                    : i % 5 == 3  ? 1000000 + (int64_t)(random() % 1000)
                                  : any_value();
        ck_assert_int_eq(posixtrace_statistics_add(all, values[i]), 0);
        ck_assert_int_eq(posixtrace_statistics_add(part[i % 3 == 0], values[i]), 0);
    }
    qsort(values, count, sizeof values[0], by_size);
    check_exact(all, count);
    ck_assert_int_eq(posixtrace_statistics_merge(part[0], part[1]), 0);
    check_exact(part[0], count);
    posixtrace_statistics_free(all);
    posixtrace_statistics_free(part[0]);
    posixtrace_statistics_free(part[1]);
}
END_TEST

START_TEST(merged)
{
    posixtrace_statistics_t *all, *part[2];
    struct posixtrace_summary a, b;

    ck_assert_int_eq(posixtrace_statistics_create(&all), 0);
    ck_assert_int_eq(posixtrace_statistics_create(&part[0]), 0);
    ck_assert_int_eq(posixtrace_statistics_create(&part[1]), 0);
    for (size_t i = 0; i < VALUES; i++) {
        int64_t value = any_value();

        ck_assert_int_eq(posixtrace_statistics_add(all, value), 0);
        ck_assert_int_eq(posixtrace_statistics_add(part[i % 7 == 0], value), 0);
    }
    ck_assert_int_eq(posixtrace_statistics_merge(part[0], part[1]), 0);
    posixtrace_statistics_summary(all, &a, sizeof a);
    posixtrace_statistics_summary(part[0], &b, sizeof b);
    ck_assert_uint_eq(a.count, b.count);
    ck_assert_int_eq(a.min_ns, b.min_ns);
    ck_assert_int_eq(a.max_ns, b.max_ns);
    ck_assert_double_eq_tol(a.mean_ns / b.mean_ns, 1, 1e-9);
    ck_assert_double_eq_tol(a.deviation_ns / b.deviation_ns, 1, 1e-9);
    for (double p = 0; p <= 100; p += 0.5)
        ck_assert_int_eq(posixtrace_statistics_percentile(all, p),
                         posixtrace_statistics_percentile(part[0], p));
    posixtrace_statistics_free(all);
    posixtrace_statistics_free(part[0]);
    posixtrace_statistics_free(part[1]);
}
END_TEST

START_TEST(few_and_strange)
{
    posixtrace_statistics_t *s, *empty;
    struct posixtrace_summary sum;

    ck_assert_int_eq(posixtrace_statistics_create(NULL), EINVAL);
    ck_assert_int_eq(posixtrace_statistics_create(&s), 0);
    ck_assert_int_eq(posixtrace_statistics_create(&empty), 0);
    posixtrace_statistics_summary(s, &sum, sizeof sum);
    ck_assert_uint_eq(sum.count, 0);
    ck_assert_int_eq(posixtrace_statistics_percentile(s, 50), 0);
    ck_assert_int_eq(posixtrace_statistics_add(s, INT64_MAX), 0);
    ck_assert_int_eq(posixtrace_statistics_percentile(s, 50), INT64_MAX);
    ck_assert_int_eq(posixtrace_statistics_add(s, -5), 0);
    ck_assert_int_eq(posixtrace_statistics_merge(s, empty), 0);
    ck_assert_int_eq(posixtrace_statistics_merge(empty, s), 0);
    posixtrace_statistics_summary(empty, &sum, sizeof sum);
    ck_assert_uint_eq(sum.count, 2);
    ck_assert_int_eq(sum.min_ns, -5);
    ck_assert_int_eq(sum.max_ns, INT64_MAX);
    posixtrace_statistics_free(s);
    posixtrace_statistics_free(empty);
}
END_TEST

static void add(TCase *tc)
{
    tcase_add_loop_test(tc, against_sorted, 0, 4);
    tcase_add_test(tc, whole_ranks);
    tcase_add_loop_test(tc, few_are_exact, 0, 9);
    tcase_add_test(tc, merged);
    tcase_add_test(tc, few_and_strange);
}

int main(void)
{
    return run_suite("metrics", "statistics", NULL, add);
}
