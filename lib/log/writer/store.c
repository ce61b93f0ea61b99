/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Stores packets of events under the log-full policy: packets that fit are stored whole or in
 * pieces; other events are counted as lost.
 */
#include <posixtrace/info.h>
#include <string.h>
#include "base/assert.h"
#include "base/array.h"
#include "log/byteorder.h"
#include "log/writer/state.h"

/* The room that an UNTIL_FULL log reserves for its last event: STOP with an int. */
#define STOP_BYTES   (sizeof(struct pt_packet_data) + PT_RECORD_HEAD + 8u)
#define LEAST_PACKET (sizeof(struct pt_packet_data) + PT_RECORD_HEAD)

/* Remembers that the part has events of this author; without memory the author
 * is not known when the part is given up, and the sum without a name grows. */
static void note_part_author(struct pt_log_writer *w, struct pt_total *total, uint32_t events)
{
    if (total->part_events == 0) {
        if (pt_array_grow(&w->part_authors, &w->part_author_room, w->part_author_count,
                          sizeof *w->part_authors) < 0)
            return;
        w->part_authors[w->part_author_count++] = total->author.wid;
    }
    pt_assert(w->part_author_count <= w->part_author_room);
    total->part_events += events;
}

/* Is STOP the last of its records?  w->types counts them. */
static bool ends_in_stop(const struct pt_log_writer *w, const struct pt_log_packet *piece)
{
    struct pt_decoder at = { .p = piece->records, .base = piece->base_ts };
    struct pt_record record = { .id = 0 };

    at.end = at.p + piece->bytes;
    while (w->types.count[POSIX_TRACE_STOP] && pt_decode_event(&at, &record) == 1)
        ;
    return record.id == POSIX_TRACE_STOP;
}

/* Readers give the last event by time last.  Of two at the same time they may give the other
 * one last. */
static void note_end(struct pt_log_writer *w, const struct pt_log_packet *piece)
{
    if (w->events == 0 || piece->last_ts > w->last_ts)
        w->stopped = ends_in_stop(w, piece);
    else if (piece->last_ts == w->last_ts)
        w->stopped = false;
}

/* A piece of so many bytes is in the output at part's end; w->types counts it. */
void pt_log_writer_account(struct pt_log_writer *w, const struct pt_log_packet *piece,
                           uint32_t bytes)
{
    const struct pt_types *t = &w->types;
    struct pt_total *total = pt_author_stats_get(&w->totals, &piece->author);

    pt_assert_call(bytes > 0 && piece->events > 0 && w->ring.head >= bytes);
    if (!w->part_open) {
        w->part_open = true;
        w->part_start = w->ring.head - bytes;
        w->part_first = piece->first_ts;
    }
    w->part_packets++;
    w->part_events += piece->events;
    w->part_bytes += bytes;
    pt_assert(w->part_start <= w->ring.head - bytes);
    if (piece->first_ts < w->part_first)
        w->part_first = piece->first_ts;
    if (piece->last_ts > w->part_last)
        w->part_last = piece->last_ts;
    note_end(w, piece);
    if (w->events == 0 || piece->first_ts < w->first_ts)
        w->first_ts = piece->first_ts;
    if (piece->last_ts > w->last_ts)
        w->last_ts = piece->last_ts;
    w->events += piece->events;
    if (piece->author.wid == 0 || (piece->author.wid == 1 && piece->author.tid == 0))
        w->unnamed += piece->events;
    w->data_bytes += bytes;
    for (uint32_t i = 0; i < t->used_count; i++) {
        uint32_t id = t->used[i];

        w->counts[id] += t->count[id];
        if (pt_log_writer_loops(w))
            pt_types_add(&w->part_types, id, t->count[id]);
    }
    if (total && pt_log_writer_loops(w))
        note_part_author(w, total, piece->events);
}

/* Records as they go into the file. */
struct stored {
    const void *at;
    uint32_t bytes;
    unsigned flags; /* of the packet: how they are packed */
};

static void put_parts(uint8_t *to, const struct pt_log_packet *piece)
{
    for (uint32_t i = 0; i < piece->part_count; i++) {
        struct pt_packet_part part = { pt_le64(piece->parts[i].chunk_seq),
                                       pt_le32(piece->parts[i].chunk_off),
                                       pt_le32(piece->parts[i].bytes) };

        memcpy(to + i * sizeof part, &part, sizeof part);
    }
}

