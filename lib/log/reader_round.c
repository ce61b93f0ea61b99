/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Events in order: round by round, and within a round by (time, writer).
 *
 * Per event the work is one decode, one conversion by a sync point that is at
 * hand, and one sift of the heap; payloads are not copied.  An event's cursor
 * moves on at the next call only, which is what keeps the event's pointers good
 * until then.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "log/order.h"
#include "log/reader_state.h"

/* A round that is longer is not kept in the window (regular files). */
#define WINDOW_BYTES (1u << 20)
#define KEPT_BUFFERS   256u

static void *grow(void *at, size_t *room, size_t element)
{
    size_t n = *room ? *room * 2 : 64;

    at = realloc(at, n * element);
    if (at)
        *room = n;
    return at;
}

void pt_reader_round_clear(struct pt_round *round)
{
    pt_merge_clear(&round->merge);
    round->current = NULL;
    round->note_count = 0;
    /* Buffers stay for the next round, but not those of a crowd. */
    for (size_t i = KEPT_BUFFERS; i < round->cursor_count; i++) {
        free(round->cursors[i].buffer);
        round->cursors[i].buffer = NULL;
        round->cursors[i].room = 0;
    }
    round->cursor_count = 0;
    if (round->hash)
        memset(round->hash, 0, round->hash_room * sizeof *round->hash);
}

void pt_reader_round_deinit(struct pt_round *round)
{
    for (size_t i = 0; i < round->cursor_room; i++)
        free(round->cursors[i].buffer);
    free(round->cursors);
    free(round->notes);
    free(round->hash);
    pt_merge_deinit(&round->merge);
}

/* Doubles the cursors and the hash over them. */
static int grow_cursors(struct pt_round *round)
{
    size_t had = round->cursor_room;
    struct pt_cursor *cursors = grow(round->cursors, &round->cursor_room, sizeof *cursors);
    uint32_t *hash;

    if (!cursors)
        return -ENOMEM;
    memset(cursors + had, 0, (round->cursor_room - had) * sizeof *cursors);
    round->cursors = cursors;
    hash = calloc(2 * round->cursor_room, sizeof *hash);
    if (!hash)
        return -ENOMEM;
    free(round->hash);
    round->hash = hash;
    round->hash_room = 2 * round->cursor_room;
    for (size_t i = 0; i < round->cursor_count; i++) {
        size_t cell = round->cursors[i].wid * 2654435761u & (round->hash_room - 1);

        while (hash[cell])
            cell = (cell + 1) & (round->hash_room - 1);
        hash[cell] = (uint32_t)i + 1;
    }
    return 0;
}

/* The cursor of an author in this round, made if need be; NULL without memory. */
static struct pt_cursor *cursor_of(struct pt_round *round, uint32_t wid)
{
    struct pt_cursor *c;
    size_t cell;

    if (2 * round->cursor_count >= round->hash_room && grow_cursors(round) != 0)
        return NULL;
    cell = wid * 2654435761u & (round->hash_room - 1);
    while (round->hash[cell]) {
        c = &round->cursors[round->hash[cell] - 1];
        if (c->wid == wid)
            return c;
        cell = (cell + 1) & (round->hash_room - 1);
    }
    if (round->cursor_count == round->cursor_room)
        return NULL;
    c = &round->cursors[round->cursor_count++];
    round->hash[cell] = (uint32_t)round->cursor_count;
    c->wid = wid;
    c->node.tie = wid;
    c->next_note = c->last_note = PT_NO_NOTE;
    c->decoder.p = c->decoder.end = NULL;
    return c;
}

