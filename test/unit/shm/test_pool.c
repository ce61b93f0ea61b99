/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Chunks and slots: every transition of layout.h once by hand, the limits, and
 * the numbers that must stay right on the way.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/sys.h"
#include "shm_helpers.h"
#include "shm/pool.h"
#include "shm/slot.h"

#define SIZE 49152u

static struct pt_seg seg;

static enum pt_pool_take take(uint32_t slot, bool loop, uint32_t *index)
{
    return pt_pool_take(&seg, slot, 256, loop, index);
}

static uint32_t taken(uint32_t slot)
{
    uint32_t index = UINT32_MAX;

    ck_assert_int_eq(take(slot, false, &index), PT_POOL_TAKEN);
    ck_assert_uint_eq(ring_state(&seg, index), PT_CHUNK_OWNED);
    ck_assert_uint_eq(pt_word_slot(pt_seg_info(&seg, index)->word), slot);
    ck_assert_uint_eq(pt_word_gen(pt_seg_info(&seg, index)->word), pt_seg_chunk(&seg, index)->gen);
    return index;
}

START_TEST(take_close_free)
{
    uint32_t slot, a, b;
    uint64_t word;

    ring_create(&seg, SIZE);
    slot = ring_attach(&seg, 0);
    a = taken(slot);
    b = taken(slot);
    ck_assert_uint_ne(a, b);
    ck_assert_uint_eq(seg.h->used_chunks, 2);
    word = pt_seg_info(&seg, a)->word;
    ck_assert(!pt_pool_free(&seg, a, word));
    pt_pool_close(&seg, a, slot, 500);
    ck_assert_uint_eq(ring_state(&seg, a), PT_CHUNK_FULL);
    ck_assert_uint_eq(pt_seg_chunk(&seg, a)->last_ts, 500);
    ck_assert_uint_eq(seg.h->full_chunks, 1);
    ck_assert(!pt_pool_free(&seg, a, word));
    word = pt_seg_info(&seg, a)->word;
    ck_assert(pt_pool_free(&seg, a, word));
    ck_assert(!pt_pool_free(&seg, a, word));
    ck_assert_uint_eq(ring_state(&seg, a), PT_CHUNK_FREE);
    ck_assert_uint_eq(seg.h->full_chunks, 0);
    ck_assert_uint_eq(seg.h->used_chunks, 1);
    ck_assert_uint_eq(seg.h->peak_chunks, 2);
    ring_remove(&seg);
}
END_TEST

/* The counter of chunks in use is too high, and the reported number is not. */
START_TEST(used_too_high)
{
    uint32_t slot, n;

    ring_create(&seg, SIZE);
    slot = ring_attach(&seg, 0);
    n = pt_seg_chunk_count(&seg);
    ck_assert_uint_gt(n, 2);
    taken(slot);
    ck_assert_uint_eq(pt_pool_used(&seg), 1);
    seg.h->used_chunks = n;
    taken(slot);
    ck_assert_uint_eq(pt_pool_used(&seg), n);
    ck_assert_uint_eq(seg.h->peak_chunks, n);
    ring_remove(&seg);
}
END_TEST

/* Only the owner of a chunk can close it. */
START_TEST(close_by_another)
{
    uint32_t slot, other, a;

    ring_create(&seg, SIZE);
    slot = ring_attach(&seg, 0);
    other = ring_attach(&seg, 1);
    a = taken(slot);
    pt_pool_close(&seg, a, other, 1);
    pt_pool_orphan(&seg, a, other, 1);
    ck_assert_uint_eq(ring_state(&seg, a), PT_CHUNK_OWNED);
    ck_assert_uint_eq(seg.h->full_chunks, 0);
    ring_remove(&seg);
}
END_TEST

START_TEST(adopted_with_its_contents)
{
    uint32_t first, second, control, a, b;
    uint64_t gen, commit;

    ring_create(&seg, SIZE);
    first = ring_attach(&seg, 0);
    a = taken(first);
    ring_refer(&seg, first, a);
    ring_put(&seg, a, PT_ID_USER_FIRST, 10, 8);
    gen = pt_word_gen(pt_seg_info(&seg, a)->word);
    commit = pt_seg_chunk(&seg, a)->commit;
    pt_slot_detach(&seg, first, 0);
    ck_assert_uint_eq(ring_state(&seg, a), PT_CHUNK_ORPHAN);
    ck_assert_uint_eq(pt_seg_chunk(&seg, a)->last_ts, 10);

    seg.h->hint = a;
    control = ring_attach(&seg, PT_LEVEL_CONTROL);
    ck_assert_uint_ne(taken(control), a);
    seg.h->hint = a;
    second = ring_attach(&seg, 1);
    ck_assert_int_eq(take(second, false, &b), PT_POOL_ADOPTED);
    ck_assert_uint_eq(b, a);
    ck_assert_uint_eq(pt_seg_info(&seg, a)->word, pt_word_make(PT_CHUNK_OWNED, second, gen));
    ck_assert_uint_eq(pt_seg_chunk(&seg, a)->commit, commit);
    ring_remove(&seg);
}
END_TEST

