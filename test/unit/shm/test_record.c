/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* Decoding good and hostile records; the clock table that gives them times. */
#include <errno.h>
#include <stdlib.h>
#include "base/clock.h"
#include "model/sync.h"
#include "shm_helpers.h"
#include "shm/syncpoint.h"

static struct pt_decoder decoder(const uint8_t *bytes, size_t n)
{
    return (struct pt_decoder){ bytes, bytes + n, 1000 };
}

START_TEST(what_was_put)
{
    static uint8_t bytes[256] __attribute__((aligned(8)));
    struct pt_decoder d;
    struct pt_record r;
    uint32_t at = 0;

    pt_record_put_head(bytes, PT_RECORD_EVENT, 300 | PT_RECORD_TRUNCATED, 5, 7, 0x1234);
    memcpy(bytes + PT_RECORD_HEAD, "abcde", 5);
    at += pt_record_size(5);
    pt_record_put_head(bytes + at, PT_RECORD_TIME, 0, 0, 0, 1ull << 40);
    at += pt_record_size(0);
    pt_record_put_head(bytes + at, PT_RECORD_AUTHOR, 0, sizeof(struct pt_record_author), 0, 0);
    at += pt_record_size(sizeof(struct pt_record_author));
    pt_record_put_head(bytes + at, PT_RECORD_EVENT, 301, 0, UINT32_MAX, 0);
    at += pt_record_size(0);
    d = decoder(bytes, at);
    ck_assert_int_eq(pt_decode_next(&d, &r), 1);
    ck_assert_uint_eq(r.kind, PT_RECORD_EVENT);
    ck_assert_uint_eq(r.id, 300);
    ck_assert(r.truncated);
    ck_assert_uint_eq(r.ts, 1007);
    ck_assert_uint_eq(r.addr, 0x1234);
    ck_assert_uint_eq(r.len, 5);
    ck_assert_mem_eq(r.data, "abcde", 5);
    ck_assert_int_eq(pt_decode_next(&d, &r), 1);
    ck_assert_uint_eq(r.kind, PT_RECORD_AUTHOR);
    ck_assert_int_eq(pt_decode_next(&d, &r), 1);
    ck_assert_uint_eq(r.id, 301);
    ck_assert(!r.truncated);
    ck_assert_uint_eq(r.ts, (1ull << 40) + UINT32_MAX);
    ck_assert_int_eq(pt_decode_next(&d, &r), 0);
    ck_assert_int_eq(pt_decode_next(&d, &r), 0);
}
END_TEST

#define BAD(kind, len, have)                                  \
    do {                                                      \
        uint8_t *bytes_ = calloc(1, 128);                     \
        struct pt_decoder d_ = decoder(bytes_, (have));       \
        struct pt_record r_;                                  \
        pt_record_put_head(bytes_, (kind), 300, (len), 0, 0); \
        ck_assert_int_eq(pt_decode_next(&d_, &r_), -EBADMSG); \
        ck_assert_ptr_eq(d_.p, bytes_);                       \
        free(bytes_);                                         \
    } while (0)

START_TEST(bad_records)
{
    BAD(PT_RECORD_EVENT, 0, 8);
    BAD(PT_RECORD_EVENT, 0, 15);
    BAD(PT_RECORD_EVENT, 1, 16);
    BAD(PT_RECORD_EVENT, 1, 23);
    BAD(PT_RECORD_EVENT, 65535, 128);
    BAD(PT_RECORD_TIME, 8, 128);
    BAD(PT_RECORD_TIME, 1, 128);
    BAD(PT_RECORD_AUTHOR, 0, 128);
    BAD(PT_RECORD_AUTHOR, sizeof(struct pt_record_author) - 8, 128);
    BAD(PT_RECORD_AUTHOR, sizeof(struct pt_record_author),
        pt_record_size(sizeof(struct pt_record_author)) - 8);
    for (uint32_t kind = PT_RECORD_AUTHOR + 1; kind < 16; kind++)
        BAD(kind, 0, 128);
}
END_TEST

/* Any bytes: each call returns a record or the end, and all records are inside the buffer. */
START_TEST(random_bytes)
{
    srand(1);
    for (int round = 0; round < 20000; round++) {
        size_t n = (size_t)rand() % 33 * 8, steps = 0;
        uint8_t *bytes = malloc(n + 1); /* sanitizers and valgrind guard its end */
        struct pt_decoder d = decoder(bytes, n);
        struct pt_record r;

        for (size_t i = 0; i < n; i++)
            bytes[i] = (uint8_t)rand();
        /* Plausible heads now and then, else nothing but the first is decoded. */
        for (size_t i = 0; i + PT_RECORD_HEAD <= n; i += 8)
            if (rand() % 2)
                pt_record_put_head(bytes + i, (uint32_t)rand() % 3, 300, (uint32_t)rand() % 100, 0,
                                   0);
        while (pt_decode_next(&d, &r) == 1) {
            ck_assert(r.data >= bytes + PT_RECORD_HEAD && r.data + r.len <= bytes + n);
            ck_assert_uint_lt(r.id, 2048);
            ck_assert_uint_le(++steps, n / PT_RECORD_HEAD);
        }
        free(bytes);
    }
}
END_TEST

