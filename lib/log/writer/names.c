/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Writes the names, descriptions and sync points that readers need to decode events.
 */
#include <string.h>
#include "base/grow.h"
#include "log/writer/state.h"

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
    return pt_writer_seal(w, &p->head,
                          kind == PT_TEXT_NAME ? PT_PACKET_NAME : PT_PACKET_DESCRIPTION, bytes);
}

uint32_t pt_writer_sync_packet(struct pt_log_writer *w, void *at, const struct pt_sync *points,
                               uint32_t count)
{
    struct pt_packet_sync *p = at;

    memset(p, 0, sizeof *p);
    p->count = count;
    memcpy(p + 1, points, count * sizeof *points);
    return pt_writer_seal(w, &p->head, PT_PACKET_SYNC,
                          (uint32_t)(sizeof *p + count * sizeof *points));
}

/* Writes a text or SYNC.  With a ring, the packet is written after the ring at once, so that it is
 * on disk before any packet that needs it; without one it is put into the buffer. */
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
    size_t length = strnlen(text, pt_text_max(kind) + 1u); /* in memory that others write */
    int error;

    if (id == 0 || id >= PT_ID_MAX || length > pt_text_max(kind))
        return -EINVAL;
    error = pt_texts_keep(&w->texts, kind, id, text, length);
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
    int error = pt_grow(&w->syncs, &w->sync_room, w->sync_count, sizeof *w->syncs);

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
        error = pt_writer_note_sync(w, &points[i]);
    if (!error) {
        error = put_meta(w, packet, pt_writer_sync_packet(w, packet, points, n));
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
    pt_totals_name(&w->totals, wid, name);
}
