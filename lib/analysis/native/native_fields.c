/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Columns of fields.  Numbers have the widest type of their sort, so that a field that becomes
 * wider in a later release of a program keeps its column.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "analysis/native/native_state.h"
#include "text/hash.h"
#include "text/number.h"
#include "text/utf8.h"

static struct pt_native_type *new_type(posixtrace_native_t *n, trace_event_id_t id)
{
    struct pt_native_type *t = calloc(1, sizeof *t);

    if (!t)
        n->failed = true;
    n->types[id] = t;
    return t;
}

struct pt_native_type *pt_native_type(posixtrace_native_t *n, trace_event_id_t id)
{
    if (id >= PT_NATIVE_TYPES)
        return NULL;
    return n->types[id] ? n->types[id] : new_type(n, id);
}

static unsigned size_of(const struct posixtrace_field *f, enum pt_form form, const char **type)
{
    bool wide = f->kind != POSIXTRACE_FIELD_SIGNED && f->bits == 64;

    switch (form) {
    case PT_FORM_NUMBER: *type = wide ? "Nullable(UInt64)" : "Nullable(Int64)"; return 8;
    case PT_FORM_FLOAT: *type = "Nullable(Float64)"; return 8;
    case PT_FORM_BOOL: *type = "Nullable(UInt8)"; return 1;
    default: *type = "Nullable(String)"; return 0;
    }
}

/* What the character becomes in the name of a file. */
static size_t size_in_file(uint8_t c)
{
    bool word = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');

    return word || c == '_' ? 1 : 3;
}

/* A name that is too long for a file ends with ~ and the hash of all of it. */
static void shorten(struct pt_bytes *name)
{
    static const size_t hashed = 3 + 16, suffix = 12;
    size_t size = 0, kept = 0;
    char digits[16 + 1];
    uint64_t hash;

    for (size_t i = 0, one; i < name->used && !name->failed; i += one) {
        one = pt_utf8_length(name->at + i, name->used - i);
        one = one ? one : 1;
        for (size_t k = 0; k < one; k++)
            size += size_in_file(name->at[i + k]);
        if (size + hashed + suffix <= POSIXTRACE_NATIVE_NAME_MAX)
            kept = i + one;
    }
    if (size + suffix <= POSIXTRACE_NATIVE_NAME_MAX || name->failed)
        return;
    hash = pt_hash_bytes(PT_HASH_START, name->at, name->used);
    snprintf(digits, sizeof digits, "%016llx", (unsigned long long)hash);
    name->used = kept;
    pt_parquet_put(name, "~", 1);
    pt_parquet_put(name, digits, 16);
}

static bool add_field(posixtrace_native_t *n, struct pt_native_type *t, const char *event, size_t i)
{
    struct pt_native_field *f = &t->fields[i];
    struct pt_bytes name = { .at = NULL };
    const char *type;
    unsigned size;

    f->field = posixtrace_layout_field(t->layout, i);
    f->form = pt_form_of(f->field);
    f->vague = pt_form_is_vague(f->field);
    size = size_of(f->field, f->form, &type);
    if (pt_form_name(&n->used, event, f->field->name, &name)) {
        shorten(&name);
        pt_parquet_put(&name, "", 1);
        if (!name.failed)
            f->column = pt_native_add_column(n, (const char *)name.at, type, size, true);
    }
    pt_bytes_free(&name);
    if (f->column)
        f->column->about.is_field = true;
    return f->column;
}

static int describe(posixtrace_native_t *n, trace_event_id_t id, const char *name)
{
    struct pt_native_type *t = pt_native_type(n, id);
    size_t before = n->count - PT_NATIVE_FIRST - POSIXTRACE_EVENTS_COLUMNS, count;
    size_t most = n->options.fields ? n->options.fields : PT_NATIVE_FIELDS;

    if (!t)
        return n->failed ? ENOMEM : 0;
    t->layout = posixtrace_fields_layout(n->fields, id);
    if (!t->layout)
        return 0;
    count = posixtrace_layout_count(t->layout);
    t->whole = before + count <= most;
    t->count = t->whole ? count : before < most ? most - before : 0;
    n->left_out += count - t->count;
    t->fields = calloc(t->count + 1, sizeof *t->fields);
    if (!t->fields)
        return ENOMEM;
    for (size_t i = 0; i < t->count; i++)
        if (!add_field(n, t, name, i))
            return ENOMEM;
    return 0;
}

