/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * LOOP logs: the first wrap, and giving up the oldest parts.
 *
 * A log grows like any other until its DATA packets would exceed the log size.
 * Then the data area becomes the ring: copies of all names and sync points are
 * written after it, then the header with the ring's length, and the writer
 * continues in the ring.  Two invariants hold from then on: a part is given up
 * entirely, oldest first; and the DATA packets of the remaining parts fit into the
 * log size.
 */
#include <posixtrace/info.h>
#include <stdlib.h>
#include <string.h>
#include "base/assert.h"
#include "log/writer/state.h"

/* Room in a ring for ROUND packets, which do not count as log size, so that
 * logs of the smallest sizes hold their newest event. */
#define RING_SLACK  (16u << 10)
#define SMALL_LOG   (64u << 10)
#define FIRST_PARTS 64u

static uint32_t clamp(uint64_t bytes)
{
    return bytes < PT_PACKET_DATA_MAX ? (uint32_t)bytes : PT_PACKET_DATA_MAX;
}

uint32_t pt_ring_event_limit(const struct pt_log_writer *w)
{
    uint64_t size = pt_log_writer_size(w);

    return size > sizeof(struct pt_packet_data)
               ? clamp((size - sizeof(struct pt_packet_data)) & ~7ull)
               : 0;
}

uint32_t pt_ring_piece_limit(const struct pt_log_writer *w)
{
    return pt_ring_event_limit(w) / 4;
}

uint64_t pt_ring_part_limit(const struct pt_log_writer *w)
{
    return pt_log_writer_size(w) / 8;
}

uint32_t pt_ring_round_limit(const struct pt_log_writer *w)
{
    uint64_t ring = w->ring.bytes ? w->ring.bytes : pt_log_writer_size(w) + RING_SLACK;

    ring /= 16;
    return ring < PT_PACKET_MAX / 2 ? (uint32_t)ring : PT_PACKET_MAX / 2;
}

uint64_t pt_ring_offset(const struct pt_log_writer *w, uint64_t position)
{
    return PT_LOG_DATA_START + (w->ring.bytes ? position % w->ring.bytes : position);
}

/*
 * The header names the ring only after the copies beyond it are in the file (fix_ring()).  A
 * file that ends earlier was cut, or its header is not from a posixtrace writer: the ring is
 * shortened to the bytes in the file, and has room for ROUND packets like that of a small log.
 */
void pt_ring_fit(struct pt_log_writer *w, uint64_t file_size)
{
    uint64_t left = file_size > PT_LOG_DATA_START ? file_size - PT_LOG_DATA_START : 0;
    uint64_t bytes = (left + SMALL_LOG + RING_SLACK + 7) & ~7ull;

    if (w->ring.bytes > bytes)
        w->ring.bytes = bytes;
}

void pt_ring_deinit(struct pt_ring *ring)
{
    for (size_t i = 0; i < ring->count; i++)
        free(pt_ring_part(ring, i)->counts);
    free(ring->parts);
    *ring = (struct pt_ring){ .bytes = 0 };
}

int pt_ring_reserve_part(struct pt_log_writer *w)
{
    struct pt_ring *ring = &w->ring;
    size_t room = ring->room ? ring->room * 2 : FIRST_PARTS;
    struct pt_part *parts;

    if (ring->count < ring->room)
        return 0;
    parts = malloc(room * sizeof *parts);
    if (!parts)
        return -ENOMEM;
    for (size_t i = 0; i < ring->count; i++)
        parts[i] = *pt_ring_part(ring, i);
    free(ring->parts);
    ring->parts = parts;
    ring->room = room;
    ring->first = 0;
    return 0;
}

/* The events of the current part by author and by type.  NULL without memory: then the counts
 * by type are unknown after the part is given up. */
static struct pt_part_count *count_part(struct pt_log_writer *w, struct pt_part *part)
{
    struct pt_types *t = &w->part_types;
    size_t n = w->part_author_count + t->used_count;
    struct pt_part_count *counts = n ? malloc(n * sizeof *counts) : NULL;