int pt_reader_note(struct pt_round *round, uint32_t wid, struct pt_note entry)
{
    struct pt_cursor *c = cursor_of(round, wid);
    uint32_t i = (uint32_t)round->note_count;

    if (!c)
        return -ENOMEM;
    if (round->note_count == round->note_room) {
        struct pt_note *notes = grow(round->notes, &round->note_room, sizeof *notes);

        if (!notes)
            return -ENOMEM;
        round->notes = notes;
    }
    entry.next = PT_NO_NOTE;
    round->notes[round->note_count++] = entry;
    if (c->next_note == PT_NO_NOTE)
        c->next_note = i;
    else
        round->notes[c->last_note].next = i;
    c->last_note = i;
    return 0;
}

static int note_data(struct pt_log_reader *r, const struct pt_packet_head *packet,
                     uint64_t offset)
{
    const struct pt_packet_data *p = (const void *)packet;

    if (r->round.note_count == 0)
        r->source.keep = offset;
    else if (r->source.seekable && offset + packet->bytes - r->source.keep > WINDOW_BYTES)
        r->source.keep = PT_SOURCE_KEEP_NOTHING;
    return pt_reader_note(&r->round, p->wid,
                          (struct pt_note){ .offset = offset, .bytes = packet->bytes,
                                            .last_ts = p->last_ts });
}

int pt_reader_note_tail(struct pt_log_reader *r)
{
    int error = 0;

    r->tail_taken = true;
    for (size_t i = 0; i < r->tail_count && !error; i++)
        error = pt_reader_note(&r->round, r->tail[i].author.wid,
                               (struct pt_note){ .tail = &r->tail[i],
                                                 .last_ts = r->tail[i].last_ts });
    return error;
}

/* Is the round, as far as it has come, too much to go on collecting? */
static bool is_excessive(const struct pt_log_reader *r)
{
    return r->round.note_count >= PT_ROUND_NOTES ||
           (!r->source.seekable && r->round.note_count &&
            r->walk.offset - r->source.keep > PT_ROUND_BYTES);
}

/* Collects the packets of the next round that has any.  1, 0: none is left. */
static int collect(struct pt_log_reader *r)
{
    const struct pt_packet_head *packet;
    uint64_t offset;
    int rc;

    if (r->follow.on)
        return pt_reader_collect_whole(r);
    while ((rc = pt_walk_next(&r->walk, &packet, &offset)) == 1) {
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
        if ((packet->type == PT_PACKET_ROUND && r->round.note_count &&
             !(packet->flags & PT_ROUND_CONTINUES)) || is_excessive(r))
            return 1;
    }
    if (rc < 0)
        return rc;
    r->ended = true;
    if (!r->tail_taken)
        rc = pt_reader_note_tail(r);
    return rc < 0 ? rc : r->round.note_count > 0;
}

/* Unpacked records stay in the unpacker's buffer, which becomes the cursor's: what
 * the cursor's held, if anything, was the packet. */
static int take_records(struct pt_log_reader *r, struct pt_cursor *c,
                        const struct pt_packet_data *p, struct pt_log_packet *packet)
{
    bool packed = pt_packet_is_packed(p);
    int error = pt_packet_unpack_data(packet, p, &r->unpacker);

    if (packed && !error) {
        uint8_t *buffer = c->buffer;
        size_t room = c->room;

        c->buffer = r->unpacker.buffer;
        c->room = r->unpacker.room;
        r->unpacker.buffer = buffer;
        r->unpacker.room = room;
    }
    return error;
}

/* The packet at a note, from the window or the file.  1; 0: not readable; negative errno. */
static int fetch(struct pt_log_reader *r, struct pt_cursor *c, const struct pt_note *n,
                 const struct pt_packet_head **packet)
{
    const struct pt_packet_head *p = pt_source_look(&r->source, n->offset, n->bytes);
    int error = 0;

    *packet = p;
    if (p && !PT_FOREIGN_ORDER)
        return 1;
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
        error = pt_source_read(&r->source, c->buffer, n->bytes, n->offset);
    *packet = p = (const void *)c->buffer;
    if (error)
        return error == -ENODATA ? 0 : error;
    /* A live LOOP log may have been overwritten since it was noted. */
    if (!pt_packet_is_plausible(p, n->bytes) || pt_le32(p->bytes) != n->bytes ||
        pt_le16(p->type) != PT_PACKET_DATA || !pt_packet_is_whole(p, r->seed))
        return 0;
    pt_order_packet_in((struct pt_packet_head *)(void *)c->buffer);
    return 1;
}