START_TEST(orphan_without_room_is_full)
{
    uint32_t first, second, a;

    ring_create(&seg, SIZE);
    first = ring_attach(&seg, 0);
    a = taken(first);
    ring_refer(&seg, first, a);
    ring_put(&seg, a, PT_ID_USER_FIRST, 10, PT_CHUNK_MIN - 128 - 16 - 248);
    pt_slot_detach(&seg, first, 10);
    seg.h->hint = a;
    second = ring_attach(&seg, 1);
    ck_assert_uint_ne(taken(second), a);
    ck_assert_uint_eq(ring_state(&seg, a), PT_CHUNK_FULL);
    ck_assert_uint_eq(seg.h->full_chunks, 1);
    ring_remove(&seg);
}
END_TEST

/* So is a control writer's chunk at its end.  Both wake those who wait for full chunks. */
START_TEST(closed_by_others_is_told)
{
    uint32_t first, second, control, a, flush, fill;

    ring_create(&seg, SIZE);
    seg.g.has_log = 1;
    seg.g.attr.stream_policy = POSIX_TRACE_FLUSH;
    seg.g.base_chunks = 4;
    seg.h->fill_mark = seg.h->fill_level = 1;
    flush = seg.h->flush_futex;
    fill = seg.h->fill_futex;
    first = ring_attach(&seg, 0);
    a = taken(first);
    ring_refer(&seg, first, a);
    ring_put(&seg, a, PT_ID_USER_FIRST, 10, PT_CHUNK_MIN - 128 - 16 - 248);
    pt_slot_detach(&seg, first, 10);
    ck_assert_uint_eq(seg.h->fill_futex, fill);
    ck_assert_uint_eq(seg.h->flush_futex, flush);
    seg.h->hint = a;
    second = ring_attach(&seg, 1);
    ck_assert_uint_ne(taken(second), a);
    ck_assert_uint_eq(seg.h->fill_futex, fill + 1);
    ck_assert_uint_eq(seg.h->flush_futex, flush + 1);
    seg.h->flush_asked = 0;
    control = ring_attach(&seg, PT_LEVEL_CONTROL);
    ring_refer(&seg, control, taken(control));
    pt_slot_detach(&seg, control, 10);
    ck_assert_uint_eq(seg.h->full_chunks, 2);
    ck_assert_uint_eq(seg.h->fill_futex, fill + 2);
    ck_assert_uint_eq(seg.h->flush_futex, flush + 2);
    ring_remove(&seg);
}
END_TEST

/* Writers that end one after the other fill one orphan, not a little of each. */
START_TEST(orphans_are_filled_in_turn)
{
    uint32_t orphans[3], slot, a, b;

    ring_create(&seg, SIZE);
    for (uint32_t i = 0; i < 3; i++) {
        slot = ring_attach(&seg, i);
        orphans[i] = taken(slot);
        ring_refer(&seg, slot, orphans[i]);
        ring_put(&seg, orphans[i], PT_ID_USER_FIRST, 10, 8);
    }
    for (uint32_t i = 0; i < 3; i++)
        pt_slot_detach(&seg, i, 10);
    seg.h->hint = orphans[0];
    for (uint32_t i = 0; i < 5; i++) {
        slot = ring_attach(&seg, i);
        ck_assert_int_eq(take(slot, false, &a), PT_POOL_ADOPTED);
        ck_assert_uint_eq(a, orphans[0]);
        ring_refer(&seg, slot, a);
        ring_put(&seg, a, PT_ID_USER_FIRST, 11 + i, 8);
        pt_slot_detach(&seg, slot, 11 + i);
    }
    /* Two at the same time get one each. */
    ck_assert_int_eq(take(ring_attach(&seg, 0), false, &a), PT_POOL_ADOPTED);
    ck_assert_int_eq(take(ring_attach(&seg, 1), false, &b), PT_POOL_ADOPTED);
    ck_assert_uint_ne(a, b);
    ring_remove(&seg);
}
END_TEST

/* The base chunks and one for each writer, no more; every writer that ends
 * lowers what may be had. */
