/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Single packets: sealing, checking, and their parts.  A packet that passed pt_packet_is_whole()
 * may be walked by its own counts without further checks; the records inside a DATA packet are
 * checked where they are decoded.
 */
#include <string.h>
#include "base/crc.h"
#include "log/format.h"
#include "log/byteorder.h"

uint32_t pt_packet_seed(const uint8_t id[16])
{
    return pt_crc32c(0, id, 16);
}

void pt_log_header_seal(struct pt_log_header *h)
{
    pt_byteorder_header(h);
    h->crc = pt_le32(pt_crc32c(0, h, offsetof(struct pt_log_header, crc)));
}

bool pt_log_header_open(struct pt_log_header *h)
{
    if (memcmp(h->magic, PT_LOG_MAGIC, sizeof h->magic) != 0 ||
        pt_le32(h->crc) != pt_crc32c(0, h, offsetof(struct pt_log_header, crc)))
        return false;
    pt_byteorder_header(h);
    return true;
}

bool pt_log_header_is_cut(const void *head, const uint8_t id[16])
{
    const size_t magic = sizeof PT_LOG_MAGIC - 1, at = offsetof(struct pt_log_header, id);
    const uint8_t *p = head;
    size_t n = PT_LOG_HEADER_SIZE;

    while (n > 0 && p[n - 1] == 0)
        n--;
    if (n == PT_LOG_HEADER_SIZE || memcmp(p, PT_LOG_MAGIC, n < magic ? n : magic) != 0)
        return false;
    return n <= at || memcmp(p + at, id, n - at < 16 ? n - at : 16) == 0;
}

static uint32_t checksum(const struct pt_packet_head *head, uint32_t bytes, uint32_t seed)
{
    const uint8_t *p = (const uint8_t *)head;
    size_t before = offsetof(struct pt_packet_head, crc), after = before + sizeof head->crc;

    seed = pt_crc32c(seed, p, before);
    return pt_crc32c(seed, p + after, bytes - after);
}

void pt_packet_seal(struct pt_packet_head *head, unsigned type, uint32_t bytes, uint32_t seed)
{
    head->magic = PT_PACKET_MAGIC;
    head->type = (uint16_t)type;
    head->bytes = bytes;
    pt_byteorder_packet_out(head);
    pt_packet_reseal(head, seed);
}

void pt_packet_reseal(struct pt_packet_head *head, uint32_t seed)
{
    head->crc = pt_le32(checksum(head, pt_le32(head->bytes), seed));
}

/* Length of the fixed part; 0 for a number that is no type.  Packets of future types
 * are valid: readers of this version skip them. */
static uint32_t fixed_size(unsigned type)
{
    static const uint32_t size[PT_PACKET_TYPES] = {
        [PT_PACKET_DATA] = sizeof(struct pt_packet_data),
        [PT_PACKET_NAME] = sizeof(struct pt_packet_text),
        [PT_PACKET_DESCRIPTION] = sizeof(struct pt_packet_text),
        [PT_PACKET_MAPPING] = sizeof(struct pt_packet_text),
        [PT_PACKET_CLOCK] = sizeof(struct pt_packet_text),
        [PT_PACKET_SYNC] = sizeof(struct pt_packet_sync),
        [PT_PACKET_ROUND] = sizeof(struct pt_packet_round),
        [PT_PACKET_INDEX] = sizeof(struct pt_packet_index),
        [PT_PACKET_END] = sizeof(struct pt_packet_end) + sizeof(struct pt_packet_trailer),
        [PT_PACKET_PAD] = sizeof(struct pt_packet_head),
        [PT_PACKET_PIECE] = sizeof(struct pt_packet_piece),
    };

    if (type == 0 || type >= PT_PACKET_TYPES_MAX)
        return 0;
    return type < PT_PACKET_TYPES && size[type] ? size[type] : sizeof(struct pt_packet_head);
}

bool pt_packet_is_plausible(const struct pt_packet_head *head, uint64_t room)
{
    uint32_t fixed, bytes = pt_le32(head->bytes);
    unsigned type = pt_le16(head->type);

    if (pt_le32(head->magic) != PT_PACKET_MAGIC)
        return false;
    fixed = fixed_size(type);
    return fixed && bytes >= fixed && bytes % PT_PACKET_ALIGN == 0 && bytes <= room &&
           bytes <= (type == PT_PACKET_DATA ? PT_PACKET_DATA_MAX : PT_PACKET_MAX);
}

static uint64_t claimed_data(const struct pt_packet_data *p)
{
    unsigned flags = pt_le16(p->head.flags);
    uint64_t bytes = pt_le32(flags & PT_DATA_FORMS ? p->packed_bytes : p->record_bytes);

    /* The limit holds for the unpacked packet, too. */
    if (pt_le32(p->record_bytes) > PT_PACKET_DATA_MAX)
        return UINT64_MAX;
    if (flags & PT_DATA_JOINED)
        bytes = (bytes + PT_PACKET_ALIGN - 1) / PT_PACKET_ALIGN * PT_PACKET_ALIGN +
                sizeof(struct pt_packet_part);
    return bytes;
}