    w->uncounted |= n != 0 && !counts;
    n = 0;
    for (size_t i = 0; i < w->part_author_count; i++) {
        struct pt_total *total = pt_author_stats_find(&w->totals, w->part_authors[i]);

        if (!total)
            continue;
        if (counts)
            counts[n++] = (struct pt_part_count){ w->part_authors[i], total->part_events };
        total->part_events = 0;
    }
    part->authors = (uint32_t)n;
    for (uint32_t i = 0; counts && i < t->used_count; i++)
        counts[n++] = (struct pt_part_count){ t->used[i], t->count[t->used[i]] };
    part->ids = (uint32_t)n - part->authors;
    w->part_author_count = 0;
    pt_types_clear(t);
    return counts;
}

void pt_ring_push_part(struct pt_log_writer *w)
{
    struct pt_ring *ring = &w->ring;
    struct pt_part part = {
        .number = w->round,
        .start = w->part_start,
        .bytes = ring->head - w->part_start,
        .first_ts = w->part_first,
        .last_ts = w->part_last,
        .events = w->part_events,
        .data_bytes = w->part_bytes,
        .goes_on = w->part_goes_on,
    };

    pt_assert_call(ring->count < ring->room);
    pt_assert(w->part_start <= ring->head && (!ring->bytes || part.bytes <= ring->bytes));
    part.counts = count_part(w, &part);
    ring->count++;
    *pt_ring_part(ring, ring->count - 1) = part;
}

/* The latest time in the parts that are left and in the one being written. */
static uint64_t latest_time(const struct pt_log_writer *w)
{
    uint64_t last = w->part_last;

    for (size_t i = 0; i < w->ring.count; i++)
        if (pt_ring_part(&w->ring, i)->last_ts > last)
            last = pt_ring_part(&w->ring, i)->last_ts;
    return last;
}

static void give_up_oldest_for(struct pt_log_writer *w, unsigned cause)
{
    struct pt_ring *ring = &w->ring;
    struct pt_part *part = pt_ring_part(ring, 0);
    bool has_latest = part->events && part->last_ts == w->last_ts;
    uint64_t unknown = part->events;

    pt_assert_call(ring->count > 0);
    /* After a failed write packets of the part may still be in the buffer: they are lost once. */
    pt_output_uncount(&w->out, part->start + pt_output_offset(&w->out) - ring->head, part->bytes);
    for (uint32_t i = 0; i < part->authors; i++) {
        const struct pt_part_count *c = &part->counts[i];

        pt_author_stats_lose(&w->totals, c->key, cause, c->events);
        unknown -= c->events;
    }
    pt_assert(w->resumed || unknown <= part->events);
    if (unknown) {
        w->totals.lost[cause] += unknown;
        w->totals.folded_lost[cause] += unknown;
    }
    for (uint32_t i = part->authors; i < part->authors + part->ids; i++)
        w->counts[part->counts[i].key] -= part->counts[i].events;
    pt_assert(w->resumed || (w->events >= part->events && w->data_bytes >= part->data_bytes));
    w->events -= part->events;
    w->data_bytes -= part->data_bytes;
    if (part->events && cause == POSIXTRACE_LOST_LOG_OVERWRITTEN)
        w->overrun = w->overran = true;
    /* Authors whose numbers were listed only there are listed again. */
    for (size_t i = 0; i < w->totals.count; i++)
        if (w->totals.entries[i].listed_in == part->number)
            w->totals.entries[i].dirty = true;
    free(part->counts);
    ring->first = (ring->first + 1) % ring->room;
    ring->count--;
    /* The parts of one round are in no order of time: later ones may have older events only. */
    if (has_latest)
        w->last_ts = latest_time(w);
}

static void give_up_oldest(struct pt_log_writer *w)
{
    give_up_oldest_for(w, POSIXTRACE_LOST_LOG_OVERWRITTEN);
}

void pt_ring_give_up_all(struct pt_log_writer *w, unsigned cause)
{
    while (w->ring.count)
        give_up_oldest_for(w, cause);
}

static int put_pad(struct pt_log_writer *w, uint32_t bytes)
{
    struct pt_packet_head *pad;
    int error;

    pad = pt_output_reserve(&w->out, bytes, &error);
    if (!pad)
        return error;
    memset(pad, 0, bytes);
    pt_log_writer_seal(w, pad, PT_PACKET_PAD, bytes);
    pt_output_commit(&w->out, bytes, 0, 0);
    return 0;
}

/* Makes the data area of the log the ring.  After a failure the log still grows, and
 * overwrites the copies that were written after it. */