/* Makes the packet at a note the cursor's.  1; 0: not readable; negative errno. */
static int load(struct pt_log_reader *r, struct pt_cursor *c, const struct pt_note *n)
{
    const struct pt_packet_head *p;
    struct pt_log_packet packet;
    int rc = 1;

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
    c->decoder.p = packet.records;
    c->decoder.end = c->decoder.p + packet.bytes;
    c->decoder.base = packet.base_ts;
    return 1;
}

/* The cursor's next event, which is not simply the next record: its packet has
 * ended, or is bad inside.  1, 0: there is none; negative errno. */
PT_COLD static int next_packet(struct pt_log_reader *r, struct pt_cursor *c)
{
    for (;;) {
        const struct pt_note *n;
        int rc;

        r->bad_inside += (uint64_t)(c->decoder.end - c->decoder.p);
        c->decoder.p = c->decoder.end;
        if (c->next_note == PT_NO_NOTE)
            return 0;
        n = &r->round.notes[c->next_note];
        if (r->seeking && n->last_ts < r->seek_ts) {
            c->next_note = n->next;
            continue;
        }
        rc = load(r, c, n);
        if (rc < 0)
            return rc;
        c->next_note = n->next;
        if (rc == 0)
            r->bad_inside += n->bytes;
        else if (pt_decode_event(&c->decoder, &c->record) == 1) {
            c->node.ts = c->record.ts;
            return 1;
        }
    }
}

/* 1: a round with events is in the merge; 0: there is none any more. */
PT_COLD static int next_round(struct pt_log_reader *r)
{
    int rc;

    for (;;) {
        pt_reader_round_clear(&r->round);
        r->source.keep = PT_SOURCE_KEEP_NOTHING;
        rc = collect(r);
        if (rc <= 0)
            return rc;
        for (size_t i = 0; i < r->round.cursor_count; i++) {
            struct pt_cursor *c = &r->round.cursors[i];

            rc = next_packet(r, c);
            if (rc == 1)
                rc = pt_merge_push(&r->round.merge, &c->node);
            if (rc < 0) {
                pt_merge_clear(&r->round.merge);
                return rc;
            }
        }
        if (r->round.merge.count)
            return 1;
    }
}

/* For those that go to the file and so to cancellation points, and from where
 * nobody may leave with half a round in hand. */
PT_COLD static int undisturbed(struct pt_log_reader *r, struct pt_cursor *c)
{
    int cancel, rc;

    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    rc = c ? next_packet(r, c) : next_round(r);
    pthread_setcancelstate(cancel, NULL);
    return rc;
}

/* Looks up the sync point for ts and how far it is good. */
PT_COLD static void find_sync(struct pt_log_reader *r, uint64_t ts)
{
    static const struct pt_sync identity = { .mult = 1ull << 32 };
    size_t i;

    r->sync_from = 0;
    r->sync_to = UINT64_MAX;
    r->sync = identity;
    if (!r->sync_count)
        return;
    i = pt_sync_find(r->syncs, r->sync_count, ts);
    r->sync = r->syncs[i];
    if (i > 0)
        r->sync_from = r->sync.ts;
    if (i + 1 < r->sync_count)
        r->sync_to = r->syncs[i + 1].ts;
}

static inline int64_t to_ns(struct pt_log_reader *r, uint64_t ts)
{
    if (pt_unlikely(ts < r->sync_from || ts >= r->sync_to))
        find_sync(r, ts);
    return pt_sync_apply(&r->sync, ts);
}

