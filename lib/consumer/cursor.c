/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See cursor.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/assert.h"
#include "consumer/cursor.h"
#include "shm/attention.h"
#include "shm/pool.h"

void pt_cursors_init(struct pt_cursors *cs, struct pt_seg *seg)
{
    memset(cs, 0, sizeof *cs);
    cs->seg = seg;
    pt_merge_init(&cs->merge);
}

void pt_cursors_deinit(struct pt_cursors *cs)
{
    pt_cursors_unqueue(cs);
    for (uint32_t i = 0; i < cs->known_room; i++)
        free(cs->known[i]);
    free(cs->known);
    pt_merge_deinit(&cs->merge);
}

bool pt_cursor_valid(const struct pt_cursors *cs, const struct pt_cursor *c)
{
    pt_fence_acquire();
    return pt_word_is(pt_load_relaxed(&pt_seg_info(cs->seg, c->index)->word), c->gen);
}

enum pt_cursor_step pt_cursor_decode(struct pt_cursors *cs, struct pt_cursor *c)
{
    const uint8_t *at = (const uint8_t *)pt_seg_chunk(cs->seg, c->index);
    struct pt_decoder d = { at + c->off, at + c->limit, c->base };
    struct pt_record_author a;
    struct pt_author author = c->author;
    uint64_t no = c->no;
    bool valid;
    int r;

    pt_assert_call(c->index < cs->known_room);
    pt_assert(c->off >= sizeof(struct pt_chunk) && c->limit <= cs->seg->g.chunk_size);
    c->start = c->off;
    c->start_base = c->base;
    while ((r = pt_decode_next(&d, &c->record)) == 1 && c->record.kind == PT_RECORD_AUTHOR) {
        pt_copy_unchecked(&a, c->record.data, sizeof a);
        author = a.author;
        author.name[15] = '\0';
        no = a.first_no;
        c->start = (uint32_t)(d.p - at);
        c->start_base = d.base;
    }
    valid = pt_cursor_valid(cs, c);
    if (r < 0 || !valid) {
        c->bad = r < 0 && valid; /* the bytes of a chunk that was recycled meanwhile may be any */
        return PT_CURSOR_GONE;
    }
    if (r == 0)
        return PT_CURSOR_END;
    c->author = author;
    c->no = no;
    c->base = d.base;
    c->size = (uint32_t)(d.p - (at + c->off));
    c->node.ts = c->record.ts;
    c->node.tie = (uint64_t)author.wid << 32 | (uint32_t)c->gen;
    pt_assert(c->off <= c->start && c->off + c->size <= c->limit);
    pt_assert(c->record.data >= at + c->start && c->record.data + c->record.len <= d.p);
    return PT_CURSOR_EVENT;
}

/*
 * LOOP may recycle the chunk before the position is stored.  The word then has the old generation
 * over the new contents, which says that nothing of them was consumed, and that is true as long as
 * they have no cursor of their own.  Once they have one, the old cursor, which is still in the
 * merge, stores nothing: events may have been consumed since, and the next writer that recycles the
 * chunk would announce them as lost.
 */
void pt_cursor_consume(struct pt_cursors *cs, struct pt_cursor *c)
{
    pt_assert(c->size > 0 && c->off + c->size <= c->limit);
    c->off += c->size;
    c->no++;
    if (!cs->passive && cs->known[c->index] == c)
        pt_store_release(&pt_seg_chunk(cs->seg, c->index)->consumed,
                         pt_consumed_make(c->gen, c->off));
}

void pt_cursor_drop(struct pt_cursors *cs, struct pt_cursor *c)
{
    pt_assert_call(!c->queued && c->index < cs->known_room);
    if (cs->known[c->index] == c)
        cs->known[c->index] = NULL;
    free(c);
}

void pt_cursors_unqueue(struct pt_cursors *cs)
{
    for (size_t i = 0; i < cs->merge.count; i++) {
        struct pt_cursor *c = (struct pt_cursor *)(void *)cs->merge.heap[i].node;

        pt_assert(c->queued && c->index < cs->known_room);
        c->queued = false;
        if (cs->known[c->index] != c)
            free(c);
    }
    pt_merge_clear(&cs->merge);
}