/* The table as an array. */
struct points {
    struct pt_sync at[1 + 2 * PT_SYNC_PAIRS];
    uint32_t count;
};

static struct points points_of(const struct pt_seg_header *h)
{
    struct points p = { .count = pt_syncpoint_count(h) };

    for (uint32_t i = 0; i < p.count; i++)
        pt_syncpoint_get(h, i, &p.at[i]);
    return p;
}

static struct pt_sync *newest(struct pt_seg_header *h)
{
    uint32_t n = pt_syncpoint_count(h);

    return n == 1 ? &h->sync_first : &h->sync_pair[h->sync_next[(n - 3) / 2] / 2 - 1][1];
}

/* Makes the newest point look older and off by error, and has a pair added. */
static bool added(struct pt_seg_header *h, int64_t error)
{
    uint32_t n = pt_syncpoint_count(h);
    struct pt_sync *p = newest(h);
    uint64_t ts;
    int64_t ns;

    pt_clock_pair(h->clock, &ts, &ns);
    /* Two seconds back, with the given error. */
    p->ts = ts - pt_mul128_div(2000000000u, p->mult);
    p->ns = ns - 2000000000 - error;
    pt_syncpoint_maintain(h, h->clock);
    return pt_syncpoint_count(h) > n;
}

static void expect_ascending(const struct points *t)
{
    const struct pt_sync *from = t->at;
    uint64_t step = pt_mul128_div(1000000u, from->mult), ts = from->ts;
    int64_t last = pt_sync_convert(t->at, t->count, ts);

    /* 4 seconds in milliseconds, and each point's neighbourhood in ticks. */
    for (unsigned i = 0; i < 4000; i++) {
        int64_t ns = pt_sync_convert(t->at, t->count, ts += step);

        ck_assert_int_ge(ns, last);
        last = ns;
    }
    for (const struct pt_sync *p = from + 1; p < t->at + t->count; p++) {
        ck_assert_uint_gt(p->ts, p[-1].ts);
        last = pt_sync_convert(t->at, t->count, p->ts - 50);
        for (ts = p->ts - 49; ts < p->ts + 50; ts++) {
            int64_t ns = pt_sync_convert(t->at, t->count, ts);

            ck_assert_int_ge(ns, last);
            ck_assert_int_le(ns - last, 100 + (int64_t)(from->mult >> 31));
            last = ns;
        }
    }
}

/* Steering forwards and backwards keeps the order of times; what was converted
 * before points were added converts to the same ever after. */
START_TEST(times_never_decrease)
{
    static const int64_t errors[] = { 5000, -5000, 100000, -100000, 9000000, -9000000 };

    for (unsigned i = 0; i < sizeof errors / sizeof *errors; i++) {
        struct pt_seg_header *h;
        struct points t;
        struct pt_seg seg;
        uint64_t then;

        ring_create(&seg, 49152);
        h = seg.h;
        pt_syncpoint_first(h, h->clock);
        ck_assert_uint_eq(pt_syncpoint_count(h), 1);
        ck_assert(added(h, errors[i]));
        t = points_of(h);
        ck_assert_uint_eq(t.count, 3);
        then = t.at[1].ts - 1;
        ck_assert_int_eq(pt_syncpoint_convert(h, then), pt_sync_apply(&h->sync_first, then));
        for (then = t.at[1].ts; then < t.at[2].ts + 1000; then += 999983)
            ck_assert_int_eq(pt_syncpoint_convert(h, then), pt_sync_convert(t.at, 3, then));
        expect_ascending(&t);
        ring_remove(&seg);
    }
}
END_TEST

/* Points come after every time that a reader has read, however far that is ahead; and readers
 * do not keep the table from being steered. */
