/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See syncpoint.h. */
#include "base/atomics.h"
#include "base/clock.h"
#include "model/sync.h"
#include "ring/syncpoint.h"

#define AGE_NS   1000000000
#define ERROR_NS 2000
#define STEP_NS  10000000
#define AHEAD_NS 1000000   /* how far in the future a point begins */

void pt_syncpoint_first(struct pt_seg_header *h, int clock)
{
    struct pt_sync *p = &h->sync[0];

    p->mult = pt_clock_slope(clock);
    pt_clock_pair(clock, &p->ts, &p->ns);
    h->sync_claim = 1;
    pt_store_release(&h->syncs, 1u);
}

static uint64_t ticks_of(int64_t ns, uint64_t mult)
{
    return pt_wide_div((uint64_t)ns, mult);
}

/* The fuller the table, the more it takes to add to it: it lasts for any run. */
static int64_t tolerance(uint32_t points)
{
    return (int64_t)ERROR_NS << points / 32;
}

/* slope * error / AGE_NS for |error| <= STEP_NS, without a product of more than
 * 64 bits: the second term's is below AGE_NS * STEP_NS. */
static int64_t correction(int64_t error, uint64_t slope)
{
    uint64_t e = (uint64_t)(error < 0 ? -error : error);
    uint64_t c = slope / AGE_NS * e + slope % AGE_NS * e / AGE_NS;

    return error < 0 ? -(int64_t)c : (int64_t)c;
}

/* Two points: the first steers, the second goes on with the true slope once
 * CLOCK_REALTIME is met, however long nobody looks again. */
static void steer(struct pt_seg_header *h, int clock, uint32_t n, uint64_t now, int64_t error)
{
    uint64_t slope = pt_clock_slope(clock);
    struct pt_sync a, b;

    a.ts = now + ticks_of(AHEAD_NS, slope);
    a.ns = pt_sync_convert(&h->sync[n - 1], 1, a.ts);
    a.mult = slope;
    if (error > STEP_NS || error < -STEP_NS)
        a.ns = (int64_t)((uint64_t)a.ns + (uint64_t)error);
    else
        a.mult += (uint64_t)correction(error, slope);
    b.ts = a.ts + ticks_of(AGE_NS, slope);
    b.ns = pt_sync_convert(&a, 1, b.ts);
    b.mult = slope;
    h->sync[n] = a;
    h->sync[n + 1] = b;
    pt_store_release(&h->syncs, n + 2);
}

void pt_syncpoint_maintain(struct pt_seg_header *h, int clock)
{
    uint32_t n = pt_load_acquire(&h->syncs);
    uint64_t now = pt_clock_now(clock);
    int64_t real, error, age;

    /* Points of which no time can be told are not ours to steer. */
    if (n == 0 || n > PT_SYNC_MAX - 2 || h->sync[n - 1].mult == 0 || now < h->sync[n - 1].ts ||
        __builtin_sub_overflow(pt_sync_convert(&h->sync[n - 1], 1, now), h->sync[n - 1].ns,
                               &age) || age < AGE_NS)
        return;
    pt_clock_pair(clock, &now, &real);
    if (__builtin_sub_overflow(real, pt_sync_convert(&h->sync[n - 1], 1, now), &error))
        return;
    if ((error > tolerance(n) || error < -tolerance(n)) && pt_cas_seqcst(&h->sync_claim, &n, n + 2))
        steer(h, clock, n, now, error);
}

int64_t pt_syncpoint_convert(const struct pt_seg_header *h, uint64_t ts)
{
    return pt_sync_convert(h->sync, pt_syncpoint_count(h), ts);
}