START_TEST(limit)
{
    uint32_t slot, more, a;

    ring_create(&seg, SIZE);
    slot = ring_attach(&seg, 0);
    for (uint32_t i = 0; i < seg.h->base_chunks + 1; i++)
        taken(slot);
    ck_assert_int_eq(take(slot, false, &a), PT_POOL_FULL);
    more = ring_attach(&seg, 1);
    taken(more);
    ck_assert_int_eq(take(slot, false, &a), PT_POOL_FULL);
    ck_assert_int_eq(take(more, false, &a), PT_POOL_FULL);
    /* LOOP has nothing to recycle while all of them are in use. */
    ck_assert_int_eq(take(more, true, &a), PT_POOL_FULL);
    ck_assert_uint_eq(seg.h->nchunks, seg.h->base_chunks + 2);
    ring_remove(&seg);
}
END_TEST

/* Beyond the base a chunk has memory as it is used; one that comes back keeps what it has. */
START_TEST(growth_is_backed_as_it_is_used)
{
    uint32_t slot, a, b, size;

    ring_create(&seg, 1 << 20);
    size = seg.h->chunk_size;
    slot = ring_attach(&seg, 0);
    for (uint32_t i = 0; i < seg.h->base_chunks; i++)
        ck_assert_uint_eq(pt_seg_backed(&seg, taken(slot)), size);
    a = taken(slot);
    ck_assert_uint_ge(a, seg.h->base_chunks);
    ck_assert_uint_ge(pt_seg_backed(&seg, a), PT_CHUNK_FIRST);
    ck_assert_uint_le(pt_seg_backed(&seg, a), PT_CHUNK_FIRST + PT_PAGE);
    ck_assert_int_eq(pt_seg_back_chunk(&seg, a, size / 2), 0);
    ck_assert_uint_ge(pt_seg_backed(&seg, a), size / 2);
    ck_assert_int_eq(pt_seg_back_chunk(&seg, a, 1), 0);
    ck_assert_uint_ge(pt_seg_backed(&seg, a), size / 2);
    ck_assert_int_eq(pt_seg_back_chunk(&seg, a, size), 0);
    ck_assert_uint_eq(pt_seg_backed(&seg, a), size);
    pt_pool_close(&seg, a, slot, 1);
    ck_assert(pt_pool_free(&seg, a, pt_seg_info(&seg, a)->word));
    b = taken(slot);
    ck_assert_uint_eq(b, a);
    ck_assert_uint_eq(pt_seg_backed(&seg, b), size);
    /* What another process may have left there. */
    pt_seg_chunk(&seg, a)->backed = UINT32_MAX;
    ck_assert_uint_eq(pt_seg_backed(&seg, a), size);
    ring_remove(&seg);
}
END_TEST

/* A slot, and so a chunk, for each of 16,384 threads and some more, whatever the size; in the
 * address space of a 32-bit process, as many bytes. */
START_TEST(growth_does_not_depend_on_the_size)
{
    static const uint64_t sizes[] = { 1 << 20, 8 << 20, 64 << 20 };

    for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct pt_seg_request request = { .clock = 1 };

        memset(&seg, 0, sizeof seg);
        pt_attr_init(&request.attr);
        request.attr.stream_size = sizes[i];
        ck_assert_int_eq(pt_seg_create(&seg, &request), 0);
        ck_assert_uint_eq(seg.h->chunk_max - seg.h->base_chunks,
                          sizeof(void *) > 4 ? PT_SLOT_MAX : PT_GROWTH_BYTES / seg.h->chunk_size);
        ring_remove(&seg);
    }
}
END_TEST

START_TEST(recycled_in_order_of_closing)
{
    uint32_t slot, n, a;
    uint64_t gen;

    ring_create(&seg, SIZE);
    slot = ring_attach(&seg, 0);
    n = seg.h->base_chunks + 1;
    for (uint32_t i = 0; i < n; i++)
        taken(slot);
    /* Closed from the last to the first: that order counts, not the place. */
    for (uint32_t i = n; i-- > 0;) {
        pt_seg_chunk(&seg, i)->base_ts = 0;
        ring_put(&seg, i, PT_ID_USER_FIRST, 1000 - i, 0);
        pt_pool_close(&seg, i, slot, 1000 - i);
    }
    ck_assert_int_eq(take(slot, false, &a), PT_POOL_FULL);
    ck_assert_uint_eq(seg.h->overrun, 0);
    for (uint32_t i = n; i-- > n - 5;) {
        gen = pt_word_gen(pt_seg_info(&seg, i)->word);
        ck_assert_int_eq(take(slot, true, &a), PT_POOL_TAKEN);
        ck_assert_uint_eq(a, i);
        ck_assert_uint_gt(pt_seg_chunk(&seg, a)->gen, gen);
        ck_assert_uint_eq(seg.h->lost_last_ts, 1000 - i);
    }
    ck_assert_uint_eq(seg.h->lost_first_ts, 1000 - (n - 1));
    ck_assert_uint_eq(seg.h->overrun, 1);
    ck_assert_uint_eq(seg.h->full_chunks, n - 5);
    ck_assert_uint_eq(seg.h->used_chunks, n);
    ring_remove(&seg);
}
END_TEST

