/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See syncpoint.h. */
#include "base/assert.h"
#include "base/atomics.h"
#include "base/clock.h"
#include "model/sync.h"
#include "shm/syncpoint.h"

#define AGE_NS   1000000000
#define ERROR_NS 2000
#define STEP_NS  10000000
#define AHEAD_NS 1000000 /* how far in the future a pair begins, and readers read */
#define SLEWS    90u     /* so many pairs correct small deviations, too; the others only steps */
#define SLOWEST  1000    /* a rate that changes by more than 1/1000 is none: the clock was set */

static uint64_t ticks_of(int64_t ns, uint64_t mult)
{
    return pt_mul128_div((uint64_t)ns, mult);
}

/* ---- decisions ---- */

#define named(pair) (2 * ((uint64_t)(pair) + 1))

static bool is_open(uint64_t next)
{
    return next == 0 || (next & 1u);
}

/* The pair that a closed decision names, valid for any value. */
static uint32_t pair_of(uint64_t next)
{
    return (uint32_t)((next / 2 - 1) % PT_SYNC_PAIRS);
}

/* The first open decision, PT_SYNC_PAIRS if there is none, and its value. */
static uint32_t find_open(const struct pt_seg_header *h, uint64_t *next)
{
    uint32_t k = pt_load_acquire(&h->syncs) - 1;

    for (k = k < PT_SYNC_PAIRS ? k : PT_SYNC_PAIRS; k < PT_SYNC_PAIRS; k++) {
        *next = pt_load_acquire(&h->sync_next[k]);
        if (is_open(*next))
            return k;
    }
    *next = 0;
    return PT_SYNC_PAIRS;
}

static uint32_t points(uint32_t closed)
{
    return 1 + 2 * closed;
}

uint32_t pt_syncpoint_count(const struct pt_seg_header *h)
{
    uint64_t next;

    return pt_load_acquire(&h->syncs) ? points(find_open(h, &next)) : 0;
}

uint32_t pt_syncpoint_reach(struct pt_seg_header *h, uint64_t ts)
{
    struct pt_sync last;
    uint64_t next, ahead;
    uint32_t k;

    if (pt_load_acquire(&h->syncs) == 0)
        return 0;
    while ((k = find_open(h, &next)) < PT_SYNC_PAIRS && ts >= next) {
        pt_syncpoint_get(h, points(k) - 1, &last);
        ahead = last.mult ? ticks_of(AHEAD_NS, last.mult) : 0;
        /* A time that no clock of ours shows, 146 years at 3 GHz, is of no author of ours. */
        if (ahead > UINT64_MAX / 8 || ts > UINT64_MAX / 4 * 3 ||
            pt_cas_seqcst(&h->sync_next[k], &next, (ts + ahead + 1) | 1u))
            break;
    }
    return points(k);
}

void pt_syncpoint_get(const struct pt_seg_header *h, uint32_t i, struct pt_sync *point)
{
    const struct pt_sync *p = &h->sync_first;

    if (i > 0)
        p = &h->sync_pair[pair_of(pt_load_acquire(&h->sync_next[(i - 1) / 2 % PT_SYNC_PAIRS]))]
                         [(i - 1) % 2];
    pt_copy_unchecked(point, p, sizeof *point);
}

/* The point in force at ts, and its number from 1 on; 0: there is none. */
static uint32_t find_point(struct pt_seg_header *h, uint64_t ts, struct pt_sync *point)
{
    uint32_t i = pt_syncpoint_reach(h, ts);

    /* Events that are read live are as a rule after the newest point. */
    while (i > 0) {
        pt_syncpoint_get(h, i - 1, point);
        if (i == 1 || point->ts <= ts)
            break;
        i--;
    }
    return i;
}

int64_t pt_syncpoint_convert(struct pt_seg_header *h, uint64_t ts)
{
    struct pt_sync point;

    return find_point(h, ts, &point) ? pt_sync_apply(&point, ts) : (int64_t)ts;
}

