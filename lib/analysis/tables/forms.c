/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See forms.h. */
#include <math.h>
#include <stdio.h>
#include "analysis/format/common/fields_text.h"
#include "analysis/tables/forms.h"
#include "text/number.h"

enum pt_form pt_form_of(const struct posixtrace_field *f)
{
    bool chars = f->kind == POSIXTRACE_FIELD_CHAR && f->array;

    if (f->kind == POSIXTRACE_FIELD_STRING || chars)
        return PT_FORM_STRING;
    if (f->kind == POSIXTRACE_FIELD_BYTES)
        return PT_FORM_BYTES;
    if (f->array)
        return PT_FORM_LIST;
    switch (f->kind) {
    case POSIXTRACE_FIELD_FLOAT: return PT_FORM_FLOAT;
    case POSIXTRACE_FIELD_BOOL: return PT_FORM_BOOL;
    case POSIXTRACE_FIELD_CHAR: return PT_FORM_CHAR;
    default: return f->enumerator_count ? PT_FORM_NAME : PT_FORM_NUMBER;
    }
}

bool pt_form_is_vague(const struct posixtrace_field *f)
{
    for (size_t i = 0; i < f->enumerator_count; i++)
        for (size_t j = 0; j < i; j++)
            if (strcmp(f->enumerators[i].name, f->enumerators[j].name) == 0)
                return true;
    return false;
}

bool pt_form_name(struct pt_texts *used, const char *event, const char *field,
                  struct pt_bytes *name)
{
    size_t length, before;
    char number[24];

    pt_parquet_put_text(name, event, strlen(event));
    pt_parquet_put(name, ".", 1);
    pt_parquet_put(name, field, strlen(field));
    length = name->used;
    for (unsigned n = 2; !name->failed; n++) {
        before = used->count;
        if (pt_texts_number(used, name->at, name->used) == UINT32_MAX)
            return false;
        if (used->count > before)
            return true;
        name->used = length;
        pt_parquet_put(name, number, (size_t)snprintf(number, sizeof number, "#%u", n));
    }
    return false;
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

static void put_bytes(struct pt_bytes *to, const struct posixtrace_value *v)
{
    uint8_t *at = pt_bytes_add(to, 2 * v->count);

    if (at && v->count)
        pt_number_bytes((char *)at, v->at, v->count);
}

/* Is the JSON of an array all that it has? */
static bool list_is_whole(const posixtrace_layout_t *layout, size_t i,
                          const struct posixtrace_value *v)
{
    const struct posixtrace_field *f = posixtrace_layout_field(layout, i);

    for (size_t n = 0; n < v->count; n++) {
        if (f->kind == POSIXTRACE_FIELD_FLOAT && !isfinite(posixtrace_value_float(layout, i, v, n)))
            return false;
        if (f->kind == POSIXTRACE_FIELD_BOOL && ((const uint8_t *)v->at)[n] > 1)
            return false;
    }
    return true;
}

static void put_list(struct pt_bytes *to, const posixtrace_layout_t *layout, size_t i,
                     const struct posixtrace_value *v)
{
    size_t size = pt_fields_write_value(layout, i, v, NULL, 0);
    uint8_t *at = pt_bytes_add(to, size + 1);

    if (at) {
        pt_fields_write_value(layout, i, v, (char *)at, size + 1);
        to->used--;
    }
}

bool pt_form_put(struct pt_bytes *to, enum pt_form form, const posixtrace_layout_t *layout,
                 size_t i, const struct posixtrace_value *v)
{
    switch (form) {
    case PT_FORM_BYTES: put_bytes(to, v); return true;
    case PT_FORM_LIST: put_list(to, layout, i, v); return list_is_whole(layout, i, v);
    default:
        return pt_parquet_put_text(to, v->at, v->count) &
               ends_with_zeros(posixtrace_layout_field(layout, i), v);
    }
}

const char *pt_form_value_name(const struct posixtrace_field *f, uint64_t v, char digits[40],
                               size_t *length)
{
    const char *name = posixtrace_field_enumerator(f, (int64_t)v);
    char *end;

    if (name) {
        *length = strlen(name);
        return name;
    }
    end = f->kind == POSIXTRACE_FIELD_SIGNED ? pt_number_i64(digits, (int64_t)v)
                                             : pt_number_u64(digits, v);
    *length = (size_t)(end - digits);
    return digits;
}
