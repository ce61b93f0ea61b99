/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* The slow half of an event; the protocol is in event.h. */
#include <errno.h>
#include <signal.h>
#include "ring/slot.h"
#include "stream/event.h"
#include "stream/lane.h"

/*
 * Has the event frame at saved ended, as seen from the event frame at now?
 * Stacks grow down: a frame that is still there lies above us if it is on our
 * stack.  Where the two are on different stacks, sigaltstack tells which of
 * them we are on; a frame on the alternate stack is over when we are not on
 * it.  In doubt a frame lives: then the event is written at the next level,
 * and the question comes again with the next event.
 */
static bool frame_is_dead(uintptr_t saved, uintptr_t now, const stack_t *ss)
{
    uintptr_t low = (uintptr_t)ss->ss_sp, size = ss->ss_size;
    bool saved_alt = !(ss->ss_flags & SS_DISABLE) && saved - low < size;
    bool now_alt = (ss->ss_flags & SS_ONSTACK) != 0;

    if (saved_alt != now_alt)
        return saved_alt;
    return saved <= now;
}

/* The innermost word whose frame is still there, or idle. */
static uint64_t living_word(const struct pt_thread *t, uint64_t word, uintptr_t now)
{
    stack_t ss = { .ss_flags = SS_DISABLE };
    int saved = errno;

    sigaltstack(NULL, &ss);
    errno = saved;
    while ((word & PT_THREAD_LEVEL) && frame_is_dead((uintptr_t)word & ~(uintptr_t)15, now, &ss)) {
        unsigned below = (unsigned)(word & PT_THREAD_LEVEL) - 1;

        word = below ? t->outer[below] : PT_THREAD_IDLE;
    }
    return word;
}

/* Events that siglongjmp left half-way at level from and above: their lanes
 * go on from what is committed.  We are inside already, so segments stay. */
static void recover_lanes(struct pt_thread *t, unsigned from, unsigned to, struct pt_page *page)
{
    for (unsigned level = from; level < to; level++) {
        struct pt_lane *lanes = t->lanes[level];

        for (unsigned bit = 0; lanes && bit < PT_STREAMS; bit++)
            if (lanes[bit].epoch && lanes[bit].epoch == pt_load_seqcst(&page->epoch[bit]) &&
                pt_load_relaxed(&lanes[bit].slot->inside) != 0)
                pt_lane_recover(&lanes[bit]);
    }
}

static void count_nested(struct pt_thread *t, struct pt_page *page, uint64_t open, size_t len)
{
    for (; open; open &= open - 1) {
        unsigned bit = (unsigned)__builtin_ctzll(open);
        struct pt_lane *lane = &t->lane0[bit];

        if (lane->epoch && lane->epoch == pt_load_relaxed(&page->epoch[bit]))
            pt_lane_lost(lane, PT_LOST_NESTED, len);
    }
}

struct pt_lane *pt_event_lane(struct pt_self *self, struct pt_thread *t, unsigned level,
                              unsigned bit)
{
    uint64_t epoch = pt_load_seqcst(&self->page->epoch[bit]);
    struct pt_lane *lanes = pt_thread_lanes(t, level), *lane = lanes ? &lanes[bit] : NULL;
    struct pt_author author = { .level = level, .pid = t->pid, .tid = t->tid,
                                .thread_id = t->thread_id };
    struct pt_seg *seg;

    if (lane && lane->epoch == epoch)
        return lane;
    if (lane)
        lane->epoch = 0;
    seg = pt_self_segment(self, bit, epoch);
    if (!seg)
        return NULL;
    __builtin_memcpy(author.name, t->name, sizeof author.name);
    if (lane && pt_lane_attach(lane, seg, epoch, &author) == 0)
        return lane;
    pt_add_relaxed(&seg->h->lost_no_slot[PT_LOST_NO_MEMORY], 1u);
    pt_note_overrun(seg->h);
    return NULL;
}

