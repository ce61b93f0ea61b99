/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* Bytes in memory that become more; see bytes.h. */
#include <stdlib.h>
#include "analysis/tables/bytes.h"
#include "text/number.h"
#include "text/utf8.h"

enum { FIRST = 256, KEPT = 4096 };

bool pt_bytes_grow(struct pt_bytes *b, size_t more)
{
    size_t room = b->room ? b->room : FIRST;
    uint8_t *at = NULL;

    while (room - b->used < more && room <= SIZE_MAX / 4)
        room *= 2;
    if (!b->failed && room - b->used >= more)
        at = realloc(b->at, room);
    b->failed = !at;
    if (!at)
        return false;
    b->at = at;
    b->room = room;
    return true;
}

void pt_bytes_clear(struct pt_bytes *b)
{
    if (b->room > KEPT && b->used < b->room / 4)
        pt_bytes_free(b);
    b->used = 0;
}

void pt_bytes_free(struct pt_bytes *b)
{
    free(b->at);
    b->at = NULL;
    b->used = b->room = 0;
}

void pt_parquet_put_varint(struct pt_bytes *b, uint64_t v)
{
    uint8_t bytes[10];
    size_t n = 0;

    for (; v >= 0x80; v >>= 7)
        bytes[n++] = (uint8_t)(v | 0x80);
    bytes[n++] = (uint8_t)v;
    pt_parquet_put(b, bytes, n);
}

void pt_parquet_put_zigzag(struct pt_bytes *b, int64_t v)
{
    pt_parquet_put_varint(b, (uint64_t)v << 1 ^ (v < 0 ? UINT64_MAX : 0));
}

void pt_parquet_put_number(struct pt_bytes *b, uint64_t v, unsigned size)
{
    uint8_t *to = pt_bytes_add(b, size);

    for (unsigned i = 0; to && i < size; i++)
        to[i] = (uint8_t)(v >> 8 * i);
}

bool pt_parquet_put_text(struct pt_bytes *b, const void *text, size_t length)
{
    const uint8_t *at = text;
    bool good = true;
    char digits[4] = { '\\', 'x' };

    while (length > 0) {
        size_t n = 0, one = 1;

        while (n < length && one > 0) {
            one = at[n] < 0x80 ? 1 : pt_utf8_length(at + n, length - n);
            n += one;
        }
        pt_parquet_put(b, at, n);
        at += n;
        length -= n;
        if (length > 0) {
            good = false;
            pt_number_bytes(digits + 2, at++, 1);
            length--;
            pt_parquet_put(b, digits, sizeof digits);
        }
    }
    return good;
}