START_TEST(points_after_readers)
{
    struct pt_seg_header *h;
    struct points t;
    struct pt_seg seg;

    ring_create(&seg, 49152);
    h = seg.h;
    pt_syncpoint_first(h, h->clock);
    for (uint32_t k = 0; k < 5; k++) {
        uint64_t ts = pt_clock_now(h->clock) + pt_mul128_div(70000000u * k, h->sync_first.mult);

        ck_assert_uint_eq(pt_syncpoint_reach(h, ts), 1 + 2 * k);
        ck_assert_uint_eq(pt_syncpoint_reach(h, ts - 5), 1 + 2 * k);
        ck_assert(added(h, 100000));
        t = points_of(h);
        ck_assert_uint_eq(t.count, 3 + 2 * k);
        ck_assert_uint_gt(t.at[1 + 2 * k].ts, ts);
    }
    /* A time of a damaged record says nothing about the clock. */
    ck_assert_uint_eq(pt_syncpoint_reach(h, UINT64_MAX), 11);
    ck_assert(added(h, 100000));
    ring_remove(&seg);
}
END_TEST

/* A time stamp counter at 3 GHz shows that after 97 years. */
START_TEST(points_after_readers_of_late_times)
{
    struct pt_sync pair[2] = { { 0, 0, 0 } };
    struct pt_seg_header *h;
    struct pt_seg seg;
    uint64_t ts;

    ring_create(&seg, 49152);
    h = seg.h;
    pt_syncpoint_first(h, h->clock);
    h->sync_first.ts += 1ull << 63;
    ts = h->sync_first.ts + pt_mul128_div(9000000000u, h->sync_first.mult);
    ck_assert_uint_eq(pt_syncpoint_reach(h, ts), 1);
    ck_assert_uint_gt(h->sync_next[0], ts);
    ck_assert(added(h, 100000));
    pt_syncpoint_get(h, 1, &pair[0]);
    ck_assert_uint_gt(pair[0].ts, ts);
    ring_remove(&seg);
}
END_TEST

/* How many points there are of a clock that is wrong, and was compared a moment ago; *ns: how long
 * ago at most. */
static uint32_t points_of_young(uint64_t *ns)
{
    struct pt_seg_header *h;
    struct pt_seg seg;
    uint32_t count;

    ring_create(&seg, 49152);
    h = seg.h;
    *ns = pt_clock_ns(CLOCK_MONOTONIC);
    pt_syncpoint_first(h, h->clock);
    h->sync_first.ns += 5000000;
    pt_syncpoint_maintain(h, h->clock);
    *ns = pt_clock_ns(CLOCK_MONOTONIC) - *ns;
    count = pt_syncpoint_count(h);
    ring_remove(&seg);
    return count;
}

START_TEST(no_points_without_need)
{
    struct pt_seg_header *h;
    struct pt_seg seg;
    uint32_t count;
    uint64_t ns;

    ring_create(&seg, 49152);
    h = seg.h;
    pt_syncpoint_maintain(h, h->clock);
    ck_assert_uint_eq(pt_syncpoint_count(h), 0);
    ck_assert_uint_eq(pt_syncpoint_reach(h, 5), 0);
    ck_assert_int_eq(pt_syncpoint_convert(h, 5), 5);
    ring_remove(&seg);
    do /* a clock that was compared a second ago gets one */
        count = points_of_young(&ns);
    while (count > 1 && ns >= 900000000);
    ck_assert_uint_eq(count, 1);
}
END_TEST

/* Full, or used up by threads that were killed, or scribbled over: no points, no damage. */
START_TEST(tables_without_room)
{
    struct pt_seg_header *h;
    struct pt_seg seg;
    struct pt_sync p;

    ring_create(&seg, 49152);
    h = seg.h;
    pt_syncpoint_first(h, h->clock);
    h->sync_used[0] = h->sync_used[1] = UINT64_MAX;
    ck_assert(!added(h, 9000000000));
    ck_assert(pt_syncpoint_is_left(h));
    h->sync_used[0] = h->sync_used[1] = 0;
    for (uint32_t i = 0; i < PT_SYNC_PAIRS; i++)
        ck_assert(added(h, 9000000000));
    ck_assert_uint_eq(pt_syncpoint_count(h), 1 + 2 * PT_SYNC_PAIRS);
    ck_assert(!added(h, 9000000000));
    h->syncs = UINT32_MAX - 1;
    memset(h->sync_next, 0xfe, sizeof h->sync_next);
    pt_syncpoint_maintain(h, h->clock);
    ck_assert_uint_eq(pt_syncpoint_reach(h, 5), 1 + 2 * PT_SYNC_PAIRS);
    for (uint32_t i = 0; i < pt_syncpoint_count(h); i++)
        pt_syncpoint_get(h, i, &p);
    ring_remove(&seg);
}
END_TEST

/* A stream whose clock is CLOCK_MONOTONIC, and CLOCK_REALTIME, as the test says. */
struct clocks {
    struct pt_seg seg;
    struct pt_seg_header *h;
    uint64_t now;
    int64_t real;
};

