/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The state of posixtrace/native.h: columns; each holds its values in one block.
 *
 * native.c: the interface.  native_column.c: one column.  native_block.c: a block of them.
 * native_fields.c: columns of fields, by event type.  native_events.c: the table events.
 * native_rows.c: the others.
 */
#ifndef PT_NATIVE_STATE_H
#define PT_NATIVE_STATE_H

#include <posixtrace/event.h>
#include <posixtrace/info.h>
#include <posixtrace/native.h>
#include <posixtrace/tables.h>
#include <posixtrace/typed.h>
#include "analysis/tables/forms.h"

enum { PT_NATIVE_ROWS = 1 << 14, PT_NATIVE_BYTES = 16 << 20 }; /* of a block */
enum { PT_NATIVE_TYPES = 4096, PT_NATIVE_FIELDS = 400 };
/* Columns before those of the table. */
enum { PT_NATIVE_ATTEMPT, PT_NATIVE_LOADED, PT_NATIVE_FIRST };

struct pt_native_column {
    struct posixtrace_native_column about;
    char *name;
    unsigned size; /* of a value; 0: text */
    bool optional;
    bool dropped;  /* it is in no block */
    bool constant; /* values has PT_NATIVE_ROWS equal ones */
    uint32_t rows; /* up to its last value in this block */
    /* Of numbers they have PT_NATIVE_ROWS elements from the first value in a block on. */
    struct pt_bytes nulls;  /* a byte a row, 1: null; if optional */
    struct pt_bytes values; /* texts: each after its length */
    struct pt_bytes head;   /* name and type, as in a block */
};

struct pt_native_field {
    struct pt_native_column *column;
    const struct posixtrace_field *field;
    enum pt_form form;
    bool vague; /* an enumeration in which values share a name */
};

struct pt_native_type {
    const posixtrace_layout_t *layout; /* NULL: no description */
    bool whole;                        /* each field has a column */
    size_t count;                      /* of fields that have one */
    struct pt_native_field *fields;
    struct pt_bytes name; /* as a value; empty: not known yet */
};

struct posixtrace_native {
    trace_id_t trid;
    unsigned table;
    struct posixtrace_native_options options;
    posixtrace_tables_t *tables;
    posixtrace_fields_t *fields;
    struct pt_native_column **columns;
    size_t count, room;
    size_t left_out;
    struct pt_texts used; /* names of columns of fields */
    struct pt_native_type *types[PT_NATIVE_TYPES];
    bool written, failed; /* failed: no memory */
    /* The block under construction: */
    uint32_t rows;
    size_t bytes; /* of texts in it */
    struct iovec *pieces;
    struct pt_bytes scratch, start;
    /* The process of the event before, and its name. */
    pid_t pid;
    bool has_pid, has_process;
    struct pt_bytes process;
    /* The last thread name, as a value: */
    char thread_name[64];
    struct pt_bytes thread;
    int (*block)(void *context, const struct posixtrace_native_block *block);
    void *context;
};

/* ---- native_column.c ---- */

/* NULL: no memory.  size: of a value, 0: of texts. */
struct pt_native_column *pt_native_add_column(posixtrace_native_t *n, const char *name,
                                              const char *type, unsigned size, bool optional);
bool pt_native_name_column(struct pt_native_column *c, const char *name);
void pt_native_free_column(struct pt_native_column *c);
/* A column of texts is null in rows before row that have no value yet. */
void pt_native_pad(struct pt_native_column *c, uint32_t row);
/* All rows have that value. */
void pt_native_set_number(struct pt_native_column *c, uint64_t v);
void pt_native_set_cell(struct pt_native_column *c, const struct posixtrace_cell *cell);
bool pt_native_column_failed(const struct pt_native_column *c);
/* Text as a value: as UTF-8, after its length.  scratch is overwritten. */
void pt_native_put_text(struct pt_bytes *to, struct pt_bytes *scratch, const char *text,
                        size_t length);

/* All rows of a column of numbers are null, or 0, before its first value in a block. */
bool pt_native_begin_numbers(struct pt_native_column *c);

/* A value of size bytes in that row of a column that is optional, or has one in all rows. */
static inline void pt_native_number(struct pt_native_column *c, uint32_t row, uint64_t v)
{
    uint8_t *to;

    if (c->rows == 0 && !pt_native_begin_numbers(c))
        return;
    if (c->optional)
        c->nulls.at[row] = 0;
    to = c->values.at + (size_t)row * c->size;
    v = htole64(v);
    if (c->size == sizeof v)
        memcpy(to, &v, sizeof v);
    else if (c->size == sizeof(uint32_t))
        memcpy(to, &v, sizeof(uint32_t));
    else
        *to = (uint8_t)v;
    c->rows = row + 1;
}

/* memcpy() without a call, of few bytes. */
static inline void pt_native_copy(uint8_t *to, const void *from, size_t length)
{
    const uint8_t *at = from;

    if (length > 16) {
        memcpy(to, at, length);
    } else if (length >= 8) {
        memcpy(to, at, 8);
        memcpy(to + length - 8, at + length - 8, 8);
    } else if (length >= 4) {
        memcpy(to, at, 4);
        memcpy(to + length - 4, at + length - 4, 4);
    } else {
        for (size_t i = 0; i < length; i++)
            to[i] = at[i];
    }
}

/* The same of a column of texts. */
static inline void pt_native_bytes(struct pt_native_column *c, uint32_t row, const void *at,
                                   size_t length)
{
    uint8_t *to;

    if (c->optional) {
        if (c->rows < row)
            pt_native_pad(c, row);
        to = pt_bytes_add(&c->nulls, 1);
        if (to)
            *to = 0;
    }
    if (length < 0x80) {
        to = pt_bytes_add(&c->values, length + 1);
        if (to) {
            *to = (uint8_t)length;
            pt_native_copy(to + 1, at, length);
        }
    } else {
        pt_parquet_put_varint(&c->values, length);
        pt_parquet_put(&c->values, at, length);
    }
    c->rows = row + 1;
}

/* ---- native_block.c ---- */

/* After a row was put: 0, or an error number, or the result of block. */
int pt_native_end_row(posixtrace_native_t *n);
int pt_native_end_block(posixtrace_native_t *n);

/* ---- native_fields.c ---- */

/* Columns of all types of the log that have events.  0 or an error number. */
int pt_native_find_fields(posixtrace_native_t *n);
struct pt_native_type *pt_native_type(posixtrace_native_t *n, trace_event_id_t id);
/* The values of an event; true: they are all of its data. */
bool pt_native_put_fields(posixtrace_native_t *n, const struct pt_native_type *t,
                          const struct posixtrace_event *e);
void pt_native_free_types(posixtrace_native_t *n);

/* ---- native_rows.c ---- */

/* The other tables. */
int pt_native_write_rows(posixtrace_native_t *n);

/* ---- native_events.c ---- */

int pt_native_write_events(posixtrace_native_t *n);

#endif