static void fill_data(struct pt_packet_data *p, const struct pt_log_packet *piece,
                      const struct stored *s, unsigned flags)
{
    memset(p, 0, sizeof *p);
    pt_packet_put_author(&p->author, &piece->author);
    p->chunk_seq = piece->chunk_seq;
    p->chunk_off = piece->chunk_off;
    p->record_bytes = piece->bytes;
    p->events = piece->events;
    p->packed_bytes = s->flags ? s->bytes : 0;
    p->first_no = piece->first_no;
    p->base_ts = piece->base_ts;
    p->first_ts = piece->first_ts;
    p->last_ts = piece->last_ts;
    pt_assert(s->bytes <= PT_PACKET_DATA_MAX && (!s->flags || s->bytes <= piece->bytes));
    memcpy(p + 1, s->at, s->bytes);
    memset((uint8_t *)(p + 1) + s->bytes, 0, pt_packet_align(s->bytes) - s->bytes);
    put_parts((uint8_t *)(p + 1) + pt_packet_align(s->bytes), piece);
    flags |= piece->part_count ? PT_DATA_JOINED : 0;
    p->head.flags = (uint16_t)(flags | s->flags);
}

/* Readers take the names and descriptions of our system types from the log: all of them go before
 * the first packet with an event of one.  A builder may have described some already. */
static int name_own_types(struct pt_log_writer *w)
{
    bool found = false;
    int error = 0;

    for (uint32_t i = 0; i < w->types.used_count && !found; i++)
        found = pt_event_is_own(w->types.used[i]);
    for (uint32_t id = PT_ID_OWN_FIRST; found && id <= PT_ID_OWN_LAST && !error; id++) {
        error = pt_log_put_text(w, PT_TEXT_NAME, id, pt_event_system_name(id));
        if (!error && !pt_log_text(w, PT_TEXT_DESCRIPTION, id))
            error = pt_log_put_text(w, PT_TEXT_DESCRIPTION, id, pt_event_system_description(id));
    }
    return error;
}

/* 0, 1: the ring can never hold it, or negative errno and nothing is stored. */
static int store(struct pt_log_writer *w, const struct pt_log_packet *piece, unsigned flags)
{
    struct stored s = { piece->records, piece->bytes, 0 };
    struct pt_packet_data *p;
    uint32_t bytes;
    int rc = name_own_types(w);

    if (rc)
        return rc;
    if (w->params.attr.compression) {
        const void *records = pt_byteorder_records_out(&w->order, piece->records, piece->bytes);
        uint32_t packed = records ? pt_pack(&w->packer, w->params.attr.compression, records,
                                            piece->bytes, &s.at, &s.flags)
                                  : 0;

        s.bytes = packed ? packed : piece->bytes;
    }
    pt_assert_call(piece->events > 0 && piece->bytes <= PT_PACKET_DATA_MAX);
    bytes = (uint32_t)(sizeof *p + pt_packet_align(s.bytes) +
                       piece->part_count * sizeof(struct pt_packet_part));
    if (pt_log_writer_loops(w))
        rc = pt_ring_place(w, bytes, true);
    if (rc)
        return rc;
    p = pt_output_reserve(&w->out, bytes, &rc);
    if (!p)
        return rc;
    fill_data(p, piece, &s, flags);
    pt_log_writer_seal(w, &p->head, PT_PACKET_DATA, bytes);
    pt_output_commit(&w->out, bytes, piece->author.wid, piece->events);
    w->ring.head += bytes;
    pt_log_writer_account(w, piece, bytes);
    pt_assert(w->resumed || !pt_log_writer_loops(w) || w->data_bytes <= pt_log_writer_size(w));
    return 0;
}

/*
 * The STOP that ends a full log, one tick after everything else: among equal
 * times the control writer would come first.  A log whose last event is a STOP of the stream
 * has its end; that it is full is in the next ROUND.
 */
int pt_log_writer_stop(struct pt_log_writer *w)
{
    struct {
        pt_u64 head[2];
        int32_t automatic, pad;
    } record = { .automatic = 1 };
    struct pt_log_packet stop = {
        .author = { .pid = w->params.pid },
        .chunk_seq = UINT64_MAX,
        .bytes = sizeof record,
        .events = 1,
        .records = &record,
    };
    int rc;

    w->stop_due = false;
    if (w->stopped)
        return 0;
    stop.base_ts = stop.first_ts = stop.last_ts = w->last_ts + (w->last_ts != UINT64_MAX);
    pt_record_put_head(&record, PT_RECORD_EVENT, POSIX_TRACE_STOP, sizeof record.automatic, 0, 0);
    pt_types_clear(&w->types);
    pt_types_add(&w->types, POSIX_TRACE_STOP, 1);
    rc = store(w, &stop, PT_DATA_FULL_STOP);
    w->stop_due = rc != 0;
    return rc;
}

static void lose(struct pt_log_writer *w, const struct pt_author *author, unsigned cause,
                 uint64_t events)
{
    if (!events)
        return;
    pt_author_stats_get(&w->totals, author);
    pt_author_stats_lose(&w->totals, author->wid, cause, events);
}

/* Bytes of records that the next packet of an UNTIL_FULL log may have. */
static uint32_t room_until_full(const struct pt_log_writer *w)
{
    uint64_t used = w->data_bytes + STOP_BYTES + LEAST_PACKET, size = pt_log_writer_size(w);

    if (used > size)
        return 0;
    size = size - used + PT_RECORD_HEAD;
    return size < UINT32_MAX ? (uint32_t)size : UINT32_MAX;
}

