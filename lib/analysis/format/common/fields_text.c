/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Fields as text and as JSON: one walk over the values, two ways to write them.
 */
#include <math.h>
#include <string.h>
#include "text/escape.h"
#include "analysis/format/common/fields_text.h"
#include "analysis/format/common/format.h"
#include "text/number.h"

struct text_out {
    char *to;
    size_t size, length; /* room; length of the whole text */
    size_t stored;
    bool json, ascii;
};

/* A piece that is written whole or not at all, and nothing after one that was not. */
static void put_piece(struct text_out *o, const char *piece, size_t length)
{
    if (o->stored == o->length && o->length + length < o->size) {
        memcpy(o->to + o->length, piece, length);
        o->stored += length;
    }
    o->length += length;
}

static void put(struct text_out *o, char c)
{
    put_piece(o, &c, 1);
}

static void put_text(struct text_out *o, const char *text)
{
    put_piece(o, text, strlen(text));
}

static bool is_plain(uint8_t c)
{
    return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

static void put_string(struct text_out *o, const uint8_t *p, size_t n)
{
    char one[PT_ESCAPE_MAX];
    size_t taken;

    put(o, '"');
    for (; n; p += taken, n -= taken) {
        if (is_plain(*p)) {
            put(o, (char)*p);
            taken = 1;
        } else {
            char *end = pt_escape_one(one, p, n, o->json ? PT_ESCAPE_JSON : PT_ESCAPE_TEXT,
                                      o->ascii, &taken);

            put_piece(o, one, (size_t)(end - one));
        }
    }
    put(o, '"');
}

static void put_bytes(struct text_out *o, const uint8_t *p, size_t n)
{
    char digits[2];

    if (o->json)
        put(o, '"');
    for (size_t i = 0; i < n; i++)
        put_piece(o, digits, (size_t)(pt_number_bytes(digits, p + i, 1) - digits));
    if (o->json)
        put(o, '"');
}

static void put_float(struct text_out *o, double d, unsigned bits)
{
    char words[PT_NUMBER_MAX];

    if (isfinite(d))
        put_piece(o, words, (size_t)(pt_number_float(words, d, bits) - words));
    else
        put_text(o, o->json ? "null" : isnan(d) ? "nan" : d < 0 ? "-inf" : "inf");
}

static void put_integer(struct text_out *o, const struct posixtrace_field *f, uint64_t v)
{
    const char *name = f->enumerator_count ? posixtrace_field_enumerator(f, (int64_t)v) : NULL;
    char words[PT_NUMBER_MAX], *end;

    if (name) {
        if (o->json)
            put(o, '"');
        put_text(o, name);
        if (o->json)
            put(o, '"');
        return;
    }
    if (f->kind == POSIXTRACE_FIELD_SIGNED)
        end = pt_number_i64(words, (int64_t)v);
    else if (f->kind == POSIXTRACE_FIELD_HEX && !o->json)
        end = pt_number_hex(words, v);
    else
        end = pt_number_u64(words, v);
    put_piece(o, words, (size_t)(end - words));
}

static void put_element(struct text_out *o, const posixtrace_layout_t *layout, size_t field,
                        const struct posixtrace_value *value, size_t i)
{
    const struct posixtrace_field *f = posixtrace_layout_field(layout, field);
    uint64_t v;

    if (f->kind == POSIXTRACE_FIELD_FLOAT) {
        put_float(o, posixtrace_value_float(layout, field, value, i), f->bits);
        return;
    }
    v = posixtrace_value_integer(layout, field, value, i);
    if (f->kind == POSIXTRACE_FIELD_BOOL)
        put_text(o, v ? "true" : "false");
    else if (f->kind == POSIXTRACE_FIELD_CHAR)
        put_string(o, (const uint8_t *)value->at + i, 1);
    else
        put_integer(o, f, v);
}

static void put_value(struct text_out *o, const posixtrace_layout_t *layout, size_t field,
                      const struct posixtrace_value *value)
{
    const struct posixtrace_field *f = posixtrace_layout_field(layout, field);

    if (f->kind == POSIXTRACE_FIELD_STRING) {
        put_string(o, value->at, value->count);
    } else if (f->kind == POSIXTRACE_FIELD_BYTES) {
        put_bytes(o, value->at, value->count);
    } else if (f->array && f->kind == POSIXTRACE_FIELD_CHAR) {
        put_string(o, value->at, value->count);
    } else if (!f->array) {
        put_element(o, layout, field, value, 0);
    } else {
        put(o, '[');
        for (size_t i = 0; i < value->count; i++) {
            if (i)
                put(o, ',');
            put_element(o, layout, field, value, i);
        }
        put(o, ']');
    }
}

static size_t write_fields(const posixtrace_layout_t *layout, const void *data, size_t len,
                           struct text_out *o)
{
    struct posixtrace_value values[POSIXTRACE_FIELDS_MAX];
    size_t count;

    if (posixtrace_layout_split(layout, data, len, values, &count) != 0)
        return 0;
    if (o->json)
        put(o, '{');
    for (size_t i = 0; i < count; i++) {
        if (i)
            put(o, o->json ? ',' : ' ');
        if (o->json)
            put(o, '"');
        put_text(o, posixtrace_layout_field(layout, i)->name);
        put_text(o, o->json ? "\":" : "=");
        put_value(o, layout, i, &values[i]);
    }
    if (o->json)
        put(o, '}');
    if (o->size)
        o->to[o->stored] = '\0';
    return o->length;
}

size_t pt_fields_write(const posixtrace_layout_t *layout, const void *data, size_t len, bool json,
                       bool ascii, char *to, size_t size)
{
    struct text_out o = { .to = to, .size = size, .json = json, .ascii = ascii };

    return write_fields(layout, data, len, &o);
}

size_t pt_fields_write_value(const posixtrace_layout_t *layout, size_t field,
                             const struct posixtrace_value *value, char *to, size_t size)
{
    struct text_out o = { .to = to, .size = size, .json = true };

    put_value(&o, layout, field, value);
    if (o.size)
        o.to[o.stored] = '\0';
    return o.length;
}

size_t posixtrace_layout_text(const posixtrace_layout_t *layout, const void *data, size_t len,
                              char *to, size_t size)
{
    return pt_fields_write(layout, data, len, false, false, to, size);
}

size_t posixtrace_layout_json(const posixtrace_layout_t *layout, const void *data, size_t len,
                              char *to, size_t size)
{
    return pt_fields_write(layout, data, len, true, false, to, size);
}
