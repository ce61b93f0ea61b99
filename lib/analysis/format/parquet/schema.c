/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* The schema of a file, in its footer: one flat table. */
#include "analysis/format/parquet/file.h"

enum { REQUIRED = 0, OPTIONAL = 1 };
enum { CONVERTED_TEXT = 0, CONVERTED_UNSIGNED_8 = 11, CONVERTED_SIGNED_8 = 15 };
enum { LOGICAL_TEXT = 1, LOGICAL_TIME = 8, LOGICAL_INTEGER = 10, NANOSECONDS = 3 };
/* Fields of the format's structures. */
enum {
    ELEMENT_TYPE = 1,
    ELEMENT_REPETITION = 3,
    ELEMENT_NAME,
    ELEMENT_CHILDREN,
    ELEMENT_CONVERTED
};
enum { ELEMENT_LOGICAL = 10, FILE_SCHEMA = 2, FILE_ORDERS = 7, ORDER_OF_TYPE = 1 };

static int converted(const struct pt_parquet_column *c)
{
    int log = c->bits == 8 ? 0 : c->bits == 16 ? 1 : c->bits == 32 ? 2 : 3;

    return c->meaning == PT_PARQUET_TEXT     ? CONVERTED_TEXT
           : c->meaning == PT_PARQUET_SIGNED ? CONVERTED_SIGNED_8 + log
                                             : CONVERTED_UNSIGNED_8 + log;
}

static void put_integer(struct pt_thrift *t, const struct pt_parquet_column *c)
{
    pt_thrift_struct(t, LOGICAL_INTEGER);
    pt_thrift_byte(t, 1, (int8_t)c->bits);
    pt_thrift_bool(t, 2, c->meaning == PT_PARQUET_SIGNED);
    pt_thrift_end(t);
}

static void put_time(struct pt_thrift *t)
{
    pt_thrift_struct(t, LOGICAL_TIME);
    pt_thrift_bool(t, 1, true);
    pt_thrift_struct(t, 2);
    pt_thrift_struct(t, NANOSECONDS);
    pt_thrift_end(t);
    pt_thrift_end(t);
    pt_thrift_end(t);
}

static void put_text(struct pt_thrift *t)
{
    pt_thrift_struct(t, LOGICAL_TEXT);
    pt_thrift_end(t);
}

static void put_column(struct pt_thrift *t, const struct pt_parquet_column *c)
{
    pt_thrift_element(t);
    pt_thrift_i32(t, ELEMENT_TYPE, (int32_t)c->type);
    pt_thrift_i32(t, ELEMENT_REPETITION, c->optional ? OPTIONAL : REQUIRED);
    pt_thrift_binary(t, ELEMENT_NAME, c->name, strlen(c->name));
    if (c->meaning != PT_PARQUET_PLAIN) {
        if (c->meaning != PT_PARQUET_TIME)
            pt_thrift_i32(t, ELEMENT_CONVERTED, converted(c));
        pt_thrift_struct(t, ELEMENT_LOGICAL);
        if (c->meaning == PT_PARQUET_TEXT)
            put_text(t);
        else if (c->meaning == PT_PARQUET_TIME)
            put_time(t);
        else
            put_integer(t, c);
        pt_thrift_end(t);
    }
    pt_thrift_end(t);
}

void pt_parquet_put_schema(struct pt_thrift *t, const char *table,
                           struct pt_parquet_column *const *columns, size_t count)
{
    pt_thrift_list(t, FILE_SCHEMA, PT_THRIFT_STRUCT, count + 1);
    pt_thrift_element(t);
    pt_thrift_binary(t, ELEMENT_NAME, table, strlen(table));
    pt_thrift_i32(t, ELEMENT_CHILDREN, (int32_t)count);
    pt_thrift_end(t);
    for (size_t i = 0; i < count; i++)
        put_column(t, columns[i]);
}

void pt_parquet_put_orders(struct pt_thrift *t, size_t count)
{
    pt_thrift_list(t, FILE_ORDERS, PT_THRIFT_STRUCT, count);
    for (size_t i = 0; i < count; i++) {
        pt_thrift_element(t);
        pt_thrift_struct(t, ORDER_OF_TYPE);
        pt_thrift_end(t);
        pt_thrift_end(t);
    }
}