/* A LOOP stream that has wrapped: all chunks closed, in the order of their places. */
static uint32_t wrapped(uint32_t slot)
{
    uint32_t n = seg.h->base_chunks + 1;

    for (uint32_t i = 0; i < n; i++)
        taken(slot);
    for (uint32_t i = 0; i < n; i++)
        pt_pool_close(&seg, i, slot, 0);
    return n;
}

static uint32_t overwritten(uint32_t slot)
{
    uint32_t index = UINT32_MAX;

    ck_assert_int_eq(take(slot, true, &index), PT_POOL_TAKEN);
    return index;
}

/* Turn for turn the chunk that was closed first, whatever the order of closing was: two chunks are
 * in use at a time, and the later one is closed before or after the earlier one. */
START_TEST(oldest_for_many_turns)
{
    uint64_t oldest, random = 1;
    uint32_t slot, n, held, a;

    ring_create(&seg, SIZE);
    slot = ring_attach(&seg, 0);
    n = wrapped(slot);
    held = overwritten(slot);
    for (unsigned turn = 0; turn < 5000; turn++) {
        oldest = UINT64_MAX;
        for (uint32_t i = 0; i < n; i++)
            if (ring_state(&seg, i) == PT_CHUNK_FULL && pt_seg_info(&seg, i)->closed < oldest)
                oldest = pt_seg_info(&seg, i)->closed;
        a = overwritten(slot);
        ck_assert_uint_eq(pt_seg_info(&seg, a)->closed, oldest);
        random = random * 6364136223846793005u + 1442695040888963407u;
        if (random >> 63) {
            uint32_t swap = a;

            a = held;
            held = swap;
        }
        pt_pool_close(&seg, a, slot, 0);
    }
    ck_assert_uint_eq(seg.h->used_chunks, n);
    ck_assert_uint_eq(seg.h->full_chunks, n - 1);
    ring_remove(&seg);
}
END_TEST

/* A writer that was stopped between taking its number and closing: its chunk is overwritten before
 * two turns are over, and so is one that the count of chunks in use has lost.  An orphan is adopted
 * in that time. */
START_TEST(nothing_is_passed_over_for_ever)
{
    uint32_t slot, n, late, a;
    bool found = false;

    for (unsigned what = 0; what < 3; what++, found = false) {
        ring_create(&seg, SIZE);
        slot = ring_attach(&seg, 0);
        n = wrapped(slot);
        late = overwritten(slot);
        pt_pool_close(&seg, overwritten(slot), slot, 0);
        pt_pool_close(&seg, late, slot, 0);
        seg.h->next_close--; /* no number is missing, which would be seen */
        if (what == 0) {
            pt_seg_info(&seg, late)->closed = 0;
        } else if (what == 1) {
            ck_assert(pt_pool_free(&seg, late, pt_seg_info(&seg, late)->word));
            seg.h->used_chunks++;
        } else {
            a = overwritten(slot);
            pt_pool_orphan(&seg, a, slot, 1);
            late = a;
        }
        for (uint32_t i = 0; i < 4 * n && !found; i++) {
            enum pt_pool_take r = take(slot, true, &a);

            ck_assert(r == PT_POOL_TAKEN || (what == 2 && r == PT_POOL_ADOPTED));
            found = a == late;
            pt_pool_close(&seg, a, slot, 0);
        }
        ck_assert_msg(found, "case %u", what);
        ring_remove(&seg);
    }
}
END_TEST

/* What was read already is no loss. */
START_TEST(consumed_is_not_lost)
{
    uint32_t slot, n, a;

    ring_create(&seg, SIZE);
    slot = ring_attach(&seg, 0);
    n = seg.h->base_chunks + 1;
    for (uint32_t i = 0; i < n; i++) {
        struct pt_chunk *c;

        taken(slot);
        c = pt_seg_chunk(&seg, i);
        ring_put(&seg, i, PT_ID_USER_FIRST, 5, 0);
        c->consumed = c->gen << 24 | (uint32_t)c->commit;
        pt_pool_close(&seg, i, slot, 5);
    }
    ck_assert_int_eq(take(slot, true, &a), PT_POOL_TAKEN);
    ck_assert_uint_eq(seg.h->overrun, 0);
    ck_assert_uint_eq(seg.h->lost_last_ts, 0);
    ring_remove(&seg);
}
END_TEST

