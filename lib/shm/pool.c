/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See pool.h. */
#include <string.h>
#include "base/annotate.h"
#include "base/assert.h"
#include "base/clock.h"
#include "base/sys.h"
#include "shm/pool.h"
#include "shm/slot.h"

/* A further turn of one who takes a chunk means that others have won against it.  Beyond
 * this many it is a process that scribbles over the words. */
#define TAKE_TURNS 65536u
#define SWEEP_NS   100000000u /* look for dead writers at most this often */
#define NEAR_LOOKS 8u         /* chunks that are examined before the whole pool */
#define GROW_LOOKS 16u        /* slots that are examined before the pool grows */

static uint64_t new_gen(struct pt_seg_header *h)
{
    return pt_add_relaxed(&h->next_gen, 1u);
}

/* The state before this call: OWNED by us with a new generation, old contents.
 * A reader that sees the new generation finds chunk->gen different until the
 * last store and leaves the chunk alone. */
static void init_chunk(struct pt_seg *seg, uint32_t index, uint32_t slot, uint64_t gen)
{
    struct pt_chunk *c = pt_seg_chunk(seg, index);
    const struct pt_slot *s = pt_seg_slot(seg, slot);

    pt_assert_call(index < seg->chunk_reach && slot < PT_SLOT_MAX);
    /* The word is stored before the contents; a reader's fence is between its copy of the contents
     * and its second load of the word (pt_cursor_valid). */
    pt_fence_seqcst();
    pt_store_relaxed(&c->commit, sizeof *c);
    pt_store_relaxed(&c->consumed, pt_consumed_make(gen, sizeof *c));
    pt_store_relaxed(&c->base_ts, pt_clock_now(seg->g.clock));
    pt_store_relaxed(&c->last_ts, c->base_ts);
    pt_store_relaxed(&c->first_no, s->next_no);
    pt_store_relaxed(&c->window, pt_load_relaxed(&seg->h->window));
    pt_copy_watched(&c->author, &s->author, sizeof c->author);
    pt_happens_before(s);
    pt_store_release(&c->gen, gen);
}

static uint32_t at_most_all(const struct pt_seg *seg, uint32_t used)
{
    uint32_t n = pt_seg_chunk_count(seg);

    return used < n ? used : n;
}

uint32_t pt_pool_used(const struct pt_seg *seg)
{
    return at_most_all(seg, pt_load_relaxed(&seg->h->used_chunks));
}

/*
 * The counters of chunks in use and of full ones change beside the word, so a kill between
 * the two leaves them wrong.  They go up before the word changes and down after it: wrong is
 * then too high, by one for a kill at that place, never below zero.  Too high a number of full
 * chunks wakes the flush thread early; the one of chunks in use is shown, no more (pt_pool_used).
 */
static bool take_free(struct pt_seg *seg, struct pt_info *info, uint64_t *word, uint64_t taken)
{
    struct pt_seg_header *h = seg->h;
    uint32_t used = at_most_all(seg, pt_add_relaxed(&h->used_chunks, 1u) + 1);
    uint32_t peak = pt_load_relaxed(&h->peak_chunks);

    pt_assert_call(pt_word_state(taken) == PT_CHUNK_OWNED);
    if (!pt_cas_seqcst(&info->word, word, taken)) {
        pt_add_relaxed(&h->used_chunks, (uint32_t)-1);
        return false;
    }
    while (peak < used && !pt_cas_seqcst(&h->peak_chunks, &peak, used))
        ;
    return true;
}

/* The chunk after i, of n, in a ring. */
static uint32_t after(uint32_t i, uint32_t n)
{
    return i + 1 < n ? i + 1 : 0;
}

/* Remembers where the next one who takes a chunk starts.  That chunk's header is fetched now, so
 * that the event that takes it does not wait for memory. */
static void note_taken(struct pt_seg *seg, uint32_t i, uint32_t n)
{
    const char *next = (const char *)pt_seg_chunk(seg, after(i, n));

    pt_store_relaxed(&seg->h->hint, i + 1);
    __builtin_prefetch(next, 1);
    __builtin_prefetch(next + 64, 1);
    __builtin_prefetch(next + sizeof(struct pt_chunk), 1);
}

