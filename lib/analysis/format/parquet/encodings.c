/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* Encodings of Parquet; see encodings.h. */
#include "analysis/format/parquet/encodings.h"

enum { GROUPS = 63 };                                  /* whose number is one byte */
enum { BLOCK = 128, PARTS = 4, PART = BLOCK / PARTS }; /* of differences */

/* Packs count numbers of width bits, the first one lowest. */
static void pack(struct pt_bytes *to, const uint64_t *from, size_t count, unsigned width)
{
    uint8_t *at = pt_bytes_add(to, count * width / 8);
    uint64_t bits = 0;
    unsigned held = 0;

    for (size_t i = 0; at && i < count; i++) {
        uint64_t v = from[i];
        unsigned left = width;

        while (left > 0) {
            unsigned part = left < 32 ? left : 32;

            bits |= (v & (UINT64_MAX >> (64 - part))) << held;
            v >>= part - 1;
            v >>= 1;
            left -= part;
            for (held += part; held >= 8; held -= 8, bits >>= 8)
                *at++ = (uint8_t)bits;
        }
    }
}

static void put_group(struct pt_parquet_runs *r)
{
    uint64_t wide[8];

    if (r->groups == 0 || r->groups == GROUPS) {
        r->head = r->to->used;
        r->groups = 0;
        pt_parquet_put_number(r->to, 0, 1);
    }
    if (r->to->failed)
        return;
    r->groups++;
    r->to->at[r->head] = (uint8_t)(r->groups << 1 | 1);
    for (unsigned i = 0; i < 8; i++)
        wide[i] = r->pending[i];
    pack(r->to, wide, 8, r->width);
    r->count = 0;
}

static void close_run(struct pt_parquet_runs *r)
{
    if (r->run == 0)
        return;
    pt_parquet_put_varint(r->to, r->run << 1);
    pt_parquet_put_number(r->to, r->value, (r->width + 7) / 8);
    r->run = 0;
}

void pt_parquet_runs_put(struct pt_parquet_runs *r, uint32_t value, uint64_t count)
{
    for (; r->count > 0 && count > 0; count--) {
        r->pending[r->count++] = value;
        if (r->count == 8)
            put_group(r);
    }
    if (count == 0)
        return;
    if (r->run > 0 && r->value == value) {
        r->run += count;
        return;
    }
    close_run(r);
    if (count >= 8) {
        r->groups = 0;
        r->value = value;
        r->run = count;
        return;
    }
    while (count-- > 0)
        r->pending[r->count++] = value;
}

void pt_parquet_runs_end(struct pt_parquet_runs *r)
{
    close_run(r);
    if (r->count == 0)
        return;
    while (r->count < 8)
        r->pending[r->count++] = 0;
    put_group(r);
}

/* ---- differences ---- */

static unsigned bits_of(uint64_t v)
{
    return v ? 64 - (unsigned)__builtin_clzll(v) : 0;
}

/* The difference of value i to the one before; of 4 bytes it wraps round there. */
static int64_t step(const struct pt_bytes *values, size_t i, bool wide)
{
    if (wide)
        return (int64_t)(pt_parquet_get64(values, i) - pt_parquet_get64(values, i - 1));
    return (int32_t)(pt_parquet_get32(values, i) - pt_parquet_get32(values, i - 1));
}

static void put_block(struct pt_bytes *to, const int64_t *steps, size_t count)
{
    uint64_t from[BLOCK] = { 0 };
    uint8_t widths[PARTS] = { 0 };
    int64_t least = steps[0];

    for (size_t i = 1; i < count; i++)
        least = steps[i] < least ? steps[i] : least;
    for (size_t i = 0; i < count; i++)
        from[i] = (uint64_t)steps[i] - (uint64_t)least;
    for (size_t p = 0; p * PART < count; p++) {
        uint64_t all = 0;

        for (size_t i = 0; i < PART; i++)
            all |= from[p * PART + i];
        widths[p] = (uint8_t)bits_of(all);
    }
    pt_parquet_put_zigzag(to, least);
    pt_parquet_put(to, widths, sizeof widths);
    for (size_t p = 0; p * PART < count; p++)
        if (widths[p])
            pack(to, from + p * PART, PART, widths[p]);
}

void pt_parquet_put_delta(struct pt_bytes *to, const struct pt_bytes *values, size_t count,
                          bool wide)
{
    int64_t steps[BLOCK];
    size_t held = 0;

    pt_parquet_put_varint(to, BLOCK);
    pt_parquet_put_varint(to, PARTS);
    pt_parquet_put_varint(to, count);
    pt_parquet_put_zigzag(to, wide ? (int64_t)pt_parquet_get64(values, 0)
                                   : (int32_t)pt_parquet_get32(values, 0));
    for (size_t i = 1; i < count; i++) {
        steps[held++] = step(values, i, wide);
        if (held == BLOCK || i + 1 == count) {
            put_block(to, steps, held);
            held = 0;
        }
    }
}

void pt_parquet_put_bits(struct pt_bytes *to, const uint8_t *values, size_t count)
{
    uint8_t *at = pt_bytes_add(to, (count + 7) / 8);

    if (!at)
        return;
    memset(at, 0, (count + 7) / 8);
    for (size_t i = 0; i < count; i++)
        at[i / 8] |= (uint8_t)(values[i] << i % 8);
}