/* After the first piece an error can no longer undo the packet: the rest is
 * counted as lost, and the end of the round returns the error. */
static int give_up_rest(struct pt_log_writer *w, struct pt_cutter *cutter, bool stored,
                        const struct pt_log_packet *piece, int error)
{
    if (!stored)
        return error;
    lose(w, &piece->author, POSIXTRACE_LOST_LOG_ERROR, piece->events + pt_cut_left(cutter));
    w->rest_error = error;
    return PT_LOG_STORED;
}

static int put_until_full(struct pt_log_writer *w, struct pt_cutter *cutter)
{
    struct pt_log_packet piece;
    bool stored = false;
    int rc = 0;

    /* Compressed, a piece takes less than the room it was cut for: then there is
     * room for another. */
    while (!w->full) {
        rc = pt_cut_next(cutter, room_until_full(w), &piece, &w->types);
        if (rc == 0)
            return PT_LOG_STORED;
        if (rc < 0)
            piece.events = 0;
        else if (piece.events == 0)
            break;
        else
            rc = store(w, &piece, 0);
        if (rc < 0)
            return give_up_rest(w, cutter, stored, &piece, rc);
        stored = true;
    }
    if (cutter->decoder.p == cutter->decoder.end)
        return PT_LOG_STORED;
    lose(w, &cutter->packet->author, POSIXTRACE_LOST_LOG_FULL, pt_cut_left(cutter));
    w->overrun = w->overran = true;
    if (!w->full) {
        w->full = true;
        pt_log_writer_stop(w);
    }
    return PT_LOG_DISCARDED;
}

static int put_loop(struct pt_log_writer *w, struct pt_cutter *cutter)
{
    struct pt_log_packet piece;
    bool stored = false;

    for (;;) {
        int rc = pt_cut_next(cutter, pt_ring_piece_limit(w), &piece, &w->types);

        if (rc == 1 && piece.events == 0)
            rc = pt_cut_next(cutter, pt_ring_event_limit(w), &piece, &w->types);
        if (rc < 0)
            piece.events = 0;
        if (rc == 0)
            return PT_LOG_STORED;
        if (rc == 1)
            rc = piece.events ? store(w, &piece, 0) : 1;
        if (rc < 0)
            return give_up_rest(w, cutter, stored, &piece, rc);
        if (rc == 1) {
            if (piece.events == 0) {
                piece.events = 1;
                pt_cut_skip(cutter);
            }
            lose(w, &piece.author, POSIXTRACE_LOST_LOG_OVERWRITTEN, piece.events);
            w->overrun = w->overran = true;
        }
        stored = true;
    }
}

/* Can a packet that the caller has counted be stored without being cut? */
static bool fits_whole(const struct pt_log_writer *w, const struct pt_log_packet *packet)
{
    if (!packet->types)
        return false;
    switch (w->params.attr.log_policy) {
    case POSIX_TRACE_UNTIL_FULL: return !w->full && packet->bytes <= room_until_full(w);
    case POSIX_TRACE_LOOP: return packet->bytes <= pt_ring_piece_limit(w);
    default: return true;
    }
}

static int put_whole(struct pt_log_writer *w, const struct pt_log_packet *packet)
{
    pt_types_clear(&w->types);
    for (uint32_t i = 0; i < packet->type_count; i++)
        pt_types_add(&w->types, packet->types[i].id, packet->types[i].events);
    return store(w, packet, 0);
}

/* A full log has room again if its file was cut since the last round. */
static int find_room(struct pt_log_writer *w)
{
    return w->full && !w->part_open && w->out.length == 0 ? pt_log_writer_mend(w) : 0;
}

int pt_log_put_packet(struct pt_log_writer *w, const struct pt_log_packet *packet)
{
    struct pt_log_packet piece;
    struct pt_cutter cutter;
    int rc;

    if (packet->bytes > PT_PACKET_DATA_MAX - sizeof(struct pt_packet_data))
        return -EBADMSG;
    rc = find_room(w);
    if (rc < 0)
        return rc;
    if (fits_whole(w, packet)) {
        rc = put_whole(w, packet);
        if (rc <= 0)
            return rc ? rc : PT_LOG_STORED;
    }
    pt_cut_begin(&cutter, packet);
    switch (w->params.attr.log_policy) {
    case POSIX_TRACE_UNTIL_FULL: return put_until_full(w, &cutter);
    case POSIX_TRACE_LOOP: return put_loop(w, &cutter);
    default:
        rc = pt_cut_next(&cutter, UINT32_MAX, &piece, &w->types);
        return rc == 1 ? store(w, &piece, 0) : rc;
    }
}

void pt_log_drop_packet(struct pt_log_writer *w, const struct pt_log_packet *packet)
{
    lose(w, &packet->author, POSIXTRACE_LOST_LOG_ERROR, packet->events);
}
