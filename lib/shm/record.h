/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Records: the bytes of an event, the same in a chunk and in a log packet.
 *
 *   0  u32  bits 0-10 event id, bit 11 truncated on recording,
 *           bits 12-15 kind, bits 16-31 length of the data in bytes
 *   4  u32  time: ticks since the base in force
 *   8  u64  program address (kind EVENT), or full time in ticks (kind TIME)
 *   16 data, padded with anything to a multiple of 8
 *
 * The base is the packet's (chunk's) base time until a TIME record sets a new
 * one; it is written when 32 bits of ticks are not enough.  An AUTHOR record has the author of the
 * following records in this chunk, since another thread continues the chunk of a thread that has
 * ended.  Its data is struct pt_record_author.  Log packets have one author each and contain no
 * AUTHOR records.
 *
 * Records are little-endian on disk; in memory they have the machine's order.
 */
#ifndef PT_SHM_RECORD_H
#define PT_SHM_RECORD_H

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include "base/atomics.h"
#include "model/event.h"

enum pt_record_kind { PT_RECORD_EVENT, PT_RECORD_TIME, PT_RECORD_AUTHOR };

#define PT_RECORD_HEAD      16u
#define PT_RECORD_TRUNCATED (1u << 11)
#define PT_RECORD_ID_MASK   0x7ffu
/* Writers begin a new base beyond this; a bound that fits an instruction. */
#define PT_DELTA_MAX INT32_MAX

struct pt_record_author {
    struct pt_author author;
    uint64_t first_no; /* number of this author's next event, from 0 */
};
_Static_assert(sizeof(struct pt_record_author) == 56, "the same on 32-bit and 64-bit machines");

/* Most that one event can need: a TIME and an AUTHOR record before it. */
#define PT_RECORD_OVERHEAD \
    (PT_RECORD_HEAD + PT_RECORD_HEAD + (uint32_t)sizeof(struct pt_record_author))

static inline uint32_t pt_record_size(uint32_t len)
{
    return PT_RECORD_HEAD + ((len + 7u) & ~7u);
}

/* The largest record group of an event with len bytes of data. */
static inline uint32_t pt_record_max_size(uint32_t len)
{
    return PT_RECORD_OVERHEAD + pt_record_size(len);
}

static inline void pt_record_put_head(void *at, uint32_t kind, uint32_t id_flags, uint32_t len,
                                      uint32_t delta, uint64_t addr)
{
    struct {
        uint32_t what, delta;
        uint64_t addr;
    } head = { id_flags | kind << 12 | len << 16, delta, addr };

    __builtin_memcpy(at, &head, sizeof head);
}

struct pt_decoder {
    const uint8_t *p, *end;
    uint64_t base;
};

struct pt_record {
    uint32_t kind, id, len;
    bool truncated;
    uint64_t ts, addr;
    const uint8_t *data; /* AUTHOR: a struct pt_record_author, maybe unaligned */
};

/*
 * Decodes the next EVENT or AUTHOR record (TIME records are applied on the
 * way).  1: one stored; 0: end; -EBADMSG: bytes that no writer makes; the decoder then is at the
 * bad record.  Reads nothing outside [p, end).
 */
static inline int pt_decode_next(struct pt_decoder *d, struct pt_record *r)
{
    for (;;) {
        struct {
            uint32_t what, delta;
            uint64_t addr;
        } head;
        uint32_t len, size, kind;

        if (d->p == d->end)
            return 0;
        if (d->end - d->p < (ptrdiff_t)PT_RECORD_HEAD)
            return -EBADMSG;
        pt_copy_unchecked(&head, d->p, sizeof head);
        len = head.what >> 16;
        kind = head.what >> 12 & 15u;
        size = pt_record_size(len);
        if (d->end - d->p < (ptrdiff_t)size)
            return -EBADMSG;
        if (kind == PT_RECORD_TIME) {
            if (len != 0)
                return -EBADMSG;
            d->base = head.addr;
            d->p += size;
            continue;
        }
        if (kind > PT_RECORD_AUTHOR || len > PT_MAX_DATA ||
            (kind == PT_RECORD_AUTHOR && len != sizeof(struct pt_record_author)))
            return -EBADMSG;
        r->kind = kind;
        r->id = head.what & PT_RECORD_ID_MASK;
        r->truncated = (head.what & PT_RECORD_TRUNCATED) != 0;
        r->len = len;
        r->ts = d->base + head.delta;
        r->addr = head.addr;
        r->data = d->p + PT_RECORD_HEAD;
        d->p += size;
        return 1;
    }
}

#endif