/* Takes an orphan if it has room, and hands it to the flush thread if not; w is its word. */
static bool adopt(struct pt_seg *seg, uint32_t slot, uint32_t need, uint32_t i, uint64_t w)
{
    struct pt_seg_header *h = seg->h;
    const struct pt_chunk *c = pt_seg_chunk(seg, i);
    uint32_t pos = pt_chunk_position(seg, pt_load_acquire(&c->commit));
    /* A control writer's chunk is not adopted, either. */
    bool room = pt_word_is(w, pt_load_relaxed(&c->gen)) && seg->g.chunk_size - pos >= need &&
                c->author.level != PT_LEVEL_CONTROL && pos == (uint32_t)pt_load_relaxed(&c->commit);
    unsigned state = room ? PT_CHUNK_OWNED : PT_CHUNK_FULL;

    if (!room)
        pt_add_relaxed(&h->full_chunks, 1u);
    if (!pt_cas_seqcst(&pt_seg_info(seg, i)->word, &w,
                       pt_word_make(state, room ? slot : pt_word_slot(w), pt_word_gen(w)))) {
        if (!room)
            pt_add_relaxed(&h->full_chunks, (uint32_t)-1);
        return false;
    }
    if (!room)
        pt_pool_tell_full(seg);
    return room;
}

/* One pass over the pool.  FULL: nothing free and nothing to adopt. */
static enum pt_pool_take scan(struct pt_seg *seg, uint32_t slot, uint32_t need, uint32_t *index)
{
    struct pt_seg_header *h = seg->h;
    uint32_t n = pt_seg_reachable(seg, pt_seg_chunk_count(seg)), i = pt_load_relaxed(&h->hint);
    /* Control chunks hold nothing but the control writer's records. */
    bool adopts = pt_seg_slot(seg, slot)->author.level != PT_LEVEL_CONTROL;

    if (i >= n)
        i = 0;
    for (uint32_t k = 0; k < n; k++, i = after(i, n)) {
        struct pt_info *info = pt_seg_info(seg, i);
        uint64_t w = pt_load_acquire(&info->word), gen;

        if (pt_word_state(w) == PT_CHUNK_FREE) {
            gen = new_gen(h);
            if (!take_free(seg, info, &w, pt_word_make(PT_CHUNK_OWNED, slot, gen)))
                continue;
            note_taken(seg, i, n);
            init_chunk(seg, i, slot, gen);
            *index = i;
            return PT_POOL_TAKEN;
        }
        if (adopts && pt_word_state(w) == PT_CHUNK_ORPHAN && adopt(seg, slot, need, i, w)) {
            /* The next thread looks here first.  If threads that end early went round the chunks
             * instead, all of these would have no room at the same time. */
            pt_store_relaxed(&h->hint, i);
            *index = i;
            return PT_POOL_ADOPTED;
        }
    }
    return PT_POOL_FULL;
}

static bool may_grow(const struct pt_seg *seg, uint32_t nchunks)
{
    return nchunks < (uint64_t)seg->g.base_chunks + pt_load_relaxed(&seg->h->writers);
}

/* Adds a chunk for a further living writer.  FULL: the limit is reached.  A process that does not
 * map all chunks cannot know that the stream is full. */
static enum pt_pool_take grow(struct pt_seg *seg)
{
    struct pt_seg_header *h = seg->h;
    uint32_t was = pt_load_acquire(&h->nchunks), n = pt_seg_chunk_count(seg);

    if (!may_grow(seg, n))
        return pt_seg_is_short(seg) ? PT_POOL_NO_MEMORY : PT_POOL_FULL;
    if (n >= seg->g.chunk_max || pt_seg_reach_chunks(seg, n + 1) < 0 ||
        pt_seg_back_chunk(seg, n, PT_CHUNK_FIRST) < 0)
        return PT_POOL_NO_MEMORY;
    pt_assert(n + 1 <= pt_load_acquire(&seg->chunks_open));
    pt_cas_seqcst(&h->nchunks, &was, n + 1);
    return PT_POOL_TAKEN;
}

