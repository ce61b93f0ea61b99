/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The log writer: its life, names and sync points, and storing the packets of
 * events under the log-full policy.  writer_state.h says which file does what.
 */
#include <fcntl.h>
#include <posixtrace/attr.h>
#include <posixtrace/info.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "log/order.h"
#include "log/writer_state.h"

/* What an UNTIL_FULL log keeps free for its last event: STOP with an int. */
#define STOP_BYTES   (sizeof(struct pt_packet_data) + PT_RECORD_HEAD + 8u)
#define LEAST_PACKET (sizeof(struct pt_packet_data) + PT_RECORD_HEAD)

static void fill_header(const struct pt_log_writer *w, struct pt_log_header *h)
{
    const struct pt_attr *attr = &w->params.attr;

    memset(h, 0, sizeof *h);
    memcpy(h->magic, PT_LOG_MAGIC, sizeof h->magic);
    h->version = PT_LOG_VERSION;
    if (attr->compression == POSIXTRACE_COMPRESSION_ZSTD) {
        h->version = PT_LOG_VERSION_FEATURES;
        h->features = PT_LOG_ZSTD;
    }
    h->header_size = PT_LOG_HEADER_SIZE;
    h->clock = w->params.clock;
    memcpy(h->id, w->params.id, sizeof h->id);
    memcpy(h->boot_id, w->params.boot_id, sizeof h->boot_id);
    h->pid = w->params.pid;
    h->data_start = PT_LOG_DATA_START;
    h->ring_bytes = w->ring.bytes;
    h->meta_start = w->ring.bytes ? PT_LOG_DATA_START + w->ring.bytes : 0;
    h->create_ns = attr->create_ns;
    h->clock_res_ns = attr->clock_res_ns;
    h->stream_size = attr->stream_size;
    h->max_data = attr->max_data;
    h->log_size = attr->log_size;
    h->stream_policy = attr->stream_policy;
    h->log_policy = attr->log_policy;
    h->inheritance = attr->inheritance;
    h->policy_is_default = attr->policy_is_default;
    h->event_cost_ps = (uint32_t)attr->event_cost_ps;
    memcpy(h->name, attr->name, sizeof h->name);
    memcpy(h->genversion, attr->genversion, sizeof h->genversion);
    if (w->sync_count)
        h->sync = w->syncs[0];
}

/* One write inside one page: a reader sees the old header or the new one. */
int pt_writer_header(struct pt_log_writer *w, uint32_t flags, uint64_t end_offset,
                     uint64_t file_end)
{
    struct pt_log_header h;

    fill_header(w, &h);
    h.flags = flags;
    h.end_offset = end_offset;
    h.file_end = file_end;
    pt_log_header_seal(&h);
    return pt_out_write_at(&w->out, &h, sizeof h, 0);
}

/* The whole header block of a new log. */
static int begin_file(struct pt_log_writer *w)
{
    struct pt_log_header h;
    uint8_t *block;
    int error;

    if (w->params.seekable && ftruncate(w->out.fd, 0) != 0)
        return -errno;
    block = pt_out_reserve(&w->out, PT_LOG_DATA_START, &error);
    if (!block)
        return error;
    fill_header(w, &h);
    pt_log_header_seal(&h);
    memset(block, 0, PT_LOG_DATA_START);
    memcpy(block, &h, sizeof h);
    pt_out_commit(&w->out, PT_LOG_DATA_START, 0, 0);
    return pt_out_flush(&w->out);
}

int pt_log_writer_new(struct pt_log_writer **writer, int fd, const struct pt_log_params *params)
{
    struct pt_log_writer *w;
    int error, flags;

    flags = fcntl(fd, F_GETFL);
    if (flags < 0)
        return -errno;
    if (params->seekable ? (flags & O_APPEND) != 0
                         : params->attr.log_policy != POSIX_TRACE_APPEND)
        return -EINVAL;
    if (!pt_pack_available(params->attr.compression))
        return -ENOTSUP;
    w = calloc(1, sizeof *w);
    if (!w)
        return -ENOMEM;
    w->params = *params;
    w->seed = pt_packet_seed(params->id);
    w->round = w->flushed_round = 1;
    pt_totals_init(&w->totals);
    pt_index_init(&w->index);
    error = pt_out_init(&w->out, fd, params->seekable, 0);
    if (!error)
        error = begin_file(w);
    if (error) {
        pt_log_writer_free(w);
        return error;
    }
    *writer = w;
    return 0;
}

