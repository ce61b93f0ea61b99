/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * An event in several streams; the protocol is in event.h, once for each of them.
 *
 * What the streams have in common is done once: the clock, the note of the time
 * (pt_thread_settle), and, while a thread's events are of 8 bytes and in the same
 * streams one after the other, the questions whether there is room and whether the
 * time is near enough to the base: all chunks have room for the events up to the one whose
 * count is ready_until, and all bases are good for the times of ready_base and ready_span.
 * What is loaded of each lane is copied close together then, into ready[].
 *
 * Another process can write the commit word.  This way does not use it: all its records have
 * one size and their counts follow one another, so that the count says where a record goes.
 * The ways that do use it compare it with the lane's private limit.
 *
 * The copies are good as long as nothing else has used a lane of level 0: every
 * event of that level counts, so it is enough that the last one in several streams has the
 * count before ours.  A handler that comes before we are inside may trace any number of
 * events of level 0: we count after the word is stored, so all of them have counted before
 * (test/model/ready.pml; counting first, our number would be that of the last of them).  An
 * event that is left half-way, or that had to do with readers and full chunks, does not
 * leave its count: the next one takes the longer way.
 *
 * Which of the ways an event takes:
 *   ready      pt_event_several, all of the above holds
 *   put_rest   any size and any plain clock
 *   slow       lanes that are not attached, clocks that differ, streams that ask
 */
#include "stream/chain.h"
#include "stream/event.h"
#include "stream/lane.h"

/* What one event takes in every stream, and how far ahead of it memory is asked for. At the
 * end of a chunk that is somebody else's: some ten events of each chunk ask in vain. */
enum { NEED = PT_RECORD_HEAD + 8, AHEAD = 256 };

/* Which lanes a gate word stands for: false if they do not all have the same
 * plain clock.  Known from now on only when it is complete. */
static PT_COLD bool learn_several(struct pt_thread *t, const struct pt_page *page, uint64_t open)
{
    int clock = open ? t->lane0[__builtin_ctzll(open)].plain_clock : PT_CLOCK_NOT_PLAIN;
    struct pt_lane **end = &t->several_lanes;
    uint64_t bit;

    /* Who is to be asked is asked by the longest path; what is known stays known. */
    if (open & pt_load_relaxed(&page->shadows))
        return false;
    pt_thread_forget_several(t);
    /* Before the list: another clock's time must not be taken for theirs, should we be
     * left half-way. */
    pt_fence_compiler();
    t->several_last = 0;
    pt_fence_compiler();
    if (clock == PT_CLOCK_NOT_PLAIN)
        return false;
    t->several_changes = pt_load_acquire(&page->changes);
    pt_for_each_bit(bit, open) {
        struct pt_lane *lane = &t->lane0[bit];

        if (!pt_lane_is_good(lane, pt_load_relaxed(&page->epoch[bit])) ||
            lane->plain_clock != clock) {
            t->several_lanes = NULL;
            return false;
        }
        lane->next = NULL;
        pt_fence_compiler();
        *end = lane;
        end = &lane->next;
    }
    t->several_clock = clock;
    pt_fence_compiler();
    pt_store_relaxed(&t->several, open);
    pt_fence_seqcst();
    for (struct pt_lane *lane = t->several_lanes; lane; lane = lane->next)
        if (pt_load_relaxed(&lane->epoch) == 0) {   /* see thread.h */
            pt_thread_forget_several(t);
            return false;
        }
    return true;
}

/* For the events of 8 bytes behind that one.  Bases that are too far apart: for none. */
static void make_ready(struct pt_thread *t, uint64_t count)
{
    uint64_t room = UINT64_MAX, oldest = UINT64_MAX, newest = 0;
    struct pt_ready *r = t->ready;

    for (const struct pt_lane *lane = t->several_lanes; lane; lane = lane->next, r++) {
        uint64_t pos = pt_lane_position(lane), left = lane->limit > pos ? lane->limit - pos : 0;

        *r = (struct pt_ready){ lane->chunk, lane->base, lane->slot, lane->h,
                                (uintptr_t)lane->chunk + pos - (uintptr_t)(count + 1) * NEED };
        room = left < room ? left : room;
        oldest = lane->base < oldest ? lane->base : oldest;
        newest = lane->base > newest ? lane->base : newest;
    }
    *r = (struct pt_ready){ .chunk = NULL };
    t->ready_base = newest;
    t->ready_span = PT_DELTA_MAX - (newest - oldest);
    t->ready_until = r == t->ready || newest - oldest > PT_DELTA_MAX ? 0 : count + room / NEED;
}

static void attend_lanes(struct pt_thread *t)
{
    for (struct pt_lane *lane = t->several_lanes; lane; lane = lane->next)
        pt_event_attend(lane);
}

/*
 * Any size of data, any plain clock.  count: the event's.  What the writers leave to
 * others is looked at when all is written; attention is loaded after each lane's commit.
 * Its lanes may be inside already.
 */
