/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Which event types of a stream a pair uses, and where in their data its key is.  Types are found
 * by name in each stream, and fields by name in the description that the stream has: ids and
 * layouts differ from log to log.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/metrics/language/machine.h"
#include "analysis/metrics/run/reader.h"
#include "analysis/pair/pair_state.h"

__attribute__((format(printf, 3, 4))) static int
fails(posixtrace_pair_run_t *run, const struct pt_pair_source *s, const char *format, ...)
{
    va_list args;

    memset(&run->fault, 0, sizeof run->fault);
    run->fault.stream = s->place;
    run->fault.other = SIZE_MAX;
    va_start(args, format);
    vsnprintf(run->fault.text, sizeof run->fault.text, format, args);
    va_end(args);
    return EINVAL;
}

/* ---- fields ---- */

static bool is_number(const struct posixtrace_field *f)
{
    return !f->array && (f->kind == POSIXTRACE_FIELD_UNSIGNED ||
                         f->kind == POSIXTRACE_FIELD_SIGNED || f->kind == POSIXTRACE_FIELD_HEX ||
                         f->kind == POSIXTRACE_FIELD_BOOL || f->kind == POSIXTRACE_FIELD_CHAR);
}

/* Bytes of a field before others; 0: they differ from event to event. */
static size_t fixed_bytes(const struct posixtrace_field *f)
{
    bool elements = f->kind != POSIXTRACE_FIELD_STRING && f->kind != POSIXTRACE_FIELD_BYTES;

    if (!f->array && elements)
        return f->bits / 8;
    return f->count_bits == 0 && f->count > 0 && (elements || f->kind == POSIXTRACE_FIELD_BYTES)
               ? f->count * (f->bits / 8)
               : 0;
}

static size_t place_of(const posixtrace_layout_t *layout, size_t index)
{
    size_t at = 0;

    for (size_t i = 0; i < index; i++) {
        size_t bytes = fixed_bytes(posixtrace_layout_field(layout, i));

        if (bytes == 0)
            return SIZE_MAX;
        at += bytes;
    }
    return at;
}

static int find_field(posixtrace_pair_run_t *run, const struct pt_pair_source *s,
                      struct pt_pair_use *use, size_t i, const char *type)
{
    struct pt_pair_match *m = &run->matches[use->pair];
    const char *name = m->pair->field[use->part == PT_PAIR_END][i];
    struct pt_pair_field *field = &use->fields[i];
    const struct posixtrace_field *f;

    field->index = posixtrace_layout_find(use->layout, name);
    f = posixtrace_layout_field(use->layout, field->index);
    if (!f)
        return fails(run, s, "event type '%.100s' has no field '%.100s'", type, name);
    field->is_text = f->kind == POSIXTRACE_FIELD_STRING || f->kind == POSIXTRACE_FIELD_BYTES;
    if (!field->is_text && !is_number(f))
        return fails(run, s,
                     "field '%.100s' of event type '%.100s' is no single integer and no text", name,
                     type);
    field->is_signed = f->kind == POSIXTRACE_FIELD_SIGNED;
    field->bytes = f->bits / 8;
    field->at = field->is_text ? SIZE_MAX : place_of(use->layout, field->index);
    if (m->text[i] < 0)
        m->text_from = s->place;
    if (m->text[i] < 0 || m->text[i] == field->is_text) {
        m->text[i] = (int8_t)field->is_text;
        return 0;
    }
    fails(run, s,
          "field '%.100s' of event type '%.100s' is a %s, and the key is a %s in another event",
          name, type, field->is_text ? "text" : "number", field->is_text ? "number" : "text");
    run->fault.other = m->text_from;
    return EINVAL;
}

/* ---- types ---- */

static int add_use(posixtrace_pair_run_t *run, struct pt_pair_source *s, struct pt_pair_type *t,
                   trace_event_id_t id, struct pt_pair_use use, const char *name)
{
    struct pt_pair_use *more = realloc(t->uses, (t->count + 1) * sizeof *more);
    int error = 0;

    if (!more)
        return ENOMEM;
    t->uses = more;
    use.layout = posixtrace_fields_layout(s->fields, id);
    if (!use.layout)
        return fails(run, s, "event type '%.100s' has no description of its fields", name);
    for (size_t i = 0; error == 0 && i < run->matches[use.pair].pair->field_count; i++)
        error = find_field(run, s, &use, i, name);
    if (error)
        return error;
    if (use.part == PT_PAIR_BEGIN)
        s->begins |= UINT32_C(1) << use.pair;
    else
        s->ends |= UINT32_C(1) << use.pair;
    more[t->count++] = use;
    return 0;
}

