/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See protobuf.h. */
#include <stdlib.h>
#include "analysis/format/perfetto/protobuf.h"
#include "text/utf8.h"

bool pt_pb_init(struct pt_pb *p, size_t size)
{
    p->failed = false;
    p->from = p->at = malloc(size);
    p->end = p->from ? p->from + size : NULL;
    return p->from != NULL;
}

void pt_pb_deinit(struct pt_pb *p)
{
    free(p->from);
    p->from = p->at = p->end = NULL;
}

/* After a failure scalars still overwrite the bytes in the buffer, never beyond its end. */
void pt_pb_grow(struct pt_pb *p, size_t bytes)
{
    size_t used = pt_pb_used(p), size = (size_t)(p->end - p->from);
    uint8_t *to = NULL;

    while (size - used < bytes && size <= SIZE_MAX / 2)
        size *= 2;
    if (!p->failed && size - used >= bytes)
        to = realloc(p->from, size);
    if (!to) {
        p->failed = true;
        p->at = p->from;
        return;
    }
    p->from = to;
    p->at = to + used;
    p->end = to + size;
}

void pt_pb_close_long(struct pt_pb *p, size_t mark)
{
    size_t length = pt_pb_used(p) - mark, extra = 0;

    for (size_t rest = length >> 7; rest; rest >>= 7)
        extra++;
    if (!p->failed)
        pt_pb_need(p, extra);
    if (p->failed)
        return;
    pt_assert(length >= 0x80 && p->at + extra <= p->end);
    memmove(p->from + mark + extra, p->from + mark, length);
    pt_pb_raw_varint(p->from + mark - 1, length);
    p->at += extra;
}

void pt_pb_put(struct pt_pb *p, const void *bytes, size_t length)
{
    if (!p->failed)
        pt_pb_need(p, length);
    if (p->failed || length == 0)
        return;
    pt_assert(length <= (size_t)(p->end - p->at));
    memcpy(p->at, bytes, length);
    p->at += length;
}

void pt_pb_bytes(struct pt_pb *p, uint32_t field, const void *bytes, size_t length)
{
    size_t mark = pt_pb_open(p, field);

    pt_pb_put(p, bytes, length);
    pt_pb_close(p, mark);
}

void pt_pb_string(struct pt_pb *p, uint32_t field, const void *bytes, size_t length)
{
    size_t mark = pt_pb_open(p, field), good = 0;
    const uint8_t *from = bytes;

    while (length - good) {
        size_t n = pt_utf8_length(from + good, length - good);
        uint8_t byte = from[good];

        if (n) {
            good += n;
            continue;
        }
        pt_pb_put(p, from, good);
        pt_pb_put(p, (const uint8_t[]){ (uint8_t)(0xc0 | byte >> 6), 0x80 | (byte & 0x3f) }, 2);
        from += good + 1;
        length -= good + 1;
        good = 0;
    }
    pt_pb_put(p, from, good);
    pt_pb_close(p, mark);
}

void pt_pb_hex(struct pt_pb *p, uint32_t field, const void *bytes, size_t length)
{
    size_t mark = pt_pb_open(p, field);
    const uint8_t *from = bytes;

    pt_pb_need(p, 2 * length);
    for (size_t i = 0; i < length && !p->failed; i++) {
        *p->at++ = (uint8_t) "0123456789abcdef"[from[i] >> 4];
        *p->at++ = (uint8_t) "0123456789abcdef"[from[i] & 15];
    }
    pt_pb_close(p, mark);
}
