/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* The columns of an event type: their names and types, by its description. */
#include <stdlib.h>
#include "analysis/format/parquet/types.h"

enum { NOTE_FIELDS = 0 };

static enum pt_parquet_type type_of(const struct posixtrace_field *f, enum pt_form form)
{
    switch (form) {
    case PT_FORM_NUMBER: return f->bits == 64 ? PT_PARQUET_INT64 : PT_PARQUET_INT32;
    case PT_FORM_FLOAT: return f->bits == 64 ? PT_PARQUET_DOUBLE : PT_PARQUET_FLOAT;
    case PT_FORM_BOOL: return PT_PARQUET_BOOLEAN;
    default: return PT_PARQUET_BYTES;
    }
}

static enum pt_parquet_meaning meaning_of(const struct posixtrace_field *f,
                                          enum pt_parquet_type type)
{
    if (type == PT_PARQUET_BYTES)
        return PT_PARQUET_TEXT;
    if (type == PT_PARQUET_INT32 || type == PT_PARQUET_INT64)
        return f->kind == POSIXTRACE_FIELD_SIGNED ? PT_PARQUET_SIGNED : PT_PARQUET_UNSIGNED;
    return PT_PARQUET_PLAIN;
}

static bool add_field(struct pt_parquet_types *t, struct pt_parquet_type_columns *c,
                      const char *event, size_t i)
{
    struct pt_parquet_field *f = &c->fields[i];
    struct pt_bytes name = { .at = NULL };
    enum pt_parquet_type type;

    f->field = posixtrace_layout_field(c->layout, i);
    f->form = pt_form_of(f->field);
    f->vague = pt_form_is_vague(f->field);
    type = type_of(f->field, f->form);
    if (pt_form_name(&t->used, event, f->field->name, &name))
        f->column = pt_parquet_file_column(t->file, (const char *)name.at, name.used, type,
                                           meaning_of(f->field, type), f->field->bits);
    pt_bytes_free(&name);
    if (!f->column)
        return false;
    f->column->optional = true;
    f->column->rows = &c->rows;
    f->column->has_names = f->form == PT_FORM_NAME;
    t->fields++;
    return true;
}

static void put_description(struct pt_parquet_types *t, const struct posixtrace_event *e)
{
    static const char before[] = "posixtrace.description.";
    char text[POSIXTRACE_DESCRIPTION_MAX + 1], *key;

    if (posixtrace_event_description(t->file->job->trid, e->id, text, sizeof text) != 0)
        return;
    key = malloc(sizeof before + strlen(e->name));
    if (key) {
        strcpy(stpcpy(key, before), e->name);
        pt_parquet_file_pair(t->file, key, text);
    } else {
        t->file->pairs.failed = true;
    }
    free(key);
}

struct pt_parquet_type_columns *pt_parquet_types_describe(struct pt_parquet_types *t,
                                                          const struct posixtrace_event *e)
{
    struct pt_parquet_type_columns *c = calloc(1, sizeof *c);
    size_t count;

    if (!c)
        return NULL;
    t->types[e->id] = c;
    c->layout = posixtrace_fields_layout(t->file->job->fields, e->id);
    if (!c->layout)
        return c;
    count = posixtrace_layout_count(c->layout);
    c->big_endian = posixtrace_layout_is_big_endian(c->layout);
    c->whole = t->fields + count <= PT_PARQUET_FIELDS;
    c->count = c->whole ? count : PT_PARQUET_FIELDS - t->fields;
    c->fields = calloc(count + 1, sizeof *c->fields);
    if (!c->fields)
        return NULL;
    put_description(t, e);
    for (size_t i = 0; i < c->count; i++)
        if (!add_field(t, c, e->name, i))
            return NULL;
    if (!c->whole)
        pt_job_note(t->file->job, NOTE_FIELDS,
                    "a file has at most %d columns of fields: %zu of the %zu fields of '%s' are in "
                    "the column data only",
                    PT_PARQUET_FIELDS, count - c->count, count, e->name);
    return c;
}
