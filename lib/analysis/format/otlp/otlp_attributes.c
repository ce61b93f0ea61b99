/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Event data as attributes: a key and a value of a type.  Integers are decimal strings, as the JSON
 * encoding of protocol buffers has those of 64 bits; one that has no room in 63 bits is text.
 */
#include <math.h>
#include <string.h>
#include "analysis/format/otlp/otlp.h"

/* Names of functions and files may be of any length. */
enum { TEXT_BYTES = 4096 };

static void put_key(struct pt_json *j, const char *prefix, const char *key)
{
    PT_JSON_TEXT(j, ",{\"key\":\"");
    pt_json_text(j, prefix, strlen(prefix));
    pt_json_text(j, key, strlen(key));
    PT_JSON_TEXT(j, "\",\"value\":");
}

/* An attribute that begins at that place ends here; false: it has no room, and is not there. */
static bool close_attribute(struct pt_json *j, size_t mark)
{
    pt_json_char(j, '}');
    if (j->file || (!j->failed && j->used <= PT_OTLP_ATTRIBUTES))
        return true;
    j->failed = false;
    j->used = mark;
    return false;
}

static void put_string(struct pt_json *j, const void *text, size_t length)
{
    PT_JSON_TEXT(j, "{\"stringValue\":");
    pt_json_string(j, text, length);
    pt_json_char(j, '}');
}

static void put_signed(struct pt_json *j, int64_t v)
{
    PT_JSON_TEXT(j, "{\"intValue\":\"");
    pt_json_signed(j, v);
    PT_JSON_TEXT(j, "\"}");
}

bool pt_otlp_put_text(struct pt_json *j, const char *key, const void *text, size_t length)
{
    size_t mark = j->used;

    put_key(j, "", key);
    put_string(j, text, length);
    return close_attribute(j, mark);
}

void pt_otlp_put_int(struct pt_json *j, const char *key, int64_t value)
{
    put_key(j, "", key);
    put_signed(j, value);
    pt_json_char(j, '}');
}

void pt_otlp_put_true(struct pt_json *j, const char *key)
{
    put_key(j, "", key);
    PT_JSON_TEXT(j, "{\"boolValue\":true}}");
}

/* Base64 (RFC 4648). */
static void put_bytes(struct pt_json *j, const void *bytes, size_t length)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const uint8_t *p = bytes;

    PT_JSON_TEXT(j, "{\"bytesValue\":\"");
    for (; length > 0; p += 3) {
        uint32_t v = (uint32_t)p[0] << 16 | (length > 1 ? (uint32_t)p[1] << 8 : 0) |
                     (length > 2 ? p[2] : 0);
        char four[4] = { digits[v >> 18], digits[v >> 12 & 63], digits[v >> 6 & 63],
                         digits[v & 63] };

        memset(four + (length < 3 ? length + 1 : 4), '=', length < 3 ? 3 - length : 0);
        pt_json_piece(j, four, sizeof four);
        length -= length < 3 ? length : 3;
    }
    PT_JSON_TEXT(j, "\"}");
}

static void put_double(struct pt_json *j, double d, unsigned bits)
{
    PT_JSON_TEXT(j, "{\"doubleValue\":");
    if (isfinite(d))
        pt_json_float(j, d, bits);
    else if (isnan(d))
        PT_JSON_TEXT(j, "\"NaN\"");
    else
        pt_json_text(j, d < 0 ? "\"-Infinity\"" : "\"Infinity\"", d < 0 ? 11 : 10);
    pt_json_char(j, '}');
}

static void put_integer(struct pt_json *j, const struct posixtrace_field *f, uint64_t v)
{
    const char *name = f->enumerator_count ? posixtrace_field_enumerator(f, (int64_t)v) : NULL;

    if (name) {
        put_string(j, name, strlen(name));
    } else if (f->kind == POSIXTRACE_FIELD_BOOL) {
        pt_json_text(j, v ? "{\"boolValue\":true}" : "{\"boolValue\":false}", v ? 18 : 19);
    } else if (f->kind == POSIXTRACE_FIELD_SIGNED ||
               (f->kind != POSIXTRACE_FIELD_HEX && !(v >> 63))) {
        put_signed(j, (int64_t)v);
    } else {
        PT_JSON_TEXT(j, "{\"stringValue\":");
        if (f->kind == POSIXTRACE_FIELD_HEX) {
            pt_json_hex(j, v);
        } else {
            pt_json_char(j, '"');
            pt_json_unsigned(j, v);
            pt_json_char(j, '"');
        }
        pt_json_char(j, '}');
    }
}

