/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * A column: the values of one row group, until they are written.  Values are little-endian, as in
 * the file; which rows have one is a list of row numbers, which the fields of one event type share.
 */
#ifndef PT_PARQUET_COLUMN_H
#define PT_PARQUET_COLUMN_H

#include "analysis/tables/bytes.h"
#include "analysis/tables/dictionary.h"

/* With the numbers of the format. */
enum pt_parquet_type {
    PT_PARQUET_BOOLEAN = 0,
    PT_PARQUET_INT32 = 1,
    PT_PARQUET_INT64 = 2,
    PT_PARQUET_FLOAT = 4,
    PT_PARQUET_DOUBLE = 5,
    PT_PARQUET_BYTES = 6
};

enum pt_parquet_meaning {
    PT_PARQUET_PLAIN,
    PT_PARQUET_TEXT,
    PT_PARQUET_TIME, /* ns since 1970, UTC */
    PT_PARQUET_SIGNED,
    PT_PARQUET_UNSIGNED
};

struct pt_parquet_column {
    char *name;
    enum pt_parquet_type type;
    enum pt_parquet_meaning meaning;
    unsigned bits; /* of integers */
    bool optional;
    bool one_text;   /* all rows have the only text of names, or none has a value */
    bool one_number; /* the same of the only element of values, which stays */
    /* Of rows with a value, uint32_t; NULL: all have one. */
    const struct pt_bytes *rows;
    /* Elements of 1 byte (BOOLEAN), 4 or 8; of BYTES the lengths, uint32_t; of names their
     * numbers, uint32_t. */
    struct pt_bytes values;
    struct pt_bytes text; /* of BYTES, one after the other */
    struct pt_texts names;
    bool has_names;
};

static inline bool pt_parquet_is_wide(const struct pt_parquet_column *c)
{
    return c->type == PT_PARQUET_INT64 || c->type == PT_PARQUET_DOUBLE;
}

static inline bool pt_parquet_is_integer(const struct pt_parquet_column *c)
{
    return c->type == PT_PARQUET_INT32 || c->type == PT_PARQUET_INT64;
}

/* Of one element in values. */
static inline size_t pt_parquet_element(const struct pt_parquet_column *c)
{
    return c->type == PT_PARQUET_BOOLEAN ? 1 : pt_parquet_is_wide(c) ? 8 : 4;
}

/* A text of a column with names. */
void pt_parquet_column_name(struct pt_parquet_column *c, const void *text, size_t length);
/* How many values are held, in a group of so many rows. */
size_t pt_parquet_column_count(const struct pt_parquet_column *c, size_t rows);
bool pt_parquet_column_failed(const struct pt_parquet_column *c);
void pt_parquet_column_clear(struct pt_parquet_column *c);
void pt_parquet_column_free(struct pt_parquet_column *c);

/* The least and the greatest of the values of a chunk, as the format has them. */
struct pt_parquet_range {
    bool known;
    const uint8_t *least, *greatest;
    size_t least_length, greatest_length;
    uint8_t room[16]; /* of numbers */
};

/* Of a column with count > 0 values.  names: of a column of BYTES that has a dictionary, or
 * NULL. */
void pt_parquet_column_range(const struct pt_parquet_column *c, size_t count,
                             const struct pt_texts *names, struct pt_parquet_range *r);

#endif