START_TEST(repair_after_an_abandoned_take)
{
    uint32_t slot, current, lost, never;
    uint64_t gen;

    ring_create(&seg, SIZE);
    slot = ring_attach(&seg, 0);
    current = taken(slot);
    ring_refer(&seg, slot, current);
    lost = taken(slot);
    never = taken(slot);
    gen = pt_seg_chunk(&seg, never)->gen--; /* between the exchange and the last store */
    pt_pool_repair(&seg, slot);
    ck_assert_uint_eq(ring_state(&seg, current), PT_CHUNK_OWNED);
    ck_assert_uint_eq(ring_state(&seg, lost), PT_CHUNK_ORPHAN);
    ck_assert_uint_eq(pt_seg_info(&seg, never)->word, pt_word_make(PT_CHUNK_FREE, 0, gen));
    ck_assert_uint_eq(seg.h->used_chunks, 2);
    ring_remove(&seg);
}
END_TEST

/* Numbers of events do not jump when a writer changes chunks or ends. */
START_TEST(recorded_through_changes)
{
    struct pt_slot *s;
    uint32_t slot, a, b;

    ring_create(&seg, SIZE);
    slot = ring_attach(&seg, 0);
    s = pt_seg_slot(&seg, slot);
    ck_assert_uint_eq(pt_slot_recorded(&seg, slot), 0);
    a = taken(slot);
    ring_refer(&seg, slot, a);
    for (uint32_t i = 1; i <= 3; i++) {
        ring_put(&seg, a, PT_ID_USER_FIRST, i, 0);
        ck_assert_uint_eq(pt_slot_recorded(&seg, slot), i);
    }
    s->next_no = 3;
    ck_assert_uint_eq(pt_slot_recorded(&seg, slot), 3);
    s->chunk = 0;
    ck_assert_uint_eq(pt_slot_recorded(&seg, slot), 3);
    pt_pool_close(&seg, a, slot, 3);
    b = taken(slot);
    ck_assert_uint_eq(pt_seg_chunk(&seg, b)->first_no, 3);
    ring_refer(&seg, slot, b);
    ck_assert_uint_eq(pt_slot_recorded(&seg, slot), 3);
    ring_put(&seg, b, PT_ID_USER_FIRST, 4, 0);
    ck_assert_uint_eq(pt_slot_recorded(&seg, slot), 4);
    pt_slot_detach(&seg, slot, 4);
    ck_assert_uint_eq(s->chunk, 0);
    ck_assert_uint_eq(pt_slot_recorded(&seg, slot), 4);
    ring_remove(&seg);
}
END_TEST

START_TEST(attach_and_detach)
{
    struct pt_author nobody = { .pid = 1, .tid = INT32_MAX };
    uint32_t a, b, c, ghost;

    ring_create(&seg, SIZE);
    a = ring_attach(&seg, 0);
    b = ring_attach(&seg, 1);
    ck_assert_uint_ne(a, b);
    ck_assert_uint_ne(pt_seg_slot(&seg, a)->author.wid, pt_seg_slot(&seg, b)->author.wid);
    ck_assert_uint_eq(seg.h->writers, 2);
    ck_assert(pt_slot_is_live(pt_seg_slot(&seg, a)->state));
    pt_slot_detach(&seg, a, 0);
    pt_slot_detach(&seg, a, 0);
    ck_assert_uint_eq(pt_seg_slot(&seg, a)->state, PT_SLOT_ENDED);
    ck_assert_uint_eq(seg.h->writers, 1);
    /* Its counts are not taken yet: another slot is used. */
    c = ring_attach(&seg, 2);
    ck_assert_uint_ne(c, a);
    pt_store_release(&pt_seg_slot(&seg, a)->state, (uint32_t)PT_SLOT_FREE);
    ck_assert_uint_eq(ring_attach(&seg, 3), a);
    /* The same thread and level again: the former writer is a ghost. */
    ghost = ring_attach(&seg, 3);
    ck_assert_uint_ne(ghost, a);
    ck_assert_uint_eq(pt_seg_slot(&seg, a)->state, PT_SLOT_ENDED);
    ck_assert_uint_eq(seg.h->writers, 3);
    /* A thread that does not exist is swept away, the living stay. */
    ck_assert_int_eq(pt_slot_attach(&seg, &nobody, 1, &c), 0);
    ck_assert_uint_eq(pt_slot_sweep(&seg), 1);
    ck_assert_uint_eq(pt_seg_slot(&seg, c)->state, PT_SLOT_ENDED);
    ck_assert_uint_eq(seg.h->writers, 3);
    ring_remove(&seg);
}
END_TEST

