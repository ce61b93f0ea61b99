/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Books that are taken while threads come, and while a consumer gives chunks back; and of
 * writers whose numbers were chosen so that they share a place in a table.
 * pt_slot_count() goes through the test, which lets a thread come just after the slots were
 * counted, and end again.
 */
#include <string.h>
#include "consumer/balance.h"
#include "shm_helpers.h"
#include "shm/pool.h"
#include "shm/slot.h"

uint32_t __real_pt_slot_count(struct pt_seg *seg);
uint32_t __wrap_pt_slot_count(struct pt_seg *seg);

static unsigned one_comes; /* at which call; 0: none does any more */
static bool and_goes;

/* Its counts go to the past of the slot, its event stays. */
static void end_writer(struct pt_seg *seg, uint32_t slot)
{
    pt_slot_detach(seg, slot, 50);
    pt_slot_release(seg, slot);
}

static uint32_t begin_writer(struct pt_seg *seg)
{
    uint32_t slot = ring_attach(seg, 0), chunk;

    ck_assert_int_eq(pt_pool_take(seg, slot, 300, false, &chunk), PT_POOL_TAKEN);
    ring_refer(seg, slot, chunk);
    ring_put(seg, chunk, PT_ID_USER_FIRST, 50, 8);
    return slot;
}

uint32_t __wrap_pt_slot_count(struct pt_seg *seg)
{
    uint32_t n = __real_pt_slot_count(seg), slot;

    if (one_comes > 0 && --one_comes == 0) {
        slot = begin_writer(seg);
        if (and_goes)
            end_writer(seg, slot);
    }
    return n;
}

/* A stream with one slot, which is free. */
static void create_with_slot(struct pt_seg *seg)
{
    ring_create(seg, 64000);
    seg->h->window = 1;
    end_writer(seg, ring_attach(seg, 0));
    ck_assert_uint_eq(pt_slot_count(seg), 1);
}

/* All writers together have recorded one event and lost none. */
static void check_one_is_there(const struct pt_consumer *live)
{
    struct pt_balance b = { .count = 0 };
    uint64_t lost[PT_LOSS_CAUSES] = { 0 }, recorded = 0;

    ck_assert_int_eq(pt_balance_take(live, &b), 0);
    for (uint32_t i = 0; i < b.count; i++)
        pt_balance_add(live, &b.entries[i], lost, &recorded);
    pt_balance_add_rest(live, &b, lost, &recorded);
    ck_assert_uint_eq(recorded, 1);
    for (unsigned c = 0; c < PT_LOSS_CAUSES; c++)
        ck_assert_uint_eq(lost[c], 0);
    pt_balance_free(&b);
}

/* No thread is known then, and the events of the first thread do not count yet. */
START_TEST(first_thread_comes_meanwhile)
{
    uint64_t lost[PT_LOSS_CAUSES] = { 0 }, recorded = 0;
    struct pt_balance b = { .count = 0 };
    struct pt_consumer live;
    struct pt_seg seg;

    ring_create(&seg, 64000);
    ck_assert_int_eq(pt_consumer_init(&live, &seg), 0);
    one_comes = 1;
    and_goes = false;
    ck_assert_int_eq(pt_balance_take(&live, &b), 0);
    ck_assert_uint_eq(one_comes, 0);
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
    pt_consumer_deinit(&live);
    ring_remove(&seg);
}
END_TEST

/* It comes, records and ends while the slots are looked at: nothing of it is lost. */
START_TEST(one_comes_and_goes)
{
    struct pt_consumer live;
    struct pt_seg seg;

    create_with_slot(&seg);
    ck_assert_int_eq(pt_consumer_init(&live, &seg), 0);
    one_comes = 1;
    and_goes = true;
    check_one_is_there(&live);
    pt_consumer_deinit(&live);
    ring_remove(&seg);
}
END_TEST

/* The same while an onlooker takes the books with which it begins: the first call is that of
 * the watermark. */
START_TEST(one_comes_and_goes_before_an_onlooker)
{
    struct pt_event event;
    struct pt_consumer live;
    struct pt_seg seg;
    uint64_t read = 0;

    create_with_slot(&seg);
    one_comes = 2;
    and_goes = true;
    ck_assert_int_eq(pt_consumer_look_on(&live, &seg), 0);
    ck_assert_uint_eq(one_comes, 0);
    pt_consumer_finish(&live);
    while (pt_consumer_next(&live, &event) == PT_LIVE_EVENT)
        read += event.id == PT_ID_USER_FIRST;
    ck_assert_uint_eq(read, 1);
    check_one_is_there(&live);
    pt_consumer_deinit(&live);
    ring_remove(&seg);
}
END_TEST

/* The thread that claims the slot of an ended writer is killed before it has stored its own
 * number. */