/* By how much the clock was set from point i to point n, numbered from 1 on. */
static uint64_t steps_between(const struct pt_seg_header *h, uint32_t i, uint32_t n)
{
    struct pt_sync a, b;
    uint64_t by = 0;

    for (uint32_t k = i; k > 0 && k < n; k++) {
        pt_syncpoint_get(h, k - 1, &a);
        pt_syncpoint_get(h, k, &b);
        by += pt_sync_step(&a, &b);
    }
    return by;
}

int64_t pt_syncpoint_elapsed(struct pt_seg_header *h, uint64_t from, uint64_t to)
{
    struct pt_sync a, b;
    uint32_t n = find_point(h, to, &b), i = find_point(h, from, &a);

    if (i == 0 || n == 0)
        return (int64_t)(to - from);
    return (int64_t)((uint64_t)pt_sync_apply(&b, to) - (uint64_t)pt_sync_apply(&a, from) -
                     steps_between(h, i, n));
}

int64_t pt_syncpoint_since(struct pt_seg_header *h, int clock, uint64_t ts)
{
    struct pt_sync a;
    uint32_t i;

    pt_syncpoint_maintain(h, clock); /* it may have been set, and no event recorded since */
    i = find_point(h, ts, &a);
    if (i == 0)
        return (int64_t)ts;
    return (int64_t)((uint64_t)pt_sync_apply(&a, ts) + steps_between(h, i, pt_syncpoint_count(h)));
}

int64_t pt_syncpoint_convert_next(struct pt_seg_header *h, uint64_t ts, uint32_t *reached,
                                  bool *stepped)
{
    struct pt_sync point, a, b;
    uint32_t i = find_point(h, ts, &point);

    for (uint32_t k = *reached; k > 0 && k < i; k++) {
        pt_syncpoint_get(h, k - 1, &a);
        pt_syncpoint_get(h, k, &b);
        *stepped |= pt_sync_is_step(&a, &b);
    }
    if (i > *reached)
        *reached = i;
    return i ? pt_sync_apply(&point, ts) : (int64_t)ts;
}

/* ---- pairs ---- */

void pt_syncpoint_first(struct pt_seg_header *h, int clock)
{
    h->sync_first.mult = pt_clock_slope(clock);
    pt_clock_pair(clock, &h->sync_first.ts, &h->sync_first.ns);
    pt_store_release(&h->syncs, 1u);
}

/* PT_SYNC_PAIRS: none is left. */
static uint32_t own_pair(struct pt_seg_header *h)
{
    for (uint32_t i = 0; i < PT_SYNC_PAIRS; i++) {
        uint64_t *used = &h->sync_used[i / 64], bit = 1ull << i % 64;

        if (!(pt_load_relaxed(used) & bit) && !(pt_or_seqcst(used, bit) & bit))
            return i;
    }
    return PT_SYNC_PAIRS;
}

/* The fuller the table, the more it takes to add to it: 2 us to 4 ms, then 10 ms to 1.3 s. */
static int64_t tolerance(uint32_t closed)
{
    return closed < SLEWS ? (int64_t)ERROR_NS << closed * 12 / SLEWS
                          : (int64_t)STEP_NS << (closed - SLEWS) / 2;
}

static bool exceeds(int64_t error, int64_t limit)
{
    return error > limit || error < -limit;
}

/* slope * error / ns for |error| <= STEP_NS, without a product of more than 64 bits: the second
 * term's is below slope * STEP_NS. */
static int64_t correction(int64_t error, uint64_t slope, uint64_t ns)
{
    uint64_t e = (uint64_t)(error < 0 ? -error : error);
    uint64_t c = slope / ns * e + slope % ns * e / ns;

    return error < 0 ? -(int64_t)c : (int64_t)c;
}

/* Two points after the last one: the first corrects the deviation, the second resumes the true
 * slope when the table has met CLOCK_REALTIME, even if no thread adds points for a long time. */