/* Killed while it ended a slot, its own or a dead one's: whatever it had done by
 * then, the next sweep ends it, with the count right and no chunk kept. */
START_TEST(ended_by_one_who_died)
{
    const uint32_t gone = pt_slot_ending(0xffffff); /* no thread has that id */

    for (unsigned done = 0; done < 4; done++) {
        struct pt_slot *s;
        uint32_t slot, chunk;

        ring_create(&seg, SIZE);
        slot = ring_attach(&seg, 0);
        s = pt_seg_slot(&seg, slot);
        ck_assert_int_eq(pt_pool_take(&seg, slot, 16, false, &chunk), PT_POOL_TAKEN);
        ring_refer(&seg, slot, chunk);
        ring_put(&seg, chunk, 100, 1, 0);
        ring_put(&seg, chunk, 100, 2, 0);
        s->state = gone;
        s->inside = 7;
        if (done > 0)
            s->next_no = 2;
        if (done > 1)
            s->chunk = 0;
        if (done > 2)
            pt_pool_orphan(&seg, chunk, slot, 2);
        ck_assert_uint_eq(pt_slot_sweep(&seg), 1);
        ck_assert_uint_eq(pt_slot_sweep(&seg), 0);
        ck_assert_uint_eq(s->state, PT_SLOT_ENDED);
        ck_assert_uint_eq(s->chunk, 0);
        ck_assert_uint_eq(s->inside, 0);
        ck_assert_uint_eq(pt_slot_recorded(&seg, slot), 2);
        ck_assert_uint_eq(ring_state(&seg, chunk), PT_CHUNK_ORPHAN);
        ck_assert_uint_eq(seg.h->writers, 0);
        /* A living one is left to finish. */
        s->state = pt_slot_ending(pt_sys_tid());
        ck_assert_uint_eq(pt_slot_sweep(&seg), 0);
        ring_remove(&seg);
    }
}
END_TEST

/* Under pressure ended slots are used again and their counts go to the past. */
START_TEST(ended_slots_are_folded)
{
    uint64_t recorded = 0, lost = 0;

    ring_create(&seg, SIZE);
    for (uint32_t i = 0; i < 1000; i++) {
        uint32_t slot = ring_attach(&seg, 0);

        pt_seg_slot(&seg, slot)->next_no = i;
        pt_seg_slot(&seg, slot)->lost[PT_LOST_FULL] = 2 * i;
        pt_seg_slot(&seg, slot)->lost_bytes = 16;
        pt_slot_detach(&seg, slot, 0);
    }
    ck_assert_uint_eq(pt_slot_count(&seg), 64);
    for (uint32_t i = 0; i < 64; i++) {
        struct pt_slot_view v;

        pt_slot_look(&seg, i, &v);
        ck_assert(v.own);
        recorded += v.mine.recorded + v.past.recorded;
        lost += v.mine.lost[PT_LOST_FULL] + v.past.lost[PT_LOST_FULL];
    }
    ck_assert_uint_eq(recorded, 1000 * 999 / 2);
    ck_assert_uint_eq(lost, 1000 * 999);
    ck_assert_uint_eq(pt_slot_advised_size(&seg),
                      seg.g.base_chunks * seg.g.chunk_size + 16000 + 4000);
    ck_assert_uint_eq(seg.h->writers, 0);
    ring_remove(&seg);
}
END_TEST

/* A writer that exists no more, in a process of its own; takes a chunk. */
static void come_and_go(uint32_t number)
{
    int32_t pid = (int32_t)(5000000 + number);
    struct pt_author gone = { .pid = pid, .tid = pid };
    uint32_t slot, chunk;

    ck_assert_int_eq(pt_slot_attach(&seg, &gone, 1, &slot), 0);
    ck_assert_int_le(take(slot, false, &chunk), PT_POOL_ADOPTED);
    ring_refer(&seg, slot, chunk);
    pt_seg_slot(&seg, slot)->next_no = 0;
}

/* Dead writers give their slots and chunks back before more of either are made, however
 * many there were, and whatever the part of the living is. */
