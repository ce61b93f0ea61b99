/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The slope of the time stamp counter where a thread loses its processor while it reads the clocks,
 * with the k-th reading and for longer than all readings take.
 */
#include <check.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "base/clock.h"
#include "support/run_suite.h"

enum { PAUSE_NS = 3000000, LONG_NS = 60000000, TRIES = 100, READINGS = 60 };

static int left = -1; /* readings until the interrupted one; negative: none is */
static bool before;   /* the clock is read, else afterwards */

/* The library's, too. */
int clock_gettime(clockid_t id, struct timespec *now)
{
    const struct timespec pause = { 0, PAUSE_NS };
    bool pauses = id == CLOCK_MONOTONIC && left >= 0 && left-- == 0;
    int r;

    if (pauses && before)
        syscall(SYS_nanosleep, &pause, NULL);
    r = (int)syscall(SYS_clock_gettime, id, now);
    if (pauses && !before)
        syscall(SYS_nanosleep, &pause, NULL);
    return r;
}

/* The narrowest of many. */
static void read_both(double *ticks, double *ns)
{
    uint64_t best = UINT64_MAX;

    for (int i = 0; i < TRIES; i++) {
        uint64_t from = pt_clock_now(PT_CLOCK_TSC), t = pt_clock_ns(CLOCK_MONOTONIC), width;

        width = pt_clock_now(PT_CLOCK_TSC) - from;
        if (width > best)
            continue;
        best = width;
        *ticks = (double)from + (double)width / 2;
        *ns = (double)t;
    }
}

START_TEST(interrupted)
{
    const struct timespec pause = { 0, LONG_NS };
    double ticks, ns, later_ticks, later_ns, slope, found;

    if (pt_clock_choose() != PT_CLOCK_TSC) {
        printf("no time stamp counter to be trusted here\n");
        return;
    }
    left = _i / 2;
    before = _i % 2;
    found = (double)pt_clock_slope(PT_CLOCK_TSC) / 0x1p32;
    ck_assert_int_lt(left, 0);
    read_both(&ticks, &ns);
    nanosleep(&pause, NULL);
    read_both(&later_ticks, &later_ns);
    slope = (later_ns - ns) / (later_ticks - ticks);
    ck_assert_msg(fabs(found / slope - 1) < 500e-6, "%.9f found as %.9f, %.0f ppm", slope, found,
                  (found / slope - 1) * 1e6);
}
END_TEST

static void add(TCase *t)
{
    tcase_add_loop_test(t, interrupted, 0, 2 * READINGS);
}

int main(void)
{
    return run_suite("base clock_slope", "slope", NULL, add);
}
