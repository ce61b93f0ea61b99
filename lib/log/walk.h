/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Going through the packets of a log in the order in which they were written.
 * Gives packets with the right checksum only; what lies between them is passed
 * over in steps of 8 bytes and counted.
 *
 * In a ring the order is: from the oldest part to the ring's end, then from
 * the ring's begin; left-over packets of parts that were given up are
 * recognised by their sequence numbers.  After the newest ROUND the packets of the
 * part that was being written may run into the oldest part, which they overwrite: the
 * walk passes that stretch once more then.  The work done on bytes that only look
 * like packets is bounded by a small multiple of the bytes passed over.
 */
#ifndef PT_LOG_WALK_H
#define PT_LOG_WALK_H

#include "log/format.h"
#include "log/source.h"

struct pt_segment {
    uint64_t from, to;   /* file offsets */
};

struct pt_walk {
    struct pt_source *source;
    uint32_t seed;
    struct pt_segment segments[2];
    unsigned segment_count, segment;
    struct pt_segment area;     /* of the ring, whose newest part may go on anywhere in it */
    uint64_t offset;            /* of the next byte to look at */
    uint64_t last_lsn;          /* of the packet before */
    uint64_t newest_lsn;        /* ring: of the newest ROUND; else 0 */
    bool     ring;
    bool     any_order;         /* gives every packet whatever its number */
    bool     passed_newest;
    bool     stop_at_newest;    /* nothing behind it belongs to the log */
    bool     started;           /* a packet was given */
    uint64_t bad_from;          /* begin of the unreadable stretch; UINT64_MAX: none */
    uint64_t skipped;           /* bytes in finished ones */
    uint64_t work;              /* bytes that may be checked in vain */
    /* called for each unreadable stretch; NULL: nobody wants to know */
    void   (*finding)(void *context, uint64_t offset, uint64_t bytes);
    void    *context;
};

/* Over [from, to); more segments can be added before the first step. */
void pt_walk_init(struct pt_walk *w, struct pt_source *source, uint32_t seed, uint64_t from,
                  uint64_t to);
void pt_walk_add_segment(struct pt_walk *w, uint64_t from, uint64_t to);

/* 1: *packet stored (good until the next fetch from the source) and *offset; 0:
 * end; negative errno of reading. */
int pt_walk_next(struct pt_walk *w, const struct pt_packet_head **packet, uint64_t *offset);

#endif
