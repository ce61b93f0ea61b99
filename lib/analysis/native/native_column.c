/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* One column of a block; see native_state.h. */
#include <stdlib.h>
#include "analysis/native/native_state.h"

static bool add_to(posixtrace_native_t *n, struct pt_native_column *c)
{
    struct pt_native_column **columns;

    if (n->count == n->room) {
        columns = realloc(n->columns, (2 * n->room + 64) * sizeof(struct pt_native_column *));
        if (!columns)
            return false;
        n->columns = columns;
        n->room = 2 * n->room + 64;
    }
    n->columns[n->count++] = c;
    return true;
}

static void put_head(struct pt_bytes *head, const char *text)
{
    pt_parquet_put_varint(head, strlen(text));
    pt_parquet_put(head, text, strlen(text));
}

bool pt_native_name_column(struct pt_native_column *c, const char *name)
{
    char *copy = strdup(name);

    if (!copy)
        return false;
    free(c->name);
    c->about.name = c->name = copy;
    c->head.used = 0;
    put_head(&c->head, c->about.name);
    put_head(&c->head, c->about.type);
    return !c->head.failed;
}

struct pt_native_column *pt_native_add_column(posixtrace_native_t *n, const char *name,
                                              const char *type, unsigned size, bool optional)
{
    struct pt_native_column *c = calloc(1, sizeof *c);

    if (!c)
        return NULL;
    c->about.type = type;
    c->size = size;
    c->optional = optional;
    if (pt_native_name_column(c, name) && add_to(n, c))
        return c;
    pt_native_free_column(c);
    return NULL;
}

void pt_native_free_column(struct pt_native_column *c)
{
    pt_bytes_free(&c->nulls);
    pt_bytes_free(&c->values);
    pt_bytes_free(&c->head);
    free(c->name);
    free(c);
}

void pt_native_pad(struct pt_native_column *c, uint32_t row)
{
    size_t more = row - c->rows;
    uint8_t *nulls = pt_bytes_add(&c->nulls, more), *values = pt_bytes_add(&c->values, more);

    if (nulls)
        memset(nulls, 1, more);
    if (values)
        memset(values, 0, more);
    c->rows = row;
}

bool pt_native_begin_numbers(struct pt_native_column *c)
{
    size_t size = (size_t)PT_NATIVE_ROWS * c->size;
    uint8_t *values, *nulls;

    c->values.used = c->nulls.used = 0;
    values = pt_bytes_add(&c->values, size);
    nulls = c->optional ? pt_bytes_add(&c->nulls, PT_NATIVE_ROWS) : values;
    if (!values || !nulls)
        return false;
    memset(values, 0, size);
    if (c->optional)
        memset(nulls, 1, PT_NATIVE_ROWS);
    return true;
}

/* A constant that may be null is not. */
static void set_not_null(struct pt_native_column *c)
{
    uint8_t *nulls = c->optional ? pt_bytes_add(&c->nulls, PT_NATIVE_ROWS) : NULL;

    if (nulls)
        memset(nulls, 0, PT_NATIVE_ROWS);
    c->constant = true;
}

void pt_native_set_number(struct pt_native_column *c, uint64_t v)
{
    v = htole64(v);
    for (size_t i = 0; i < PT_NATIVE_ROWS; i++)
        pt_parquet_put(&c->values, &v, c->size);
    set_not_null(c);
}

void pt_native_put_text(struct pt_bytes *to, struct pt_bytes *scratch, const char *text,
                        size_t length)
{
    scratch->used = 0;
    pt_parquet_put_text(scratch, text, length);
    pt_parquet_put_varint(to, scratch->used);
    pt_parquet_put(to, scratch->at, scratch->used);
    to->failed |= scratch->failed;
}

static void set_text(struct pt_native_column *c, const struct posixtrace_cell *cell)
{
    struct pt_bytes scratch = { .at = NULL }, value = { .at = NULL };

    pt_native_put_text(&value, &scratch, cell->text, cell->length);
    for (size_t i = 0; i < PT_NATIVE_ROWS; i++)
        pt_parquet_put(&c->values, value.at, value.used);
    c->values.failed |= value.failed;
    set_not_null(c);
    pt_bytes_free(&value);
    pt_bytes_free(&scratch);
}

void pt_native_set_cell(struct pt_native_column *c, const struct posixtrace_cell *cell)
{
    if (cell->null)
        c->constant = true; /* without values, it is in no block */
    else if (c->size)
        pt_native_set_number(c, (uint64_t)cell->number);
    else
        set_text(c, cell);
}

bool pt_native_column_failed(const struct pt_native_column *c)
{
    return c->nulls.failed || c->values.failed || c->head.failed;
}
