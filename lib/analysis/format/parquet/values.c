/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* The values of an event in the columns of its type; see types.h. */
#include <stdlib.h>
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

static void put_name(const struct pt_parquet_field *f, uint64_t v)
{
    char digits[PT_NUMBER_MAX];
    size_t length;
    const char *name = pt_form_value_name(f->field, v, digits, &length);

    pt_parquet_column_name(f->column, name, length);
}

static bool put_text(struct pt_parquet_types *t, const struct pt_parquet_type_columns *c, size_t i,
                     const struct posixtrace_value *v)
{
    struct pt_parquet_column *column = c->fields[i].column;
    size_t before = column->text.used;
    bool whole = pt_form_put(&column->text, c->fields[i].form, c->layout, i, v);

    put_length(t, column, before);
    return whole && !c->fields[i].vague;
}

/* True: the column has all of the field. */
static bool put_field(struct pt_parquet_types *t, const struct pt_parquet_type_columns *c, size_t i,
                      const struct posixtrace_value *v)
{
    const struct pt_parquet_field *f = &c->fields[i];
    uint8_t byte;

    switch (f->form) {
    case PT_FORM_NUMBER:
        put_number(f->column, posixtrace_value_integer(c->layout, i, v, 0));
        return true;
    case PT_FORM_FLOAT: put_number(f->column, float_bits(c, f->field, v)); return true;
    case PT_FORM_BOOL:
        byte = posixtrace_value_integer(c->layout, i, v, 0) != 0;
        pt_parquet_put(&f->column->values, &byte, 1);
        return *(const uint8_t *)v->at <= 1;
    case PT_FORM_NAME: put_name(f, posixtrace_value_integer(c->layout, i, v, 0)); return !f->vague;
    default: return put_text(t, c, i, v);
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
            pt_bytes_clear(&t->types[i]->rows);
    t->bytes = 0;
}

void pt_parquet_types_free(struct pt_parquet_types *t)
{
    for (size_t i = 0; i < PT_PARQUET_TYPES; i++) {
        if (!t->types[i])
            continue;
        free(t->types[i]->fields);
        pt_bytes_free(&t->types[i]->rows);
        free(t->types[i]);
    }
    pt_texts_free(&t->used);
}
