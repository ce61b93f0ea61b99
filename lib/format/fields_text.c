/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Fields as text and as JSON: one walk over the values, two ways to write them.
 * Strings come from traced programs and hold any bytes: what is not printable, or
 * not UTF-8 in JSON, is escaped.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include "format/format.h"

#define HEX "0123456789abcdef"

struct out {
    char  *to;
    size_t size, length;     /* what fits; what there would be */
    bool   json;
};

static void put(struct out *o, char c)
{
    if (o->length + 1 < o->size)
        o->to[o->length] = c;
    o->length++;
}

static void put_text(struct out *o, const char *text)
{
    while (*text)
        put(o, *text++);
}

static void put_hex_byte(struct out *o, uint8_t byte)
{
    put(o, HEX[byte >> 4]);
    put(o, HEX[byte & 15]);
}

/* Bytes of the UTF-8 character at p, or 0: none. */
static size_t utf8_length(const uint8_t *p, size_t left)
{
    size_t n = *p < 0x80 ? 1 : *p >= 0xc2 && *p < 0xe0 ? 2 : *p >= 0xe0 && *p < 0xf0 ? 3
               : *p >= 0xf0 && *p < 0xf5 ? 4 : 0;

    if (n == 0 || n > left)
        return 0;
    for (size_t i = 1; i < n; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    /* overlong forms, surrogates, beyond U+10FFFF */
    if ((*p == 0xe0 && p[1] < 0xa0) || (*p == 0xed && p[1] > 0x9f) || (*p == 0xf0 && p[1] < 0x90) ||
        (*p == 0xf4 && p[1] > 0x8f))
        return 0;
    return n;
}

/* A byte that cannot stand as it is; in JSON as the character of the same number. */
static void put_escaped(struct out *o, uint8_t byte)
{
    static const char letters[] = "\bb\ff\nn\rr\tt";

    for (const char *p = letters; *p; p += 2)
        if (byte == (uint8_t)*p) {
            put(o, '\\');
            put(o, p[1]);
            return;
        }
    put_text(o, o->json ? "\\u00" : "\\x");
    put_hex_byte(o, byte);
}

static void put_string(struct out *o, const uint8_t *p, size_t n)
{
    put(o, '"');
    while (n) {
        size_t k = utf8_length(p, n);

        if (*p == '"' || *p == '\\') {
            put(o, '\\');
            put(o, (char)*p);
        } else if (k == 0 || *p < 0x20 || *p == 0x7f) {
            put_escaped(o, *p);
            k = 1;
        } else {
            for (size_t i = 0; i < k; i++)
                put(o, (char)p[i]);
        }
        p += k;
        n -= k;
    }
    put(o, '"');
}

static void put_bytes(struct out *o, const uint8_t *p, size_t n)
{
    if (o->json)
        put(o, '"');
    for (size_t i = 0; i < n; i++)
        put_hex_byte(o, p[i]);
    if (o->json)
        put(o, '"');
}

/* The shortest form that reads back as the same number. */
static void put_float(struct out *o, double d, unsigned bits)
{
    char words[40];
    int digits = bits == 32 ? 6 : 15, most = bits == 32 ? 9 : 17;

    if (!isfinite(d)) {
        put_text(o, o->json ? "null" : isnan(d) ? "nan" : d < 0 ? "-inf" : "inf");
        return;
    }
    do {
        double back;

        snprintf(words, sizeof words, "%.*g", digits, d);
        sscanf(words, "%lf", &back);
        if (bits == 32 ? (float)back == (float)d : !(back < d) && !(back > d))
            break;
    } while (digits++ < most);
    put_text(o, words);
}

static void put_integer(struct out *o, const struct posixtrace_field *f, uint64_t v)
{
    const char *name = posixtrace_field_enumerator(f, (int64_t)v);
    char words[24];

    if (name) {
        if (o->json)
            put(o, '"');
        put_text(o, name);
        if (o->json)
            put(o, '"');
        return;
    }
    if (f->kind == POSIXTRACE_SIGNED)
        snprintf(words, sizeof words, "%" PRIi64, (int64_t)v);
    else if (f->kind == POSIXTRACE_HEX && !o->json)
        snprintf(words, sizeof words, "0x%" PRIx64, v);
    else
        snprintf(words, sizeof words, "%" PRIu64, v);
    put_text(o, words);
}

static void put_element(struct out *o, const posixtrace_layout_t *layout, size_t field,
                        const struct posixtrace_value *value, size_t i)
{
    const struct posixtrace_field *f = posixtrace_layout_field(layout, field);
    uint64_t v;

    if (f->kind == POSIXTRACE_FLOAT) {
        put_float(o, posixtrace_value_float(layout, field, value, i), f->bits);
        return;
    }
    v = posixtrace_value_integer(layout, field, value, i);
    if (f->kind == POSIXTRACE_BOOL)
        put_text(o, v ? "true" : "false");
    else if (f->kind == POSIXTRACE_CHAR)
        put_string(o, (const uint8_t *)value->at + i, 1);
    else
        put_integer(o, f, v);
}

static void put_value(struct out *o, const posixtrace_layout_t *layout, size_t field,
                      const struct posixtrace_value *value)
{
    const struct posixtrace_field *f = posixtrace_layout_field(layout, field);

    if (f->kind == POSIXTRACE_STRING) {
        put_string(o, value->at, value->count);
    } else if (f->kind == POSIXTRACE_BYTES) {
        put_bytes(o, value->at, value->count);
    } else if (f->array && f->kind == POSIXTRACE_CHAR) {
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
                           struct out *o)
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
        o->to[o->length < o->size ? o->length : o->size - 1] = '\0';
    return o->length;
}

size_t posixtrace_layout_text(const posixtrace_layout_t *layout, const void *data, size_t len,
                              char *to, size_t size)
{
    struct out o = { .to = to, .size = size };

    return write_fields(layout, data, len, &o);
}

size_t posixtrace_layout_json(const posixtrace_layout_t *layout, const void *data, size_t len,
                              char *to, size_t size)
{
    struct out o = { .to = to, .size = size, .json = true };

    return write_fields(layout, data, len, &o);
}
