/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Bytes in memory that become more.  Where there is no memory, failed is set, and all that is
 * added later is left out: the writer of a row group checks once.
 */
#ifndef PT_PARQUET_BYTES_H
#define PT_PARQUET_BYTES_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct pt_bytes {
    uint8_t *at;
    size_t used, room;
    bool failed;
};

bool pt_bytes_grow(struct pt_bytes *b, size_t more);
/* Nothing is in use; memory that was hardly used is given back, so that all columns together have
 * a bound. */
void pt_bytes_clear(struct pt_bytes *b);
void pt_bytes_free(struct pt_bytes *b);

/* So many more bytes, to be stored there; NULL: no memory. */
static inline uint8_t *pt_bytes_add(struct pt_bytes *b, size_t size)
{
    uint8_t *to;

    if (size >= b->room - b->used && !pt_bytes_grow(b, size))
        return NULL;
    to = b->at + b->used;
    b->used += size;
    return to;
}

static inline void pt_parquet_put(struct pt_bytes *b, const void *from, size_t size)
{
    uint8_t *to = pt_bytes_add(b, size);

    if (to && size)
        memcpy(to, from, size);
}

/* Numbers are little-endian, in a file and in columns in memory. */
static inline void pt_parquet_put32(struct pt_bytes *b, uint32_t v)
{
    uint8_t *to = pt_bytes_add(b, sizeof v);

    v = htole32(v);
    if (to)
        memcpy(to, &v, sizeof v);
}

static inline void pt_parquet_put64(struct pt_bytes *b, uint64_t v)
{
    uint8_t *to = pt_bytes_add(b, sizeof v);

    v = htole64(v);
    if (to)
        memcpy(to, &v, sizeof v);
}

/* Element i of an array of such numbers. */
static inline uint32_t pt_parquet_get32(const struct pt_bytes *b, size_t i)
{
    uint32_t v;

    memcpy(&v, b->at + i * sizeof v, sizeof v);
    return le32toh(v);
}

static inline uint64_t pt_parquet_get64(const struct pt_bytes *b, size_t i)
{
    uint64_t v;

    memcpy(&v, b->at + i * sizeof v, sizeof v);
    return le64toh(v);
}

static inline void pt_parquet_set32(struct pt_bytes *b, size_t i, uint32_t v)
{
    v = htole32(v);
    memcpy(b->at + i * sizeof v, &v, sizeof v);
}

static inline void pt_parquet_set64(struct pt_bytes *b, size_t i, uint64_t v)
{
    v = htole64(v);
    memcpy(b->at + i * sizeof v, &v, sizeof v);
}

void pt_parquet_put_varint(struct pt_bytes *b, uint64_t v);
void pt_parquet_put_zigzag(struct pt_bytes *b, int64_t v);
/* The low size bytes of a number. */
void pt_parquet_put_number(struct pt_bytes *b, uint64_t v, unsigned size);
/* As UTF-8: a byte that is not becomes \xNN.  False: there was one. */
bool pt_parquet_put_text(struct pt_bytes *b, const void *text, size_t length);

#endif
