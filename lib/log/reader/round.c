/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The packets of a round: collecting them, and loading them one by one into the
 * cursors of their authors.
 */
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/assert.h"
#include "log/byteorder.h"
#include "log/reader/state.h"

/* A longer round is not kept in the window (regular files).  A round of many small packets
 * may be longer: to read each of them once more costs a system call and a checksum. */
#define WINDOW_BYTES  (1u << 20)
#define WINDOW_PACKET (4u << 10) /* more of them for each packet, */
#define WINDOW_MOST   (5u << 20) /* up to so many */

static bool fits_window(const struct pt_log_reader *r, uint64_t end)
{
    uint64_t most = WINDOW_BYTES + (uint64_t)r->round.note_count * WINDOW_PACKET;

    return end - r->source.keep <= (most < WINDOW_MOST ? most : WINDOW_MOST);
}

static int note_data(struct pt_log_reader *r, const struct pt_packet_head *packet, uint64_t offset)
{
    const struct pt_packet_data *p = (const void *)packet;

    if (r->round.note_count == 0)
        r->source.keep = offset;
    else if (r->source.seekable && !fits_window(r, offset + packet->bytes))
        r->source.keep = PT_SOURCE_KEEP_NOTHING;
    return pt_reader_note(&r->round, pt_stored_wid(&p->author),
                          (struct pt_note){ .offset = offset,
                                            .bytes = packet->bytes,
                                            .lsn = packet->lsn,
                                            .first_ts = p->first_ts,
                                            .last_ts = p->last_ts },
                          pt_reader_unpacked_bytes(p));
}

/* The round that was collected is whole.  Without events its gap is before the next one. */
static void hide(struct pt_log_reader *r, bool hides)
{
    r->round.hides |= hides && r->round.note_count > 0;
    r->gap |= hides && r->round.note_count == 0;
}

int pt_reader_note_tail(struct pt_log_reader *r)
{
    int error = 0;

    r->tail_taken = true;
    for (size_t i = 0; i < r->tail_count && !error; i++)
        error = pt_reader_note(&r->round, r->tail[i].author.wid,
                               (struct pt_note){ .tail = &r->tail[i],
                                                 .first_ts = r->tail[i].first_ts,
                                                 .last_ts = r->tail[i].last_ts },
                               0);
    hide(r, r->tail_hides);
    return error;
}

static bool is_excessive(const struct pt_log_reader *r)
{
    return pt_reader_round_is_large(r) || (!r->source.seekable && r->round.note_count &&
                                           r->walk.offset - r->source.keep > PT_ROUND_BYTES);
}

static void mark_gap(struct pt_log_reader *r)
{
    r->gap = r->round.damaged = true;
}

bool pt_reader_starts_late(struct pt_log_reader *r, uint64_t offset)
{
    if (r->known_lsn == PT_NO_LIMIT || offset == r->start_at)
        return false;
    r->bad_inside += offset - r->start_at + (offset < r->start_at ? r->ring_bytes : 0);
    return true;
}

bool pt_reader_ends_early(struct pt_log_reader *r)
{
    if (r->known_lsn == PT_NO_LIMIT || r->walk.last_lsn == r->known_lsn)
        return false;
    r->bad_inside += r->scanned.last.bytes;
    return true;
}

/* Counts a packet before it is noted.  Missing packets may belong to the round that follows. */
static void count_packet(struct pt_log_reader *r, const struct pt_packet_head *p, uint64_t offset)
{
    struct pt_count *c = &r->count;
    const struct pt_packet_round *round = (const void *)p;
    uint64_t lost;

    if (p->type != PT_PACKET_DATA && p->type != PT_PACKET_ROUND)
        return;
    c->torn = (c->torn || c->skipped != r->walk.skipped) && p->type == PT_PACKET_DATA;
    c->skipped = r->walk.skipped;
    if (c->begun && p->round != c->part + 1) {
        mark_gap(r);
        c->packets = 0;
    }
    if (!c->begun && (c->skipped || pt_reader_starts_late(r, offset)))
        mark_gap(r); /* before the first packet */
    if (!c->begun)
        c->lost = p->round == 1 ? 0 : UINT64_MAX; /* of a LOOP log it is not known */
    c->begun = true;
    c->part = p->round - 1;
    if (p->type == PT_PACKET_DATA) {
        c->packets++;
        return;
    }
    pt_reader_note_full(r, round);
    lost = round->state.lost[POSIXTRACE_LOST_LOG_ERROR];
    if (c->packets != round->packets || (c->lost != UINT64_MAX && c->lost != lost))
        mark_gap(r);
    c->lost = lost;
    if (!r->round.note_count && !(p->flags & PT_ROUND_CONTINUES))
        r->round.damaged = false;
    c->part = p->round;
    c->packets = 0;
}