static void steer(struct pt_sync pair[2], const struct pt_sync *last, uint64_t from, uint64_t slope,
                  int64_t error)
{
    struct pt_sync a = { .ts = from + ticks_of(AHEAD_NS, slope), .mult = slope }, b;

    a.ns = pt_sync_apply(last, a.ts);
    if (exceeds(error, STEP_NS))
        a.ns = (int64_t)((uint64_t)a.ns + (uint64_t)error);
    else
        a.mult += (uint64_t)correction(error, slope, AGE_NS);
    b.ts = a.ts + ticks_of(AGE_NS, slope);
    b.ns = pt_sync_apply(&a, b.ts);
    b.mult = slope;
    pair[0] = a;
    pair[1] = b;
}

/*
 * The rate of CLOCK_REALTIME since the clocks were last compared, 1 ms before pair k - 1 began: the
 * table was meant to meet it at the last point.  So an adjustment at a steady rate takes a few
 * pairs, however long it lasts.  A step, and what looks like one, says nothing about the rate.
 */
static uint64_t rate(const struct pt_seg_header *h, int clock, uint32_t k,
                     const struct pt_sync *last, uint64_t now, int64_t error)
{
    struct pt_sync first;
    uint64_t ns;

    pt_syncpoint_get(h, k > 0 ? points(k) - 2 : 0, &first);
    ns = now > first.ts ? pt_mul128_mul(now - first.ts, last->mult) : 0;
    if (ns < AGE_NS || exceeds(error, STEP_NS) || exceeds(error, (int64_t)(ns / SLOWEST)))
        return pt_clock_slope(clock);
    return last->mult + (uint64_t)correction(error, last->mult, ns);
}

/* So many decisions are closed: the search starts there. */
static void note_closed(struct pt_seg_header *h, uint32_t closed)
{
    uint32_t noted = pt_load_relaxed(&h->syncs);

    while (noted < closed + 1 && !pt_cas_seqcst(&h->syncs, &noted, closed + 1))
        ;
}

/* Is the last of the points so old that the clocks are compared again? */
static bool is_old(const struct pt_sync *last, uint64_t now)
{
    int64_t age;

    /* Points whose time cannot be computed are not corrected: another process wrote them. */
    return last->mult != 0 && now >= last->ts &&
           !__builtin_sub_overflow(pt_sync_apply(last, now), last->ns, &age) && age >= AGE_NS;
}

void pt_syncpoint_compare(struct pt_seg_header *h, int clock, uint64_t now, int64_t real)
{
    struct pt_sync last;
    uint64_t next;
    uint32_t k = find_open(h, &next), pair = PT_SYNC_PAIRS;
    int64_t error;

    pt_syncpoint_get(h, points(k) - 1, &last);
    if (!is_old(&last, now) || __builtin_sub_overflow(real, pt_sync_apply(&last, now), &error))
        return;
    if (k < PT_SYNC_PAIRS && exceeds(error, tolerance(k)))
        pair = own_pair(h);
    if (pair == PT_SYNC_PAIRS) {
        if (exceeds(error, STEP_NS))
            pt_store_relaxed(&h->sync_left, 1u);
        return;
    }
    steer(h->sync_pair[pair], &last, now > next ? now : next, rate(h, clock, k, &last, now, error),
          error);
    if (pt_cas_seqcst(&h->sync_next[k], &next, named(pair)))
        note_closed(h, k + 1);
    else
        pt_and_seqcst(&h->sync_used[pair / 64], ~(1ull << pair % 64));
}

void pt_syncpoint_maintain(struct pt_seg_header *h, int clock)
{
    struct pt_sync last;
    uint64_t now;
    int64_t real;

    if (pt_load_acquire(&h->syncs) == 0)
        return;
    pt_syncpoint_get(h, pt_syncpoint_count(h) - 1, &last);
    if (!is_old(&last, pt_clock_now(clock)))
        return;
    pt_clock_pair(clock, &now, &real);
    pt_syncpoint_compare(h, clock, now, real);
}

bool pt_syncpoint_is_left(const struct pt_seg_header *h)
{
    return pt_load_relaxed(&h->sync_left) != 0;
}
