/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* The data of an event as the member args of Chrome's. */
#include <string.h>
#include "analysis/format/chrome/chrome.h"

static void put_integer(struct pt_json *j, const struct posixtrace_field *f, uint64_t v)
{
    const char *name = f->enumerator_count ? posixtrace_field_enumerator(f, (int64_t)v) : NULL;

    if (name)
        pt_json_string(j, name, strlen(name));
    else if (f->kind == POSIXTRACE_FIELD_BOOL)
        pt_json_text(j, v ? "true" : "false", v ? 4 : 5);
    else if (f->kind == POSIXTRACE_FIELD_SIGNED)
        pt_json_signed(j, (int64_t)v);
    else if (f->kind == POSIXTRACE_FIELD_HEX)
        pt_json_hex(j, v);
    else
        pt_json_unsigned(j, v);
}

static void put_element(struct pt_json *j, const struct pt_tl_event *ev, size_t field,
                        const struct posixtrace_field *f, size_t i)
{
    const struct posixtrace_value *v = &ev->values[field];

    if (f->kind == POSIXTRACE_FIELD_FLOAT)
        pt_json_float(j, posixtrace_value_float(ev->layout, field, v, i), f->bits);
    else if (f->kind == POSIXTRACE_FIELD_CHAR)
        pt_json_string(j, (const char *)v->at + i, 1);
    else
        put_integer(j, f, posixtrace_value_integer(ev->layout, field, v, i));
}

static void put_value(struct pt_json *j, const struct pt_tl_event *ev, size_t field,
                      const struct posixtrace_field *f)
{
    const struct posixtrace_value *v = &ev->values[field];
    size_t n = v->count;

    if (f->kind == POSIXTRACE_FIELD_STRING || (f->array && f->kind == POSIXTRACE_FIELD_CHAR)) {
        while (n > 0 && ((const char *)v->at)[n - 1] == '\0')
            n--;
        pt_json_string(j, v->at, n);
    } else if (f->kind == POSIXTRACE_FIELD_BYTES) {
        pt_json_bytes(j, v->at, n);
    } else if (!f->array) {
        put_element(j, ev, field, f, 0);
    } else {
        pt_json_char(j, '[');
        for (size_t i = 0; i < n; i++) {
            if (i > 0)
                pt_json_char(j, ',');
            put_element(j, ev, field, f, i);
        }
        pt_json_char(j, ']');
    }
}

static void put_fields(struct pt_json *j, const struct pt_tl_event *ev)
{
    for (size_t i = 0; i < ev->fields; i++) {
        const struct posixtrace_field *f = posixtrace_layout_field(ev->layout, i);

        if (i > 0)
            pt_json_char(j, ',');
        pt_json_char(j, '"');
        pt_json_text(j, f->name, strlen(f->name));
        PT_JSON_TEXT(j, "\":");
        put_value(j, ev, i, f);
    }
}

/* The function in which a call was made, if it is known. */
static void put_caller(struct pt_json *j, const struct pt_tl_event *ev,
                       struct pt_chrome_stacks *stacks)
{
    char text[PT_SITES_TEXT];
    size_t length = pt_chrome_caller(stacks, ev, text);

    if (length == 0)
        return;
    PT_JSON_TEXT(j, ",\"caller_symbol\":");
    pt_json_string(j, text, length);
}

/* The arguments of an event that ends a slice are separate from those of its start. */
void pt_chrome_args(struct pt_json *j, const struct pt_tl_event *ev, bool ends,
                    struct pt_chrome_stacks *stacks)
{
    bool truncated = ev->e->truncation != POSIX_TRACE_NOT_TRUNCATED, any = true;

    if (!ev->layout && ev->e->data_len == 0 && !ev->misfit && !truncated)
        return;
    PT_JSON_TEXT(j, ",\"args\":{");
    if (ends)
        PT_JSON_TEXT(j, "\"end\":{");
    if (ev->layout) {
        put_fields(j, ev);
        put_caller(j, ev, stacks);
    } else if (ev->ignores) {
        PT_JSON_TEXT(j, "\"ignores\":");
        pt_json_string(j, ev->ignores, strlen(ev->ignores));
    } else if (ev->e->data_len > 0 || ev->misfit) {
        PT_JSON_TEXT(j, "\"data\":");
        pt_json_bytes(j, ev->e->data, ev->e->data_len);
    } else {
        any = false;
    }
    if (ev->misfit)
        PT_JSON_TEXT(j, ",\"misfit\":true");
    if (truncated && any)
        pt_json_char(j, ',');
    if (truncated)
        PT_JSON_TEXT(j, "\"truncated\":true");
    if (ends)
        pt_json_char(j, '}');
    pt_json_char(j, '}');
}
