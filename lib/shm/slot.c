/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See slot.h. */
#include <errno.h>
#include <string.h>
#include "base/annotate.h"
#include "base/assert.h"
#include "base/clock.h"
#include "base/sys.h"
#include "base/thread.h"
#include "shm/liveness.h"
#include "shm/pool.h"
#include "shm/slot.h"

#define LOOK_TURNS   100u
#define KEEP_ENDED   64u /* ended slots are left alone while there are fewer slots than this */
#define ATTACH_LOOKS 4u  /* slots that a new writer examines where there are more */
#define ASKS         2u  /* of how many a step asks /proc whether the process is a zombie */

uint32_t pt_slot_count(struct pt_seg *seg)
{
    uint32_t n = pt_load_acquire(&seg->h->nslots);

    if (n > PT_SLOT_MAX)
        n = PT_SLOT_MAX;
    if (n > pt_load_acquire(&seg->slots_open) && pt_seg_reach_slots(seg, n) < 0)
        n = pt_load_acquire(&seg->slots_open);
    pt_assert(n <= pt_load_acquire(&seg->slots_open));
    return n;
}

uint64_t pt_slot_recorded(struct pt_seg *seg, uint32_t index)
{
    const struct pt_slot *s = pt_seg_slot(seg, index);
    uint64_t no = 0;

    /* Each further turn means that the writer has changed its chunk meanwhile. */
    for (unsigned turns = 0; turns < LOOK_TURNS; turns++) {
        uint32_t at = pt_load_acquire(&s->chunk);
        uint64_t base;

        if (at == 0)
            return pt_load_acquire(&s->next_no);
        if (at > pt_seg_reachable(seg, at))
            return pt_load_relaxed(&s->next_no);
        base = pt_load_acquire(&s->chunk_base);
        no = base + (pt_load_acquire(&pt_seg_chunk(seg, at - 1)->commit) >> 32);
        if (pt_load_acquire(&s->chunk) == at && pt_load_relaxed(&s->chunk_base) == base)
            break;
    }
    return no;
}

/* pt_slot_look without the second look. */
static void view(struct pt_seg *seg, uint32_t index, struct pt_slot_view *v)
{
    const struct pt_slot *s = pt_seg_slot(seg, index);
    uint64_t now = pt_load_acquire(&s->past_now);
    uint32_t names = pt_load_acquire(&s->author.names);

    pt_assert_call(index < pt_load_acquire(&seg->slots_open));
    v->wid = pt_load_acquire(&s->wid);
    v->own = v->wid != now >> 1;
    v->past_wid = now >> 1;
    pt_copy_unchecked(&v->author, &s->author, sizeof v->author);
    v->author.wid = v->wid;
    v->author.names = names;
    v->author.name[sizeof v->author.name - 1] = '\0';
    v->mine.recorded = pt_slot_recorded(seg, index);
    for (unsigned c = 0; c < PT_LOST_OWN; c++)
        v->mine.lost[c] = pt_load_relaxed(&s->lost[c]);
    v->mine.lost_bytes = pt_load_relaxed(&s->lost_bytes);
    pt_copy_unchecked(&v->past, &s->past[now & 1u], sizeof v->past);
    pt_fence_acquire();
    v->stable = pt_load_relaxed(&s->past_now) == now && pt_load_relaxed(&s->wid) == v->wid;
}

void pt_slot_look(struct pt_seg *seg, uint32_t index, struct pt_slot_view *v)
{
    /* Each further turn means that a writer has come or gone.  The number is bounded, because a
     * hostile process could change the slot without end. */
    for (unsigned turns = 0; turns < LOOK_TURNS; turns++) {
        view(seg, index, v);
        if (v->stable)
            return;
    }
}

uint64_t pt_slot_advised_size(struct pt_seg *seg)
{
    uint32_t n = pt_slot_count(seg);
    struct pt_slot_view v;
    uint64_t lost = 0;

    for (uint32_t i = 0; i < n; i++) {
        pt_slot_look(seg, i, &v);
        lost += v.past.lost_bytes;
        if (v.own && v.author.level != PT_LEVEL_CONTROL)
            lost += v.mine.lost_bytes;
    }
    return lost ? (uint64_t)seg->g.base_chunks * seg->g.chunk_size + lost + lost / 4 : 0;
}

