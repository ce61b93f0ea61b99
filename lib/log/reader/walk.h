/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Walks the packets of a log in the order in which they were written.  Returns packets
 * with the right checksum only; skips other bytes in steps of 8 and counts them.
 *
 * In a ring the order is: from the oldest part to the ring's end, then from the ring's
 * start.  Sequence numbers show which packets are left over from parts that were given
 * up.  After the newest ROUND the packets of the part that was being written may run into
 * the oldest part, which they overwrite: then the walk passes that stretch once more.  The
 * work on bytes that only look like packets is at most a small multiple of the bytes
 * skipped.
 */
#ifndef PT_LOG_READER_WALK_H
#define PT_LOG_READER_WALK_H

#include "log/format.h"
#include "log/reader/input.h"

struct pt_segment {
    uint64_t from, to; /* file offsets */
};

#define PT_NO_LIMIT UINT64_MAX

struct pt_walk {
    struct pt_input *source;
    uint32_t seed;
    struct pt_segment segments[2];
    unsigned segment_count, segment;
    struct pt_segment area; /* of the ring; its newest part may extend anywhere in it */
    uint64_t offset;        /* of the next byte to look at */
    uint64_t last_lsn;      /* of the packet before */
    uint64_t newest_lsn;    /* ring: of the newest ROUND; else 0 */
    uint64_t most_lsn;      /* packets with a higher number are not of the log; or PT_NO_LIMIT */
    bool ring;
    bool any_order; /* returns packets with any number */
    bool passed_newest;
    bool stop_at_newest; /* nothing after it belongs to the log */
    bool started;        /* a packet was given */
    uint64_t bad_from;   /* start of the unreadable stretch; UINT64_MAX: none */
    uint64_t skipped;    /* bytes in finished ones */
    uint64_t work;       /* bytes that may be checked in vain */
    /* called for each unreadable stretch, or NULL */
    void (*finding)(void *context, uint64_t offset, uint64_t bytes);
    void *context;
};

/* Over [from, to); more segments can be added before the first step. */
void pt_walk_init(struct pt_walk *w, struct pt_input *source, uint32_t seed, uint64_t from,
                  uint64_t to);
void pt_walk_add_segment(struct pt_walk *w, uint64_t from, uint64_t to);

/* 1: *packet stored (good until the next fetch from the source) and *offset; 0:
 * end; negative errno of reading. */
int pt_walk_next(struct pt_walk *w, const struct pt_packet_head **packet, uint64_t *offset);

#endif