static void put_element(struct pt_json *j, const struct pt_tl_event *ev, size_t field, size_t i)
{
    const struct posixtrace_field *f = posixtrace_layout_field(ev->layout, field);
    const struct posixtrace_value *v = &ev->values[field];

    if (f->kind == POSIXTRACE_FIELD_FLOAT)
        put_double(j, posixtrace_value_float(ev->layout, field, v, i), f->bits);
    else if (f->kind == POSIXTRACE_FIELD_CHAR)
        put_string(j, (const char *)v->at + i, 1);
    else
        put_integer(j, f, posixtrace_value_integer(ev->layout, field, v, i));
}

static bool is_text(const struct posixtrace_field *f)
{
    return f->kind == POSIXTRACE_FIELD_STRING || (f->array && f->kind == POSIXTRACE_FIELD_CHAR);
}

/* Bytes of text without the NULs that fill an array up. */
static size_t text_length(const struct posixtrace_value *v)
{
    size_t n = v->count;

    while (n > 0 && ((const char *)v->at)[n - 1] == '\0')
        n--;
    return n;
}

static void put_value(struct pt_json *j, const struct pt_tl_event *ev, size_t field)
{
    const struct posixtrace_field *f = posixtrace_layout_field(ev->layout, field);
    const struct posixtrace_value *v = &ev->values[field];

    if (is_text(f)) {
        put_string(j, v->at, text_length(v));
    } else if (f->kind == POSIXTRACE_FIELD_BYTES) {
        put_bytes(j, v->at, v->count);
    } else if (!f->array) {
        put_element(j, ev, field, 0);
    } else {
        PT_JSON_TEXT(j, "{\"arrayValue\":{\"values\":[");
        for (size_t i = 0; i < v->count && !j->failed; i++) {
            if (i > 0)
                pt_json_char(j, ',');
            put_element(j, ev, field, i);
        }
        PT_JSON_TEXT(j, "]}}");
    }
}

static void put_fields(struct pt_json *j, const struct pt_tl_event *ev,
                       const struct pt_otlp_open *begun, uint32_t *dropped)
{
    const posixtrace_layout_t *before = begun ? begun->layout : NULL;

    for (size_t i = 0; i < ev->fields; i++) {
        const char *name = posixtrace_layout_field(ev->layout, i)->name;
        bool again = before &&
                     posixtrace_layout_find(before, name) < posixtrace_layout_count(before);
        size_t mark = j->used;

        put_key(j, again ? "end." : "", name);
        put_value(j, ev, i);
        *dropped += !close_attribute(j, mark);
    }
}

void pt_otlp_put_data(struct pt_otlp *o, const struct pt_tl_event *ev,
                      const struct pt_otlp_open *begun, uint32_t *dropped)
{
    struct pt_json *j = &o->scratch;
    size_t mark = j->used;

    if (ev->layout) {
        put_fields(j, ev, begun, dropped);
    } else if (ev->ignores) {
        *dropped += !pt_otlp_put_text(j, "posixtrace.ignores", ev->ignores, strlen(ev->ignores));
    } else if (ev->e->data_len > 0) {
        put_key(j, begun ? "posixtrace.end." : "posixtrace.", "data");
        put_bytes(j, ev->e->data, ev->e->data_len);
        *dropped += !close_attribute(j, mark);
    }
    if (ev->misfit)
        pt_otlp_put_true(j, begun ? "posixtrace.end.misfit" : "posixtrace.misfit");
    if (ev->e->truncation != POSIX_TRACE_NOT_TRUNCATED)
        pt_otlp_put_true(j, begun ? "posixtrace.end.truncated" : "posixtrace.truncated");
}

