/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Cursors: read one chunk while its writer records more events, or while LOOP may take
 * the chunk away.  Bytes are read first, and used only if the chunk's word still has the
 * cursor's generation afterwards.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/assert.h"
#include "consumer/consumer.h"
#include "shm/attention.h"
#include "shm/mark_filter.h"
#include "shm/loss_interval.h"
#include "shm/pool.h"
#include "shm/syncpoint.h"

bool pt_cursor_valid(const struct pt_consumer *l, const struct pt_cursor *c)
{
    pt_fence_acquire();
    return pt_word_is(pt_load_relaxed(&pt_seg_info(l->seg, c->index)->word), c->gen);
}

enum pt_cursor_step pt_cursor_decode(struct pt_consumer *l, struct pt_cursor *c)
{
    const uint8_t *at = (const uint8_t *)pt_seg_chunk(l->seg, c->index);
    struct pt_decoder d = { at + c->off, at + c->limit, c->base };
    struct pt_record_author a;
    struct pt_author author = c->author;
    uint64_t no = c->no;
    int r;

    pt_assert_call(c->index < l->known_room);
    pt_assert(c->off >= sizeof(struct pt_chunk) && c->limit <= l->seg->g.chunk_size);
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
    if (r < 0 || !pt_cursor_valid(l, c)) {
        c->bad = r < 0;
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

void pt_cursor_consume(struct pt_consumer *l, struct pt_cursor *c)
{
    pt_assert(c->size > 0 && c->off + c->size <= c->limit);
    c->off += c->size;
    c->no++;
    if (!l->passive)
        pt_store_release(&pt_seg_chunk(l->seg, c->index)->consumed,
                         pt_consumed_make(c->gen, c->off));
}

void pt_cursor_drop(struct pt_consumer *l, struct pt_cursor *c)
{
    pt_assert_call(!c->queued && c->index < l->known_room);
    if (l->known[c->index] == c)
        l->known[c->index] = NULL;
    free(c);
}

void pt_cursor_unqueue_all(struct pt_consumer *l)
{
    for (size_t i = 0; i < l->merge.count; i++) {
        struct pt_cursor *c = (struct pt_cursor *)(void *)l->merge.heap[i].node;

        pt_assert(c->queued && c->index < l->known_room);
        c->queued = false;
        if (l->known[c->index] != c)
            free(c);
    }
    pt_merge_clear(&l->merge);
}

bool pt_cursor_retire(struct pt_consumer *l, struct pt_cursor *c)
{
    uint64_t w = pt_load_acquire(&pt_seg_info(l->seg, c->index)->word);
    struct pt_chunk *chunk = pt_seg_chunk(l->seg, c->index);

    pt_assert_call(!c->queued);
    if (!pt_word_is(w, c->gen)) {
        pt_cursor_drop(l, c);
        return true;
    }
    /* An onlooker keeps the cursor as long as the chunk has these contents. */
    if (l->passive || pt_word_state(w) != PT_CHUNK_FULL ||
        pt_chunk_position(l->seg, pt_load_acquire(&chunk->commit)) != c->off)
        return false;
    pt_pool_free(l->seg, c->index, w);
    pt_fill_watermark_freed(l->seg->h);
    pt_cursor_drop(l, c);
    return true;
}

/* Skips the records that an earlier consumer, now dead, has read, and sets the window by the START
 * and STOP among them. */
static void skip_consumed(struct pt_consumer *l, struct pt_cursor *c, uint32_t to)
{
    bool control = c->author.level == PT_LEVEL_CONTROL;

    if (control)
        pt_consumer_set_window(l, pt_seg_chunk(l->seg, c->index)->window != 0, c->base);
    while (c->off < to && pt_cursor_decode(l, c) == PT_CURSOR_EVENT) {
        if (control && (c->record.id == POSIX_TRACE_START || c->record.id == POSIX_TRACE_STOP))
            pt_consumer_set_window(l, c->record.id == POSIX_TRACE_START, c->record.ts);
        c->off += c->size;
        c->no++;
    }
}

/* Makes a cursor for a chunk that has none.  NULL: the chunk has no contents, or no memory
 * (*oom). */
static struct pt_cursor *open_cursor(struct pt_consumer *l, uint32_t index, uint64_t word,
                                     bool *oom)
{
    const struct pt_chunk *chunk = pt_seg_chunk(l->seg, index);
    uint64_t gen = pt_load_acquire(&chunk->gen), consumed;
    struct pt_cursor *c;

    pt_assert_call(!l->known[index]);
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
    c->limit = pt_chunk_position(l->seg, pt_load_acquire(&chunk->commit));
    if (!pt_cursor_valid(l, c)) {
        free(c);
        return NULL;
    }
    consumed = pt_load_relaxed(&chunk->consumed);
    if (!l->passive && pt_consumed_is(consumed, c->gen) && pt_consumed_at(consumed) > c->off)
        skip_consumed(l, c, pt_consumed_at(consumed));
    pt_assert(c->off <= l->seg->g.chunk_size && c->limit >= sizeof *chunk);
    l->known[index] = c;
    return c;
}

static int make_room(struct pt_consumer *l, uint32_t n)
{
    struct pt_cursor **p;

    if (n <= l->known_room)
        return 0;
    p = realloc(l->known, (n + 64) * sizeof(*p));
    if (!p)
        return -ENOMEM;
    memset(p + l->known_room, 0, (n + 64 - l->known_room) * sizeof(*p));
    l->known = p;
    l->known_room = n + 64;
    return 0;
}

/* Passive: the contents of a free chunk count only if they are from after the onlooker's start. */
static bool has_contents(const struct pt_consumer *l, const struct pt_cursor *c, uint32_t index,
                         uint64_t word)
{
    if (pt_word_state(word) != PT_CHUNK_FREE)
        return true;
    return l->passive && (c || pt_load_acquire(&pt_seg_chunk(l->seg, index)->gen) >= l->from_gen);
}

/* Brings the cursor of one chunk up to date and queues it if it has an event. */
static int look_at_chunk(struct pt_consumer *l, uint32_t index)
{
    uint64_t w = pt_load_acquire(&pt_seg_info(l->seg, index)->word);
    struct pt_cursor *c = l->known[index];
    bool oom = false;

    pt_assert(!c || c->index == index);
    if (c && !pt_word_is(w, c->gen)) {
        /* LOOP has recycled the chunk.  A queued cursor stays in the merge until it reaches the
         * top; the new contents get a cursor of their own, since they may be older. */
        l->known[index] = NULL;
        if (!c->queued)
            free(c);
        c = NULL;
    }
    if (!has_contents(l, c, index, w) || (c && c->bad && l->passive))
        return 0;
    if (!c)
        c = open_cursor(l, index, w, &oom);
    if (!c)
        return oom ? -ENOMEM : 0;
    c->limit = pt_chunk_position(l->seg, pt_load_acquire(&pt_seg_chunk(l->seg, index)->commit));
    if (c->queued)
        return 0;
    switch (pt_cursor_decode(l, c)) {
    case PT_CURSOR_EVENT:
        c->queued = true;
        if (pt_merge_push(&l->merge, &c->node) < 0) {
            c->queued = false;
            return -ENOMEM;
        }
        return 0;
    case PT_CURSOR_END: pt_cursor_retire(l, c); return 0;
    default:
        if (!l->passive || !c->bad)
            pt_cursor_drop(l, c);
        return 0;
    }
}

/* Losses of threads without memory, or of handlers nested too deep (shm/loss_interval.h): OVERFLOW
 * comes before the events up to the watermark, RESUME before the first event that is in no gap. */
static void look_at_missed(struct pt_consumer *l)
{
    struct pt_seg_header *h = l->seg->h;
    unsigned out = pt_loss_marks_now(h);
    uint64_t known = l->missed_known;

    l->missing = pt_loss_interval_look(h, l->delivered_ts, &l->missed_known, &l->missed_from);
    if (l->missed_known == known)
        return;
    if (!l->passive)
        pt_store_seqcst(&h->missed_told, l->missed_known);
    pt_consumer_take_marks(l, out);
}

/* Does each entry of the merge belong to a cursor that knows it, once? */
PT_VALIDATOR bool merge_is_valid(const struct pt_consumer *l)
{
    size_t queued = 0;

    for (size_t i = 0; i < l->merge.count; i++) {
        const struct pt_cursor *c = (const struct pt_cursor *)(void *)l->merge.heap[i].node;

        if (!c->queued || c->index >= l->known_room)
            return false;
    }
    for (uint32_t i = 0; i < l->known_room; i++) {
        if (l->known[i] && l->known[i]->index != i)
            return false;
        queued += l->known[i] && l->known[i]->queued;
    }
    return queued <= l->merge.count; /* the rest are of chunks that LOOP took away */
}
/* The order matters: first the watermark, then losses and chunks.  So an event before the
 * watermark, or a loss before it, is committed before the scan loads its chunk or word. */
int pt_consumer_refresh(struct pt_consumer *l)
{
    uint32_t n;
    int r;

    pt_assert_valid(merge_is_valid(l));
    l->window_now = pt_load_seqcst(&l->seg->h->window) != 0;
    if (l->finished)
        l->watermark = UINT64_MAX;
    else
        l->watermark = pt_watch_look(&l->watch, l->seg);
    look_at_missed(l);
    pt_consumer_look_at_state(l);
    if (!l->passive && !l->seg->copy)
        pt_syncpoint_maintain(l->seg->h, l->seg->g.clock);
    n = pt_seg_chunk_count(l->seg);
    if (pt_seg_reachable(l->seg, n) < n)
        return -ENOMEM;
    r = make_room(l, n);
    for (uint32_t i = 0; r == 0 && i < n; i++)
        r = look_at_chunk(l, i);
    pt_assert_valid(merge_is_valid(l));
    return r;
}
