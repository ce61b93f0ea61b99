/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* Thrift's compact protocol; see thrift.h. */
#include "analysis/format/parquet/thrift.h"

static void head(struct pt_thrift *t, int field, enum pt_thrift_type type)
{
    int step = field - t->last[t->depth];

    t->last[t->depth] = field;
    if (step > 0 && step < 16) {
        pt_parquet_put_number(t->to, (uint64_t)step << 4 | (uint64_t)type, 1);
        return;
    }
    pt_parquet_put_number(t->to, (uint64_t)type, 1);
    pt_parquet_put_zigzag(t->to, field);
}

void pt_thrift_bool(struct pt_thrift *t, int field, bool v)
{
    head(t, field, v ? PT_THRIFT_TRUE : PT_THRIFT_FALSE);
}

void pt_thrift_byte(struct pt_thrift *t, int field, int8_t v)
{
    head(t, field, PT_THRIFT_BYTE);
    pt_parquet_put(t->to, &v, 1);
}

void pt_thrift_i32(struct pt_thrift *t, int field, int32_t v)
{
    head(t, field, PT_THRIFT_I32);
    pt_parquet_put_zigzag(t->to, v);
}

void pt_thrift_i64(struct pt_thrift *t, int field, int64_t v)
{
    head(t, field, PT_THRIFT_I64);
    pt_parquet_put_zigzag(t->to, v);
}

void pt_thrift_text(struct pt_thrift *t, const void *at, size_t length)
{
    pt_parquet_put_varint(t->to, length);
    pt_parquet_put(t->to, at, length);
}

void pt_thrift_binary(struct pt_thrift *t, int field, const void *at, size_t length)
{
    head(t, field, PT_THRIFT_BINARY);
    pt_thrift_text(t, at, length);
}

void pt_thrift_list(struct pt_thrift *t, int field, enum pt_thrift_type type, size_t count)
{
    head(t, field, PT_THRIFT_LIST);
    if (count < 15) {
        pt_parquet_put_number(t->to, count << 4 | type, 1);
        return;
    }
    pt_parquet_put_number(t->to, 0xf0u | type, 1);
    pt_parquet_put_varint(t->to, count);
}

void pt_thrift_element(struct pt_thrift *t)
{
    t->last[++t->depth] = 0;
}

void pt_thrift_struct(struct pt_thrift *t, int field)
{
    head(t, field, PT_THRIFT_STRUCT);
    pt_thrift_element(t);
}

void pt_thrift_end(struct pt_thrift *t)
{
    pt_parquet_put_number(t->to, 0, 1);
    if (t->depth > 0)
        t->depth--;
}
