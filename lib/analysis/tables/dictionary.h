/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* Different values and their numbers, in the order of their first use: dictionaries of columns. */
#ifndef PT_PARQUET_DICTIONARY_H
#define PT_PARQUET_DICTIONARY_H

#include "analysis/tables/bytes.h"

enum { PT_PARQUET_ENTRIES = 1 << 14 }; /* of a dictionary at most, but for names */

/* Texts; zeroed: none. */
struct pt_texts {
    struct pt_bytes text;    /* as in a file: each after its length of 4 bytes */
    struct pt_bytes offsets; /* uint64_t: of each one */
    struct pt_bytes slots;   /* uint32_t: number + 1, by the hash; 0: free */
    size_t count;
};

/* The number of a text; one that is new is added.  UINT32_MAX: no memory. */
uint32_t pt_texts_number(struct pt_texts *t, const void *at, size_t length);
const uint8_t *pt_texts_get(const struct pt_texts *t, size_t i, size_t *length);
void pt_texts_clear(struct pt_texts *t);
void pt_texts_free(struct pt_texts *t);

/* Values of 4 or 8 bytes; zeroed: none. */
struct pt_parquet_numbers {
    struct pt_bytes values; /* as in a file */
    struct pt_bytes ids;    /* uint32_t: of each value of the column */
    struct pt_bytes keys;   /* uint64_t, in the places of slots */
    struct pt_bytes slots;
    size_t count;
};

/* Numbers all values of a column; false: too many are different, or no memory. */
bool pt_parquet_numbers_fill(struct pt_parquet_numbers *n, const struct pt_bytes *from,
                             size_t count, bool wide);
void pt_parquet_numbers_free(struct pt_parquet_numbers *n);

#endif