/* Moves on from the event that was given last.  0 or negative errno. */
static inline int advance(struct pt_log_reader *r, struct pt_cursor *c)
{
    struct pt_merge *merge = &r->round.merge;
    int rc = pt_decode_event(&c->decoder, &c->record);

    if (pt_likely(rc == 1))
        c->node.ts = c->record.ts;
    else
        rc = undisturbed(r, c);
    if (pt_likely(rc == 1)) {
        if (merge->count > 1)
            pt_merge_sift_top(merge);
    } else if (rc == 0) {
        pt_merge_pop(merge);
    }
    return rc < 0 ? rc : 0;
}

/* The event that the merge's first cursor stands at. */
static inline void give(struct pt_log_reader *r, struct pt_event *e)
{
    struct pt_cursor *c = (struct pt_cursor *)(void *)pt_merge_top(&r->round.merge);

    r->round.current = c;
    e->ns = to_ns(r, c->record.ts);
    e->ts = c->record.ts;
    e->addr = c->record.addr;
    e->data = c->record.data;
    e->author = &c->author;
    e->len = c->record.len;
    e->id = (uint16_t)c->record.id;
    e->truncated = c->record.truncated;
}

int pt_log_reader_next(struct pt_log_reader *r, struct pt_event *e)
{
    do {
        int rc = r->round.current ? advance(r, r->round.current) : 0;

        if (pt_unlikely(rc < 0))
            return rc;
        r->round.current = NULL;
        if (pt_unlikely(!r->round.merge.count)) {
            rc = r->error ? r->error : undisturbed(r, NULL);
            if (rc < 0)
                r->error = rc;
            if (rc <= 0)
                return rc;
        }
        give(r, e);
    } while (pt_unlikely(r->seeking) && e->ns < r->seek_ns);
    r->seeking = false;
    r->given = true;
    r->given_ts = e->ts;
    return 1;
}

/* As advance() within a packet; where that ends, it finds everything as it was. */
bool pt_log_reader_near(struct pt_log_reader *r, struct pt_event *e)
{
    struct pt_cursor *c = r->round.current;
    const uint8_t *p;

    if (pt_unlikely(!c || r->seeking))
        return false;
    p = c->decoder.p;
    if (pt_unlikely(pt_decode_event(&c->decoder, &c->record) != 1)) {
        c->decoder.p = p;
        return false;
    }
    c->node.ts = c->record.ts;
    pt_merge_moved_top(&r->round.merge);
    give(r, e);
    r->given_ts = e->ts;
    return true;
}

void pt_reader_restart(struct pt_log_reader *r, uint64_t from)
{
    pt_reader_round_clear(&r->round);
    pt_source_forget(&r->source);
    r->source.keep = PT_SOURCE_KEEP_NOTHING;
    pt_reader_walk(r, &r->walk, &r->source, from);
    r->tail_taken = false;
    r->seeking = false;
    r->ended = false;
    r->error = 0;
    r->bad_inside = 0;
}

int pt_log_reader_rewind(struct pt_log_reader *r)
{
    if (!r->source.seekable)
        return -ESPIPE;
    pt_follow_forget(&r->follow);
    pt_reader_restart(r, r->first_offset);
    return 0;
}

int pt_log_reader_seek(struct pt_log_reader *r, int64_t ns)
{
    const struct pt_index_entry *entry;
    uint64_t ts = pt_sync_invert(r->syncs, r->sync_count, ns);

    if (!r->source.seekable) {
        if (r->given && ts <= r->given_ts)
            return -ESPIPE;
    } else {
        /* What comes before the first entry has no events; an incomplete
         * log's tail, and what damage hid from the index, is read in any case. */
        entry = pt_index_find(&r->index, ts);
        if (!entry && r->index.count)
            entry = &r->index.entries[r->index.count - 1];
        pt_follow_forget(&r->follow);
        pt_reader_restart(r, entry ? entry->offset : r->first_offset);
    }
    r->seeking = true;
    r->seek_ns = ns;
    r->seek_ts = r->source.seekable ? ts : 0;
    return 0;
}