/* Stores the loss in the header before chunk i is overwritten. */
static void announce_loss(struct pt_seg *seg, uint32_t i, uint64_t w)
{
    struct pt_seg_header *h = seg->h;
    struct pt_chunk *c = pt_seg_chunk(seg, i);
    uint64_t consumed = pt_load_acquire(&c->consumed), first;
    uint32_t from = sizeof *c;

    if (pt_consumed_is(consumed, pt_word_gen(w)))
        from = pt_consumed_at(consumed);
    /* A FULL or ORPHAN chunk has its last time in its header: no need to walk. */
    if (!pt_word_is(w, pt_load_acquire(&c->gen)) || !pt_chunk_times(seg, i, from, &first, NULL))
        return;
    /* In this order: a consumer that finds a new last time also finds the first one. */
    pt_min_seqcst(&h->lost_first_ts, first);
    pt_max_seqcst(&h->lost_last_ts, pt_load_relaxed(&c->last_ts));
    pt_store_relaxed(&h->recycled, 1u);
    pt_note_overrun(h);
}

/* Is the chunk one that LOOP may overwrite? */
static bool is_closed(uint64_t word)
{
    return pt_word_state(word) == PT_CHUNK_FULL || pt_word_state(word) == PT_CHUNK_ORPHAN;
}

/*
 * The chunk to be overwritten, or a free one; UINT32_MAX: all are being written.  word: as it was
 * loaded.
 */
static uint32_t find_oldest(struct pt_seg *seg, uint32_t n, uint64_t *word)
{
    uint32_t victim = UINT32_MAX;
    uint64_t oldest = UINT64_MAX;

    for (uint32_t i = 0; i < n; i++) {
        struct pt_info *info = pt_seg_info(seg, i);
        uint64_t w = pt_load_acquire(&info->word), closed = pt_load_relaxed(&info->closed);

        if (pt_word_state(w) == PT_CHUNK_FREE) {
            *word = w;
            return i;
        }
        if (is_closed(w) && closed < oldest) {
            oldest = closed;
            victim = i;
            *word = w;
        }
    }
    return victim;
}

/* Takes chunk i, free or closed, whose word is that.  Order: the loss is announced, then the word
 * changes; a reader that finds its chunk gone finds the announcement too. */
static bool overwrite(struct pt_seg *seg, uint32_t slot, uint32_t i, uint32_t n, uint64_t word)
{
    struct pt_seg_header *h = seg->h;
    struct pt_info *info = pt_seg_info(seg, i);
    uint32_t closed = (uint32_t)pt_load_relaxed(&info->closed);
    uint64_t gen, taken;

    if (pt_word_state(word) != PT_CHUNK_FREE)
        announce_loss(seg, i, word);
    gen = new_gen(h);
    taken = pt_word_make(PT_CHUNK_OWNED, slot, gen);
    if (pt_word_state(word) == PT_CHUNK_FREE) {
        if (!take_free(seg, info, &word, taken))
            return false;
    } else {
        if (!pt_cas_seqcst(&info->word, &word, taken))
            return false;
        pt_store_relaxed(&h->overwritten, closed);
        if (pt_word_state(word) == PT_CHUNK_FULL)
            pt_add_relaxed(&h->full_chunks, (uint32_t)-1);
    }
    note_taken(seg, i, n);
    init_chunk(seg, i, slot, gen);
    return true;
}

/* LOOP: takes the chunk that was closed first. */
static enum pt_pool_take recycle(struct pt_seg *seg, uint32_t slot, uint32_t *index)
{
    for (unsigned turns = 0; turns < TAKE_TURNS; turns++) {
        uint32_t n = pt_seg_reachable(seg, pt_seg_chunk_count(seg));
        uint64_t word = 0;
        uint32_t victim = find_oldest(seg, n, &word);

        if (victim == UINT32_MAX)
            return PT_POOL_FULL;
        if (overwrite(seg, slot, victim, n, word)) {
            *index = victim;
            return PT_POOL_TAKEN;
        }
    }
    return PT_POOL_FULL;
}

static bool has_fallen(const struct pt_seg_header *h, uint32_t writers)
{
    return (int32_t)(pt_load_seqcst(&h->writers) - writers) < 0;
}

/* The resolution of the coarse clock, a few ms, is enough. */
static bool sweep_is_due(const struct pt_seg_header *h, uint64_t *now, uint64_t *last)
{
    *now = pt_clock_shared_ns(CLOCK_MONOTONIC_COARSE);
    *last = pt_load_relaxed(&h->last_sweep_ns);
    return *now - *last >= SWEEP_NS;
}

static bool begin_sweep(struct pt_seg_header *h)
{
    uint64_t now, last;

    return sweep_is_due(h, &now, &last) && pt_cas_seqcst(&h->last_sweep_ns, &last, now);
}

