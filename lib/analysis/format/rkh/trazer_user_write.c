/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* Events that are no records of RKH, as Trazer prints user events. */
#include <math.h>
#include <string.h>
#include "text/number.h"
#include "analysis/format/rkh/trazer_write.h"

static void put_margin(struct pt_trazer_writer *w)
{
    pt_trazer_put_text(w, "                                  | ");
}

/* In blocks as RKH has them. */
static void put_memory(struct pt_trazer_writer *w, const uint8_t *at, size_t len)
{
    while (len) {
        size_t piece = len > 255 ? 255 : len;

        put_margin(w);
        pt_trazer_put_text(w, "[ ");
        for (size_t i = 0; i < piece; i++) {
            pt_trazer_put_unsigned(w, at[i], 16, 2, '0');
            pt_trazer_put(w, ' ');
        }
        pt_trazer_put_text(w, "]\n");
        at += piece;
        len -= piece;
    }
}

static void put_element(struct pt_trazer_writer *w, const posixtrace_layout_t *layout, size_t i,
                        const struct posixtrace_value *v, size_t n)
{
    const struct posixtrace_field *f = posixtrace_layout_field(layout, i);
    char text[PT_NUMBER_MAX];

    if (f->kind == POSIXTRACE_FIELD_FLOAT) {
        double value = posixtrace_value_float(layout, i, v, n);
        char *end = text;

        if (isfinite(value))
            end = pt_number_float(text, value, 64);
        else
            end += snprintf(text, sizeof text, "%f", value);
        pt_trazer_put_piece(w, text, (size_t)(end - text));
    } else if (f->kind == POSIXTRACE_FIELD_HEX) {
        pt_trazer_put_text(w, "0x");
        pt_trazer_put_unsigned(w, posixtrace_value_integer(layout, i, v, n), 16, 0, '0');
    } else if (f->kind == POSIXTRACE_FIELD_SIGNED) {
        pt_trazer_put_signed(w, (int64_t)posixtrace_value_integer(layout, i, v, n));
    } else {
        pt_trazer_put_unsigned(w, posixtrace_value_integer(layout, i, v, n), 10, 0, ' ');
    }
}

/* Lines of a text are lines of the event. */
static void put_lines(struct pt_trazer_writer *w, const char *text, size_t len)
{
    const char *end;

    do {
        end = memchr(text, '\n', len);
        put_margin(w);
        pt_trazer_put_foreign(w, text, end ? (size_t)(end - text) : len);
        pt_trazer_put(w, '\n');
        len -= end ? (size_t)(end + 1 - text) : len;
        text = end ? end + 1 : text;
    } while (len);
}

static void put_field(struct pt_trazer_writer *w, const posixtrace_layout_t *layout, size_t i,
                      const struct posixtrace_value *v)
{
    const struct posixtrace_field *f = posixtrace_layout_field(layout, i);

    if (f->kind == POSIXTRACE_FIELD_BYTES) {
        put_memory(w, v->at, v->count);
        return;
    }
    if (f->kind == POSIXTRACE_FIELD_STRING) {
        put_lines(w, v->at, v->count);
        return;
    }
    put_margin(w);
    if (f->kind == POSIXTRACE_FIELD_CHAR && f->array) {
        pt_trazer_put_foreign(w, v->at, v->count);
    } else {
        for (size_t n = 0; n < v->count; n++) {
            if (n)
                pt_trazer_put(w, ' ');
            put_element(w, layout, i, v, n);
        }
    }
    pt_trazer_put(w, '\n');
}

/* An object, function or signal of RKH is two fields of ours: number and name. */
static bool put_rkh_field(struct pt_trazer_writer *w, const posixtrace_layout_t *layout, size_t i,
                          const struct posixtrace_value *v)
{
    const struct posixtrace_field *f = posixtrace_layout_field(layout, i);
    const struct posixtrace_field *next = posixtrace_layout_field(layout, i + 1);
    const char *name = f->name;
    const char *word = strncmp(name, "obj", 3) == 0   ? "obj="
                       : strncmp(name, "fun", 3) == 0 ? "func="
                       : strncmp(name, "sig", 3) == 0 ? "event="
                                                      : NULL;

    if (!word)
        return false;
    if (strstr(name, "_name"))
        return true;
    if (!next || next->kind != POSIXTRACE_FIELD_STRING || f->array ||
        f->kind > POSIXTRACE_FIELD_HEX)
        return false;
    put_margin(w);
    pt_trazer_put_text(w, word);
    pt_trazer_put_symbol(w, posixtrace_value_integer(layout, i, v, 0), v[1].at, v[1].count);
    pt_trazer_put(w, '\n');
    return true;
}

static void put_origin(struct pt_trazer_writer *w, const struct posixtrace_event *e)
{
    if (e->tid || *e->thread_name) {
        put_margin(w);
        pt_trazer_put_text(w, "obj=");
        if (*e->thread_name)
            pt_trazer_put_foreign(w, e->thread_name, strlen(e->thread_name));
        else
            pt_trazer_put_unsigned(w, (uint64_t)e->tid, 10, 0, ' ');
        pt_trazer_put(w, '\n');
    }
    if (e->prog_address) {
        put_margin(w);
        pt_trazer_put_text(w, "func=0X");
        pt_trazer_put_unsigned(w, e->prog_address, 16, 0, '0');
        pt_trazer_put(w, '\n');
    }
}

void pt_trazer_put_user(struct pt_trazer_writer *w, const struct posixtrace_event *e, bool imported)
{
    const posixtrace_layout_t *layout = posixtrace_fields_layout(w->job->fields, e->id);
    struct posixtrace_value values[POSIXTRACE_FIELDS_MAX];
    const char *name = imported ? e->name + 8 : e->name;
    size_t fields;

    pt_trazer_put_head(w, "USR", 3, name, strlen(name));
    pt_trazer_put_text(w, "User trace information\n");
    if (!imported)
        put_origin(w, e);
    if (layout && posixtrace_layout_split(layout, e->data, e->data_len, values, &fields) == 0) {
        for (size_t i = 0; i < fields; i++)
            if (!imported || !put_rkh_field(w, layout, i, &values[i]))
                put_field(w, layout, i, &values[i]);
    } else if (e->data_len) {
        put_memory(w, e->data, e->data_len);
    }
}