START_TEST(the_dead_make_room)
{
    static const uint32_t living[] = { 0, 1, 100 };

    for (unsigned k = 0; k < 3; k++) {
        uint32_t least;

        ring_create(&seg, SIZE);
        for (uint32_t i = 0; i < living[k]; i++)
            taken(ring_attach(&seg, i));
        least = pt_slot_count(&seg) > 64 ? pt_slot_count(&seg) : 64;
        for (uint32_t i = 0; i < 3000; i++)
            come_and_go(i);
        ck_assert_uint_le(pt_slot_count(&seg), least + living[k] / 3 + 2);
        ck_assert_uint_le(seg.h->nchunks, seg.h->base_chunks + living[k] + living[k] / 3 + 2);
        for (uint32_t i = 0, alive = 0; i < pt_slot_count(&seg); i++) {
            alive += pt_seg_slot(&seg, i)->author.tid == pt_sys_tid();
            ck_assert(i + 1 < pt_slot_count(&seg) || alive == living[k]);
        }
        ring_remove(&seg);
    }
}
END_TEST

/* A step examines few slots, and the next step the slots after them. */
START_TEST(steps_of_the_sweep)
{
    struct pt_author gone = { .pid = 5000000, .tid = 5000000 };
    uint32_t slot;

    ring_create(&seg, SIZE);
    for (uint32_t i = 0; i < 40; i++)
        ring_attach(&seg, i);
    ck_assert_int_eq(pt_slot_attach(&seg, &gone, 1, &slot), 0);
    ck_assert_uint_eq(slot, 40);
    ck_assert_uint_eq(pt_slot_sweep_step(&seg, 20), 0);
    ck_assert_uint_eq(pt_slot_sweep_step(&seg, 20), 0);
    ck_assert_uint_eq(pt_slot_sweep_step(&seg, 1), 1);
    ck_assert_uint_eq(seg.h->writers, 40);
    /* Whatever stands there: it is written by others. */
    seg.h->sweep_at = UINT32_MAX;
    ck_assert_uint_eq(pt_slot_sweep_step(&seg, 16), 0);
    ring_remove(&seg);
}
END_TEST

/* Killed while it took a slot: a sweep ends that, without counts and chunks.  The consumer's
 * claim belongs to no thread and stays. */
START_TEST(claimed_by_one_who_died)
{
    struct pt_slot_view v;
    uint32_t slot;

    ring_create(&seg, SIZE);
    slot = ring_attach(&seg, 0);
    pt_slot_detach(&seg, slot, 0);
    pt_seg_slot(&seg, slot)->state = pt_slot_claimed(pt_sys_tid());
    ck_assert_uint_eq(pt_slot_sweep(&seg), 0);
    pt_seg_slot(&seg, slot)->state = PT_SLOT_CLAIMED;
    ck_assert_uint_eq(pt_slot_sweep(&seg), 0);
    pt_seg_slot(&seg, slot)->state = pt_slot_claimed(0xffffff);
    ck_assert_uint_eq(pt_slot_sweep(&seg), 1);
    ck_assert_uint_eq(pt_seg_slot(&seg, slot)->state, PT_SLOT_ENDED);
    pt_slot_look(&seg, slot, &v);
    ck_assert_uint_eq(v.mine.recorded + v.past.recorded, 0);
    ck_assert_uint_eq(seg.h->writers, 0);
    ring_remove(&seg);
}
END_TEST

static void zombie(pid_t *pid)
{
    *pid = fork();
    if (*pid == 0)
        _exit(0);
    ck_assert_int_eq(waitid(P_PID, (id_t)*pid, &(siginfo_t){ .si_pid = 0 }, WEXITED | WNOWAIT), 0);
}

/* A zombie is not alive. */
START_TEST(zombies_are_gone)
{
    struct pt_author gone = { .wid = 0 };
    uint32_t slot;
    pid_t pid;

    zombie(&pid);
    ring_create(&seg, SIZE);
    gone.pid = gone.tid = pid;
    ck_assert_int_eq(pt_slot_attach(&seg, &gone, 1, &slot), 0);
    ck_assert_uint_eq(pt_slot_sweep_step(&seg, 16), 1);
    gone.tid = pt_sys_tid();
    gone.pid = getpid();
    ck_assert_int_eq(pt_slot_attach(&seg, &gone, 1, &slot), 0);
    ck_assert_uint_eq(pt_slot_sweep_step(&seg, 16), 0);
    ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
    ring_remove(&seg);
}
END_TEST

/* ---- a writer that ends in the middle of another's search ---- */

enum { HOLDERS = 2000, TRIALS = 200 };

static uint32_t searching, stopped, go_on;

static void stand_still(int sig)
{
    (void)sig;
    if (!pt_load_seqcst(&searching))
        return;
    pt_store_seqcst(&stopped, 1u);
    while (!pt_load_seqcst(&go_on))
        sched_yield();
}

