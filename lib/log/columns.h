/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The records of a packet by column: what records of one type have in the same place stands
 * together, so that it takes few bytes, and fewer when it is compressed.  columns.c and column.c
 * write, columns_read.c reads; docs/log-format.md has the form.
 *
 * Records of one class have the same low half of their first word: id, truncated, kind.  Columns
 * are the class and the time of each record; of each class the length of the data, unless all are
 * equal, and each 4-byte word from the program address on that all its records have, up to
 * PT_COLUMNS_WORDS.  The rest of the data follows as it is.  So no description of the data is
 * needed: the halves of a 64-bit number are two columns, and the upper one is nearly always
 * constant.
 *
 * A column is u32 values v, written as n numbers x of k bytes, 0 to 4, in k planes, the lowest
 * bytes first: x = v - base, or x = v - base - (the value before, 0 before the first).  Where x has
 * more than k bytes, it stands in a list of exceptions.
 *
 * Reading gives the same records, bit for bit, but for the bytes that pad data to 8: they become 0.
 */
#ifndef PT_LOG_COLUMNS_H
#define PT_LOG_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    PT_COLUMNS_CLASSES = 64, /* of a packet; with more it stays as rows */
    PT_COLUMNS_WORDS = 34,   /* of a class: the address, and 128 bytes of data */
    PT_COLUMNS_DELTA = 16,   /* added to the mode of a column, which is k */
    PT_COLUMNS_RECORDS = 65535
};
#define PT_COLUMNS_VARIABLE 0xffffffffu

/* Stored little-endian, without padding. */
struct pt_columns_head {
    uint32_t records; /* with those of time */
    uint32_t classes;
};

struct pt_columns_class {
    uint32_t low; /* half of the first word of its records */
    uint32_t records;
    uint32_t length; /* of the data; PT_COLUMNS_VARIABLE: a column */
    uint32_t words;  /* columns of them */
};

struct pt_column_head {
    uint16_t mode;
    uint16_t exceptions; /* after the planes their places, u16, and then their x, u32 */
    uint32_t base;
};

/* Memory that is used again; all zeros at first, one user at a time. */
struct pt_columns {
    uint8_t *memory;
    size_t room;
};

/* Writes at most room bytes to `to`: how many, 0: it would not fit, or the records are none that
 * can be written so, or there is no memory.  Records are little-endian. */
uint32_t pt_columns_write(struct pt_columns *c, const void *records, uint32_t bytes, void *to,
                          uint32_t room);
/* Makes exactly so many bytes of records from size bytes.  0; -EBADMSG; -ENOMEM. */
int pt_columns_read(struct pt_columns *c, const void *from, uint32_t size, void *records,
                    uint32_t bytes);
void pt_columns_deinit(struct pt_columns *c);

/* Writes a column of n > 0 numbers to at; where it ends, NULL: it would not fit before end.  Before
 * the first number is a 0.  differ: they are not all the same. */
uint8_t *pt_column_write(uint8_t *at, const uint8_t *end, const uint32_t *v, uint32_t n,
                         bool differ);

/* Of a class in the sequence of records: 0, 1, 2, 4 or 8. */
static inline unsigned pt_columns_bits(uint32_t classes)
{
    return classes <= 1 ? 0 : classes <= 2 ? 1 : classes <= 4 ? 2 : classes <= 16 ? 4 : 8;
}

#endif
