/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Columns that are opened: everything of them is checked, and the class, time and length of each
 * record are arrays.  columns_read.c makes records of them, cells.c events.
 */
#ifndef PT_LOG_COLUMNS_VIEW_H
#define PT_LOG_COLUMNS_VIEW_H

#include "log/columns.h"

struct pt_columns_part {
    uint32_t low, records, first, length, words; /* first: of its places */
    const uint8_t *at;                           /* its columns, and then the rest of the data */
};

/* The arrays are memory of struct pt_columns, the input must stay. */
struct pt_columns_view {
    const uint8_t *at, *end; /* the input */
    uint32_t bytes, count, class_count;
    uint8_t *sequence;        /* class of each record */
    uint32_t *time;           /* of each record */
    uint32_t *length;         /* of the data, by class */
    uint32_t *value, *second; /* for one column each */
    struct pt_columns_part classes[PT_COLUMNS_CLASSES];
};

/* bytes: of the records that they give.  0; -EBADMSG; -ENOMEM. */
int pt_columns_open(struct pt_columns *c, struct pt_columns_view *v, const void *from,
                    uint32_t size, uint32_t bytes);

/* Of a class, in their order: its columns of words, and then the bytes of its other data. */
void pt_columns_word(const uint8_t **at, uint32_t records, uint32_t *value);
/* True: all numbers of the next column are *value, and it was passed. */
bool pt_columns_constant(const uint8_t **at, uint32_t *value);

static inline uint32_t pt_columns_rest(const struct pt_columns_part *c, uint32_t length)
{
    uint32_t from = 4 * (c->words - 2);

    return length > from ? length - from : 0;
}

#endif