/* Slots of the calling thread, distinguished by their copy of the library. */
static uint32_t attach_as(uint64_t copy)
{
    struct pt_author author = { .pid = getpid(), .tid = pt_sys_tid() };
    uint32_t slot, chunk;
    enum pt_pool_take r;

    ck_assert_int_eq(pt_slot_attach(&seg, &author, copy, &slot), 0);
    pt_store_seqcst(&searching, (uint32_t)(copy == 0));
    r = take(slot, false, &chunk);
    pt_store_seqcst(&searching, 0u);
    ck_assert_msg(r == PT_POOL_TAKEN || r == PT_POOL_ADOPTED, "copy %u: %d", (unsigned)copy, r);
    ring_refer(&seg, slot, chunk);
    return slot;
}

static void *search(void *done)
{
    uint32_t slot = attach_as(0);

    pt_slot_detach(&seg, slot, 0);
    pt_store_seqcst((uint32_t *)done, 1u);
    return NULL;
}

/* Orphans the first growth chunk while the search is already beyond it.  True: that happened. */
static bool end_during_search(uint32_t slot, unsigned delay)
{
    uint32_t done = 0;
    pthread_t thread;
    bool met;

    stopped = go_on = 0;
    ck_assert_int_eq(pthread_create(&thread, NULL, search, &done), 0);
    while (!pt_load_seqcst(&searching) && !pt_load_seqcst(&done))
        sched_yield();
    for (volatile unsigned i = 0; i < delay; i++)
        ;
    pthread_kill(thread, SIGUSR1);
    while (!pt_load_seqcst(&stopped) && !pt_load_seqcst(&done))
        sched_yield();
    met = pt_load_seqcst(&stopped) != 0;
    pt_slot_detach(&seg, slot, 0);
    pt_store_seqcst(&go_on, 1u);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    return met;
}

/* The base is full, and each writer is entitled to one chunk: also one whose search has passed
 * a chunk that another gives up, with the growth that it stood for. */
START_TEST(writers_that_end_leave_room)
{
    struct sigaction action = { .sa_handler = stand_still };
    uint32_t slot, base, first = 0;
    unsigned met = 0;

    ck_assert_int_eq(sigaction(SIGUSR1, &action, NULL), 0);
    ring_create(&seg, SIZE);
    slot = ring_attach(&seg, 1);
    base = seg.h->base_chunks;
    for (uint32_t i = 0; i < base; i++)
        pt_pool_close(&seg, taken(slot), slot, 1);
    pt_slot_detach(&seg, slot, 0);
    for (uint64_t i = 1; i <= HOLDERS; i++) {
        slot = attach_as(i);
        first = i == 1 ? slot : first;
    }
    for (unsigned i = 0; i < TRIALS && met < TRIALS / 4; i++) {
        uint32_t chunks = seg.h->nchunks;

        pt_store_relaxed(&seg.h->hint, 0u);
        met += end_during_search(first, i * 37 % 2000);
        first = attach_as(1);
        if (seg.h->nchunks > chunks)
            attach_as(HOLDERS + 1 + i); /* nothing is left over for the next search */
    }
    ck_assert_uint_le(seg.h->nchunks, base + HOLDERS + TRIALS);
    ring_remove(&seg);
}
END_TEST

static void add(TCase *tc)
{
    tcase_add_test(tc, take_close_free);
    tcase_add_test(tc, used_too_high);
    tcase_add_test(tc, close_by_another);
    tcase_add_test(tc, adopted_with_its_contents);
    tcase_add_test(tc, orphan_without_room_is_full);
    tcase_add_test(tc, closed_by_others_is_told);
    tcase_add_test(tc, orphans_are_filled_in_turn);
    tcase_add_test(tc, limit);
    tcase_add_test(tc, writers_that_end_leave_room);
    tcase_add_test(tc, growth_is_backed_as_it_is_used);
    tcase_add_test(tc, growth_does_not_depend_on_the_size);
    tcase_add_test(tc, recycled_in_order_of_closing);
    tcase_add_test(tc, oldest_for_many_turns);
    tcase_add_test(tc, nothing_is_passed_over_for_ever);
    tcase_add_test(tc, consumed_is_not_lost);
    tcase_add_test(tc, repair_after_an_abandoned_take);
    tcase_add_test(tc, recorded_through_changes);
    tcase_add_test(tc, attach_and_detach);
    tcase_add_test(tc, ended_by_one_who_died);
    tcase_add_test(tc, ended_slots_are_folded);
    tcase_add_test(tc, the_dead_make_room);
    tcase_add_test(tc, steps_of_the_sweep);
    tcase_add_test(tc, claimed_by_one_who_died);
    tcase_add_test(tc, zombies_are_gone);
}

int main(void)
{
    return ring_main("pool", add);
}