static int fix_ring(struct pt_log_writer *w)
{
    struct pt_ring *ring = &w->ring;
    uint64_t least = pt_log_writer_size(w), lsn = w->lsn;
    uint64_t offset = pt_output_offset(&w->out);
    int error = pt_output_flush(&w->out);

    if (error)
        return error;
    if (least > SMALL_LOG)
        least = SMALL_LOG;
    least = (least + RING_SLACK + 7) & ~7ull;
    if (least > ring->head && least < ring->head + sizeof(struct pt_packet_head))
        least = ring->head + sizeof(struct pt_packet_head);
    ring->bytes = ring->head > least ? ring->head : least;
    /* Until the header has the ring, the following bytes are part of the log. */
    if (ring->bytes > ring->head)
        error = put_pad(w, (uint32_t)(ring->bytes - ring->head));
    if (!error)
        error = pt_log_writer_copies(w);
    pt_assert(error || pt_output_offset(&w->out) >= PT_LOG_DATA_START + ring->bytes);
    ring->meta = pt_output_offset(&w->out);
    if (!error)
        error = pt_output_flush(&w->out);
    if (!error)
        error = pt_log_writer_header(w, 0, 0, 0);
    if (error) {
        ring->bytes = 0;
        w->lsn = lsn;
    }
    pt_output_discard(&w->out, error ? offset : pt_ring_offset(w, ring->head));
    return error;
}

/* Fills the rest of the ring before its end; too short a rest is left alone. */
static int pad_to_end(struct pt_log_writer *w, uint32_t rest)
{
    int error;

    pt_assert_call(w->ring.head % w->ring.bytes + rest == w->ring.bytes);
    if (rest >= sizeof(struct pt_packet_head)) {
        error = put_pad(w, rest);
        if (error)
            return error;
        w->ring.head += rest;
        rest = 0;
    }
    error = pt_output_seek(&w->out, PT_LOG_DATA_START);
    if (!error)
        w->ring.head += rest;
    return error;
}

/* The position of the oldest byte that must stay. */
static uint64_t tail(const struct pt_log_writer *w)
{
    pt_assert(!w->ring.count || pt_ring_part(&w->ring, 0)->start <= w->ring.head);
    if (w->ring.count)
        return pt_ring_part(&w->ring, 0)->start;
    return w->part_open ? w->part_start : w->ring.head;
}

/* Gives up parts until [head, head + bytes) is free.  1: it cannot be. */
static int free_space(struct pt_log_writer *w, uint64_t bytes)
{
    while (w->ring.head + bytes - tail(w) > w->ring.bytes) {
        if (!w->ring.count)
            return 1;
        give_up_oldest(w);
    }
    return 0;
}

int pt_ring_place(struct pt_log_writer *w, uint32_t bytes, bool data)
{
    struct pt_ring *ring = &w->ring;
    uint64_t size = pt_log_writer_size(w), rest;
    int rc = 0;

    if (data && w->part_open && w->part_bytes + bytes > pt_ring_part_limit(w))
        rc = pt_log_writer_round(w, PT_ROUND_CONTINUES);
    if (rc)
        return rc;
    if (!ring->bytes) {
        /* ROUND packets alone do not fill a log, but must not grow it for ever. */
        if (w->data_bytes + (data ? bytes : 0) <= size &&
            ring->head + bytes <= 2 * size + SMALL_LOG)
            return 0;
        rc = fix_ring(w);
        if (rc)
            return rc;
    }
    while (data && w->data_bytes + bytes > size && ring->count)
        give_up_oldest(w);
    if (data && w->data_bytes + bytes > size)
        return 1;
    /* This runs again for the same place after a failed write: then the output may already be at
     * the ring's start. */
    rest = ring->bytes - ring->head % ring->bytes;
    if (bytes > rest) {
        rc = free_space(w, rest);
        if (!rc)
            rc = pad_to_end(w, (uint32_t)rest);
        if (rc)
            return rc;
    } else if (rest == ring->bytes && pt_output_offset(&w->out) != PT_LOG_DATA_START) {
        rc = pt_output_seek(&w->out, PT_LOG_DATA_START);
        if (rc)
            return rc;
    }
    rc = free_space(w, bytes);
    pt_assert(rc || ring->head % ring->bytes + bytes <= ring->bytes);
    pt_assert(rc || pt_output_offset(&w->out) == pt_ring_offset(w, ring->head));
    return rc;
}
