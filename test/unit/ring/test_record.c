/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* Decoding good and hostile records; the clock table that gives them times. */
#include <errno.h>
#include <stdlib.h>
#include "base/clock.h"
#include "model/sync.h"
#include "ring/syncpoint.h"
#include "ring_helpers.h"

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

#define BAD(kind, len, have) do { \
    uint8_t *bytes_ = calloc(1, 128); \
    struct pt_decoder d_ = decoder(bytes_, (have)); \
    struct pt_record r_; \
    pt_record_put_head(bytes_, (kind), 300, (len), 0, 0); \
    ck_assert_int_eq(pt_decode_next(&d_, &r_), -EBADMSG); \
    ck_assert_ptr_eq(d_.p, bytes_); \
    free(bytes_); \
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

/* Any bytes: each call goes on or ends, and what it gives lies inside. */
START_TEST(random_bytes)
{
    srand(1);
    for (int round = 0; round < 20000; round++) {
        size_t n = (size_t)rand() % 33 * 8, steps = 0;
        uint8_t *bytes = malloc(n + 1);   /* sanitizers and valgrind guard its end */
        struct pt_decoder d = decoder(bytes, n);
        struct pt_record r;

        for (size_t i = 0; i < n; i++)
            bytes[i] = (uint8_t)rand();
        /* Plausible heads now and then, else nothing but the first is decoded. */
        for (size_t i = 0; i + PT_RECORD_HEAD <= n; i += 8)
            if (rand() % 2)
                pt_record_put_head(bytes + i, (uint32_t)rand() % 3, 300, (uint32_t)rand() % 100,
                                   0, 0);
        while (pt_decode_next(&d, &r) == 1) {
            ck_assert(r.data >= bytes + PT_RECORD_HEAD && r.data + r.len <= bytes + n);
            ck_assert_uint_lt(r.id, 2048);
            ck_assert_uint_le(++steps, n / PT_RECORD_HEAD);
        }
        free(bytes);
    }
}
END_TEST

/* Makes the newest point look older and off by error, and has one added. */
static bool added(struct pt_seg_header *h, int64_t error)
{
    struct pt_sync *p = &h->sync[h->syncs - 1];
    uint32_t n = h->syncs;
    uint64_t ts;
    int64_t ns;

    pt_clock_pair(h->clock, &ts, &ns);
    /* Two seconds back, and wrong by what is asked for. */
    p->ts = ts - pt_wide_div(2000000000u, p->mult);
    p->ns = ns - 2000000000 - error;
    pt_syncpoint_maintain(h, h->clock);
    return h->syncs > n;
}

static void expect_ascending(const struct pt_seg_header *h, const struct pt_sync *from)
{
    uint64_t step = pt_wide_div(1000000u, from->mult), ts = from->ts;
    int64_t last = pt_sync_convert(h->sync, h->syncs, ts);

    /* 4 seconds in milliseconds, and each point's neighbourhood in ticks. */
    for (unsigned i = 0; i < 4000; i++) {
        int64_t ns = pt_sync_convert(h->sync, h->syncs, ts += step);

        ck_assert_int_ge(ns, last);
        last = ns;
    }
    for (const struct pt_sync *p = from + 1; p < h->sync + h->syncs; p++) {
        ck_assert_uint_gt(p->ts, p[-1].ts);
        last = pt_sync_convert(h->sync, h->syncs, p->ts - 50);
        for (uint64_t t = p->ts - 49; t < p->ts + 50; t++) {
            int64_t ns = pt_sync_convert(h->sync, h->syncs, t);

            ck_assert_int_ge(ns, last);
            ck_assert_int_le(ns - last, 100 + (int64_t)(from->mult >> 31));
            last = ns;
        }
    }
}

/* Steering forwards and backwards keeps the order of times; what was converted
 * before a point was added converts to the same ever after. */
START_TEST(times_never_decrease)
{
    static const int64_t errors[] = { 5000, -5000, 100000, -100000, 9000000, -9000000 };

    for (unsigned i = 0; i < sizeof errors / sizeof *errors; i++) {
        struct pt_seg_header *h;
        struct pt_seg seg;
        uint64_t then;
        int64_t ns;

        ring_create(&seg, 49152);
        h = seg.h;
        pt_syncpoint_first(h, h->clock);
        ck_assert_uint_eq(h->syncs, 1);
        ck_assert(added(h, errors[i]));
        then = h->sync[1].ts - 1;
        ns = pt_sync_apply(&h->sync[0], then);
        ck_assert_int_eq(pt_sync_convert(h->sync, h->syncs, then), ns);
        expect_ascending(h, &h->sync[0]);
        ring_remove(&seg);
    }
}
END_TEST

START_TEST(no_points_without_need)
{
    struct pt_seg_header *h;
    struct pt_seg seg;

    ring_create(&seg, 49152);
    h = seg.h;
    pt_syncpoint_maintain(h, h->clock);
    ck_assert_uint_eq(h->syncs, 0);
    pt_syncpoint_first(h, h->clock);
    h->sync[0].ns += 5000000;   /* wrong, but not a second old */
    pt_syncpoint_maintain(h, h->clock);
    ck_assert_uint_eq(h->syncs, 1);
    h->syncs = h->sync_claim = PT_SYNC_MAX - 1;
    for (uint32_t i = 1; i < PT_SYNC_MAX; i++)
        h->sync[i] = h->sync[0];
    ck_assert(!added(h, 9000000000));
    h->syncs = UINT32_MAX - 1;
    pt_syncpoint_maintain(h, h->clock);
    ck_assert_uint_eq(h->syncs, UINT32_MAX - 1);
    ring_remove(&seg);
}
END_TEST

static void add(TCase *tc)
{
    tcase_add_test(tc, what_was_put);
    tcase_add_test(tc, bad_records);
    tcase_add_test(tc, random_bytes);
    tcase_add_test(tc, times_never_decrease);
    tcase_add_test(tc, no_points_without_need);
}

int main(void)
{
    return ring_main("record", add);
}