static void clocks_begin(struct clocks *c)
{
    ring_create(&c->seg, 49152);
    c->h = c->seg.h;
    c->h->sync_first = (struct pt_sync){ 1000000000, 1700000000000000000, 1ull << 32 };
    c->h->syncs = 1;
    c->now = c->h->sync_first.ts;
    c->real = c->h->sync_first.ns;
}

/* ns pass; CLOCK_REALTIME goes faster by so many parts of a million. */
static void clocks_pass(struct clocks *c, int64_t ns, int ppm)
{
    c->now += (uint64_t)ns;
    c->real += ns + ns / 1000000 * ppm;
    pt_syncpoint_compare(c->h, PT_CLOCK_MONOTONIC, c->now, c->real);
}

/* How far a time of now is off. */
static int64_t clocks_error(const struct clocks *c)
{
    return llabs(pt_syncpoint_convert(c->h, c->now) - c->real);
}

#define SECOND_NS 1000000000ll

/* A steady rate takes few pairs in a week, and the table still follows a step then. */
START_TEST(a_week_of_slewing)
{
    struct clocks c;

    clocks_begin(&c);
    for (int i = 0; i < 7 * 86400; i++) {
        clocks_pass(&c, SECOND_NS, 500);
        ck_assert_int_le(clocks_error(&c), i < 5 ? 1500000 : 16000);
    }
    ck_assert_uint_lt(pt_syncpoint_count(c.h), 1 + 2 * 30);
    c.real += 3600 * SECOND_NS;
    for (int i = 0; i < 4; i++)
        clocks_pass(&c, SECOND_NS, 0);
    ck_assert_int_le(clocks_error(&c), 1000000);
    ck_assert(!pt_syncpoint_is_left(c.h));
    ring_remove(&c.seg);
}
END_TEST

/* A rate that changes each minute for a day: small deviations are left, and then those of less
 * than a second, and there is room for steps. */
START_TEST(slewing_back_and_forth)
{
    struct clocks c;
    uint32_t n;

    clocks_begin(&c);
    for (int i = 0; i < 86400; i++) {
        clocks_pass(&c, SECOND_NS, i / 60 % 2 ? -500 : 500);
        ck_assert_int_le(clocks_error(&c), i < 2000 ? 8000000 : 80000000);
    }
    n = pt_syncpoint_count(c.h);
    ck_assert_uint_gt(n, 1 + 2 * 90);
    ck_assert_uint_lt(n, 1 + 2 * 100);
    ck_assert(pt_syncpoint_is_left(c.h)); /* there were more than 10 ms */
    for (int step = 0; step < 6; step++) {
        c.real += 3600 * SECOND_NS;
        for (int i = 0; i < 4; i++)
            clocks_pass(&c, SECOND_NS, 0);
        ck_assert_int_le(clocks_error(&c), 100000000);
    }
    ck_assert_uint_eq(pt_syncpoint_count(c.h), n + 2 * 6);
    ring_remove(&c.seg);
}
END_TEST

/* The clock is set more often than the table has room for: all steps that it has room for show,
 * and then it says so. */
START_TEST(more_steps_than_pairs)
{
    struct clocks c;

    clocks_begin(&c);
    for (uint32_t step = 0; step < PT_SYNC_PAIRS; step++) {
        c.real += 3600 * SECOND_NS;
        clocks_pass(&c, 2 * SECOND_NS, 0);
        clocks_pass(&c, SECOND_NS / 2, 0);
        ck_assert_int_eq(clocks_error(&c), 0);
        ck_assert(!pt_syncpoint_is_left(c.h));
    }
    clocks_pass(&c, 2 * SECOND_NS, 0);
    c.real += 5000000; /* as good as the table promises */
    clocks_pass(&c, 2 * SECOND_NS, 0);
    ck_assert(!pt_syncpoint_is_left(c.h));
    c.real += 3600 * SECOND_NS;
    clocks_pass(&c, SECOND_NS, 0);
    ck_assert(pt_syncpoint_is_left(c.h));
    ck_assert_uint_eq(pt_syncpoint_count(c.h), 1 + 2 * PT_SYNC_PAIRS);
    ring_remove(&c.seg);
}
END_TEST

static void add(TCase *tc)
{
    tcase_add_test(tc, what_was_put);
    tcase_add_test(tc, bad_records);
    tcase_add_test(tc, random_bytes);
    tcase_add_test(tc, times_never_decrease);
    tcase_add_test(tc, points_after_readers);
    tcase_add_test(tc, points_after_readers_of_late_times);
    tcase_add_test(tc, no_points_without_need);
    tcase_add_test(tc, tables_without_room);
    tcase_add_test(tc, a_week_of_slewing);
    tcase_add_test(tc, slewing_back_and_forth);
    tcase_add_test(tc, more_steps_than_pairs);
}

int main(void)
{
    return ring_main("record", add);
}
