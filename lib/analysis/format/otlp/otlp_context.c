/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Where a span belongs: the rule of posixtrace/context.h, and ids in fields of its first event.
 *
 *   trace_id                    the trace
 *   span_id                     the span itself
 *   parent_span_id, parent_id   its parent
 *
 * A field is text in hexadecimal digits, bytes, or a number, which is the end of an id.
 */
#include <stdlib.h>
#include <string.h>
#include "analysis/format/otlp/otlp.h"

void pt_otlp_parent(const struct pt_otlp_thread *th, struct pt_otlp_ids *ids)
{
    size_t i = th ? th->count - th->suspended : 0;

    for (; i > 0; i--) {
        const struct pt_otlp_open *span = &th->open[i - 1];

        if (span->inner.any) {
            ids->parent = span->inner;
            ids->link = span->is_thread ? ids->link : span->ids.self;
            ids->remote = true;
            return;
        }
        if (!span->is_thread) {
            ids->parent = span->ids.self;
            return;
        }
    }
    if (th && th->context.any) {
        ids->parent = th->context;
        ids->remote = true;
    }
}

static bool from_bytes(const struct posixtrace_value *v, uint8_t *to, size_t size)
{
    uint8_t any = 0;

    if (v->count != size)
        return false;
    memcpy(to, v->at, size);
    for (size_t i = 0; i < size; i++)
        any |= to[i];
    return any != 0;
}

static bool from_number(uint64_t v, uint8_t *to, size_t size)
{
    memset(to, 0, size);
    for (size_t i = 0; i < 8; i++)
        to[size - 1 - i] = (uint8_t)(v >> 8 * i);
    return v != 0;
}

static bool id_of(const struct pt_tl_event *ev, const char *name, uint8_t *to, size_t size)
{
    size_t i = posixtrace_layout_find(ev->layout, name);
    const struct posixtrace_field *f = posixtrace_layout_field(ev->layout, i);
    const struct posixtrace_value *v = f ? &ev->values[i] : NULL;
    uint8_t id[16];
    bool good = false;

    if (!f)
        return false;
    if (f->kind == POSIXTRACE_FIELD_STRING || (f->array && f->kind == POSIXTRACE_FIELD_CHAR))
        good = pt_otlp_from_digits(v->at, v->count, id, size);
    else if (f->kind == POSIXTRACE_FIELD_BYTES ||
             (f->array && f->bits == 8 && f->kind <= POSIXTRACE_FIELD_HEX))
        good = from_bytes(v, id, size);
    else if (!f->array && f->kind <= POSIXTRACE_FIELD_HEX)
        good = from_number(posixtrace_value_integer(ev->layout, i, v, 0), id, size);
    if (good)
        memcpy(to, id, size);
    return good;
}

/* A trace of its own has no parent in another one. */
static void take_fields(const struct pt_tl_event *ev, struct pt_otlp_ids *ids, bool *has_trace,
                        bool *has_span)
{
    uint8_t trace[16], parent[8];

    *has_trace = id_of(ev, "trace_id", trace, sizeof trace);
    if (*has_trace) {
        if (!ids->parent.any || memcmp(ids->parent.trace, trace, sizeof trace) != 0) {
            ids->link = ids->parent.any && !ids->remote ? ids->parent : ids->link;
            ids->parent = (struct pt_otlp_place){ .any = false };
            ids->remote = false;
        }
        memcpy(ids->self.trace, trace, sizeof trace);
    }
    if (id_of(ev, "parent_span_id", parent, sizeof parent) ||
        id_of(ev, "parent_id", parent, sizeof parent)) {
        ids->parent.any = ids->remote = true;
        memcpy(ids->parent.span, parent, sizeof parent);
    }
    *has_span = id_of(ev, "span_id", ids->self.span, sizeof ids->self.span);
}

void pt_otlp_complete(struct pt_otlp *o, const struct pt_tl_track *t, int64_t ns, const char *name,
                      const struct pt_tl_event *ev, struct pt_otlp_ids *ids)
{
    struct pt_otlp_place made = { .any = false };
    bool has_trace = false, has_span = false, in_trace = ids->parent.any;

    if (in_trace)
        memcpy(ids->self.trace, ids->parent.trace, sizeof ids->self.trace);
    ids->self.flags = ids->parent.flags;
    if (ev && ev->layout)
        take_fields(ev, ids, &has_trace, &has_span);
    pt_otlp_derive(o, t, ns, name, &made, true);
    if (!has_trace && !in_trace)
        memcpy(ids->self.trace, made.trace, sizeof made.trace);
    if (!has_span)
        memcpy(ids->self.span, made.span, sizeof made.span);
    ids->self.any = true;
}

bool pt_otlp_is_context(const struct pt_tl_event *ev)
{
    return ev->e->id == POSIXTRACE_CONTEXT && strcmp(ev->type->name, "posixtrace_context") == 0;
}

/* An event of another form ends the context as an empty one does. */
void pt_otlp_take_context(struct pt_otlp *o, const struct pt_tl_track *t,
                          const struct pt_tl_event *ev)
{
    struct pt_otlp_thread *th = pt_otlp_thread_make(o, t);
    struct pt_otlp_place c = { .any = false };
    const char *data = ev->e->data;

    if (!th)
        return;
    if (ev->e->data_len == 49 && pt_otlp_from_digits(data, 32, c.trace, sizeof c.trace) &&
        pt_otlp_from_digits(data + 32, 16, c.span, sizeof c.span)) {
        c.any = true;
        c.flags = (uint8_t)data[48];
        pt_timeline_watch(o->timeline, t);
    }
    if (th->count > th->suspended)
        th->open[th->count - th->suspended - 1].inner = c;
    else
        th->context = c;
}
