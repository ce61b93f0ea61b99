/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Writes what readers need to decode events: the header of the file, names, descriptions,
 * mappings and sync points.
 */
#include <posixtrace/attr.h>
#include <string.h>
#include "base/array.h"
#include "log/writer/state.h"

#define SYNCS_A_PACKET 1000u

/* ---- the header ---- */

uint32_t pt_log_writer_features(const struct pt_log_writer *w)
{
    switch (w->params.attr.compression) {
    case POSIXTRACE_COMPRESSION_NONE: return 0;
    case POSIXTRACE_COMPRESSION_ZSTD: return PT_LOG_COLUMNS | PT_LOG_ZSTD;
    default: return PT_LOG_COLUMNS;
    }
}

static void fill_header(const struct pt_log_writer *w, struct pt_log_header *h)
{
    const struct pt_attr *attr = &w->params.attr;

    memset(h, 0, sizeof *h);
    memcpy(h->magic, PT_LOG_MAGIC, sizeof h->magic);
    h->features = pt_log_writer_features(w);
    h->version = h->features ? PT_LOG_VERSION_FEATURES : PT_LOG_VERSION;
    h->header_size = PT_LOG_HEADER_SIZE;
    h->clock = w->params.clock;
    memcpy(h->id, w->params.id, sizeof h->id);
    memcpy(h->boot_id, w->params.boot_id, sizeof h->boot_id);
    memcpy(h->host, w->params.host, sizeof h->host);
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
    h->piece = w->params.piece;
    memcpy(h->name, attr->name, sizeof h->name);
    memcpy(h->genversion, attr->genversion, sizeof h->genversion);
    if (w->sync_count)
        h->sync = w->syncs[0];
}

/* One write inside one page: a reader sees the old header or the new one. */
int pt_log_writer_header(struct pt_log_writer *w, uint32_t flags, uint64_t end_offset,
                         uint64_t file_end)
{
    struct pt_log_header h;
    int error;

    fill_header(w, &h);
    h.flags = flags;
    h.end_offset = end_offset;
    h.file_end = file_end;
    pt_log_header_seal(&h);
    error = pt_output_write_at(&w->out, &h, sizeof h, 0);
    w->header_due = error != 0;
    return error;
}

int pt_log_writer_begin_file(struct pt_log_writer *w)
{
    struct pt_log_header h;
    uint8_t *block;
    int error;

    if (w->params.seekable && (error = pt_output_truncate(&w->out, 0)) != 0)
        return error;
    block = pt_output_reserve(&w->out, PT_LOG_DATA_START, &error);
    if (!block)
        return error;
    fill_header(w, &h);
    pt_log_header_seal(&h);
    memset(block, 0, PT_LOG_DATA_START);
    memcpy(block, &h, sizeof h);
    pt_output_commit(&w->out, PT_LOG_DATA_START, 0, 0);
    return pt_output_flush(&w->out);
}

/* ---- names, descriptions, sync points ---- */

uint32_t pt_log_writer_text_packet(struct pt_log_writer *w, void *at, enum pt_text kind,
                                   uint32_t id)
{
    static const uint16_t packets[PT_TEXTS] = { PT_PACKET_NAME, PT_PACKET_DESCRIPTION,
                                                PT_PACKET_MAPPING, PT_PACKET_CLOCK };
    const char *text = pt_string_table_get(&w->texts, kind, id);
    struct pt_packet_text *p = at;
    uint32_t length = (uint32_t)strlen(text);
    uint32_t bytes = pt_packet_align((uint32_t)sizeof *p + length);

    memset(p, 0, bytes);
    p->id = id;
    p->length = length;
    memcpy(p + 1, text, length);
    return pt_log_writer_seal(w, &p->head, packets[kind], bytes);
}

uint32_t pt_log_writer_sync_packet(struct pt_log_writer *w, void *at, const struct pt_sync *points,
                                   uint32_t count)
{
    struct pt_packet_sync *p = at;

    memset(p, 0, sizeof *p);
    p->count = count;
    memcpy(p + 1, points, count * sizeof *points);
    return pt_log_writer_seal(w, &p->head, PT_PACKET_SYNC,
                              (uint32_t)(sizeof *p + count * sizeof *points));
}

static int put_base(struct pt_log_writer *w, uint32_t *bytes)
{
    struct pt_packet_piece *p;
    int error;

    *bytes = pt_piece_base_bytes(w->base);
    if (*bytes == 0)
        return -E2BIG;
    p = pt_output_reserve(&w->out, *bytes, &error);
    if (!p)
        return error;
    memset(p, 0, *bytes);
    pt_piece_base_store(w->base, p);
    pt_log_writer_seal(w, &p->head, PT_PACKET_PIECE, *bytes);
    pt_output_commit(&w->out, *bytes, 0, 0);
    return 0;
}

int pt_log_put_base(struct pt_log_writer *w, const struct pt_piece_base *base)
{
    uint32_t bytes;
    int error;

    w->base = base;
    error = put_base(w, &bytes);
    w->ring.head += error ? 0 : bytes;
    return error;
}