void pt_log_writer_free(struct pt_log_writer *w)
{
    if (!w)
        return;
    pt_texts_deinit(&w->texts);
    free(w->syncs);
    free(w->part_authors);
    pt_totals_deinit(&w->totals);
    pt_index_deinit(&w->index);
    pt_ring_deinit(&w->ring);
    pt_out_deinit(&w->out);
    pt_packer_deinit(&w->packer);
    free(w->order.at);
    free(w);
}

static uint32_t seal(struct pt_log_writer *w, struct pt_packet_head *head, unsigned type,
                     uint32_t bytes)
{
    head->lsn = ++w->lsn;
    head->round = w->round;
    pt_packet_seal(head, type, bytes, w->seed);
    return bytes;
}

uint32_t pt_writer_text_packet(struct pt_log_writer *w, void *at, enum pt_text kind, uint32_t id)
{
    const char *text = pt_texts_get(&w->texts, kind, id);
    struct pt_packet_text *p = at;
    uint32_t length = (uint32_t)strlen(text);
    uint32_t bytes = pt_packet_align((uint32_t)sizeof *p + length);

    memset(p, 0, bytes);
    p->id = id;
    p->length = length;
    memcpy(p + 1, text, length);
    return seal(w, &p->head, kind == PT_TEXT_NAME ? PT_PACKET_NAME : PT_PACKET_DESCRIPTION, bytes);
}

uint32_t pt_writer_sync_packet(struct pt_log_writer *w, void *at, const struct pt_sync *points,
                               uint32_t count)
{
    struct pt_packet_sync *p = at;

    memset(p, 0, sizeof *p);
    p->count = count;
    memcpy(p + 1, points, count * sizeof *points);
    return seal(w, &p->head, PT_PACKET_SYNC, (uint32_t)(sizeof *p + count * sizeof *points));
}

/* Where a text or SYNC goes: behind the ring, written at once, so that it is on
 * disk before any packet that needs it; else into the buffer with the others. */
static int put_meta(struct pt_log_writer *w, const void *packet, uint32_t bytes)
{
    int error = 0;
    void *at;

    if (w->ring.bytes) {
        error = pt_out_write_at(&w->out, packet, bytes, w->ring.meta);
        if (!error)
            w->ring.meta += bytes;
        return error;
    }
    at = pt_out_reserve(&w->out, bytes, &error);
    if (!at)
        return error;
    memcpy(at, packet, bytes);
    pt_out_commit(&w->out, bytes, 0, 0);
    w->ring.head += bytes;
    return 0;
}

int pt_log_put_text(struct pt_log_writer *w, enum pt_text kind, uint32_t id, const char *text)
{
    _Alignas(8) uint8_t packet[PT_TEXT_PACKET_MAX];
    int error;

    if (id == 0 || id >= PT_ID_MAX || strlen(text) > pt_text_max(kind))
        return -EINVAL;
    error = pt_texts_keep(&w->texts, kind, id, text, strlen(text));
    if (error <= 0)
        return error;
    error = put_meta(w, packet, pt_writer_text_packet(w, packet, kind, id));
    if (error) {
        pt_texts_drop(&w->texts, kind, id);
        w->lsn--;
    }
    return error;
}

const char *pt_log_text(const struct pt_log_writer *w, enum pt_text kind, uint32_t id)
{
    return pt_texts_get(&w->texts, kind, id);
}

int pt_writer_note_sync(struct pt_log_writer *w, const struct pt_sync *point)
{
    if (w->sync_count == w->sync_room) {
        size_t room = w->sync_room ? w->sync_room * 2 : 16;
        struct pt_sync *syncs = realloc(w->syncs, room * sizeof *syncs);

        if (!syncs)
            return -ENOMEM;
        w->syncs = syncs;
        w->sync_room = room;
    }
    w->syncs[w->sync_count++] = *point;
    return 0;
}