void pt_reader_note_full(struct pt_log_reader *r, const struct pt_packet_round *packet)
{
    const struct pt_packet_author *authors = (const void *)(packet + 1);
    const unsigned c = POSIXTRACE_LOST_LOG_FULL;
    struct pt_full *f = &r->full;
    uint64_t ts = f->on ? f->ts : UINT64_MAX;

    if (packet->state.unknown_lost[c])
        ts = f->watermark < ts ? f->watermark : ts;
    for (uint32_t i = 0; i < packet->state.authors; i++) {
        if (authors[i].lost[c]) {
            uint64_t wid = pt_stored_wid(&authors[i].author);
            uint64_t last = pt_reader_last_of(&r->round, wid, f->watermark);

            ts = last < ts ? last : ts;
        }
    }
    /* A log whose file was truncated has room again. */
    r->gap |= f->on && !packet->state.log_full;
    f->on = packet->state.log_full && packet->state.lost[c];
    f->ts = ts;
    if (!(packet->head.flags & PT_ROUND_CONTINUES))
        f->watermark = packet->state.watermark;
}

void pt_reader_note_hidden(struct pt_log_reader *r, const struct pt_packet_head *packet)
{
    hide(r, (packet->flags & PT_ROUND_HIDES) != 0);
}

/* At the end of the log: true if packets remain that no ROUND covers, if ROUNDs are missing
 * that END counts, or if the log lost events after the last ROUND.  With the dead writer's
 * segment only unreadable bytes can be missing. */
static bool is_cut(const struct pt_log_reader *r)
{
    const struct pt_count *c = &r->count;

    if (c->torn || (r->round.note_count && !r->has_tail))
        return true;
    if (!c->begun)
        return false;
    return (r->has_end && c->part != r->parts) ||
           (c->lost != UINT64_MAX && c->lost != r->state.lost[POSIXTRACE_LOST_LOG_ERROR]);
}

/* A recovery has overwritten the newest packets of the log: only if these ended a round are the
 * events of the tail good after the gap. */
static void mark_end(struct pt_log_reader *r)
{
    bool early = pt_reader_ends_early(r);

    if (is_cut(r) || (early && (r->round.note_count || !r->ends_whole)))
        mark_gap(r);
    r->gap |= early;
}

int pt_reader_collect(struct pt_log_reader *r)
{
    const struct pt_packet_head *packet;
    uint64_t offset;
    int rc;

    if (r->follow.on)
        return pt_reader_collect_whole(r);
    while ((rc = pt_walk_next(&r->walk, &packet, &offset)) == 1) {
        count_packet(r, packet, offset);
        if (packet->type == PT_PACKET_DATA)
            rc = note_data(r, packet, offset);
        else if (packet->type == PT_PACKET_END && !r->source.seekable)
            rc = pt_reader_learn_end(r, (const void *)packet);
        else if (packet->type != PT_PACKET_ROUND || !r->source.seekable)
            rc = pt_reader_learn(r, packet);
        else
            rc = 0;
        if (rc)
            return rc;
        if (packet->type == PT_PACKET_ROUND)
            pt_reader_note_hidden(r, packet);
        if ((packet->type == PT_PACKET_ROUND && r->round.note_count &&
             !(packet->flags & PT_ROUND_CONTINUES)) ||
            is_excessive(r))
            return 1;
    }
    if (rc < 0)
        return rc;
    if (!r->ended)
        mark_end(r);
    r->ended = true;
    if (!r->tail_taken)
        rc = pt_reader_note_tail(r);
    return rc < 0 ? rc : r->round.note_count > 0;
}

/* The author's later events in the round cannot be read either, or may not follow directly.
 * All events that were delivered before are older. */
static void mark_bad(struct pt_log_reader *r, uint64_t bytes)
{
    r->bad_inside += bytes;
    mark_gap(r);
}

/* As much of unpacked records as a cursor may hold when they are many, in whole events; at
 * least one, or none where the rest is bad. */