/*
 * Adds the counts of a slot's ended writer to the slot's past.  It fills the other copy of the
 * past; then one store makes that copy valid and marks this writer as part of it.  Only after that
 * the writer's counts may be overwritten, and only after those the next writer's id is stored.  So
 * a reader, also after SIGKILL between any two stores, finds past and own counts consistent.  The
 * slot's wid only grows, so a writer is in the past if its wid is not above past_now's.  A control
 * writer's records have the wid 0, but its slot has a wid like any other.
 */
static void fold(struct pt_seg *seg, uint32_t index)
{
    struct pt_slot *s = pt_seg_slot(seg, index);
    uint64_t now = pt_load_relaxed(&s->past_now);
    struct pt_slot_view v;

    view(seg, index, &v);
    if (!v.own)
        return;
    /* A control writer's records are not a thread's events. */
    if (v.author.level != PT_LEVEL_CONTROL) {
        v.past.recorded += v.mine.recorded;
        v.past.lost_bytes += v.mine.lost_bytes;
        for (unsigned c = 0; c < PT_LOST_OWN; c++)
            v.past.lost[c] += v.mine.lost[c];
    }
    now = v.wid << 1 | (~now & 1u);
    pt_copy_watched(&s->past[now & 1u], &v.past, sizeof v.past);
    pt_store_release(&s->past_now, now);
    pt_fence_seqcst();
}

void pt_slot_release(struct pt_seg *seg, uint32_t index)
{
    pt_assert_call(!seg->copy);
    fold(seg, index);
    pt_store_release(&pt_seg_slot(seg, index)->state, (uint32_t)PT_SLOT_FREE);
}

static bool claim(struct pt_slot *s, uint32_t from)
{
    return pt_load_relaxed(&s->state) == from &&
           pt_cas_seqcst(&s->state, &from, pt_slot_claimed(pt_sys_tid()));
}

static void settle(struct pt_seg *seg, uint32_t index, const struct pt_author *author,
                   uint64_t copy)
{
    struct pt_slot *s = pt_seg_slot(seg, index);
    struct pt_author whose = *author;
    uint64_t wid = pt_add_relaxed(&seg->h->next_wid, 1u);

    pt_assert_call(index < pt_load_acquire(&seg->slots_open));
    fold(seg, index);
    pt_store_relaxed(&s->inside, 0u);
    pt_store_relaxed(&s->user, 0u);
    pt_store_relaxed(&s->chunk, 0u);
    pt_store_relaxed(&s->next_no, 0u);
    pt_store_relaxed(&s->chunk_base, 0u);
    pt_store_relaxed(&s->waiting.number, 0u);
    whose.wid = author->level == PT_LEVEL_CONTROL ? 0 : wid;
    whose.slot_1 = index + 1;
    /* A sweep may have learnt from the kernel that the last writer does not exist any
     * more: what that one read here, it read before. */
    pt_happens_after(s);
    pt_copy_watched(&s->author, &whose, sizeof whose);
    pt_store_relaxed(&s->tid, whose.tid);
    pt_store_relaxed(&s->copy, copy);
    pt_store_relaxed(&s->image, pt_sys_image());
    for (unsigned c = 0; c < PT_LOST_OWN; c++)
        pt_store_relaxed(&s->lost[c], 0u);
    pt_store_relaxed(&s->lost_bytes, 0u);
    pt_store_release(&s->wid, wid);
    /* wid is stored before the clock is read: a consumer that loads the slot between the two finds
     * this writer, and bounds it by the time of its load, not by an older attach_ts. */
    pt_fence_compiler();
    pt_store_relaxed(&s->attach_ts, pt_clock_now(seg->g.clock));
    pt_add_relaxed(&seg->h->writers, 1u);
    pt_store_release(&s->state, pt_slot_live(wid));
}

/* Is the slot's writer dead?  A slot with our thread id and level belongs to a thread that ended
 * unnoticed and whose id the kernel has reused.  A slot of this process from before exec belongs to
 * an image that is gone.  The thread id next to the state is compared first: a new writer checks
 * all slots, and only their first line needs to be loaded from other processors' caches. */
static bool is_ghost(const struct pt_slot *s, uint32_t state, const struct pt_author *author,
                     uint64_t copy)
{
    bool same_image;
    struct pt_author a;

    if (!pt_slot_is_live(state) || pt_load_relaxed(&s->tid) != author->tid ||
        author->level == PT_LEVEL_CONTROL)
        return false;
    same_image = pt_load_relaxed(&s->image) == pt_sys_image();
    if (same_image && pt_load_relaxed(&s->copy) != copy)
        return false;
    pt_copy_unchecked(&a, &s->author, sizeof a);
    return a.tid == author->tid && a.pid == author->pid && a.level != PT_LEVEL_CONTROL &&
           (a.level == author->level || !same_image);
}

