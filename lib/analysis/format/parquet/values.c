/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* The values of an event in the columns of its type; see types.h. */
#include <math.h>
#include <stdlib.h>
#include "analysis/format/common/fields_text.h"
#include "analysis/format/parquet/types.h"
#include "text/number.h"

static void put_length(struct pt_parquet_types *t, struct pt_parquet_column *c, size_t before)
{
    size_t length = c->text.used - before;

    pt_parquet_put32(&c->values, (uint32_t)length);
    t->bytes += length;
}

/* As it is in the data: a NaN keeps its bits. */
static uint64_t float_bits(const struct pt_parquet_type_columns *c,
                           const struct posixtrace_field *f, const struct posixtrace_value *v)
{
    const uint8_t *at = v->at;
    unsigned size = f->bits / 8;
    uint64_t bits = 0;

    for (unsigned i = 0; i < size; i++)
        bits |= (uint64_t)at[c->big_endian ? size - 1 - i : i] << 8 * i;
    return bits;
}

static void put_number(struct pt_parquet_column *c, uint64_t v)
{
    if (pt_parquet_is_wide(c))
        pt_parquet_put64(&c->values, v);
    else
        pt_parquet_put32(&c->values, (uint32_t)v);
}

/* A string of fixed length ends before its first zero byte: those that follow must be zero. */
static bool ends_with_zeros(const struct posixtrace_field *f, const struct posixtrace_value *v)
{
    const uint8_t *at = v->at;

    if (f->kind != POSIXTRACE_FIELD_STRING || f->count_bits)
        return true;
    for (size_t i = v->count; i < f->count; i++)
        if (at[i] != 0)
            return false;
    return true;
}

static bool put_string(struct pt_parquet_types *t, const struct pt_parquet_field *f,
                       const struct posixtrace_value *v)
{
    size_t before = f->column->text.used;
    bool whole = pt_parquet_put_text(&f->column->text, v->at, v->count);

    put_length(t, f->column, before);
    return whole && ends_with_zeros(f->field, v);
}

static void put_name(const struct pt_parquet_field *f, uint64_t v)
{
    const char *name = posixtrace_field_enumerator(f->field, (int64_t)v);
    char digits[PT_NUMBER_MAX], *end;

    if (name) {
        pt_parquet_column_name(f->column, name, strlen(name));
        return;
    }
    end = f->field->kind == POSIXTRACE_FIELD_SIGNED ? pt_number_i64(digits, (int64_t)v)
                                                    : pt_number_u64(digits, v);
    pt_parquet_column_name(f->column, digits, (size_t)(end - digits));
}

static void put_bytes(struct pt_parquet_types *t, struct pt_parquet_column *c,
                      const struct posixtrace_value *v)
{
    size_t before = c->text.used;
    uint8_t *to = pt_parquet_bytes_add(&c->text, 2 * v->count);

    if (to && v->count)
        pt_number_bytes((char *)to, v->at, v->count);
    put_length(t, c, before);
}

/* Is the JSON of an array all that it has? */
static bool list_is_whole(const struct pt_parquet_type_columns *c, size_t i,
                          const struct posixtrace_value *v)
{
    int kind = c->fields[i].field->kind;

    for (size_t n = 0; n < v->count; n++) {
        if (kind == POSIXTRACE_FIELD_FLOAT && !isfinite(posixtrace_value_float(c->layout, i, v, n)))
            return false;
        if (kind == POSIXTRACE_FIELD_BOOL && ((const uint8_t *)v->at)[n] > 1)
            return false;
    }
    return !c->fields[i].vague;
}

static bool put_list(struct pt_parquet_types *t, const struct pt_parquet_type_columns *c, size_t i,
                     const struct posixtrace_value *v)
{
    struct pt_parquet_column *column = c->fields[i].column;
    size_t size = pt_fields_write_value(c->layout, i, v, NULL, 0), before = column->text.used;
    uint8_t *to = pt_parquet_bytes_add(&column->text, size + 1);

    if (to) {
        pt_fields_write_value(c->layout, i, v, (char *)to, size + 1);
        column->text.used--;
    }
    put_length(t, column, before);
    return list_is_whole(c, i, v);
}

/* True: the column has all of the field. */
static bool put_field(struct pt_parquet_types *t, const struct pt_parquet_type_columns *c, size_t i,
                      const struct posixtrace_value *v)
{
    const struct pt_parquet_field *f = &c->fields[i];
    uint8_t byte;

    switch (f->form) {
    case PT_PARQUET_FORM_NUMBER:
        put_number(f->column, posixtrace_value_integer(c->layout, i, v, 0));
        return true;
    case PT_PARQUET_FORM_FLOAT: put_number(f->column, float_bits(c, f->field, v)); return true;
    case PT_PARQUET_FORM_BOOL:
        byte = posixtrace_value_integer(c->layout, i, v, 0) != 0;
        pt_parquet_put(&f->column->values, &byte, 1);
        return *(const uint8_t *)v->at <= 1;
    case PT_PARQUET_FORM_NAME:
        put_name(f, posixtrace_value_integer(c->layout, i, v, 0));
        return !f->vague;
    case PT_PARQUET_FORM_CHAR:
    case PT_PARQUET_FORM_STRING: return put_string(t, f, v);
    case PT_PARQUET_FORM_BYTES: put_bytes(t, f->column, v); return true;
    default: return put_list(t, c, i, v);
    }
}

bool pt_parquet_types_put(struct pt_parquet_types *t, const struct posixtrace_event *e,
                          uint32_t row)
{
    struct posixtrace_value values[POSIXTRACE_FIELDS_MAX];
    struct pt_parquet_type_columns *c;
    bool whole;
    size_t count;

    if (e->id >= PT_PARQUET_TYPES)
        return false;
    c = t->types[e->id];
    if (!c)
        c = pt_parquet_types_describe(t, e);
    if (!c) {
        pt_parquet_file_no_memory(t->file);
        return false;
    }
    if (!c->layout || posixtrace_layout_split(c->layout, e->data, e->data_len, values, &count) != 0)
        return false;
    whole = c->whole;
    pt_parquet_put32(&c->rows, row);
    for (size_t i = 0; i < c->count; i++)
        whole &= put_field(t, c, i, &values[i]);
    return whole;
}

void pt_parquet_types_clear(struct pt_parquet_types *t)
{
    for (size_t i = 0; i < PT_PARQUET_TYPES; i++)
        if (t->types[i])
            pt_parquet_bytes_clear(&t->types[i]->rows);
    t->bytes = 0;
}

void pt_parquet_types_free(struct pt_parquet_types *t)
{
    for (size_t i = 0; i < PT_PARQUET_TYPES; i++) {
        if (!t->types[i])
            continue;
        free(t->types[i]->fields);
        pt_parquet_bytes_free(&t->types[i]->rows);
        free(t->types[i]);
    }
    pt_parquet_texts_free(&t->used);
}