static int take_piece(struct pt_log_reader *r, struct pt_packet_cursor *c,
                      struct pt_log_packet *packet)
{
    size_t most = (size_t)((uint64_t)r->most_unpacked * c->largest / r->round.largest) + 1;
    const uint8_t *from = packet->records + c->done, *to = from;
    struct pt_decoder d = { .p = from,
                            .end = packet->records + packet->bytes,
                            .base = c->done ? c->decoder.base : packet->base_ts };
    struct pt_record record;
    uint32_t events = 0;
    int rc = 1;

    packet->base_ts = d.base;
    if (c->done)
        packet->first_no = c->first_no + c->events;
    while ((size_t)(to - from) < most && (rc = pt_decode_event(&d, &record)) == 1) {
        to = d.p;
        events++;
    }
    if (d.p == d.end)
        to = d.end;
    pt_assert(to <= d.end && r->round.held >= c->held);
    if (c->held || c->room < (size_t)(to - from)) {
        free(c->buffer);
        c->room = (size_t)(to - from);
        c->buffer = malloc(c->room + 1);
        r->round.held -= c->held;
        c->held = 0;
    }
    if (!c->buffer) {
        c->room = 0;
        return -ENOMEM;
    }
    memcpy(c->buffer, from, (size_t)(to - from));
    if (to == from)
        mark_bad(r, (uint64_t)(d.end - to));
    c->done = to == from || to == d.end ? 0 : c->done + (uint32_t)(to - from);
    packet->records = c->buffer;
    packet->bytes = (uint32_t)(to - from);
    packet->events = events;
    return 0;
}

static void swap_buffers(struct pt_log_reader *r, struct pt_packet_cursor *c, size_t held)
{
    uint8_t *buffer = c->buffer;
    size_t room = c->room;

    pt_assert(r->round.held >= c->held);
    r->round.held += held - c->held;
    c->held = held;
    c->buffer = r->unpacker.buffer;
    c->room = r->unpacker.room;
    r->unpacker.buffer = buffer;
    r->unpacker.room = room;
}

/* Columns become cells.  1: they cannot, or the cursors hold too much; else as take_records(). */
static int take_cells(struct pt_log_reader *r, struct pt_packet_cursor *c,
                      const struct pt_packet_data *p, struct pt_log_packet *packet)
{
    struct pt_unpacker *u = &r->unpacker;
    struct pt_columns_view *v = &r->view;
    size_t size;
    int error = pt_unpack_open(u, p->head.flags, p->record_bytes, p + 1, p->packed_bytes, v);

    if (error || !pt_cells_suit(v))
        return error ? error : 1;
    if (r->view_only) {
        pt_packet_get_data(packet, p);
        packet->records = p + 1;
        packet->bytes = 0;
        r->viewed = true;
        return 0;
    }
    size = pt_cells_size(v);
    if (r->round.held - c->held + size > r->most_unpacked)
        return 1;
    error = pt_array_renew(&u->buffer, &u->room, size);
    if (error)
        return error;
    pt_packet_get_data(packet, p);
    pt_cells_make(&c->cells, v, u->buffer, packet->base_ts);
    swap_buffers(r, c, size);
    packet->records = c->buffer;
    packet->bytes = 0;
    return 0;
}

/* Unpacked records stay in the unpacker's buffer, which becomes the cursor's; the cursor's old
 * buffer had at most the packet. */
static int take_records(struct pt_log_reader *r, struct pt_packet_cursor *c,
                        const struct pt_packet_data *p, struct pt_log_packet *packet)
{
    bool packed = pt_packet_is_packed(p);
    int error = 1;

    /* The file has changed since the packet was noted. */
    if (packed && p->record_bytes > c->largest)
        return -EBADMSG;
    if (!c->done && (p->head.flags & PT_DATA_COLUMNS))
        error = take_cells(r, c, p, packet);
    if (error != 1)
        return error;
    error = pt_packet_unpack_data(packet, p, &r->unpacker);
    if (!packed || error)
        return error;
    if (c->done || r->round.held - c->held + packet->bytes > r->most_unpacked)
        return take_piece(r, c, packet);
    swap_buffers(r, c, packet->bytes);
    return 0;
}

/* pread() is a cancellation point; a thread that is cancelled there would leave the round
 * half loaded. */