int pt_log_first_piece(struct pt_log_writer *w, uint64_t ino)
{
    int error;

    w->params.piece = 1;
    w->params.ino = ino;
    error = pt_log_writer_header(w, 0, 0, 0);
    if (error)
        w->params.piece = 0;
    return error;
}

int pt_log_writer_copies(struct pt_log_writer *w)
{
    uint32_t bytes;
    void *at;
    int error = w->base ? put_base(w, &bytes) : 0;

    if (error)
        return error;
    for (size_t i = 0; i < w->sync_count; i += SYNCS_A_PACKET) {
        size_t n = w->sync_count - i < SYNCS_A_PACKET ? w->sync_count - i : SYNCS_A_PACKET;

        at = pt_output_reserve(&w->out, sizeof(struct pt_packet_sync) + n * sizeof *w->syncs,
                               &error);
        if (!at)
            return error;
        pt_output_commit(&w->out, pt_log_writer_sync_packet(w, at, &w->syncs[i], (uint32_t)n), 0,
                         0);
    }
    for (unsigned kind = 0; kind < PT_TEXTS; kind++)
        for (uint32_t id = 1; id < w->texts.end[kind]; id++) {
            if (!pt_string_table_get(&w->texts, (enum pt_text)kind, id))
                continue;
            at = pt_output_reserve(&w->out, PT_TEXT_PACKET_MAX, &error);
            if (!at)
                return error;
            pt_output_commit(&w->out, pt_log_writer_text_packet(w, at, (enum pt_text)kind, id), 0,
                             0);
        }
    return 0;
}

/* Packets do not wait for the header, whose block may be the one that cannot be written. */
int pt_log_writer_catch_up(struct pt_log_writer *w)
{
    int header = w->header_due ? pt_log_writer_header(w, 0, 0, 0) : 0;
    int error = 0;

    /* With a ring, there are copies after it. */
    if (w->copies_due && !w->ring.bytes) {
        error = pt_log_writer_copies(w);
        w->ring.head = pt_output_offset(&w->out) - PT_LOG_DATA_START;
    }
    w->copies_due = error != 0;
    return error ? error : header;
}

/* Writes a text or SYNC.  With a ring, the packet is written after the ring at once, so that it is
 * on disk before any packet that needs it; without one it is put into the buffer. */
static int put_meta(struct pt_log_writer *w, const void *packet, uint32_t bytes)
{
    int error = 0;
    void *at;

    if (w->ring.bytes) {
        error = pt_output_write_at(&w->out, packet, bytes, w->ring.meta);
        if (!error)
            w->ring.meta += bytes;
        return error;
    }
    at = pt_output_reserve(&w->out, bytes, &error);
    if (!at)
        return error;
    memcpy(at, packet, bytes);
    pt_output_commit(&w->out, bytes, 0, 0);
    w->ring.head += bytes;
    return 0;
}

int pt_log_put_text(struct pt_log_writer *w, enum pt_text kind, uint32_t id, const char *text)
{
    _Alignas(8) uint8_t packet[PT_TEXT_PACKET_MAX];
    size_t length = strnlen(text, pt_text_max(kind) + 1u); /* in memory that others write */
    int error;

    if (id == 0 || id >= pt_text_end(kind) || length > pt_text_max(kind))
        return -EINVAL;
    error = pt_string_table_keep(&w->texts, kind, id, text, length);
    if (error <= 0)
        return error;
    error = put_meta(w, packet, pt_log_writer_text_packet(w, packet, kind, id));
    if (error) {
        pt_string_table_drop(&w->texts, kind, id);
        w->lsn--;
    }
    return error;
}

const char *pt_log_text(const struct pt_log_writer *w, enum pt_text kind, uint32_t id)
{
    return pt_string_table_get(&w->texts, kind, id);
}

int pt_log_writer_note_sync(struct pt_log_writer *w, const struct pt_sync *point)
{
    int error = pt_array_grow(&w->syncs, &w->sync_room, w->sync_count, sizeof *w->syncs);

    if (error)
        return error;
    w->syncs[w->sync_count++] = *point;
    return 0;
}

int pt_log_put_syncs(struct pt_log_writer *w, const struct pt_sync *points, unsigned n)
{
    _Alignas(8) uint8_t packet[sizeof(struct pt_packet_sync) + PT_SYNCS_AT_ONCE * sizeof *points];
    size_t had = w->sync_count;
    int error = 0;

    for (unsigned i = 0; i < n && !error; i++)
        error = pt_log_writer_note_sync(w, &points[i]);
    if (!error) {
        error = put_meta(w, packet, pt_log_writer_sync_packet(w, packet, points, n));
        w->lsn -= error != 0;
    }
    if (error)
        w->sync_count = had;
    return error;
}

int pt_log_put_sync(struct pt_log_writer *w, const struct pt_sync *point)
{
    if (w->sync_count && point->ts <= w->syncs[w->sync_count - 1].ts)
        return 0;
    return pt_log_put_syncs(w, point, 1);
}

void pt_log_name_author(struct pt_log_writer *w, uint64_t wid, const char name[16])
{
    pt_author_stats_name(&w->totals, wid, name);
}
