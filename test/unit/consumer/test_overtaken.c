/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * A consumer that a writer of a LOOP stream overtakes: the chunk at whose event it stands is
 * recycled, and its new contents are consumed first.
 */
#include "consumer/consumer.h"
#include "shm_helpers.h"
#include "shm/pool.h"
#include "shm/slot.h"

static struct pt_seg seg;
static struct pt_consumer live;

/* Takes a chunk for the slot, with an event at each of these times. */
static uint32_t record(uint32_t slot, unsigned n, const uint32_t *ts)
{
    struct pt_slot *s = pt_seg_slot(&seg, slot);
    uint32_t chunk;

    ck_assert_int_eq(pt_pool_take(&seg, slot, 300, true, &chunk), PT_POOL_TAKEN);
    ring_refer(&seg, slot, chunk);
    for (unsigned i = 0; i < n; i++)
        ring_put(&seg, chunk, PT_ID_USER_FIRST, ts[i], 8);
    s->next_no += n;
    return chunk;
}

static void end_chunk(uint32_t slot, uint32_t chunk, uint64_t last)
{
    pt_store_release(&pt_seg_slot(&seg, slot)->chunk, 0u);
    pt_pool_close(&seg, chunk, slot, last);
}

/* All chunks but one are being written. */
static void hold_all_but_one(uint32_t slot)
{
    static const uint32_t none[1];
    uint32_t n = seg.g.base_chunks + pt_load_relaxed(&seg.h->writers) - 1;

    while (pt_load_relaxed(&seg.h->used_chunks) < n)
        record(slot, 0, none);
}

static uint64_t next_time(void)
{
    struct pt_event e;
    int r = pt_consumer_next(&live, &e);

    ck_assert_int_ge(r, 0);
    return r == PT_LIVE_EVENT ? e.ts : 0;
}

/* A LOOP stream with one chunk to take, its consumer, and two writers. */
static void begin(uint32_t *first, uint32_t *second)
{
    uint32_t holder;

    ring_create(&seg, 64000);
    seg.g.attr.stream_policy = POSIX_TRACE_LOOP;
    seg.h->window = 1;
    holder = ring_attach(&seg, 0);
    *first = ring_attach(&seg, 1);
    *second = ring_attach(&seg, 2);
    ck_assert_int_eq(pt_consumer_init(&live, &seg), 0);
    hold_all_but_one(holder);
}

/* The event that takes the chunk has read its clock before the last ones that the chunk had before,
 * and it stays the only one there. */
START_TEST(old_position_is_not_stored)
{
    static const uint32_t before[] = { 140, 150, 160 }, after[] = { 145 };
    uint32_t first, second, chunk;

    begin(&first, &second);
    chunk = record(first, 3, before);
    end_chunk(first, chunk, 160);
    ck_assert_uint_eq(next_time(), 140);

    ck_assert_uint_eq(record(second, 1, after), chunk);
    ck_assert_uint_eq(seg.h->lost_last_ts, 160);
    ck_assert_uint_eq(next_time(), 0);
    ck_assert_uint_eq(pt_consumed_at(pt_seg_chunk(&seg, chunk)->consumed),
                      pt_chunk_position(&seg, pt_seg_chunk(&seg, chunk)->commit));
    ck_assert(pt_consumed_is(pt_seg_chunk(&seg, chunk)->consumed, pt_seg_chunk(&seg, chunk)->gen));

    /* Nothing is left in it, so nothing is lost with it. */
    pt_slot_detach(&seg, second, 145);
    ck_assert_int_eq(ring_state(&seg, chunk), PT_CHUNK_ORPHAN);
    seg.h->overrun = 0;
    seg.h->lost_first_ts = UINT64_MAX;
    pt_seg_chunk(&seg, chunk)->author.level = PT_LEVEL_CONTROL; /* not adopted */
    ck_assert_uint_eq(record(first, 1, after), chunk);
    ck_assert_uint_eq(seg.h->overrun, 0);
    ck_assert_uint_eq(seg.h->lost_first_ts, UINT64_MAX);
    pt_consumer_deinit(&live);
    ring_remove(&seg);
}
END_TEST

/* Without events of the new contents that were consumed, the word that is stored late says so: all
 * of them are lost with the chunk. */
START_TEST(late_position_says_nothing_was_consumed)
{
    static const uint32_t before[] = { 140, 150 }, after[] = { 200, 210 };
    uint32_t first, second, chunk;
    struct pt_cursor *c;

    begin(&first, &second);
    chunk = record(first, 2, before);
    end_chunk(first, chunk, 150);
    ck_assert_uint_eq(next_time(), 140);

    /* Between the copy of an event and the position after it. */
    c = live.cursors.known[chunk];
    ck_assert_uint_eq(record(second, 2, after), chunk);
    pt_cursor_consume(&live.cursors, c);
    ck_assert(!pt_consumed_is(pt_seg_chunk(&seg, chunk)->consumed, pt_seg_chunk(&seg, chunk)->gen));
    end_chunk(second, chunk, 210);
    seg.h->lost_first_ts = UINT64_MAX;
    ck_assert_uint_eq(record(first, 1, after), chunk);
    ck_assert_uint_eq(seg.h->lost_first_ts, 200);
    ck_assert_uint_eq(seg.h->lost_last_ts, 210);
    c->off -= c->size; /* as it was queued */
    c->no--;
    pt_consumer_deinit(&live);
    ring_remove(&seg);
}
END_TEST

static void add(TCase *tc)
{
    tcase_add_test(tc, old_position_is_not_stored);
    tcase_add_test(tc, late_position_says_nothing_was_consumed);
}

int main(void)
{
    return ring_main("overtaken", add);
}