bool pt_cursor_retire(struct pt_cursors *cs, struct pt_cursor *c)
{
    uint64_t w = pt_load_acquire(&pt_seg_info(cs->seg, c->index)->word);
    struct pt_chunk *chunk = pt_seg_chunk(cs->seg, c->index);

    pt_assert_call(!c->queued);
    if (!pt_word_is(w, c->gen)) {
        pt_cursor_drop(cs, c);
        return true;
    }
    /* An onlooker keeps the cursor as long as the chunk has these contents. */
    if (cs->passive || pt_word_state(w) != PT_CHUNK_FULL ||
        pt_chunk_position(cs->seg, pt_load_acquire(&chunk->commit)) != c->off)
        return false;
    pt_pool_free(cs->seg, c->index, w);
    pt_fill_watermark_freed(cs->seg->h);
    pt_cursor_drop(cs, c);
    return true;
}

/* Skips the records that an earlier consumer, now dead, has read, and sets the window by the START
 * and STOP among them. */
static void skip_consumed(struct pt_cursors *cs, struct pt_windows *w, struct pt_cursor *c,
                          uint32_t to)
{
    bool control = c->author.level == PT_LEVEL_CONTROL;

    if (control)
        pt_windows_set(w, pt_seg_chunk(cs->seg, c->index)->window != 0, c->base);
    while (c->off < to && pt_cursor_decode(cs, c) == PT_CURSOR_EVENT) {
        if (control && (c->record.id == POSIX_TRACE_START || c->record.id == POSIX_TRACE_STOP))
            pt_windows_set(w, c->record.id == POSIX_TRACE_START, c->record.ts);
        c->off += c->size;
        c->no++;
    }
}

/* Makes a cursor for a chunk that has none.  NULL: the chunk has no contents, or no memory
 * (*oom). */
static struct pt_cursor *open_cursor(struct pt_cursors *cs, struct pt_windows *w, uint32_t index,
                                     uint64_t word, bool *oom)
{
    const struct pt_chunk *chunk = pt_seg_chunk(cs->seg, index);
    uint64_t gen = pt_load_acquire(&chunk->gen), consumed;
    struct pt_cursor *c;

    pt_assert_call(!cs->known[index]);
    if (!pt_word_is(word, gen))
        return NULL;
    c = calloc(1, sizeof *c);
    if (!c) {
        *oom = true;
        return NULL;
    }
    c->index = index;
    c->gen = gen;
    c->off = sizeof *chunk;
    c->base = pt_load_relaxed(&chunk->base_ts);
    c->no = pt_load_relaxed(&chunk->first_no);
    pt_copy_unchecked(&c->author, &chunk->author, sizeof c->author);
    c->author.name[15] = '\0';
    c->limit = pt_chunk_position(cs->seg, pt_load_acquire(&chunk->commit));
    if (!pt_cursor_valid(cs, c)) {
        free(c);
        return NULL;
    }
    consumed = pt_load_relaxed(&chunk->consumed);
    if (!cs->passive && pt_consumed_is(consumed, c->gen) && pt_consumed_at(consumed) > c->off)
        skip_consumed(cs, w, c, pt_consumed_at(consumed));
    pt_assert(c->off <= cs->seg->g.chunk_size && c->limit >= sizeof *chunk);
    cs->known[index] = c;
    return c;
}

static int make_room(struct pt_cursors *cs, uint32_t n)
{
    struct pt_cursor **p;

    if (n <= cs->known_room)
        return 0;
    p = realloc(cs->known, (n + 64) * sizeof(*p));
    if (!p)
        return -ENOMEM;
    memset(p + cs->known_room, 0, (n + 64 - cs->known_room) * sizeof(*p));
    cs->known = p;
    cs->known_room = n + 64;
    return 0;
}

/* Passive: the contents of a free chunk count only if they are from after the onlooker's start. */
static bool has_contents(const struct pt_cursors *cs, const struct pt_cursor *c, uint32_t index,
                         uint64_t word)
{
    if (pt_word_state(word) != PT_CHUNK_FREE)
        return true;
    return cs->passive &&
           (c || pt_load_acquire(&pt_seg_chunk(cs->seg, index)->gen) >= cs->from_gen);
}