static void leave(struct pt_lane *lane)
{
    pt_store_release(&lane->slot->inside, 0u);
    if (lane->h->fences)
        pt_fence_seqcst();
    pt_fence_compiler();
    if (pt_load_relaxed(&lane->h->attention))
        pt_event_attention(lane);
}

/* Inside, at this level: all streams that want the event, one clock reading. */
static void record_in(struct pt_self *self, struct pt_thread *t, unsigned level, uint64_t inside,
                      uint32_t id, const void *data, size_t len, uint64_t addr)
{
    uint64_t open = pt_load_seqcst(&self->page->gates[id]), ready = 0, ts;
    int kind = PT_CLOCK_TSC;
    bool fences = false;

    for (; open; open &= open - 1) {
        unsigned bit = (unsigned)__builtin_ctzll(open);
        struct pt_lane *lane = pt_event_lane(self, t, level, bit);

        if (!lane)
            continue;
        ready |= 1ull << bit;
        pt_store_relaxed(&lane->slot->inside, inside);
        kind = lane->h->clock;
        fences |= lane->h->fences != 0;
    }
    if (!ready)
        return;
    if (fences)
        pt_fence_seqcst();
    pt_fence_compiler();
    ts = pt_clock_now(kind);
    for (open = ready; open; open &= open - 1) {
        struct pt_lane *lane = &t->lanes[level][__builtin_ctzll(open)];

        pt_lane_write(lane, id, data, len, addr,
                      lane->h->clock == kind ? ts : pt_clock_now(lane->h->clock));
    }
    pt_fence_compiler();
    for (open = ready; open; open &= open - 1)
        leave(&t->lanes[level][__builtin_ctzll(open)]);
}

void pt_event_slow(uint32_t id, const void *data, size_t len, uint64_t addr, uintptr_t frame)
{
    struct pt_self *self = pt_self_get();
    struct pt_thread *t;
    unsigned level, was;
    uint64_t outer, inside;

    if (!self || pt_load_relaxed(&self->page->gates[id]) == 0)
        return;
    t = pt_thread_get(self);
    if (!t)
        return;
    outer = pt_load_relaxed(&t->word);
    was = (unsigned)(outer & PT_THREAD_LEVEL);
    if (was)
        outer = living_word(t, outer, frame & ~(uintptr_t)15);
    level = (unsigned)(outer & PT_THREAD_LEVEL);
    if (level >= PT_LEVELS) {
        count_nested(t, self->page, pt_load_relaxed(&self->page->gates[id]), len);
        return;
    }
    if (level)
        t->outer[level] = outer;
    inside = level ? ++t->nested : t->count + 1;
    if (!level)
        pt_store_release(&t->count, inside);
    pt_fence_compiler();
    pt_store_relaxed(&t->word, pt_thread_word(frame, level + 1));
    pt_fence_seqcst();
    if (level != was)
        recover_lanes(t, level, was, self->page);
    record_in(self, t, level, inside, id, data, len, addr);
    pt_fence_compiler();
    pt_store_release(&t->word, outer);
}

void pt_event_slow_inside(struct pt_thread *t, unsigned bit, uint32_t id, const void *data,
                          size_t len, uint64_t addr, uint64_t ts)
{
    struct pt_lane *lane = &t->lane0[bit];

    pt_lane_write(lane, id, data, len, addr, ts);
    pt_fence_compiler();
    leave(lane);
}

void pt_event_attention(struct pt_lane *lane)
{
    uint32_t a = pt_load_relaxed(&lane->h->attention);

    if (a & (PT_WAIT_READER | PT_WAIT_FLUSHER))
        pt_stream_wake(lane->h, PT_WAIT_READER | PT_WAIT_FLUSHER);
    if (a & PT_WAIT_STOPPED) {
        uint64_t state = pt_load_seqcst(&lane->h->state);

        if (pt_state_of(state) != PT_AUTOSTOPPED)
            return;
        /* Written between the stop and now: the reader will count it as lost. */
        if (lane->last > pt_state_ts(state))
            pt_note_overrun(lane->h);
        pt_lane_close_chunk(lane);
    }
}