static int learn(posixtrace_pair_run_t *run, struct pt_pair_source *s, struct pt_pair_type *t,
                 trace_event_id_t id)
{
    char buffer[TRACE_EVENT_NAME_MAX + 1];
    const char *name = pt_reader_name(s->trid, id, buffer);
    int error = 0;

    t->is_mark = id <= POSIX_TRACE_ERROR;
    for (size_t i = 0; name && error == 0 && i < run->match_count; i++) {
        const posixtrace_pair_t *pair = run->matches[i].pair;

        for (int end = 0; error == 0 && end < 2; end++)
            if (pt_is_type_of(pair->event[end], name))
                error = add_use(
                    run, s, t, id,
                    (struct pt_pair_use){ .pair = i, .part = end ? PT_PAIR_END : PT_PAIR_BEGIN },
                    name);
    }
    t->known = error == 0;
    return error;
}

struct pt_pair_type *pt_pair_type(posixtrace_pair_run_t *run, struct pt_pair_source *s,
                                  trace_event_id_t id, int *error)
{
    if (id >= s->type_count) {
        size_t count = id + 64;
        struct pt_pair_type *more = realloc(s->types, count * sizeof *more);

        *error = ENOMEM;
        if (!more)
            return NULL;
        memset(more + s->type_count, 0, (count - s->type_count) * sizeof *more);
        s->types = more;
        s->type_count = count;
    }
    *error = s->types[id].known ? 0 : learn(run, s, &s->types[id], id);
    return *error ? NULL : &s->types[id];
}

int pt_pair_types_learn(posixtrace_pair_run_t *run, struct pt_pair_source *s)
{
    trace_event_id_t id;
    int end = 0, error = posix_trace_eventtypelist_rewind(s->trid);

    while (error == 0) {
        error = posix_trace_eventtypelist_getnext_id(s->trid, &id, &end);
        if (error || end)
            break;
        pt_pair_type(run, s, id, &error);
    }
    return error ? error : posix_trace_eventtypelist_rewind(s->trid);
}

void pt_pair_types_free(struct pt_pair_source *s)
{
    for (size_t i = 0; i < s->type_count; i++)
        free(s->types[i].uses);
    free(s->types);
}

/* ---- keys ---- */

static bool put(struct pt_pair_key *key, const void *from, size_t length)
{
    if (length > sizeof key->bytes - key->length)
        return false;
    memcpy(key->bytes + key->length, from, length);
    key->length += length;
    return true;
}

static uint64_t load(const struct pt_pair_use *use, const struct pt_pair_field *f,
                     const unsigned char *at)
{
    bool big = posixtrace_layout_is_big_endian(use->layout);
    unsigned bits = 8 * f->bytes;
    uint64_t value = 0;

    for (unsigned i = 0; i < f->bytes; i++)
        value = value << 8 | at[big ? i : f->bytes - 1 - i];
    if (f->is_signed && bits < 64 && value >> (bits - 1))
        value |= UINT64_MAX << bits;
    return value;
}

static bool put_number(struct pt_pair_key *key, uint64_t value)
{
    key->number = value;
    return put(key, &value, sizeof value);
}

/* The length before it keeps two texts apart that are joined differently. */
static bool put_text(struct pt_pair_key *key, const struct posixtrace_value *value)
{
    uint32_t length = (uint32_t)value->count;

    return value->count < sizeof key->bytes && put(key, &length, sizeof length) &&
           put(key, value->at, length);
}

static bool put_split(const struct pt_pair_use *use, size_t field_count,
                      const struct posixtrace_event *e, struct pt_pair_key *key)
{
    struct posixtrace_value values[POSIXTRACE_FIELDS_MAX];
    size_t there = 0;

    posixtrace_layout_split(use->layout, e->data, e->data_len, values, &there);
    for (size_t i = 0; i < field_count; i++) {
        const struct pt_pair_field *f = &use->fields[i];

        if (f->index >= there)
            return false;
        if (f->is_text ? !put_text(key, &values[f->index])
                       : !put_number(key, posixtrace_value_integer(use->layout, f->index,
                                                                   &values[f->index], 0)))
            return false;
    }
    return true;
}

bool pt_pair_key(const struct pt_pair_use *use, size_t field_count,
                 const struct posixtrace_event *e, struct pt_pair_key *key)
{
    key->length = 0;
    key->is_number = field_count == 1 && !use->fields[0].is_text;
    for (size_t i = 0; i < field_count; i++) {
        const struct pt_pair_field *f = &use->fields[i];

        if (f->at == SIZE_MAX) {
            key->length = 0;
            return put_split(use, field_count, e, key);
        }
        if (e->data_len < f->at + f->bytes)
            return false;
        put_number(key, load(use, f, (const unsigned char *)e->data + f->at));
    }
    return true;
}