/* Brings the cursor of one chunk up to date and queues it if it has an event. */
static int look_at_chunk(struct pt_cursors *cs, struct pt_windows *w, uint32_t index)
{
    uint64_t word = pt_load_acquire(&pt_seg_info(cs->seg, index)->word);
    struct pt_cursor *c = cs->known[index];
    bool oom = false;
    uint32_t limit;

    pt_assert(!c || c->index == index);
    if (c && !pt_word_is(word, c->gen)) {
        /* LOOP has recycled the chunk.  A queued cursor stays in the merge until it reaches the
         * top; the new contents get a cursor of their own, since they may be older. */
        cs->known[index] = NULL;
        if (!c->queued)
            free(c);
        c = NULL;
    }
    if (!has_contents(cs, c, index, word) || (c && c->bad && cs->passive))
        return 0;
    if (!c)
        c = open_cursor(cs, w, index, word, &oom);
    if (!c)
        return oom ? -ENOMEM : 0;
    limit = pt_chunk_position(cs->seg, pt_load_acquire(&pt_seg_chunk(cs->seg, index)->commit));
    /* LOOP may have recycled the chunk meanwhile: then the limit is not of the queued record. */
    if (pt_cursor_valid(cs, c))
        c->limit = limit;
    if (c->queued)
        return 0;
    switch (pt_cursor_decode(cs, c)) {
    case PT_CURSOR_EVENT:
        c->queued = true;
        if (pt_merge_push(&cs->merge, &c->node) < 0) {
            c->queued = false;
            return -ENOMEM;
        }
        return 0;
    case PT_CURSOR_END: pt_cursor_retire(cs, c); return 0;
    default:
        if (!cs->passive || !c->bad)
            pt_cursor_drop(cs, c);
        return 0;
    }
}

/* Does each entry of the merge belong to a cursor that knows it, once? */
PT_VALIDATOR bool merge_is_valid(const struct pt_cursors *cs)
{
    size_t queued = 0;

    for (size_t i = 0; i < cs->merge.count; i++) {
        const struct pt_cursor *c = (const struct pt_cursor *)(void *)cs->merge.heap[i].node;

        if (!c->queued || c->index >= cs->known_room)
            return false;
    }
    for (uint32_t i = 0; i < cs->known_room; i++) {
        if (cs->known[i] && cs->known[i]->index != i)
            return false;
        queued += cs->known[i] && cs->known[i]->queued;
    }
    return queued <= cs->merge.count; /* the rest are of chunks that LOOP took away */
}

int pt_cursors_scan(struct pt_cursors *cs, struct pt_windows *w)
{
    uint32_t n = pt_seg_chunk_count(cs->seg);
    int r;

    pt_assert_valid(merge_is_valid(cs));
    if (pt_seg_reachable(cs->seg, n) < n)
        return -ENOMEM;
    r = make_room(cs, n);
    for (uint32_t i = 0; r == 0 && i < n; i++)
        r = look_at_chunk(cs, w, i);
    pt_assert_valid(merge_is_valid(cs));
    return r;
}

const struct pt_cursor *pt_cursors_oldest_control(const struct pt_cursors *cs)
{
    const struct pt_cursor *oldest = NULL;

    for (uint32_t i = 0; i < cs->known_room; i++) {
        const struct pt_cursor *c = cs->known[i];

        if (c && c->author.wid == 0 && (!oldest || c->gen < oldest->gen) && pt_cursor_valid(cs, c))
            oldest = c;
    }
    return oldest;
}

/* After a hand-over the numbers start again, in another slot: the chunk that is being written has
 * to be in the slot that the lock names. */
static bool is_last_control(const struct pt_cursors *cs, const struct pt_cursor *c)
{
    uint64_t word = pt_load_acquire(&pt_seg_info(cs->seg, c->index)->word);
    uint32_t slot_1 = pt_control_slot_1(pt_load_seqcst(&cs->seg->h->control));

    return pt_word_is(word, c->gen) && pt_word_state(word) == PT_CHUNK_OWNED &&
           pt_word_slot(word) + 1 == slot_1;
}

bool pt_cursors_control_is_at(const struct pt_cursors *cs, uint64_t no)
{
    for (uint32_t i = 0; i < cs->known_room; i++) {
        const struct pt_cursor *c = cs->known[i];

        if (c && c->author.wid == 0 && c->no == no && pt_cursor_valid(cs, c) &&
            (c->queued || is_last_control(cs, c)))
            return true;
    }
    return false;
}

bool pt_cursor_window_before(const struct pt_cursors *cs, const struct pt_cursor *c, bool *open)
{
    bool before = pt_load_relaxed(&pt_seg_chunk(cs->seg, c->index)->window) != 0;

    if (!pt_cursor_valid(cs, c))
        return false;
    *open = before;
    return true;
}
