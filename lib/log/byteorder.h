/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The border between the file's byte order, which is little-endian, and the
 * machine's.  Packets are in file order between a pt_byteorder_*_out() (or
 * pt_packet_seal()) and the disk, and between the disk and a pt_byteorder_*_in();
 * checksums are of bytes in file order.  Everywhere else numbers have the machine's order.
 *
 * If both orders are the same, nothing is done or copied; the swapping functions are still
 * compiled, so that tests cover them on every machine.
 *
 * The data of user events belongs to the program and is not changed.  The data of
 * system events is numbers, which are swapped with the records.
 */
#ifndef PT_LOG_ORDER_H
#define PT_LOG_ORDER_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include "log/format.h"

#define PT_FOREIGN_ORDER (__BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__)

static inline uint16_t pt_le16(uint16_t x)
{
    return PT_FOREIGN_ORDER ? __builtin_bswap16(x) : x;
}

static inline uint32_t pt_le32(uint32_t x)
{
    return PT_FOREIGN_ORDER ? __builtin_bswap32(x) : x;
}

static inline uint64_t pt_le64(uint64_t x)
{
    return PT_FOREIGN_ORDER ? __builtin_bswap64(x) : x;
}

/* Of bytes in file order, at any address. */
static inline uint32_t pt_le32_at(const uint8_t *p)
{
    uint32_t x;

    memcpy(&x, p, sizeof x);
    return pt_le32(x);
}

static inline uint64_t pt_le64_at(const uint8_t *p)
{
    uint64_t x;

    memcpy(&x, p, sizeof x);
    return pt_le64(x);
}

static inline void pt_put_le32(uint8_t *p, uint32_t x)
{
    x = pt_le32(x);
    memcpy(p, &x, sizeof x);
}

enum pt_swap { PT_SWAP_IN, PT_SWAP_OUT };

/* Either way. */
void pt_swap_header(struct pt_log_header *h);
/* In place.  IN: the packet is whole (pt_packet_is_whole). */
void pt_swap_packet(struct pt_packet_head *packet, enum pt_swap direction);
/* As far as they are records. */
void pt_swap_records(void *records, uint32_t bytes, enum pt_swap direction);
/* A copy with bytes bytes of room to be swapped; NULL: no memory. */
void *pt_swap_copy(struct pt_byteorder_buffer *b, const void *from, uint32_t bytes);

static inline void pt_byteorder_header(struct pt_log_header *h)
{
    if (PT_FOREIGN_ORDER)
        pt_swap_header(h);
}

static inline void pt_byteorder_packet_out(struct pt_packet_head *packet)
{
    if (PT_FOREIGN_ORDER)
        pt_swap_packet(packet, PT_SWAP_OUT);
}

static inline void pt_byteorder_packet_in(struct pt_packet_head *packet)
{
    if (PT_FOREIGN_ORDER)
        pt_swap_packet(packet, PT_SWAP_IN);
}

static inline void pt_byteorder_records_in(void *records, uint32_t bytes)
{
    if (PT_FOREIGN_ORDER)
        pt_swap_records(records, bytes, PT_SWAP_IN);
}

/* A whole packet as numbers: itself, or a copy in b that is good until the next.
 * NULL: no memory. */
static inline const struct pt_packet_head *pt_byteorder_read(struct pt_byteorder_buffer *b,
                                                             const struct pt_packet_head *packet)
{
    struct pt_packet_head *copy;

    if (!PT_FOREIGN_ORDER)
        return packet;
    copy = (struct pt_packet_head *)pt_swap_copy(b, packet, pt_le32(packet->bytes));
    if (copy)
        pt_swap_packet(copy, PT_SWAP_IN);
    return copy;
}

/* Records as they go into the file, likewise. */
static inline const void *pt_byteorder_records_out(struct pt_byteorder_buffer *b,
                                                   const void *records, uint32_t bytes)
{
    void *copy;

    if (!PT_FOREIGN_ORDER)
        return records;
    copy = pt_swap_copy(b, records, bytes);
    if (copy)
        pt_swap_records(copy, bytes, PT_SWAP_OUT);
    return copy;
}

#endif
