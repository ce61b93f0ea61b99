/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * A writer of protocol buffers: fields one after the other into memory that grows.  The
 * length of a message within another is put before it when it is closed; one byte is kept
 * free for it, and longer messages are moved, so that the output is the one shortest
 * form.
 *
 * Where memory runs out, failed is set and later bytes mean nothing: check it before the
 * bytes are used, not after each call.
 */
#ifndef PT_FORMAT_PROTOBUF_H
#define PT_FORMAT_PROTOBUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include "base/assert.h"

enum { PT_PB_VARINT = 0, PT_PB_FIXED64 = 1, PT_PB_BYTES = 2 };

#define PT_PB_LEAST  256u /* the memory that there always is */
#define PT_PB_SCALAR 20u  /* the most that a tag and a number take */

struct pt_pb {
    uint8_t *from, *at, *end;
    bool failed;
};

bool pt_pb_init(struct pt_pb *p, size_t size); /* size at least PT_PB_LEAST */
void pt_pb_deinit(struct pt_pb *p);
void pt_pb_grow(struct pt_pb *p, size_t bytes); /* room for so many more, or failed */

static inline void pt_pb_need(struct pt_pb *p, size_t bytes)
{
    pt_assert(p->from <= p->at && p->at <= p->end);
    if ((size_t)(p->end - p->at) < bytes)
        pt_pb_grow(p, bytes);
}

static inline size_t pt_pb_used(const struct pt_pb *p)
{
    return (size_t)(p->at - p->from);
}

/* Room is there. */
static inline uint8_t *pt_pb_raw_varint(uint8_t *at, uint64_t v)
{
    while (v >= 0x80) {
        *at++ = (uint8_t)(v | 0x80);
        v >>= 7;
    }
    *at++ = (uint8_t)v;
    return at;
}

static inline uint8_t *pt_pb_raw_tag(uint8_t *at, uint32_t field, unsigned wire)
{
    return pt_pb_raw_varint(at, (uint64_t)field << 3 | wire);
}

/* Fields of types uint32, uint64, bool, enum; and int32, int64, cast. */
static inline void pt_pb_uint(struct pt_pb *p, uint32_t field, uint64_t v)
{
    pt_pb_need(p, PT_PB_SCALAR);
    p->at = pt_pb_raw_varint(pt_pb_raw_tag(p->at, field, PT_PB_VARINT), v);
}

static inline void pt_pb_fixed64(struct pt_pb *p, uint32_t field, uint64_t v)
{
    pt_pb_need(p, PT_PB_SCALAR);
    p->at = pt_pb_raw_tag(p->at, field, PT_PB_FIXED64);
    for (unsigned i = 0; i < 8; i++)
        *p->at++ = (uint8_t)(v >> 8 * i);
}

static inline void pt_pb_double(struct pt_pb *p, uint32_t field, double d)
{
    uint64_t v;

    memcpy(&v, &d, sizeof v);
    pt_pb_fixed64(p, field, v);
}

/* Begins a message, or bytes that pt_pb_put() adds; the result is the argument for its end. */
static inline size_t pt_pb_open(struct pt_pb *p, uint32_t field)
{
    pt_pb_need(p, PT_PB_SCALAR);
    p->at = pt_pb_raw_tag(p->at, field, PT_PB_BYTES) + 1;
    return pt_pb_used(p);
}

void pt_pb_close_long(struct pt_pb *p, size_t mark);

static inline void pt_pb_close(struct pt_pb *p, size_t mark)
{
    size_t length = pt_pb_used(p) - mark;

    pt_assert_call(p->failed || (mark > 0 && mark <= pt_pb_used(p)));
    if (length < 0x80 && !p->failed)
        p->from[mark - 1] = (uint8_t)length;
    else
        pt_pb_close_long(p, mark);
}

void pt_pb_put(struct pt_pb *p, const void *bytes, size_t length);
void pt_pb_bytes(struct pt_pb *p, uint32_t field, const void *bytes, size_t length);
/* As text: a byte that is not UTF-8 becomes the character of that number. */
void pt_pb_string(struct pt_pb *p, uint32_t field, const void *bytes, size_t length);
/* Two hexadecimal digits a byte. */
void pt_pb_hex(struct pt_pb *p, uint32_t field, const void *bytes, size_t length);

#endif