/* ---- the call site ---- */

/* The integer in a field of that name. */
static bool field_of(const struct pt_tl_event *ev, const char *name, uint64_t *value)
{
    size_t i = ev->layout ? posixtrace_layout_find(ev->layout, name) : 0;
    const struct posixtrace_field *f = ev->layout ? posixtrace_layout_field(ev->layout, i) : NULL;

    if (!f || f->array || f->kind == POSIXTRACE_FIELD_FLOAT || f->kind >= POSIXTRACE_FIELD_CHAR)
        return false;
    *value = posixtrace_value_integer(ev->layout, i, &ev->values[i], 0);
    return true;
}

const char *pt_otlp_put_code(struct pt_otlp *o, const struct pt_tl_event *ev)
{
    bool own = ev->e->id < POSIX_TRACE_UNNAMED_USEREVENT, is_function = false;
    enum posixtrace_address kind = POSIXTRACE_ADDRESS_RETURN;
    struct pt_json *j = &o->scratch;
    uint64_t address = ev->e->prog_address;
    struct posixtrace_symbol s;

    if (own && ev->e->id == POSIXTRACE_FUNCTION_ENTER) {
        kind = POSIXTRACE_ADDRESS_CODE;
        is_function = field_of(ev, "function", &address);
    }
    if (own && !is_function && !field_of(ev, "caller", &address))
        return NULL;
    if (address == 0 || !pt_sites_find(&o->sites, ev->e, address, kind, &s))
        return NULL;
    if (s.name)
        pt_otlp_put_text(
            j, "code.function.name", s.name,
            strnlen(s.name, strcspn(s.name, "@") < TEXT_BYTES ? strcspn(s.name, "@") : TEXT_BYTES));
    if (s.source)
        pt_otlp_put_text(j, "code.file.path", s.source, strnlen(s.source, TEXT_BYTES));
    if (s.source && s.line > 0)
        pt_otlp_put_int(j, "code.line.number", s.line);
    return is_function ? s.name : NULL;
}

/* ---- status ---- */

static void put_error(struct pt_json *j, const void *text, size_t length)
{
    PT_JSON_TEXT(j, ",\"status\":{\"code\":2");
    if (length > 0) {
        PT_JSON_TEXT(j, ",\"message\":");
        pt_json_string(j, text, length < 1024 ? length : 1024);
    }
    pt_json_char(j, '}');
}

static const char *text_of(int error)
{
#if defined __GLIBC__ && __GLIBC_PREREQ(2, 32)
    return strerrordesc_np(error); /* in English, whatever the locale is */
#else
    return strerror(error);
#endif
}

/* Of a system event: an error number. */
static void put_system_status(struct pt_json *j, const struct pt_tl_event *ev)
{
    uint64_t value = 0;
    const char *text;
    int64_t error;

    if (field_of(ev, "error", &value))
        error = (int64_t)value;
    else
        error = field_of(ev, "result", &value) && (int64_t)value < 0 ? 0 - (int64_t)value : 0;
    if (error <= 0 || error > 4095)
        return;
    text = text_of((int)error);
    put_error(j, text, text ? strlen(text) : 0);
}

void pt_otlp_put_status(struct pt_json *j, const struct pt_tl_event *ev)
{
    size_t i = ev->layout ? posixtrace_layout_find(ev->layout, "error") : 0;
    const struct posixtrace_field *f = ev->layout ? posixtrace_layout_field(ev->layout, i) : NULL;
    const char *name;
    uint64_t value;

    if (ev->layout && ev->e->id < POSIX_TRACE_UNNAMED_USEREVENT) {
        put_system_status(j, ev);
    } else if (f && is_text(f)) {
        if (text_length(&ev->values[i]) > 0)
            put_error(j, ev->values[i].at, text_length(&ev->values[i]));
    } else if (f && field_of(ev, "error", &value) && value != 0) {
        name = f->enumerator_count ? posixtrace_field_enumerator(f, (int64_t)value) : NULL;
        put_error(j, name, name ? strlen(name) : 0);
    }
}