/* True for one of at most 2n takes, of at least n. */
static bool is_turn(uint64_t take, uint32_t n)
{
    return (take & ((UINT64_C(2) << (31 - __builtin_clz(n | 1u))) - 1)) == 0;
}

/*
 * LOOP, the usual case: no chunk is free, no memory is to be had, and the chunk that was closed
 * next after the one overwritten last is close to that.  It is the oldest, but for one whose
 * writer was stopped between taking the number and closing (pt_pool_close): that becomes the oldest
 * when the whole pool is examined next.  The number of chunks in use may be too high after a kill,
 * and chunks to be adopted are not seen: so the whole pool is examined once in one or two turns.
 */
static bool take_next(struct pt_seg *seg, uint32_t slot, uint32_t *index)
{
    struct pt_seg_header *h = seg->h;
    uint32_t all = pt_seg_chunk_count(seg), n = pt_seg_reachable(seg, all);
    uint32_t i = pt_load_relaxed(&h->hint), number = pt_load_relaxed(&h->overwritten) + 1;
    uint64_t now, last;

    if (pt_load_relaxed(&h->used_chunks) < all || may_grow(seg, all) ||
        is_turn(pt_load_relaxed(&h->next_gen), all) || sweep_is_due(h, &now, &last))
        return false;
    if (i >= n)
        i = 0;
    for (uint32_t k = 0; k < NEAR_LOOKS; k++, i = after(i, n)) {
        const struct pt_info *info = pt_seg_info(seg, i);
        uint64_t word = pt_load_acquire(&info->word);

        if (!is_closed(word) || (uint32_t)pt_load_relaxed(&info->closed) != number)
            continue;
        *index = i;
        return overwrite(seg, slot, i, n, word);
    }
    return false;
}

/*
 * Chunks of dead writers are reused before memory grows: each take first makes a step of the sweep.
 * A stream at its limit recycles or refuses at every chunk; the whole sweep that it needs there is
 * made at most once in SWEEP_NS.
 *
 * If a writer ends between scan and growth, its chunk is one that the scan has passed, and the
 * limit of growth falls with the number of writers: then the scan is repeated.
 */
enum pt_pool_take pt_pool_take(struct pt_seg *seg, uint32_t slot, uint32_t need, bool loop,
                               uint32_t *index)
{
    enum pt_pool_take r = PT_POOL_NO_MEMORY;
    bool stepped = false, swept = false;

    pt_assert_call(slot < PT_SLOT_MAX);
    pt_assert_call(need <= seg->g.chunk_size - sizeof(struct pt_chunk));
    if (loop && take_next(seg, slot, index))
        return PT_POOL_TAKEN;
    for (unsigned turns = 0; turns < TAKE_TURNS; turns++) {
        uint32_t writers = pt_load_seqcst(&seg->h->writers);

        r = scan(seg, slot, need, index);
        if (r != PT_POOL_FULL)
            return r;
        if (!stepped && may_grow(seg, pt_seg_chunk_count(seg))) {
            stepped = true;
            if (pt_slot_sweep_step(seg, GROW_LOOKS) > 0)
                continue;
        }
        r = grow(seg);
        if (r == PT_POOL_TAKEN || has_fallen(seg->h, writers))
            continue;
        if (!swept && begin_sweep(seg->h)) {
            swept = true;
            if (pt_slot_sweep(seg) > 0)
                continue;
        }
        if (loop && recycle(seg, slot, index) == PT_POOL_TAKEN)
            return PT_POOL_TAKEN;
        return r;
    }
    return PT_POOL_NO_MEMORY;
}

void pt_pool_close(struct pt_seg *seg, uint32_t index, uint32_t slot, uint64_t last_ts)
{
    struct pt_info *info = pt_seg_info(seg, index);
    struct pt_chunk *c = pt_seg_chunk(seg, index);
    uint64_t w = pt_load_relaxed(&info->word);

    pt_assert_call(index < pt_load_acquire(&seg->chunks_open) && slot < PT_SLOT_MAX);
    pt_store_relaxed(&c->last_ts, last_ts);
    pt_store_relaxed(&info->closed, pt_add_relaxed(&seg->h->next_close, 1u));
    pt_add_relaxed(&seg->h->full_chunks, 1u);
    if (pt_word_state(w) != PT_CHUNK_OWNED || pt_word_slot(w) != slot ||
        !pt_cas_seqcst(&info->word, &w, pt_word_make(PT_CHUNK_FULL, slot, pt_word_gen(w))))
        pt_add_relaxed(&seg->h->full_chunks, (uint32_t)-1);
}

