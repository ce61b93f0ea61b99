/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Event types, and the values of their fields in a tile: a column for each field of each type.
 * Where data is not as described, or nothing describes it, its bytes are kept.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/format/common/fields_text.h"
#include "analysis/html/html_state.h"

enum { SITES_MOST = 4096, ARRAY_TEXT = 4096 };

static char kind_of(const struct posixtrace_field *f)
{
    if (f->kind == POSIXTRACE_FIELD_STRING || f->kind == POSIXTRACE_FIELD_CHAR)
        return 's';
    if (f->kind == POSIXTRACE_FIELD_BYTES)
        return 'b';
    if (f->array)
        return 'j';
    switch (f->kind) {
    case POSIXTRACE_FIELD_SIGNED: return 'i';
    case POSIXTRACE_FIELD_HEX: return 'x';
    case POSIXTRACE_FIELD_FLOAT: return 'f';
    default: return 'u';
    }
}

static bool make_fields(struct pt_html_type *t)
{
    t->count = t->layout ? posixtrace_layout_count(t->layout) : 0;
    t->fields = calloc(t->count + 1, sizeof *t->fields);
    for (size_t i = 0; t->fields && i < t->count; i++) {
        const struct posixtrace_field *about = posixtrace_layout_field(t->layout, i);

        t->fields[i].kind = kind_of(about);
        t->fields[i].is_signed = t->fields[i].kind == 'i';
        t->fields[i].address = pt_html_address_of(about->name, t->fields[i].kind, t->is_system);
        t->fields[i].is_bool = about->kind == POSIXTRACE_FIELD_BOOL;
    }
    return t->fields != NULL;
}

static bool is_system(const struct posixtrace_event *e)
{
    return e->id < POSIX_TRACE_UNNAMED_USEREVENT || strncmp(e->name, "posixtrace_", 11) == 0;
}

static bool list_type(struct pt_html *h, struct pt_html_type *t)
{
    struct pt_html_type **list = realloc(h->type_list, (h->type_count + 1) * sizeof(*list));

    if (!list)
        return false;
    h->type_list = list;
    t->number = h->type_count;
    list[h->type_count++] = t;
    return true;
}

/* The timeline has checked the number. */
struct pt_html_type *pt_html_type_of(struct pt_html *h, const struct pt_tl_event *ev)
{
    const struct posixtrace_event *e = ev->e;
    struct pt_html_type *t = h->types[e->id];

    if (t)
        return t;
    t = calloc(1, sizeof *t);
    if (!t || !list_type(h, t)) {
        free(t);
        pt_html_fail(h, ENOMEM);
        return NULL;
    }
    h->types[e->id] = t;
    t->name = strdup(e->name);
    t->is_system = is_system(e);
    t->begin = ev->type->begin;
    t->end = ev->type->end;
    t->layout = posixtrace_fields_layout(h->fields, e->id);
    t->last_pid = -1;
    t->role = pt_report_type_of(e->name).role;
    if (!t->name || !make_fields(t))
        pt_html_fail(h, ENOMEM);
    return t;
}

/* ---- values ---- */

/* The place + 1 of an address of the program; 0: none, or there are too many. */
static uint32_t site_of(struct pt_html *h, const struct posixtrace_event *e)
{
    struct pt_report_key key = { .a = e->prog_address, .b = (uint32_t)e->pid };
    uint32_t *number;

    if (e->prog_address == 0)
        return 0;
    number = h->site_count < SITES_MOST ? pt_report_map_make(&h->site_map, key, sizeof *number)
                                        : pt_report_map_find(&h->site_map, key);
    if (!number)
        return 0;
    if (*number == 0) {
        struct pt_html_site *sites = pt_html_more(h, h->sites, h->site_count, &h->site_room,
                                                  sizeof *sites);

        if (!sites)
            return 0;
        h->sites = sites;
        sites[h->site_count++] = (struct pt_html_site){ e->prog_address, e->ns, e->pid, false };
        *number = (uint32_t)h->site_count;
    }
    return *number;
}

static void add(struct pt_html *h, struct pt_html_column *c, uint64_t value)
{
    if (!pt_html_column_add(c, value))
        pt_html_fail(h, ENOMEM);
}

static uint64_t double_bits(double d)
{
    uint64_t bits;

    memcpy(&bits, &d, sizeof bits);
    return bits;
}

static uint64_t hex_index(struct pt_html_texts *t, const void *bytes, size_t length)
{
    static const char digits[] = "0123456789abcdef";
    char *text = malloc(2 * length + 1);
    uint64_t index;

    if (!text) {
        t->failed = true;
        return 0;
    }
    for (size_t i = 0; i < length; i++) {
        text[2 * i] = digits[((const uint8_t *)bytes)[i] >> 4];
        text[2 * i + 1] = digits[((const uint8_t *)bytes)[i] & 15];
    }
    index = pt_html_texts_index(t, text, 2 * length);
    free(text);
    return index;
}

/* JSON of an array of numbers. */
static uint64_t json_index(struct pt_html_texts *t, const struct pt_tl_event *ev, size_t field)
{
    char text[ARRAY_TEXT], *larger = NULL;
    size_t length = pt_fields_write_value(ev->layout, field, &ev->values[field], text, sizeof text);
    uint64_t index;

    if (length >= sizeof text) {
        larger = malloc(length + 1);
        t->failed |= !larger;
        if (!larger)
            return 0;
        pt_fields_write_value(ev->layout, field, &ev->values[field], larger, length + 1);
    }
    index = pt_html_texts_index(t, larger ? larger : text, length);
    free(larger);
    return index;
}