START_TEST(claimer_dies)
{
    struct pt_consumer live;
    struct pt_seg seg;
    uint32_t slot;

    ring_create(&seg, 64000);
    ck_assert_int_eq(pt_consumer_init(&live, &seg), 0);
    slot = begin_writer(&seg);
    pt_slot_detach(&seg, slot, 50);
    for (int i = 0; i < 2; i++) {
        pt_accounts_take(&live.accounts, live.finished);
        ck_assert_uint_eq(live.accounts.ended_count, 1);
        pt_accounts_release(&live.accounts);
        ck_assert_uint_eq(pt_seg_slot(&seg, slot)->state, PT_SLOT_FREE);
        /* As a sweep leaves it that has found the claimer dead. */
        pt_store_release(&pt_seg_slot(&seg, slot)->state, (uint32_t)PT_SLOT_ENDED);
    }
    check_one_is_there(&live);
    pt_accounts_take(&live.accounts, live.finished);
    ck_assert_uint_eq(live.accounts.gone.recorded, 0);
    pt_consumer_deinit(&live);
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

static void take_one_writer(const struct pt_consumer *live, uint64_t *lost, uint64_t *recorded)
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
    struct pt_consumer live;
    struct pt_seg seg;
    uint32_t slot, middle;

    ring_create(&seg, 64000);
    seg.h->window = 1;
    slot = ring_attach(&seg, 0);
    fill_chunk(&seg, slot, 3, 50, true);
    middle = fill_chunk(&seg, slot, 4, 60, true);
    fill_chunk(&seg, slot, 5, 70, false);
    ck_assert(pt_pool_free(&seg, middle, pt_seg_info(&seg, middle)->word));

    ck_assert_int_eq(pt_consumer_look_on(&live, &seg), 0);
    pt_consumer_finish(&live);
    take_one_writer(&live, &lost, &recorded);
    ck_assert_uint_eq(recorded, 12);
    ck_assert_uint_eq(lost, 4);
    while (pt_consumer_next(&live, &event) == PT_LIVE_EVENT)
        read += event.id == PT_ID_USER_FIRST;
    ck_assert_uint_eq(read, 8);
    take_one_writer(&live, &lost, &recorded);
    ck_assert_uint_eq(read + lost, recorded);
    ck_assert_uint_eq(recorded, 12);
    pt_consumer_deinit(&live);
    ring_remove(&seg);
}
END_TEST

/* ---- numbers of writers that another process has chosen ---- */

enum { MANY = 10000, LONGEST_RUN = 500 };

/* The chunk's contents: writers with one event each, whose numbers differ in the high half only
 * (_i 0) or in the low one.  The number of the next one. */
static uint64_t put_writers(struct pt_seg *seg, uint32_t chunk, uint64_t next, int low)
{
    struct pt_record_author a = { .author = { .pid = 1 } };
    uint32_t at = (uint32_t)pt_seg_chunk(seg, chunk)->commit;
    const uint32_t need = pt_record_size(sizeof a) + pt_record_size(8);

    for (; at + need <= seg->g.chunk_size; at += need, next++) {
        struct pt_chunk *c = pt_seg_chunk(seg, chunk);

        a.author.wid = low ? next : next << 32;
        pt_record_put_head((char *)c + at, PT_RECORD_AUTHOR, 0, sizeof a, 0, 0);
        memcpy((char *)c + at + PT_RECORD_HEAD, &a, sizeof a);
        pt_store_release(&c->commit, c->commit + pt_record_size(sizeof a));
        ring_put(seg, chunk, PT_ID_USER_FIRST, 50, 8);
    }
    return next;
}

/* Of cells with something in them, one after the other: so many are looked at for a number. */
static uint32_t longest_run(const struct pt_balance *b, const struct pt_consumer *l)
{
    uint32_t room = b ? b->index_room : l->accounts.room, run = 0, longest = 0;

    for (uint32_t i = 0; i < room; i++) {
        run = (b ? b->index[i] != 0 : l->accounts.tally[i].used) ? run + 1 : 0;
        longest = run > longest ? run : longest;
    }
    return longest;
}

/* They are found as fast as others: counted in looks, since no time is a bound on all machines.
 * More than three eighths of the cells are in use. */
START_TEST(chosen_numbers)
{
    struct pt_balance b = { .count = 0 };
    uint64_t next = 1;
    struct pt_consumer live;
    struct pt_seg seg;
    uint32_t chunk;

    ring_create(&seg, 2 << 20);
    seg.h->window = 1;
    while (pt_pool_take(&seg, 0, 300, false, &chunk) == PT_POOL_TAKEN)
        next = put_writers(&seg, chunk, next, _i);
    ck_assert_int_eq(pt_consumer_init(&live, &seg), 0);
    ck_assert_int_eq(pt_balance_take(&live, &b), 0);
    ck_assert_uint_ge(b.count, MANY);
    ck_assert_uint_lt(longest_run(&b, NULL), LONGEST_RUN);
    for (uint32_t i = 0; i < b.count; i++) {
        const struct pt_accounts *a = &live.accounts;

        ck_assert_ptr_nonnull(pt_accounts_get(&live.accounts, &b.entries[i].t.author));
        ck_assert(a->room <= 64 || a->room * 3 <= a->count * 8);
    }
    ck_assert_uint_ge(live.accounts.count, MANY);
    ck_assert_uint_lt(longest_run(NULL, &live), LONGEST_RUN);
    pt_balance_free(&b);
    pt_consumer_deinit(&live);
    ring_remove(&seg);
}
END_TEST

static void add(TCase *tc)
{
    tcase_add_loop_test(tc, chosen_numbers, 0, 2);
    tcase_add_test(tc, chunk_in_the_middle_goes);
    tcase_add_test(tc, one_comes_and_goes);
    tcase_add_test(tc, one_comes_and_goes_before_an_onlooker);
    tcase_add_test(tc, claimer_dies);
    tcase_add_test(tc, first_thread_comes_meanwhile);
}

int main(void)
{
    return ring_main("balance", add);
}