int pt_native_find_fields(posixtrace_native_t *n)
{
    char name[TRACE_EVENT_NAME_MAX + 1];
    int error = posix_trace_eventtypelist_rewind(n->trid), unavailable = 0;
    trace_event_id_t id;
    uint64_t count;

    while (!error) {
        error = posix_trace_eventtypelist_getnext_id(n->trid, &id, &unavailable);
        if (error || unavailable)
            break;
        if (posixtrace_event_count(n->trid, id, &count) != 0 || count == 0)
            continue;
        error = posix_trace_eventid_get_name(n->trid, id, name);
        if (!error)
            error = describe(n, id, name);
    }
    return error;
}

static bool put_float(struct pt_native_column *c, uint32_t row, double d)
{
    uint64_t bits;

    memcpy(&bits, &d, sizeof bits);
    pt_native_number(c, row, bits);
    return !isnan(d); /* which may have had other bits */
}

static bool put_text(posixtrace_native_t *n, const struct pt_native_type *t, size_t i,
                     const struct posixtrace_value *v)
{
    struct pt_native_field *f = &t->fields[i];
    bool whole;

    n->scratch.used = 0;
    whole = pt_form_put(&n->scratch, f->form, t->layout, i, v);
    pt_native_bytes(f->column, n->rows, n->scratch.at, n->scratch.used);
    n->bytes += n->scratch.used;
    return whole && !f->vague;
}

static bool put_name(posixtrace_native_t *n, struct pt_native_field *f, uint64_t v)
{
    char digits[PT_NUMBER_MAX];
    size_t length;
    const char *name = pt_form_value_name(f->field, v, digits, &length);

    pt_native_bytes(f->column, n->rows, name, length);
    return !f->vague;
}

/* True: the column has all of the field. */
static bool put_field(posixtrace_native_t *n, const struct pt_native_type *t, size_t i,
                      const struct posixtrace_value *v)
{
    struct pt_native_field *f = &t->fields[i];

    if (f->column->dropped)
        return false;
    switch (f->form) {
    case PT_FORM_NUMBER:
        pt_native_number(f->column, n->rows, posixtrace_value_integer(t->layout, i, v, 0));
        return true;
    case PT_FORM_FLOAT:
        return put_float(f->column, n->rows, posixtrace_value_float(t->layout, i, v, 0));
    case PT_FORM_BOOL:
        pt_native_number(f->column, n->rows, posixtrace_value_integer(t->layout, i, v, 0) != 0);
        return *(const uint8_t *)v->at <= 1;
    case PT_FORM_NAME: return put_name(n, f, posixtrace_value_integer(t->layout, i, v, 0));
    default: return put_text(n, t, i, v);
    }
}

bool pt_native_put_fields(posixtrace_native_t *n, const struct pt_native_type *t,
                          const struct posixtrace_event *e)
{
    struct posixtrace_value values[POSIXTRACE_FIELDS_MAX];
    bool whole = t->whole;
    size_t count;

    if (!t->layout || posixtrace_layout_split(t->layout, e->data, e->data_len, values, &count) != 0)
        return false;
    for (size_t i = 0; i < t->count; i++)
        whole &= put_field(n, t, i, &values[i]);
    return whole;
}

void pt_native_free_types(posixtrace_native_t *n)
{
    for (size_t i = 0; i < PT_NATIVE_TYPES; i++) {
        if (!n->types[i])
            continue;
        free(n->types[i]->fields);
        pt_bytes_free(&n->types[i]->name);
        free(n->types[i]);
    }
    pt_texts_free(&n->used);
}