static PT_APART void put_rest(struct pt_thread *t, uint64_t count, uint32_t id, const void *data,
                              size_t len, uint64_t addr)
{
    uint64_t ts, commit, onward = 0, bit;
    bool attention = false;

    for (struct pt_lane *lane = t->several_lanes; lane; lane = lane->next)
        pt_store_relaxed(&lane->slot->inside, count);
    pt_fence_compiler();
    len = data ? len : 0;
    ts = pt_clock_now(t->several_clock);
    pt_thread_settle(t);
    for (struct pt_lane *lane = t->several_lanes; lane; lane = lane->next) {
        /* Nanoseconds may repeat; the times of one writer rise. */
        if (t->several_clock != PT_CLOCK_TSC && ts <= lane->last)
            ts = lane->last + 1;
        if (pt_unlikely(!pt_event_has_room(lane, len, &commit) ||
                        !pt_event_put(lane, commit, id, data, len, addr, ts, &lane->last)) &&
            !pt_lane_write(lane, id, data, len, addr, ts) && lane->onward)
            onward |= 1ull << (lane - t->lane0);
        pt_store_release(&lane->slot->inside, 0u);
        pt_fence_compiler();
        attention |= pt_load_relaxed(&lane->h->attention) != 0;
    }
    if (attention)
        attend_lanes(t);
    pt_for_each_bit(bit, onward)
        pt_chain_follow(pt_self_peek(), t, 0, &t->lane0[bit], id, data, len, addr);
    t->ready_until = 0;
    /* Worth it where they come one after the other. */
    if (count == t->several_count + 1 && t->several_clock == PT_CLOCK_TSC)
        make_ready(t, count);
    t->several_count = count;
    pt_event_leave(&t->word);
}

/* All lanes are written, and some have others that wait. */
static PT_COLD void attend_all(struct pt_thread *t)
{
    pt_thread_settle(t);   /* what is closed was written up to then */
    attend_lanes(t);
    t->ready_until = 0;
    pt_event_leave(&t->word);
}

/* The lanes are not known, or not any more. */
static PT_COLD void put_anew(struct pt_thread *t, uint64_t count, uint32_t id, const void *data,
                             size_t len, uint64_t addr)
{
    const struct pt_page *page = pt_event_page(pt_load_pointer(&pt_gates));
    uintptr_t frame;

    if (learn_several(t, page, pt_load_relaxed(&page->gates[id]))) {
        put_rest(t, count, id, data, len, addr);
        return;
    }
    frame = (uintptr_t)pt_load_relaxed(&t->word);
    pt_event_leave(&t->word);
    pt_event_slow(id, data, len, addr, frame);
}

/* All calls are tail calls: what the path needs stays in registers that nobody keeps. */
void pt_event_several(uint32_t id, const void *data, size_t len, uint64_t addr, uintptr_t frame)
{
    const uint64_t *gates = pt_load_pointer(&pt_gates);
    const struct pt_page *page = pt_event_page(gates);
    struct pt_thread *t = pt_thread_self;
    uint64_t count = pt_event_enter(t, frame), ts, value;
    const struct pt_ready *r;
    uint32_t attention = 0;

    if (pt_unlikely(pt_load_relaxed(&gates[id]) != pt_load_plain(&t->several)) ||
        pt_unlikely(pt_load_relaxed(&page->changes) != t->several_changes)) {
        put_anew(t, count, id, data, len, addr);
        return;
    }
    if (pt_unlikely(len != 8) || pt_unlikely(!data) || pt_unlikely(count > t->ready_until) ||
        pt_unlikely(count != t->several_count + 1)) {
        put_rest(t, count, id, data, len, addr);
        return;
    }
    for (r = t->ready; r->slot; r++)
        pt_store_relaxed(&r->slot->inside, count);
    pt_fence_compiler();
    __builtin_memcpy(&value, data, sizeof value);
    ts = pt_clock_now(PT_CLOCK_TSC);
    if (pt_unlikely(ts - t->ready_base > t->ready_span)) {
        put_rest(t, count, id, data, len, addr);
        return;
    }
    t->several_last = ts;
    for (r = t->ready; r->chunk; r++) {
        uint8_t *at = (uint8_t *)(r->origin + (uintptr_t)count * NEED);

        pt_assert(at >= r->chunk && at + NEED <= r->chunk + r->h->chunk_size);
        __builtin_prefetch(at + AHEAD, 1);
        pt_record_put_head(at, PT_RECORD_EVENT, id, 8, (uint32_t)(ts - r->base), addr);
        __builtin_memcpy(at + PT_RECORD_HEAD, &value, 8);
        pt_fence_compiler();
        pt_publish_own((uint64_t *)(void *)r->chunk, NEED + (1ull << 32));
        pt_fence_compiler();
        pt_store_release(&r->slot->inside, 0u);
        pt_fence_compiler();
        attention |= pt_load_relaxed(&r->h->attention);
    }
    if (pt_unlikely(attention)) {
        attend_all(t);
        return;
    }
    t->several_count = pt_load_relaxed(&t->count);   /* ours; no register has kept it */
    pt_event_leave(&t->word);
}
