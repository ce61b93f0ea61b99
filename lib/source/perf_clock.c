/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See perf_clock.h. */
#include <string.h>
#include "base/clock.h"
#include "base/mul128.h"
#include "source/perf_clock.h"

enum { TRIES = 20, WORSE = 4 };

void pt_perf_clock_init(struct pt_perf_clock *c, int stream_clock)
{
    memset(c, 0, sizeof *c);
    c->way = stream_clock == PT_CLOCK_TSC ? PT_PERF_PAGE : PT_PERF_SAME;
}

void pt_perf_clock_use_raw(struct pt_perf_clock *c)
{
    memset(c, 0, sizeof *c);
    c->way = PT_PERF_RAW;
    pt_perf_clock_sync(c);
}

void pt_perf_clock_ask(const struct pt_perf_clock *c, struct perf_event_attr *attr)
{
    attr->use_clockid = c->way != PT_PERF_PAGE;
    attr->clockid = c->way == PT_PERF_SAME  ? CLOCK_MONOTONIC
                    : c->way == PT_PERF_RAW ? CLOCK_MONOTONIC_RAW
                                            : 0;
}

bool pt_perf_clock_learn(struct pt_perf_clock *c, const struct perf_event_mmap_page *page)
{
    struct pt_perf_clock is = { .way = c->way, .known = true };
    uint32_t before;
    bool can;

    if (c->way != PT_PERF_PAGE)
        return true;
    /* The kernel's seqlock: odd or another number while it writes. */
    do {
        before = pt_load_acquire((uint32_t *)(uintptr_t)&page->lock);
        can = page->cap_user_time_zero;
        is.zero = page->time_zero;
        is.mult = page->time_mult;
        is.shift = page->time_shift;
        pt_fence_acquire();
    } while (pt_load_relaxed((uint32_t *)(uintptr_t)&page->lock) != before || (before & 1));
    if (!can || is.mult == 0 || is.shift > 32)
        return false;
    if (c->known && (is.zero != c->zero || is.mult != c->mult || is.shift != c->shift))
        return false;
    *c = is;
    return true;
}

/* The narrowest of some readings; how many ticks it took. */
static uint64_t read_pair(uint64_t enough, uint64_t *ticks, uint64_t *ns)
{
    uint64_t best = UINT64_MAX;

    for (int i = 0; i < TRIES && best > enough; i++) {
        uint64_t before = pt_clock_now(PT_CLOCK_TSC);
        uint64_t n = pt_clock_ns(CLOCK_MONOTONIC_RAW);
        uint64_t after = pt_clock_now(PT_CLOCK_TSC);

        if (after - before < best) {
            best = after - before;
            *ticks = before + best / 2;
            *ns = n;
        }
    }
    return best;
}

void pt_perf_clock_sync(struct pt_perf_clock *c)
{
    uint64_t ticks = 0, ns = 0, took;

    if (c->way != PT_PERF_RAW)
        return;
    took = read_pair(c->best, &ticks, &ns);
    if (!c->first_ns) {
        c->first_ns = c->ns = ns;
        c->first_ticks = c->ticks = ticks;
        c->best = took;
        c->ratio = pt_mul128_div(1ull << 32, pt_clock_slope(PT_CLOCK_TSC));
        return;
    }
    /* Interrupted in each try: the line so far is better. */
    if (took > WORSE * c->best || ns <= c->first_ns)
        return;
    c->best = took < c->best ? took : c->best;
    c->ns = ns;
    c->ticks = ticks;
    c->ratio = pt_mul128_div(ticks - c->first_ticks, ns - c->first_ns);
}

/* As perf_event_open(2) has it: ns = zero + (ticks * mult >> shift). */
static uint64_t ticks_of_page(const struct pt_perf_clock *c, uint64_t ns)
{
    uint64_t time = ns - c->zero, whole = time / c->mult, rest = time % c->mult;

    return (whole << c->shift) + (rest << c->shift) / c->mult;
}

uint64_t pt_perf_clock_ticks(const struct pt_perf_clock *c, uint64_t ns)
{
    switch (c->way) {
    case PT_PERF_PAGE: return ticks_of_page(c, ns);
    case PT_PERF_RAW:
        return ns < c->ns ? c->ticks - pt_mul128_mul(c->ns - ns, c->ratio)
                          : c->ticks + pt_mul128_mul(ns - c->ns, c->ratio);
    default: return ns;
    }
}

void pt_perf_clock_pass(const struct pt_perf_clock *c, uint64_t ticks)
{
    /* PAGE: a nanosecond, which is a few ticks. */
    uint64_t off = c->way == PT_PERF_RAW ? WORSE * c->best : 64;

    while (c->way != PT_PERF_SAME && (int64_t)(pt_clock_now(PT_CLOCK_TSC) - ticks) <= (int64_t)off)
        ;
}