int pt_log_put_sync(struct pt_log_writer *w, const struct pt_sync *point)
{
    _Alignas(8) uint8_t packet[sizeof(struct pt_packet_sync) + sizeof *point];
    int error;

    if (w->sync_count && point->ts <= w->syncs[w->sync_count - 1].ts)
        return 0;
    error = pt_writer_note_sync(w, point);
    if (error)
        return error;
    error = put_meta(w, packet, pt_writer_sync_packet(w, packet, point, 1));
    if (error) {
        w->lsn--;
        w->sync_count--;
    }
    return error;
}

/* Remembers that the part has events of this author; without memory the author
 * is not known when the part is given up, and the sum without a name grows. */
static void note_part_author(struct pt_log_writer *w, struct pt_total *total, uint32_t events)
{
    if (total->part_events == 0) {
        if (w->part_author_count == w->part_author_room) {
            size_t room = w->part_author_room ? w->part_author_room * 2 : 64;
            uint32_t *authors = realloc(w->part_authors, room * sizeof *authors);

            if (!authors)
                return;
            w->part_authors = authors;
            w->part_author_room = room;
        }
        w->part_authors[w->part_author_count++] = total->author.wid;
    }
    total->part_events += events;
}

/* A piece of so many bytes is in the output at part's end; w->types counts it. */
void pt_writer_account(struct pt_log_writer *w, const struct pt_log_packet *piece,
                       uint32_t bytes)
{
    const struct pt_types *t = &w->types;
    struct pt_total *total = pt_totals_get(&w->totals, &piece->author);

    if (!w->part_open) {
        w->part_open = true;
        w->part_start = w->ring.head - bytes;
        w->part_first = piece->first_ts;
    }
    w->part_packets++;
    w->part_events += piece->events;
    w->part_bytes += bytes;
    if (piece->first_ts < w->part_first)
        w->part_first = piece->first_ts;
    if (piece->last_ts > w->part_last)
        w->part_last = piece->last_ts;
    if (w->events == 0 || piece->first_ts < w->first_ts)
        w->first_ts = piece->first_ts;
    if (piece->last_ts > w->last_ts)
        w->last_ts = piece->last_ts;
    w->events += piece->events;
    w->data_bytes += bytes;
    for (uint32_t i = 0; i < t->used_count; i++) {
        uint32_t id = t->used[i];

        w->counts[id] += t->count[id];
        if (pt_writer_loops(w))
            pt_types_add(&w->part_types, id, t->count[id]);
    }
    if (total && pt_writer_loops(w))
        note_part_author(w, total, piece->events);
}

/* Records as they go into the file. */
struct stored {
    const void *at;
    uint32_t bytes;
    bool packed;
};

static void fill_data(struct pt_packet_data *p, const struct pt_log_packet *piece,
                      const struct stored *s, unsigned flags)
{
    memset(p, 0, sizeof *p);
    p->wid = piece->author.wid;
    p->level = piece->author.level;
    p->pid = piece->author.pid;
    p->tid = piece->author.tid;
    p->thread_id = piece->author.thread_id;
    memcpy(p->name, piece->author.name, sizeof p->name);
    p->chunk_seq = piece->chunk_seq;
    p->chunk_off = piece->chunk_off;
    p->record_bytes = piece->bytes;
    p->events = piece->events;
    p->packed_bytes = s->packed ? s->bytes : 0;
    p->first_no = piece->first_no;
    p->base_ts = piece->base_ts;
    p->first_ts = piece->first_ts;
    p->last_ts = piece->last_ts;
    memcpy(p + 1, s->at, s->bytes);
    memset((uint8_t *)(p + 1) + s->bytes, 0, pt_packet_align(s->bytes) - s->bytes);
    p->head.flags = (uint16_t)(flags | (s->packed ? PT_DATA_PACKED : 0));
}

/* Readers take the names of our system types from the log: all of them go before the
 * first packet with an event of one. */
