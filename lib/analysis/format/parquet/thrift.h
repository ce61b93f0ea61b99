/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Thrift's compact protocol, what metadata of Parquet takes of it: structures, lists, integers,
 * booleans and strings.  Fields are written in ascending order of their numbers.
 */
#ifndef PT_PARQUET_THRIFT_H
#define PT_PARQUET_THRIFT_H

#include "analysis/tables/bytes.h"

enum pt_thrift_type {
    PT_THRIFT_TRUE = 1,
    PT_THRIFT_FALSE = 2,
    PT_THRIFT_BYTE = 3,
    PT_THRIFT_I32 = 5,
    PT_THRIFT_I64 = 6,
    PT_THRIFT_BINARY = 8,
    PT_THRIFT_LIST = 9,
    PT_THRIFT_STRUCT = 12
};

enum { PT_THRIFT_DEPTH = 8 };

/* Zeroed but for to: within a structure. */
struct pt_thrift {
    struct pt_bytes *to;
    unsigned depth;
    int last[PT_THRIFT_DEPTH]; /* the field before, of the structures that are open */
};

void pt_thrift_bool(struct pt_thrift *t, int field, bool v);
void pt_thrift_byte(struct pt_thrift *t, int field, int8_t v);
void pt_thrift_i32(struct pt_thrift *t, int field, int32_t v);
void pt_thrift_i64(struct pt_thrift *t, int field, int64_t v);
void pt_thrift_binary(struct pt_thrift *t, int field, const void *at, size_t length);
/* A list of so many, which follow: structures each with pt_thrift_element(), others by
 * pt_parquet_put_zigzag() or pt_thrift_text(). */
void pt_thrift_list(struct pt_thrift *t, int field, enum pt_thrift_type type, size_t count);
void pt_thrift_text(struct pt_thrift *t, const void *at, size_t length);
/* A structure as a field, or as the element of a list; and its end. */
void pt_thrift_struct(struct pt_thrift *t, int field);
void pt_thrift_element(struct pt_thrift *t);
void pt_thrift_end(struct pt_thrift *t);

#endif