PT_COLD static int read_undisturbed(const struct pt_log_reader *r, void *to,
                                    const struct pt_note *n)
{
    int cancel, error;

    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    error = pt_input_read(&r->source, to, n->bytes, n->offset);
    pthread_setcancelstate(cancel, NULL);
    return error;
}

/* True: p, in file order, is the packet that was noted.  The writer of a LOOP log may have
 * replaced it by another whole packet of the same length. */
static bool is_noted(const struct pt_log_reader *r, const struct pt_packet_head *p,
                     const struct pt_note *n)
{
    return pt_packet_is_plausible(p, n->bytes) && pt_le32(p->bytes) == n->bytes &&
           pt_le16(p->type) == PT_PACKET_DATA && pt_le64(p->lsn) == n->lsn &&
           pt_packet_is_whole(p, r->seed);
}

/* The packet at a note, from the window or the file.  1; 0: not readable; negative errno. */
static int fetch(struct pt_log_reader *r, struct pt_packet_cursor *c, const struct pt_note *n,
                 const struct pt_packet_head **packet)
{
    const struct pt_packet_head *p = pt_input_look(&r->source, n->offset, n->bytes);
    int error = 0;

    *packet = p;
    /* The walk of an open ring may have read a stretch of the window again. */
    if (p && !PT_FOREIGN_ORDER)
        return r->complete || !r->ring_bytes || is_noted(r, p, n);
    if (c->room < n->bytes) {
        free(c->buffer);
        c->buffer = malloc(n->bytes);
        c->room = c->buffer ? n->bytes : 0;
        if (!c->buffer)
            return -ENOMEM;
    }
    if (p)
        memcpy(c->buffer, p, n->bytes);
    else
        error = read_undisturbed(r, c->buffer, n);
    *packet = p = (const void *)c->buffer;
    if (error)
        return error == -ENODATA ? 0 : error;
    if (!is_noted(r, p, n))
        return 0;
    pt_byteorder_packet_in((struct pt_packet_head *)(void *)c->buffer);
    return 1;
}

/* Makes the packet at a note the cursor's.  1; 0: not readable; negative errno. */
static int load(struct pt_log_reader *r, struct pt_packet_cursor *c, const struct pt_note *n)
{
    const struct pt_packet_head *p;
    struct pt_log_packet packet;
    int rc = 1;

    c->cells.classes = NULL;
    if (n->tail) {
        packet = *n->tail;
    } else {
        if (r->follow.on)
            p = (const void *)(r->follow.bytes + n->offset);
        else
            rc = fetch(r, c, n, &p);
        if (rc == 1)
            rc = take_records(r, c, (const void *)p, &packet);
        else
            return rc;
        if (rc)
            return rc == -ENOMEM ? rc : 0;
    }
    c->author = packet.author;
    pt_reader_latest_name(r, &c->author);
    c->decoder.p = packet.records;
    c->decoder.end = c->decoder.p + packet.bytes;
    c->decoder.base = packet.base_ts;
    c->first_no = packet.first_no;
    c->events = packet.events;
    return 1;
}

void pt_reader_leave_packet(struct pt_log_reader *r, struct pt_packet_cursor *c)
{
    if (c->decoder.p != c->decoder.end)
        mark_bad(r, (uint64_t)(c->decoder.end - c->decoder.p));
    c->decoder.p = c->decoder.end;
}

PT_NOINLINE int pt_reader_load_packet(struct pt_log_reader *r, struct pt_packet_cursor *c)
{
    for (;;) {
        const struct pt_note *n;
        int rc;

        pt_reader_leave_packet(r, c);
        c->over = c->next_note == PT_NO_NOTE;
        if (c->over)
            return 0;
        pt_assert(c->next_note < r->round.note_count);
        n = &r->round.notes[c->next_note];
        if (!c->done && r->seeking && n->last_ts < r->seek_ts) {
            c->next_note = n->next;
            continue;
        }
        rc = load(r, c, n);
        if (rc < 0)
            return rc;
        if (rc == 0)
            c->done = 0;
        if (!c->done)
            c->next_note = n->next;
        if (rc == 1)
            return 1;
        mark_bad(r, n->bytes);
    }
}

PT_NOINLINE int pt_reader_next_packet(struct pt_log_reader *r, struct pt_packet_cursor *c)
{
    int rc;

    do
        rc = pt_reader_load_packet(r, c);
    while (rc == 1 && pt_cursor_step(c) != 1);
    return rc;
}
