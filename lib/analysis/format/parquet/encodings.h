/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Encodings of Parquet, by the published format: runs and bit-packed groups of small numbers
 * (RLE), and integers as differences (DELTA_BINARY_PACKED).
 */
#ifndef PT_PARQUET_ENCODINGS_H
#define PT_PARQUET_ENCODINGS_H

#include "analysis/tables/bytes.h"

/* Numbers as runs, and in groups of eight with the same number of bits each.  Zeroed but for to
 * and width. */
struct pt_parquet_runs {
    struct pt_bytes *to;
    unsigned width; /* bits, 1 to 32 */
    uint32_t value; /* of the open run */
    uint64_t run;   /* its length, or 0 */
    uint32_t pending[8];
    unsigned count; /* of pending */
    size_t head;    /* of the open groups, in to */
    unsigned groups;
};

void pt_parquet_runs_put(struct pt_parquet_runs *r, uint32_t value, uint64_t count);
void pt_parquet_runs_end(struct pt_parquet_runs *r);

/* Integers of 4 or 8 bytes as differences. */
void pt_parquet_put_delta(struct pt_bytes *to, const struct pt_bytes *values, size_t count,
                          bool wide);
/* Bytes of 0 or 1 as bits. */
void pt_parquet_put_bits(struct pt_bytes *to, const uint8_t *values, size_t count);

#endif