/* Makes slot n usable and claims it, unless others were faster; the new count. */
static uint32_t add_slot(struct pt_seg *seg, uint32_t n, uint32_t *claimed)
{
    uint32_t last = n;

    if (pt_cas_seqcst(&seg->h->nslots, &last, n + 1) && claim(pt_seg_slot(seg, n), PT_SLOT_FREE))
        *claimed = n;
    return pt_slot_count(seg);
}

/* Adds slots while there are fewer than limit, until one is claimed; the new count. */
static uint32_t add_slots(struct pt_seg *seg, uint32_t n, uint32_t limit, uint32_t *claimed)
{
    while (*claimed == UINT32_MAX && n < limit && pt_seg_reach_slots(seg, n + 1) == 0)
        n = add_slot(seg, n, claimed);
    return n;
}

static void claim_ended(struct pt_seg *seg, uint32_t n, uint32_t *claimed)
{
    for (uint32_t i = 0; *claimed == UINT32_MAX && i < n; i++)
        if (claim(pt_seg_slot(seg, i), PT_SLOT_ENDED))
            *claimed = i;
}

int pt_slot_attach(struct pt_seg *seg, const struct pt_author *author, uint64_t copy,
                   uint32_t *index)
{
    uint32_t n = pt_slot_count(seg), free_at = UINT32_MAX;

    for (uint32_t i = 0; i < n; i++) {
        struct pt_slot *s = pt_seg_slot(seg, i);
        uint32_t state = pt_load_acquire(&s->state);

        if (is_ghost(s, state, author, copy) && !pt_seg_is_short(seg))
            pt_slot_end_dead(seg, i, state);
        if (free_at == UINT32_MAX && claim(s, PT_SLOT_FREE))
            free_at = i;
    }
    n = add_slots(seg, n, KEEP_ENDED, &free_at);
    if (free_at == UINT32_MAX) {
        pt_slot_sweep_step(seg, ATTACH_LOOKS);
        claim_ended(seg, n, &free_at);
    }
    add_slots(seg, n, PT_SLOT_MAX, &free_at);
    if (free_at == UINT32_MAX)
        return -ENOMEM;
    pt_assert(free_at < n || free_at < pt_slot_count(seg));
    settle(seg, free_at, author, copy);
    *index = free_at;
    return 0;
}

/* From here on the slot's end is ours alone.  Not of a dead ender with our own
 * thread id: that may be ourselves, in a signal handler. */
static bool begin_ending(struct pt_slot *s, uint32_t state)
{
    if (!pt_slot_is_live(state) &&
        !(pt_slot_is_ending(state) && pt_tid_is_gone(pt_slot_ender(state))))
        return false;
    return pt_cas_seqcst(&s->state, &state, pt_slot_ending(pt_sys_tid()));
}

/*
 * The final count is stored before the chunk is released, because the chunk's count may continue
 * with another writer.  A thread that takes over after any of these stores finds either the slot's
 * chunk or the final count, and releases what the slot owns.  The number of writers is decremented
 * last: a death may leave it too high, never too low.
 */
static bool end_slot(struct pt_seg *seg, uint32_t index, uint32_t state, uint64_t last_ts)
{
    struct pt_slot *s = pt_seg_slot(seg, index);
    uint32_t chunk;

    pt_assert_call(index < pt_load_acquire(&seg->slots_open));
    if (!begin_ending(s, state))
        return false;
    pt_assert_call(!seg->copy);
    chunk = pt_load_relaxed(&s->chunk);
    if (chunk && chunk <= pt_seg_reachable(seg, chunk)) {
        pt_store_release(&s->next_no, pt_slot_recorded(seg, index));
        pt_store_release(&s->chunk, 0u);
        pt_pool_orphan(seg, chunk - 1, index, last_ts);
    }
    pt_pool_repair(seg, index);
    pt_store_release(&s->inside, 0u);
    pt_store_release(&s->state, (uint32_t)PT_SLOT_ENDED);
    pt_add_relaxed(&seg->h->writers, (uint32_t)-1);
    return true;
}

void pt_slot_name(struct pt_seg *seg, uint32_t index, const char name[16])
{
    struct pt_author *a = &pt_seg_slot(seg, index)->author;
    uint64_t words[2];

    memcpy(words, name, sizeof words);
    pt_store_relaxed((uint64_t *)(void *)a->name, words[0]);
    pt_store_relaxed((uint64_t *)(void *)(a->name + 8), words[1]);
    pt_add_seqcst(&a->names, 1u);
}

