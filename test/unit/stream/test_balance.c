/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Books that are taken while threads come, and while a consumer gives chunks back.
 * pt_slot_count() goes through the test, which lets a thread come just after the slots were
 * counted.
 */
#include <string.h>
#include "ring/pool.h"
#include "ring/slot.h"
#include "ring_helpers.h"
#include "stream/balance.h"

uint32_t __real_pt_slot_count(struct pt_seg *seg);
uint32_t __wrap_pt_slot_count(struct pt_seg *seg);

static bool one_comes;

uint32_t __wrap_pt_slot_count(struct pt_seg *seg)
{
    uint32_t n = __real_pt_slot_count(seg), slot, chunk;

    if (one_comes) {
        one_comes = false;
        slot = ring_attach(seg, 0);
        ck_assert_int_eq(pt_pool_take(seg, slot, 300, false, &chunk), PT_POOL_TAKEN);
        ring_refer(seg, slot, chunk);
        ring_put(seg, chunk, PT_ID_USER_FIRST, 50, 8);
    }
    return n;
}

/* Nobody is known then, and what the first thread has recorded does not count yet. */
START_TEST(first_thread_comes_meanwhile)
{
    uint64_t lost[PT_LOSS_CAUSES] = { 0 }, recorded = 0;
    struct pt_balance b = { .count = 0 };
    struct pt_live live;
    struct pt_seg seg;

    ring_create(&seg, 64000);
    ck_assert_int_eq(pt_live_init(&live, &seg), 0);
    one_comes = true;
    ck_assert_int_eq(pt_balance_take(&live, &b), 0);
    ck_assert(!one_comes);
    ck_assert_uint_eq(b.count, 0);
    pt_balance_add_rest(&live, &b, lost, &recorded);
    ck_assert_uint_eq(recorded, 0);
    pt_balance_free(&b);

    ck_assert_int_eq(pt_balance_take(&live, &b), 0);
    ck_assert_uint_eq(b.count, 1);
    pt_balance_add(&live, &b.entries[0], lost, &recorded);
    ck_assert_uint_eq(recorded, 1);
    for (unsigned c = 0; c < PT_LOSS_CAUSES; c++)
        ck_assert_uint_eq(lost[c], 0);
    pt_balance_free(&b);
    pt_live_deinit(&live);
    ring_remove(&seg);
}
END_TEST

/* A chunk with n events of the slot's writer, full or still open. */
static uint32_t fill_chunk(struct pt_seg *seg, uint32_t slot, unsigned n, uint32_t ts, bool full)
{
    struct pt_slot *s = pt_seg_slot(seg, slot);
    uint32_t chunk;

    ck_assert_int_eq(pt_pool_take(seg, slot, 300, false, &chunk), PT_POOL_TAKEN);
    pt_seg_chunk(seg, chunk)->first_no = s->next_no;
    ring_refer(seg, slot, chunk);
    for (unsigned i = 0; i < n; i++)
        ring_put(seg, chunk, PT_ID_USER_FIRST, ts + i, 8);
    if (full) {
        s->next_no += n;
        pt_store_release(&s->chunk, 0u);
        pt_pool_close(seg, chunk, slot, ts + n - 1);
    }
    return chunk;
}

static void take_one_writer(const struct pt_live *live, uint64_t *lost, uint64_t *recorded)
{
    struct pt_balance b = { .count = 0 };
    uint64_t causes[PT_LOSS_CAUSES] = { 0 };

    *recorded = *lost = 0;
    ck_assert_int_eq(pt_balance_take(live, &b), 0);
    ck_assert_uint_eq(b.count, 1);
    pt_balance_add(live, &b.entries[0], causes, recorded);
    for (unsigned c = 0; c < PT_LOSS_CAUSES; c++)
        *lost += causes[c];
    pt_balance_free(&b);
}

/* An onlooker looks at one chunk after the other.  It found the first in use; the consumer gave
 * back the first and the second before it looked at the second: of the second it has nothing,
 * and of the first all. */
START_TEST(chunk_in_the_middle_goes)
{
    uint64_t lost, recorded, read = 0;
    struct pt_event event;
    struct pt_live live;
    struct pt_seg seg;
    uint32_t slot, middle;

    ring_create(&seg, 64000);
    seg.h->window = 1;
    slot = ring_attach(&seg, 0);
    fill_chunk(&seg, slot, 3, 50, true);
    middle = fill_chunk(&seg, slot, 4, 60, true);
    fill_chunk(&seg, slot, 5, 70, false);
    ck_assert(pt_pool_free(&seg, middle, pt_seg_info(&seg, middle)->word));

    ck_assert_int_eq(pt_live_look_on(&live, &seg), 0);
    pt_live_finish(&live);
    take_one_writer(&live, &lost, &recorded);
    ck_assert_uint_eq(recorded, 12);
    ck_assert_uint_eq(lost, 4);
    while (pt_live_next(&live, &event) == PT_LIVE_EVENT)
        read += event.id == PT_ID_USER_FIRST;
    ck_assert_uint_eq(read, 8);
    take_one_writer(&live, &lost, &recorded);
    ck_assert_uint_eq(read + lost, recorded);
    ck_assert_uint_eq(recorded, 12);
    pt_live_deinit(&live);
    ring_remove(&seg);
}
END_TEST

static void add(TCase *tc)
{
    tcase_add_test(tc, chunk_in_the_middle_goes);
    tcase_add_test(tc, first_thread_comes_meanwhile);
}

int main(void)
{
    return ring_main("balance", add);
}
