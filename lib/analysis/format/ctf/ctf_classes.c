/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Event classes of a CTF trace.  A type gets one when it is met for the first time, and
 * another one for data that does not fit its description: so every event is carried,
 * with a description that is true of its bytes.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/format/ctf/ctf.h"

static bool ends_in_bytes(const posixtrace_layout_t *layout)
{
    const struct posixtrace_field *f = posixtrace_layout_field(layout,
                                                               posixtrace_layout_count(layout) - 1);

    return f && f->kind == POSIXTRACE_FIELD_BYTES && !f->count && !f->count_bits;
}

/* A NUL ends str and str[n], but not the others. */
static bool is_text(const struct posixtrace_field *f)
{
    return (f->kind == POSIXTRACE_FIELD_STRING && f->count_bits) ||
           (f->kind == POSIXTRACE_FIELD_CHAR && f->array);
}

static bool has_text(const posixtrace_layout_t *layout)
{
    size_t i = 0, count = posixtrace_layout_count(layout);

    while (i < count && !is_text(posixtrace_layout_field(layout, i)))
        i++;
    return i < count;
}

/* The index of a class, which is made if need be; CTF_IDS * CTF_FORMS: no memory. */
static uint32_t class_of(struct ctf_classes *cs, const struct posixtrace_event *event,
                         enum ctf_form form, const posixtrace_layout_t *layout)
{
    uint16_t *known = &cs->of[event->id][form];
    struct ctf_class *list, class = { .form = form, .layout = layout };

    if (*known)
        return *known - 1u;
    if (cs->count == cs->room) {
        list = reallocarray(cs->list, cs->room ? 2 * cs->room : 64, sizeof *list);
        if (!list)
            return CTF_IDS * CTF_FORMS;
        cs->list = list;
        cs->room = cs->room ? 2 * cs->room : 64;
    }
    class.name = strdup(event->name);
    if (!class.name)
        return CTF_IDS * CTF_FORMS;
    if (layout) {
        class.size = posixtrace_layout_size(layout);
        class.ends_in_bytes = ends_in_bytes(layout);
        class.has_text = has_text(layout);
    }
    cs->list[cs->count++] = class;
    *known = (uint16_t)cs->count;
    return *known - 1u;
}

/* Readers of CTF end a text at its first NUL.  Those that fill an array up are no loss. */
static bool is_cut(const struct posixtrace_field *f, const struct posixtrace_value *v)
{
    const char *nul = is_text(f) && v->count ? memchr(v->at, 0, v->count) : NULL;
    const char *end = nul ? (const char *)v->at + v->count : NULL;

    while (nul && !f->count_bits && nul < end && !*nul)
        nul++;
    return nul && (f->count_bits || nul < end);
}

/* What fits the data; *head: where all the rest begins. */
static enum ctf_form form_of(const struct ctf_class *class, const struct posixtrace_event *event,
                             size_t *head)
{
    struct posixtrace_value values[POSIXTRACE_FIELDS_MAX];
    size_t count;

    *head = event->data_len;
    if (class->size && !class->has_text)
        return event->data_len == class->size ? CTF_FIELDS : CTF_BYTES;
    if (posixtrace_layout_split(class->layout, event->data, event->data_len, values, &count) != 0)
        return CTF_BYTES;
    if (class->ends_in_bytes)
        *head -= values[count - 1].count;
    for (size_t i = 0; class->has_text && i < count; i++)
        if (is_cut(posixtrace_layout_field(class->layout, i), &values[i]))
            return CTF_NO_TEXT;
    return CTF_FIELDS;
}

int pt_ctf_classes_find(struct ctf_classes *cs, posixtrace_fields_t *fields,
                        const struct posixtrace_event *event, struct ctf_payload *payload)
{
    const posixtrace_layout_t *layout = posixtrace_fields_layout(fields, event->id);
    enum ctf_form form = event->data_len ? CTF_BYTES : CTF_NOTHING;
    uint32_t id;

    payload->head = 0;
    if (layout) {
        id = class_of(cs, event, CTF_FIELDS, layout);
        if (id == CTF_IDS * CTF_FORMS)
            return ENOMEM;
        form = form_of(&cs->list[id], event, &payload->head);
        if (form == CTF_FIELDS) {
            payload->class_id = id;
            payload->counted = cs->list[id].ends_in_bytes;
            return 0;
        }
    }
    if (form != CTF_NO_TEXT) {
        form = event->data_len ? CTF_BYTES : CTF_NOTHING;
        layout = NULL;
        payload->head = 0;
    }
    id = class_of(cs, event, form, layout);
    payload->class_id = id;
    payload->counted = form == CTF_BYTES ||
                       (id < CTF_IDS * CTF_FORMS && cs->list[id].ends_in_bytes);
    return id == CTF_IDS * CTF_FORMS ? ENOMEM : 0;
}

void pt_ctf_classes_deinit(struct ctf_classes *cs)
{
    for (size_t i = 0; i < cs->count; i++)
        free(cs->list[i].name);
    free(cs->list);
}