void pt_slot_detach(struct pt_seg *seg, uint32_t index, uint64_t last_ts)
{
    struct pt_slot *s = pt_seg_slot(seg, index);

    pt_store_relaxed(&s->waiting.number, 0u); /* it ends, and waits for nothing */
    end_slot(seg, index, pt_load_acquire(&s->state), last_ts);
}

void pt_slot_end_dead(struct pt_seg *seg, uint32_t index, uint32_t state)
{
    end_slot(seg, index, state, 0);
}

/* Stored as the user of an ended control slot: no thread can become its user any more. */
#define RETIRED UINT32_MAX

bool pt_slot_end_control(struct pt_seg *seg, uint32_t index)
{
    struct pt_slot *s;
    uint32_t user, state;

    if (index >= pt_slot_count(seg) ||
        pt_control_slot_1(pt_load_seqcst(&seg->h->control)) == index + 1)
        return false;
    s = pt_seg_slot(seg, index);
    user = pt_load_seqcst(&s->user);
    state = pt_load_acquire(&s->state);
    if (s->author.level != PT_LEVEL_CONTROL || !pt_slot_is_live(state) ||
        (user != 0 && user != RETIRED && !pt_tid_is_gone((int32_t)user)) ||
        !pt_cas_seqcst(&s->user, &user, RETIRED))
        return false;
    return end_slot(seg, index, state, 0);
}

/* The writer was killed while it claimed the slot, and has no counts.  The slot may still have the
 * counts of the previous writer, but those are in the past already.  The number of writers may stay
 * one too high, as in end_slot. */
static bool end_claimed(struct pt_slot *s, uint32_t state)
{
    return pt_tid_is_gone(pt_slot_claimer(state)) &&
           pt_cas_seqcst(&s->state, &state, (uint32_t)PT_SLOT_ENDED);
}

/* Has the writer's thread ended?  In a zombie process the kernel still knows the thread.  asks: how
 * many times /proc may be read for that, which takes ten microseconds. */
static bool is_gone(const struct pt_author *a, unsigned *asks)
{
    struct pt_process p;
    sigset_t before;
    int r;

    if (pt_thread_is_gone(a->pid, a->tid))
        return true;
    if (a->tid != a->pid || *asks == 0)
        return false;
    --*asks;
    pt_thread_hold_signals(&before);
    r = pt_process_look((uint32_t)a->pid, &p);
    pt_thread_let_signals(&before);
    return r == 0 && pt_process_has_ended(&p);
}

/* Ends the slot if its writer does not exist any more.  A process that does not see all chunks
 * leaves that to others: the writer's chunk may be one of those. */
static bool sweep_one(struct pt_seg *seg, uint32_t index, unsigned *asks)
{
    struct pt_slot *s = pt_seg_slot(seg, index);
    uint32_t state = pt_load_acquire(&s->state);
    struct pt_author a;

    if (pt_seg_is_short(seg))
        return false;
    if (pt_slot_is_ending(state))
        return end_slot(seg, index, state, 0);
    if (pt_slot_is_claimed(state))
        return end_claimed(s, state);
    if (!pt_slot_is_live(state))
        return false;
    pt_copy_unchecked(&a, &s->author, sizeof a);
    if (a.level == PT_LEVEL_CONTROL)
        return pt_slot_end_control(seg, index);
    return is_gone(&a, asks) && end_slot(seg, index, state, 0);
}

unsigned pt_slot_sweep(struct pt_seg *seg)
{
    uint32_t n = pt_slot_count(seg);
    unsigned ended = 0, asks = 0;

    for (uint32_t i = 0; i < n; i++)
        ended += sweep_one(seg, i, &asks);
    return ended;
}

unsigned pt_slot_sweep_step(struct pt_seg *seg, unsigned looks)
{
    uint32_t n = pt_slot_count(seg), from = pt_load_relaxed(&seg->h->sweep_at);
    unsigned ended = 0, asks = ASKS;

    if (looks > n)
        looks = n;
    pt_assert(looks <= n);
    for (unsigned i = 0; i < looks; i++)
        ended += sweep_one(seg, (from + i) % n, &asks);
    pt_store_relaxed(&seg->h->sweep_at, n ? (from + looks) % n : 0);
    return ended;
}
