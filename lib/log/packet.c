/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Single packets: sealing, checking, and their parts.  What passed
 * pt_packet_is_whole() may be walked by its own counts without further checks;
 * the records inside a DATA packet are checked where they are decoded.
 */
#include <string.h>
#include "base/crc.h"
#include "log/format.h"

uint32_t pt_packet_seed(const uint8_t id[16])
{
    return pt_crc32c(0, id, 16);
}

static uint32_t checksum(const struct pt_packet_head *head, uint32_t seed)
{
    const uint8_t *p = (const uint8_t *)head;
    size_t before = offsetof(struct pt_packet_head, crc), after = before + sizeof head->crc;

    seed = pt_crc32c(seed, p, before);
    return pt_crc32c(seed, p + after, head->bytes - after);
}

void pt_packet_seal(struct pt_packet_head *head, unsigned type, uint32_t bytes, uint32_t seed)
{
    head->magic = PT_PACKET_MAGIC;
    head->type = (uint16_t)type;
    head->bytes = bytes;
    head->crc = checksum(head, seed);
}

/* Length without what the counts say; 0 for what is no type.  Types to come are
 * good packets, which readers of this version pass over. */
static uint32_t fixed_size(unsigned type)
{
    static const uint32_t size[PT_PACKET_TYPES] = {
        [PT_PACKET_DATA] = sizeof(struct pt_packet_data),
        [PT_PACKET_NAME] = sizeof(struct pt_packet_name),
        [PT_PACKET_SYNC] = sizeof(struct pt_packet_sync),
        [PT_PACKET_ROUND] = sizeof(struct pt_packet_round),
        [PT_PACKET_INDEX] = sizeof(struct pt_packet_index),
        [PT_PACKET_END] = sizeof(struct pt_packet_end) + sizeof(struct pt_packet_trailer),
        [PT_PACKET_PAD] = sizeof(struct pt_packet_head),
    };

    if (type >= PT_PACKET_TYPES)
        return type < PT_PACKET_TYPES_MAX ? sizeof(struct pt_packet_head) : 0;
    return size[type];
}

bool pt_packet_is_plausible(const struct pt_packet_head *head, uint64_t room)
{
    uint32_t fixed;

    if (head->magic != PT_PACKET_MAGIC)
        return false;
    fixed = fixed_size(head->type);
    return fixed && head->bytes >= fixed && head->bytes % PT_PACKET_ALIGN == 0 &&
           head->bytes <= room &&
           head->bytes <= (head->type == PT_PACKET_DATA ? PT_PACKET_DATA_MAX : PT_PACKET_MAX);
}

/* Bytes that the counts in the packet claim behind the fixed part. */
static uint64_t claimed(const struct pt_packet_head *head)
{
    const void *p = head;
    const struct pt_packet_data *data = p;
    const struct pt_packet_name *name = p;
    const struct pt_packet_sync *sync = p;
    const struct pt_packet_round *round = p;
    const struct pt_packet_index *index = p;
    const struct pt_packet_end *end = p;

    switch (head->type) {
    case PT_PACKET_DATA: return data->record_bytes;
    case PT_PACKET_NAME: return name->length;
    case PT_PACKET_SYNC: return (uint64_t)sync->count * sizeof(struct pt_sync);
    case PT_PACKET_ROUND:
        return (uint64_t)round->state.authors * sizeof(struct pt_packet_author);
    case PT_PACKET_INDEX: return (uint64_t)index->count * sizeof(struct pt_index_entry);
    case PT_PACKET_END:
        return (uint64_t)end->state.authors * sizeof(struct pt_packet_author) +
               (uint64_t)end->state.counts * sizeof(struct pt_packet_count);
    default: return 0;
    }
}

bool pt_packet_is_whole(const struct pt_packet_head *head, uint32_t seed)
{
    return checksum(head, seed) == head->crc &&
           claimed(head) <= head->bytes - fixed_size(head->type);
}

void pt_packet_get_author(struct pt_author *author, const struct pt_packet_author *from)
{
    author->wid = from->wid;
    author->level = from->level;
    author->pid = from->pid;
    author->tid = from->tid;
    author->thread_id = from->thread_id;
    memcpy(author->name, from->name, sizeof author->name);
    author->name[sizeof author->name - 1] = 0;
}

void pt_packet_put_author(struct pt_packet_author *to, const struct pt_author *author)
{
    to->wid = author->wid;
    to->level = author->level;
    to->pid = author->pid;
    to->tid = author->tid;
    to->thread_id = author->thread_id;
    memcpy(to->name, author->name, sizeof to->name);
}

void pt_packet_get_data(struct pt_log_packet *packet, const struct pt_packet_data *from)
{
    struct pt_author *author = &packet->author;

    author->wid = from->wid;
    author->level = from->level;
    author->pid = from->pid;
    author->tid = from->tid;
    author->thread_id = from->thread_id;
    memcpy(author->name, from->name, sizeof author->name);
    author->name[sizeof author->name - 1] = 0;
    packet->chunk_seq = from->chunk_seq;
    packet->chunk_off = from->chunk_off;
    packet->bytes = from->record_bytes;
    packet->events = from->events;
    packet->first_no = from->first_no;
    packet->base_ts = from->base_ts;
    packet->first_ts = from->first_ts;
    packet->last_ts = from->last_ts;
    packet->records = from + 1;
}
