/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Times of perf as ticks of the time stamp counter: by a page as kernels write it that
 * publish their clock, and by CLOCK_MONOTONIC_RAW, whose readings are known to lie between
 * two of the counter.
 */
#include <string.h>
#include <time.h>
#include "base/clock.h"
#include "source/perf_clock.h"
#include "support/run_suite.h"

enum { READINGS = 20000 };

/* What a kernel computes, as perf_event_open(2) says. */
static uint64_t kernel_ns(const struct perf_event_mmap_page *p, uint64_t ticks)
{
    uint64_t high = ticks >> p->time_shift, low = ticks & ((1ull << p->time_shift) - 1);

    return p->time_zero + high * p->time_mult + (low * p->time_mult >> p->time_shift);
}

static struct perf_event_mmap_page *page_of(uint32_t mult, uint16_t shift, uint64_t zero)
{
    static struct perf_event_mmap_page page;

    memset(&page, 0, sizeof page);
    page.cap_user_time = page.cap_user_time_zero = 1;
    page.time_mult = mult;
    page.time_shift = shift;
    page.time_zero = zero;
    return &page;
}

/* Counters of 1 to 5 GHz, soon after the machine was started and years later, with clocks
 * that were set forward and back. */
START_TEST(made_page)
{
    static const struct {
        uint32_t mult;
        uint16_t shift;
        uint64_t zero;
    } of[] = {
        { 1u << 31, 31, 0 },
        { 827228512, 31, 0 },
        { 3309254053u, 31, 123456789 },
        { 413614256, 30, (uint64_t)-5000000 },
        { 400, 10, 77 },
        { 1717986918, 32, 1 },
    };

    for (size_t i = 0; i < sizeof of / sizeof of[0]; i++) {
        const struct perf_event_mmap_page *p = page_of(of[i].mult, of[i].shift, of[i].zero);
        uint64_t most = ((1ull << p->time_shift) + p->time_mult - 1) / p->time_mult + 1;
        struct pt_perf_clock c;

        pt_perf_clock_init(&c, PT_CLOCK_TSC);
        ck_assert(pt_perf_clock_learn(&c, p));
        for (uint64_t ticks = 100000000; ticks < 1ull << 58; ticks += ticks / 3 + 12345) {
            uint64_t back = pt_perf_clock_ticks(&c, kernel_ns(p, ticks));

            /* The ns were rounded down: as much as a ns has ticks. */
            ck_assert_uint_le(back, ticks);
            ck_assert_uint_le(ticks - back, most);
        }
    }
}
END_TEST

START_TEST(page_without_clock)
{
    struct perf_event_mmap_page *p = page_of(827228512, 31, 5);
    struct perf_event_attr attr;
    struct pt_perf_clock c;

    pt_perf_clock_init(&c, PT_CLOCK_TSC);
    memset(&attr, 0, sizeof attr);
    pt_perf_clock_ask(&c, &attr);
    ck_assert(!attr.use_clockid);
    p->cap_user_time_zero = 0;
    ck_assert(!pt_perf_clock_learn(&c, p));
    p->cap_user_time_zero = 1;
    p->time_mult = 0;
    ck_assert(!pt_perf_clock_learn(&c, p));
    /* Each processor has a page; all must say the same. */
    ck_assert(pt_perf_clock_learn(&c, page_of(827228512, 31, 5)));
    ck_assert(pt_perf_clock_learn(&c, page_of(827228512, 31, 5)));
    ck_assert(!pt_perf_clock_learn(&c, page_of(827228512, 31, 6)));
    pt_perf_clock_init(&c, PT_CLOCK_MONOTONIC);
    pt_perf_clock_ask(&c, &attr);
    ck_assert(attr.use_clockid && attr.clockid == CLOCK_MONOTONIC);
    p->cap_user_time_zero = 0;
    ck_assert(pt_perf_clock_learn(&c, p));
    ck_assert_uint_eq(pt_perf_clock_ticks(&c, 4711), 4711);
}
END_TEST

/* A time that was read between two ticks is converted to one between them, with an error of at most
 * a reading of both clocks; order is kept; and times after pass() stay later. */
START_TEST(raw_clock)
{
    static struct {
        uint64_t before, ns, after;
    } r[READINGS];
    uint64_t last = 0;
    struct perf_event_attr attr;
    struct pt_perf_clock c;

    if (pt_clock_choose() != PT_CLOCK_TSC)
        return;
    memset(&attr, 0, sizeof attr);
    pt_perf_clock_use_raw(&c);
    pt_perf_clock_ask(&c, &attr);
    ck_assert(attr.use_clockid && attr.clockid == CLOCK_MONOTONIC_RAW);
    for (int round = 0; round < 5; round++) {
        uint64_t passed;

        for (int i = 0; i < READINGS; i++) {
            r[i].before = pt_clock_now(PT_CLOCK_TSC);
            r[i].ns = pt_clock_ns(CLOCK_MONOTONIC_RAW);
            r[i].after = pt_clock_now(PT_CLOCK_TSC);
        }
        pt_perf_clock_sync(&c);
        for (int i = 0; i < READINGS; i++) {
            uint64_t ticks = pt_perf_clock_ticks(&c, r[i].ns);

            ck_assert_uint_ge(ticks + 4 * c.best, r[i].before);
            ck_assert_uint_le(ticks, r[i].after + 4 * c.best);
            ck_assert_uint_ge(ticks + c.best, last);
            last = ticks;
        }
        passed = pt_clock_now(PT_CLOCK_TSC);
        pt_perf_clock_pass(&c, passed);
        r[0].ns = pt_clock_ns(CLOCK_MONOTONIC_RAW);
        pt_perf_clock_sync(&c);
        ck_assert_uint_gt(pt_perf_clock_ticks(&c, r[0].ns), passed);
    }
}
END_TEST

static void add_tests(TCase *t)
{
    tcase_add_test(t, made_page);
    tcase_add_test(t, page_without_clock);
    tcase_add_test(t, raw_clock);
}

static void set_time(TCase *t)
{
    tcase_set_timeout(t, 60);
}

int main(void)
{
    return run_suite("source", "perf clock", set_time, add_tests);
}
