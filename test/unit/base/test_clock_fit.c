/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The slope of a clock by a line through readings that are wrong by up to 20 ns each.
 */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include "base/clock_fit.h"
#include "support/run_suite.h"

enum { LENGTH_NS = 200000, PAUSE_NS = 50, ERROR_NS = 20, CLOCKS = 1000 };

static double some(double least, double most)
{
    return least + (most - least) * rand() / RAND_MAX;
}

/* 4,000 readings within 200 us: the ends alone are off by up to 200 ppm. */
START_TEST(readings_with_errors)
{
    for (int i = 0; i < CLOCKS; i++) {
        double slope = some(0.1, 10), found;
        uint64_t ticks = (uint64_t)some(0, 0x1p62), ns = (uint64_t)some(0, 0x1p62);
        struct pt_clock_fit fit;

        pt_clock_fit_begin(&fit, ticks, ns);
        for (double at = 0; at < LENGTH_NS; at += some(1, 2 * PAUSE_NS))
            pt_clock_fit_add(&fit, ticks + (uint64_t)(at / slope),
                             ns + ERROR_NS + (uint64_t)(at + some(-ERROR_NS, ERROR_NS)));
        found = (double)pt_clock_fit_slope(&fit) / 0x1p32;
        ck_assert_msg(fabs(found / slope - 1) < 20e-6, "%.12f found as %.12f", slope, found);
    }
}
END_TEST

START_TEST(too_few_readings)
{
    struct pt_clock_fit fit;

    pt_clock_fit_begin(&fit, 1000, 5000);
    for (unsigned i = 0; i < PT_CLOCK_FIT_LEAST; i++) {
        ck_assert_uint_eq(pt_clock_fit_slope(&fit), 0);
        pt_clock_fit_add(&fit, 1000 + 2 * i, 5000 + i);
    }
    ck_assert_uint_eq(pt_clock_fit_slope(&fit), UINT64_C(1) << 31);
}
END_TEST

START_TEST(clocks_that_stand)
{
    struct pt_clock_fit ticks, ns;

    pt_clock_fit_begin(&ticks, 1000, 5000);
    pt_clock_fit_begin(&ns, 1000, 5000);
    for (unsigned i = 0; i < 2 * PT_CLOCK_FIT_LEAST; i++) {
        pt_clock_fit_add(&ticks, 1000, 5000 + i);
        pt_clock_fit_add(&ns, 1000 + i, 5000);
    }
    ck_assert_uint_eq(pt_clock_fit_slope(&ticks), 0);
    ck_assert_uint_eq(pt_clock_fit_slope(&ns), 0);
}
END_TEST

static void add(TCase *t)
{
    tcase_add_test(t, readings_with_errors);
    tcase_add_test(t, too_few_readings);
    tcase_add_test(t, clocks_that_stand);
}

int main(void)
{
    return run_suite("base clock_fit", "slope", NULL, add);
}