static int name_own_types(struct pt_log_writer *w)
{
    bool found = false;
    int error = 0;

    for (uint32_t i = 0; i < w->types.used_count && !found; i++)
        found = pt_event_is_own(w->types.used[i]);
    for (uint32_t id = PT_ID_OWN_FIRST; found && id <= PT_ID_OWN_LAST && !error; id++)
        if (pt_event_is_own(id))
            error = pt_log_put_text(w, PT_TEXT_NAME, id, pt_event_system_name(id));
    return error;
}

/* 0, 1: the ring can never hold it, or negative errno and nothing is stored. */
static int store(struct pt_log_writer *w, const struct pt_log_packet *piece, unsigned flags)
{
    struct stored s = { piece->records, piece->bytes, false };
    struct pt_packet_data *p;
    uint32_t bytes;
    int rc = name_own_types(w);

    if (rc)
        return rc;
    if (w->params.attr.compression) {
        const void *records = pt_order_records_out(&w->order, piece->records, piece->bytes);
        uint32_t packed = records ? pt_pack(&w->packer, records, piece->bytes, &s.at) : 0;

        s.packed = packed != 0;
        s.bytes = packed ? packed : piece->bytes;
    }
    bytes = (uint32_t)sizeof *p + pt_packet_align(s.bytes);
    if (pt_writer_loops(w))
        rc = pt_ring_place(w, bytes, true);
    if (rc)
        return rc;
    p = pt_out_reserve(&w->out, bytes, &rc);
    if (!p)
        return rc;
    fill_data(p, piece, &s, flags);
    seal(w, &p->head, PT_PACKET_DATA, bytes);
    pt_out_commit(&w->out, bytes, piece->author.wid, piece->events);
    w->ring.head += bytes;
    pt_writer_account(w, piece, bytes);
    return 0;
}

/*
 * The STOP that ends a full log, one tick after everything else: among equal
 * times the control writer would come first.
 */
int pt_writer_stop(struct pt_log_writer *w)
{
    struct { pt_u64 head[2]; int32_t automatic, pad; } record = { .automatic = 1 };
    struct pt_log_packet stop = {
        .author = { .pid = w->params.pid },
        .chunk_seq = UINT64_MAX,
        .bytes = sizeof record,
        .events = 1,
        .records = &record,
    };
    int rc;

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
    pt_totals_get(&w->totals, author);
    pt_totals_lose(&w->totals, author->wid, cause, events);
}

/* Bytes of records that the next packet of an UNTIL_FULL log may have. */
static uint32_t room_until_full(const struct pt_log_writer *w)
{
    uint64_t used = w->data_bytes + STOP_BYTES + LEAST_PACKET, size = w->params.attr.log_size;

    if (used > size)
        return 0;
    size = size - used + PT_RECORD_HEAD;
    return size < UINT32_MAX ? (uint32_t)size : UINT32_MAX;
}

/* After the first piece an error can no longer undo the packet: the rest is
 * counted as lost, and the end of the round will meet the error again. */
static int give_up_rest(struct pt_log_writer *w, struct pt_cutter *cutter, bool stored,
                        const struct pt_log_packet *piece, int error)
{
    if (!stored)
        return error;
    lose(w, &piece->author, POSIXTRACE_LOST_LOG_ERROR, piece->events + pt_cut_left(cutter));
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
        pt_writer_stop(w);
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

/* A packet that the caller has counted and that need not be cut: may it be
 * stored as it is? */
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

int pt_log_put_packet(struct pt_log_writer *w, const struct pt_log_packet *packet)
{
    struct pt_log_packet piece;
    struct pt_cutter cutter;
    int rc;

    if (packet->bytes > PT_PACKET_DATA_MAX - sizeof(struct pt_packet_data))
        return -EBADMSG;
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

bool pt_log_full(const struct pt_log_writer *w)
{
    return w->full || w->ring.bytes != 0;
}

bool pt_log_overrun(struct pt_log_writer *w, bool reset)
{
    bool overrun = w->overrun;

    if (reset)
        w->overrun = false;
    return overrun;
}

uint64_t pt_log_lsn(const struct pt_log_writer *w)
{
    return w->lsn;
}

uint64_t pt_log_lost(const struct pt_log_writer *w, unsigned cause)
{
    return cause < PT_LOSS_CAUSES && pt_cause_is_of_log(cause) ? w->totals.lost[cause] : 0;
}