static uint64_t value_of(struct pt_html_field *f, const struct pt_tl_event *ev, size_t field)
{
    const struct posixtrace_value *v = &ev->values[field];
    const struct posixtrace_field *about;
    uint64_t value;

    switch (f->kind) {
    case 'u':
        value = posixtrace_value_integer(ev->layout, field, v, 0);
        return f->is_bool ? value != 0 : value;
    case 'i':
    case 'x': return posixtrace_value_integer(ev->layout, field, v, 0);
    case 'f': return double_bits(posixtrace_value_float(ev->layout, field, v, 0));
    case 'b': return hex_index(&f->texts, v->at, v->count);
    case 'j': return json_index(&f->texts, ev, field);
    default: break;
    }
    about = posixtrace_layout_field(ev->layout, field);
    return pt_html_texts_index(
        &f->texts, v->at, about->kind == POSIXTRACE_FIELD_CHAR && !about->array ? 1 : v->count);
}

static void keep_raw(struct pt_html *h, const struct posixtrace_event *e)
{
    if (e->data_len == 0)
        return;
    add(h, &h->now.raw, h->now.ns.count - 1);
    add(h, &h->now.raw_index, hex_index(&h->now.raw_texts, e->data, e->data_len));
}

static void add_value(struct pt_html *h, struct pt_html_field *f, uint64_t value,
                      const struct posixtrace_event *e)
{
    add(h, &f->values, value);
    if (f->address && (value != f->last_value || e->pid != f->last_pid))
        pt_html_named_add(h, f, value, e);
}

void pt_html_type_take(struct pt_html *h, struct pt_html_type *t, const struct pt_tl_event *ev)
{
    const struct posixtrace_event *e = ev->e;
    bool fits = ev->layout && ev->layout == t->layout;

    if (e->prog_address != t->last_address || e->pid != t->last_pid) {
        t->last_address = e->prog_address;
        t->last_pid = e->pid;
        t->last_site = site_of(h, e);
    }
    add(h, &t->sites, t->last_site);
    for (size_t i = 0; i < t->count; i++)
        add_value(h, &t->fields[i], fits ? value_of(&t->fields[i], ev, i) : 0, e);
    t->events++;
    if (!fits)
        keep_raw(h, e);
    if (e->truncation != POSIX_TRACE_NOT_TRUNCATED)
        add(h, &h->now.truncated, h->now.ns.count - 1);
    h->now.bytes += e->data_len;
}

/* ---- the block ---- */

/* Texts that nothing refers to have index 0 of an empty list: one text makes it valid. */
static void put_field(struct pt_html_bytes *to, struct pt_html_field *f)
{
    bool has_texts = strchr("sbj", f->kind) != NULL;

    if (has_texts && f->texts.count == 0)
        pt_html_texts_index(&f->texts, "null", f->kind == 'j' ? 4 : 0);
    pt_html_put_column(to, &f->values, f->is_signed);
    if (has_texts)
        pt_html_put_texts(to, &f->texts);
}

static uint32_t count_columns(const struct pt_html *h)
{
    uint32_t columns = 5;

    for (uint32_t i = 0; i < h->type_count; i++) {
        const struct pt_html_type *t = h->type_list[i];

        columns += t->events > 0;
        for (size_t f = 0; f < t->count && t->events > 0; f++)
            columns += strchr("sbj", t->fields[f].kind) ? 2 : 1;
    }
    return columns;
}

uint32_t pt_html_fields_end(struct pt_html *h)
{
    struct pt_html_bytes *to = pt_html_block_begin(&h->blocks, count_columns(h));
    struct pt_html_column present = { .values = NULL };
    uint32_t block = PT_HTML_NO_BLOCK;
    int error;

    for (uint32_t i = 0; i < h->type_count; i++)
        if (h->type_list[i]->events > 0)
            add(h, &present, i);
    pt_html_put_column(to, &present, false);
    pt_html_column_deinit(&present);
    for (uint32_t i = 0; i < h->type_count; i++) {
        struct pt_html_type *t = h->type_list[i];

        if (t->events == 0)
            continue;
        pt_html_put_column(to, &t->sites, false);
        for (size_t f = 0; f < t->count; f++)
            put_field(to, &t->fields[f]);
    }
    pt_html_put_column(to, &h->now.raw, false);
    pt_html_put_column(to, &h->now.raw_index, false);
    pt_html_put_texts(to, &h->now.raw_texts);
    pt_html_put_column(to, &h->now.truncated, false);
    error = h->error ? h->error : pt_html_block_end(&h->blocks, &block);
    if (error)
        pt_html_fail(h, error);
    return block;
}

void pt_html_fields_clear(struct pt_html *h)
{
    for (uint32_t i = 0; i < h->type_count; i++) {
        struct pt_html_type *t = h->type_list[i];

        t->events = t->sites.count = 0;
        for (size_t f = 0; f < t->count; f++) {
            t->fields[f].values.count = 0;
            pt_html_texts_clear(&t->fields[f].texts);
        }
    }
    h->now.raw.count = h->now.raw_index.count = h->now.truncated.count = 0;
    pt_html_texts_clear(&h->now.raw_texts);
}

void pt_html_types_deinit(struct pt_html *h)
{
    for (uint32_t i = 0; i < h->type_count; i++) {
        struct pt_html_type *t = h->type_list[i];

        for (size_t f = 0; t->fields && f < t->count; f++) {
            pt_html_column_deinit(&t->fields[f].values);
            pt_html_texts_deinit(&t->fields[f].texts);
            free(t->fields[f].named);
        }
        pt_html_column_deinit(&t->sites);
        free(t->fields);
        free(t->name);
        free(t);
    }
    free(h->type_list);
    free(h->sites);
}