void pt_pool_orphan(struct pt_seg *seg, uint32_t index, uint32_t slot, uint64_t last_ts)
{
    struct pt_info *info = pt_seg_info(seg, index);
    struct pt_chunk *c = pt_seg_chunk(seg, index);
    uint64_t w = pt_load_acquire(&info->word), first;

    pt_assert_call(index < pt_load_acquire(&seg->chunks_open) && slot < PT_SLOT_MAX);
    if (pt_word_state(w) != PT_CHUNK_OWNED || pt_word_slot(w) != slot)
        return;
    if (!pt_word_is(w, pt_load_acquire(&c->gen))) {
        /* Taken but never initialised: no contents. */
        if (pt_cas_seqcst(&info->word, &w, pt_word_make(PT_CHUNK_FREE, 0, pt_word_gen(w))))
            pt_add_relaxed(&seg->h->used_chunks, (uint32_t)-1);
        return;
    }
    if (last_ts == 0 && !pt_chunk_times(seg, index, sizeof *c, &first, &last_ts))
        last_ts = c->base_ts;
    pt_store_relaxed(&c->last_ts, last_ts);
    pt_store_relaxed(&info->closed, pt_add_relaxed(&seg->h->next_close, 1u));
    /* A control writer's chunk is not adopted: it goes to the consumer. */
    if (c->author.level != PT_LEVEL_CONTROL) {
        pt_cas_seqcst(&info->word, &w, pt_word_make(PT_CHUNK_ORPHAN, slot, pt_word_gen(w)));
        return;
    }
    pt_add_relaxed(&seg->h->full_chunks, 1u);
    if (pt_cas_seqcst(&info->word, &w, pt_word_make(PT_CHUNK_FULL, slot, pt_word_gen(w))))
        pt_pool_tell_full(seg);
    else
        pt_add_relaxed(&seg->h->full_chunks, (uint32_t)-1);
}

void pt_pool_wake_flush(struct pt_seg_header *h)
{
    if (pt_exchange_seqcst(&h->flush_asked, 1u) != 0)
        return;
    pt_add_seqcst(&h->flush_futex, 1u);
    pt_futex_wake_all(&h->flush_futex);
}

bool pt_pool_free(struct pt_seg *seg, uint32_t index, uint64_t word)
{
    if (pt_word_state(word) != PT_CHUNK_FULL ||
        !pt_cas_seqcst(&pt_seg_info(seg, index)->word, &word,
                       pt_word_make(PT_CHUNK_FREE, 0, pt_word_gen(word))))
        return false;
    pt_add_relaxed(&seg->h->full_chunks, (uint32_t)-1);
    pt_add_relaxed(&seg->h->used_chunks, (uint32_t)-1);
    return true;
}

void pt_pool_repair(struct pt_seg *seg, uint32_t slot)
{
    uint32_t n = pt_seg_chunk_count(seg);
    uint32_t current = pt_load_relaxed(&pt_seg_slot(seg, slot)->chunk);

    n = pt_seg_reachable(seg, n);
    for (uint32_t i = 0; i < n; i++) {
        uint64_t w = pt_load_relaxed(&pt_seg_info(seg, i)->word);

        if (i + 1 != current && pt_word_state(w) == PT_CHUNK_OWNED && pt_word_slot(w) == slot)
            pt_pool_orphan(seg, i, slot, 0);
    }
}

bool pt_chunk_times(const struct pt_seg *seg, uint32_t index, uint32_t from, uint64_t *first,
                    uint64_t *last)
{
    const struct pt_chunk *c = pt_seg_chunk(seg, index);
    const uint8_t *at = (const uint8_t *)c;
    uint32_t end = pt_chunk_position(seg, pt_load_acquire(&c->commit));
    struct pt_decoder d = { at + sizeof *c, at + end, pt_load_relaxed(&c->base_ts) };
    struct pt_record r;
    bool found = false;

    pt_assert(end >= sizeof *c && end <= seg->g.chunk_size);
    while (pt_decode_next(&d, &r) == 1) {
        if (r.kind != PT_RECORD_EVENT || (uint32_t)(d.p - at) <= from)
            continue;
        if (!found)
            *first = r.ts;
        found = true;
        if (!last)
            break;
        *last = r.ts;
    }
    return found;
}
