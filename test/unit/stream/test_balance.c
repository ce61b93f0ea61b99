/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Books that are taken while threads come.  pt_slot_count() goes through the test, which lets a
 * thread come just after the slots were counted.
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

static void add(TCase *tc)
{
    tcase_add_test(tc, first_thread_comes_meanwhile);
}

int main(void)
{
    return ring_main("balance", add);
}
