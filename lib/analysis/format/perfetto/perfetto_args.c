/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Event data as debug annotations: each field one of its type.  An event that ends a slice
 * has them in a dictionary "end", because the slice may have some of the same names from
 * its beginning.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/format/perfetto/perfetto.h"

/* DebugAnnotation */
enum {
    NAME_IID = 1,
    BOOL_VALUE = 2,
    UINT_VALUE = 3,
    INT_VALUE = 4,
    DOUBLE_VALUE = 5,
    STRING_VALUE = 6,
    POINTER_VALUE = 7,
    DICT_ENTRIES = 11,
    ARRAY_VALUES = 12
};

static void put_integer(struct pt_pb *to, const struct posixtrace_field *f, uint64_t v)
{
    const char *name = f->enumerator_count ? posixtrace_field_enumerator(f, (int64_t)v) : NULL;

    if (name)
        pt_pb_string(to, STRING_VALUE, name, strlen(name));
    else if (f->kind == POSIXTRACE_FIELD_BOOL)
        pt_pb_uint(to, BOOL_VALUE, v != 0);
    else if (f->kind == POSIXTRACE_FIELD_SIGNED)
        pt_pb_uint(to, INT_VALUE, v);
    else
        pt_pb_uint(to, f->kind == POSIXTRACE_FIELD_HEX ? POINTER_VALUE : UINT_VALUE, v);
}

static void put_element(struct pt_pb *to, const struct pt_tl_event *ev, size_t field,
                        const struct posixtrace_field *f, size_t i)
{
    const struct posixtrace_value *v = &ev->values[field];

    if (f->kind == POSIXTRACE_FIELD_FLOAT)
        pt_pb_double(to, DOUBLE_VALUE, posixtrace_value_float(ev->layout, field, v, i));
    else if (f->kind == POSIXTRACE_FIELD_CHAR)
        pt_pb_string(to, STRING_VALUE, (const char *)v->at + i, 1);
    else
        put_integer(to, f, posixtrace_value_integer(ev->layout, field, v, i));
}

/* Text without the NULs that fill an array up. */
static void put_text(struct pt_pb *to, const struct posixtrace_value *v)
{
    size_t n = v->count;

    while (n > 0 && ((const char *)v->at)[n - 1] == '\0')
        n--;
    pt_pb_string(to, STRING_VALUE, v->at, n);
}

static void put_value(struct pt_pb *to, const struct pt_tl_event *ev, size_t field,
                      const struct posixtrace_field *f)
{
    const struct posixtrace_value *v = &ev->values[field];

    if (f->kind == POSIXTRACE_FIELD_STRING || (f->array && f->kind == POSIXTRACE_FIELD_CHAR)) {
        put_text(to, v);
    } else if (f->kind == POSIXTRACE_FIELD_BYTES) {
        pt_pb_hex(to, STRING_VALUE, v->at, v->count);
    } else if (!f->array) {
        put_element(to, ev, field, f, 0);
    } else {
        for (size_t i = 0; i < v->count; i++) {
            size_t mark = pt_pb_open(to, ARRAY_VALUES);

            put_element(to, ev, field, f, i);
            pt_pb_close(to, mark);
        }
    }
}

/* Room for the numbers of the names of a type's fields. */
static uint64_t *numbers_of(struct pt_perfetto *p, const struct pt_tl_event *ev)
{
    uint64_t **numbers = &p->names.fields[ev->e->id];

    if (!*numbers)
        *numbers = calloc(POSIXTRACE_FIELDS_MAX, sizeof **numbers);
    if (!*numbers)
        pt_job_fail(p->job, ENOMEM, "no memory for the fields of one more event type");
    return *numbers;
}

static void put_name(struct pt_perfetto *p, uint64_t *number, const char *text)
{
    pt_pb_uint(&p->out, NAME_IID,
               pt_perfetto_name(p, INTERNED_DEBUG_ANNOTATION_NAMES, number, text, strlen(text)));
}

static void put_fields(struct pt_perfetto *p, const struct pt_tl_event *ev, uint32_t in)
{
    uint64_t *numbers = numbers_of(p, ev);

    for (size_t i = 0; i < ev->fields && numbers; i++) {
        const struct posixtrace_field *f = posixtrace_layout_field(ev->layout, i);
        size_t mark = pt_pb_open(&p->out, in);

        put_name(p, &numbers[i], f->name);
        put_value(&p->out, ev, i, f);
        pt_pb_close(&p->out, mark);
    }
}

static void put_data(struct pt_perfetto *p, const struct pt_tl_event *ev, uint32_t in)
{
    size_t mark = pt_pb_open(&p->out, in);

    if (ev->ignores) {
        put_name(p, &p->names.ignores, "ignores");
        pt_pb_string(&p->out, STRING_VALUE, ev->ignores, strlen(ev->ignores));
        pt_pb_close(&p->out, mark);
        return;
    }
    put_name(p, &p->names.data, "data");
    pt_pb_hex(&p->out, STRING_VALUE, ev->e->data, ev->e->data_len);
    pt_pb_close(&p->out, mark);
    if (ev->misfit)
        pt_perfetto_arg_true(p, in, &p->names.misfit, "misfit");
}

void pt_perfetto_arg_true(struct pt_perfetto *p, uint32_t field, uint64_t *number, const char *text)
{
    size_t mark = pt_pb_open(&p->out, field);

    put_name(p, number, text);
    pt_pb_uint(&p->out, BOOL_VALUE, 1);
    pt_pb_close(&p->out, mark);
}

void pt_perfetto_arg_count(struct pt_perfetto *p, uint64_t *number, const char *text,
                           uint64_t count)
{
    size_t mark = pt_pb_open(&p->out, TRACK_EVENT_DEBUG_ANNOTATIONS);

    put_name(p, number, text);
    pt_pb_uint(&p->out, UINT_VALUE, count);
    pt_pb_close(&p->out, mark);
}

void pt_perfetto_args(struct pt_perfetto *p, const struct pt_tl_event *ev, bool ends)
{
    uint32_t in = ends ? DICT_ENTRIES : TRACK_EVENT_DEBUG_ANNOTATIONS;
    bool truncated = ev->e->truncation != POSIX_TRACE_NOT_TRUNCATED;
    size_t mark = 0;

    if (!ev->layout && ev->e->data_len == 0 && !ev->misfit && !truncated)
        return;
    if (ends) {
        mark = pt_pb_open(&p->out, TRACK_EVENT_DEBUG_ANNOTATIONS);
        put_name(p, &p->names.end, "end");
    }
    if (ev->layout)
        put_fields(p, ev, in);
    else if (ev->e->data_len > 0 || ev->misfit)
        put_data(p, ev, in);
    if (truncated)
        pt_perfetto_arg_true(p, in, &p->names.truncated, "truncated");
    if (ends)
        pt_pb_close(&p->out, mark);
}
