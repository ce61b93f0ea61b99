/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* posixtrace_event_field, and posixtrace_fields_*: the fields of a stream's events. */
#include <errno.h>
#include <posixtrace/event.h>
#include <posixtrace/typed.h>
#include <stdlib.h>
#include "api/guard.h"
#include "api/sized.h"
#include "api/trace_names.h"
#include "control/control.h"
#include "model/layout_cache.h"

struct posixtrace_fields {
    trace_id_t trid;
    struct pt_layout_cache *cache;
};

PT_PUBLIC int posixtrace_fields_create(trace_id_t trid, posixtrace_fields_t **fields)
{
    posixtrace_fields_t *f = fields ? calloc(1, sizeof *f) : NULL;

    if (f)
        f->cache = pt_layout_cache_new();
    if (!f || !f->cache) {
        free(f);
        return fields ? ENOMEM : EINVAL;
    }
    f->trid = trid;
    *fields = f;
    return 0;
}

PT_PUBLIC void posixtrace_fields_free(posixtrace_fields_t *fields)
{
    if (fields)
        pt_layout_cache_free(fields->cache);
    free(fields);
}

PT_PUBLIC const posixtrace_layout_t *posixtrace_fields_layout(posixtrace_fields_t *f,
                                                              trace_event_id_t event)
{
    char text[POSIXTRACE_DESCRIPTION_MAX + 1];
    bool look;
    const posixtrace_layout_t *layout = pt_layout_cache_get(f->cache, event, &look);

    if (look) {
        int error = pt_event_description(f->trid, event, text);

        layout = pt_layout_cache_put(f->cache, event, error ? NULL : text);
    }
    return layout;
}

/* The first element of a number as an integer and as a double. */
static void get_number(const struct posixtrace_layout *l, size_t i,
                       const struct posixtrace_value *value, struct posixtrace_field_value *to)
{
    if (l->fields[i].kind == POSIXTRACE_FIELD_FLOAT) {
        to->number = pt_value_float(l, i, value, 0);
        return;
    }
    to->integer = pt_value_integer(l, i, value, 0);
    to->number = l->fields[i].kind == POSIXTRACE_FIELD_SIGNED ? (double)(int64_t)to->integer
                                                              : (double)to->integer;
    to->text = pt_field_enumerator(&l->fields[i], (int64_t)to->integer);
    to->text_len = to->text ? strlen(to->text) : 0;
}

static int get_field(const struct posixtrace_layout *l, const struct posixtrace_event *event,
                     const char *name, struct posixtrace_field_value *to)
{
    struct posixtrace_value values[POSIXTRACE_FIELDS_MAX];
    size_t i = pt_layout_find(l, name), whole;

    if (i == l->count)
        return -ENOENT;
    pt_layout_split(l, event->data, event->data_len, values, &whole);
    if (i >= whole)
        return -EMSGSIZE;
    *to = (struct posixtrace_field_value){ .field = &l->fields[i],
                                           .at = values[i].at,
                                           .count = values[i].count };
    if (to->field->kind == POSIXTRACE_FIELD_STRING) {
        to->text = to->at;
        to->text_len = to->count;
    } else if (to->field->kind != POSIXTRACE_FIELD_BYTES && to->count > 0) {
        get_number(l, i, &values[i], to);
    }
    return 0;
}

PT_PUBLIC int posixtrace_event_field(trace_id_t trid, const struct posixtrace_event *event,
                                     const char *name, struct posixtrace_field_value *value,
                                     size_t size)
{
    const struct posixtrace_layout *l;
    struct posixtrace_field_value v;
    struct pt_guard g;
    int r;

    if (!event || !name || !value || size == 0 || !pt_guard_enter(&g, trid, PT_STREAM_ANY))
        return EINVAL;
    r = pt_stream_layout(g.s, event->id, &l);
    if (r == 0)
        r = l ? get_field(l, event, name, &v) : -ENOENT;
    if (r == 0)
        pt_sized_copy(value, size, &v, sizeof v);
    return pt_guard_leave(&g, r);
}