/* Bytes after the fixed part, by the counts in the packet (in file order). */
static uint64_t claimed(const struct pt_packet_head *head)
{
    const void *p = head;
    const struct pt_packet_data *data = p;
    const struct pt_packet_text *text = p;
    const struct pt_packet_sync *sync = p;
    const struct pt_packet_round *round = p;
    const struct pt_packet_index *index = p;
    const struct pt_packet_end *end = p;
    const struct pt_packet_piece *piece = p;

    switch (pt_le16(head->type)) {
    case PT_PACKET_DATA: return claimed_data(data);
    case PT_PACKET_PIECE:
        return (uint64_t)pt_le32(piece->authors) * sizeof(struct pt_packet_piece_author);
    case PT_PACKET_NAME:
    case PT_PACKET_MAPPING:
    case PT_PACKET_CLOCK:
    case PT_PACKET_DESCRIPTION: return pt_le32(text->length);
    case PT_PACKET_SYNC: return (uint64_t)pt_le32(sync->count) * sizeof(struct pt_sync);
    case PT_PACKET_ROUND:
        return (uint64_t)pt_le32(round->state.authors) * sizeof(struct pt_packet_author);
    case PT_PACKET_INDEX: return (uint64_t)pt_le32(index->count) * sizeof(struct pt_index_entry);
    case PT_PACKET_END:
        return (uint64_t)pt_le32(end->state.authors) * sizeof(struct pt_packet_author) +
               (uint64_t)pt_le32(end->state.counts) * sizeof(struct pt_packet_count);
    default: return 0;
    }
}

bool pt_packet_is_whole(const struct pt_packet_head *head, uint32_t seed)
{
    uint32_t bytes = pt_le32(head->bytes);

    return checksum(head, bytes, seed) == pt_le32(head->crc) &&
           claimed(head) <= bytes - fixed_size(pt_le16(head->type));
}

const struct pt_packet_more *pt_packet_more(const struct pt_packet_head *head)
{
    bool ends = head->type == PT_PACKET_END;
    const struct pt_packet_round *round = (const void *)head;
    const struct pt_packet_end *end = (const void *)head;
    uint64_t at = ends ? sizeof *end + end->state.counts * sizeof(struct pt_packet_count)
                       : sizeof *round;
    uint64_t room = head->bytes - (ends ? sizeof(struct pt_packet_trailer) : 0);

    at += (ends ? end->state.authors : round->state.authors) * sizeof(struct pt_packet_author);
    return room >= at + sizeof(struct pt_packet_more) ? (const void *)((const uint8_t *)head + at)
                                                      : NULL;
}

void pt_packet_get_author(struct pt_author *author, const struct pt_stored_author *from)
{
    author->wid = pt_stored_wid(from);
    author->level = from->level_wid & 0xffu;
    author->pid = from->pid;
    author->tid = from->tid;
    author->thread_id = from->thread_id;
    memcpy(author->name, from->name, sizeof author->name);
    author->name[sizeof author->name - 1] = 0;
}

void pt_packet_put_author(struct pt_stored_author *to, const struct pt_author *author)
{
    to->low_wid = (uint32_t)author->wid;
    to->level_wid = author->level | (uint32_t)(author->wid >> 32) << 8;
    to->pid = author->pid;
    to->tid = author->tid;
    to->thread_id = author->thread_id;
    memcpy(to->name, author->name, sizeof to->name);
}

void pt_packet_get_data(struct pt_log_packet *packet, const struct pt_packet_data *from)
{
    pt_packet_get_author(&packet->author, &from->author);
    packet->chunk_seq = from->chunk_seq;
    packet->chunk_off = from->chunk_off;
    packet->bytes = from->record_bytes;
    packet->events = from->events;
    packet->first_no = from->first_no;
    packet->base_ts = from->base_ts;
    packet->first_ts = from->first_ts;
    packet->last_ts = from->last_ts;
    packet->lsn = from->head.lsn;
    packet->records = pt_packet_is_packed(from) ? NULL : from + 1;
    packet->types = NULL;
    packet->type_count = 0;
    packet->parts = NULL;
    packet->part_count = 0;
}

uint32_t pt_packet_parts(const struct pt_packet_data *p, const struct pt_packet_part **parts)
{
    uint32_t stored = pt_packet_align(pt_packet_is_packed(p) ? p->packed_bytes : p->record_bytes);
    const uint8_t *at = (const uint8_t *)(p + 1) + stored;
    uint32_t count = (p->head.bytes - (uint32_t)sizeof *p - stored) / sizeof **parts, rest;

    if (!(p->head.flags & PT_DATA_JOINED))
        return 0;
    *parts = (const void *)at;
    rest = p->record_bytes;
    for (uint32_t i = 0; i < count; i++) {
        if (pt_le32((*parts)[i].bytes) > rest)
            return 0;
        rest -= pt_le32((*parts)[i].bytes);
    }
    return count;
}

int pt_packet_unpack_data(struct pt_log_packet *packet, const struct pt_packet_data *from,
                          struct pt_unpacker *u)
{
    int error = 0;

    pt_packet_get_data(packet, from);
    if (pt_packet_is_packed(from)) {
        error = pt_unpack(u, from->head.flags, from->record_bytes, from + 1, from->packed_bytes);
        if (!error)
            pt_byteorder_records_in(u->buffer, from->record_bytes);
        packet->records = error ? (const void *)(from + 1) : u->buffer;
        packet->bytes = error ? 0 : from->record_bytes;
    }
    return error;
}
