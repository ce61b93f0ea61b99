/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* The interface posixtrace/native.h. */
#include <errno.h>
#include <stdlib.h>
#include "analysis/native/native_state.h"

const char *posixtrace_native_type(const struct posixtrace_column *column)
{
    bool null = column->optional;

    switch (column->type) {
    case POSIXTRACE_COLUMN_INT32: return null ? "Nullable(Int32)" : "Int32";
    case POSIXTRACE_COLUMN_INT64:
    case POSIXTRACE_COLUMN_TIME: return null ? "Nullable(Int64)" : "Int64";
    case POSIXTRACE_COLUMN_UINT64: return null ? "Nullable(UInt64)" : "UInt64";
    case POSIXTRACE_COLUMN_BOOL: return null ? "Nullable(UInt8)" : "UInt8";
    default: return null ? "Nullable(String)" : "String";
    }
}

/* Of a value; 0: of texts. */
static unsigned size_of(enum posixtrace_column_type type)
{
    bool is_text = type == POSIXTRACE_COLUMN_TEXT || type == POSIXTRACE_COLUMN_BYTES;

    return is_text                           ? 0
           : type == POSIXTRACE_COLUMN_INT32 ? 4
           : type == POSIXTRACE_COLUMN_BOOL  ? 1
                                             : 8;
}

static int make_columns(posixtrace_native_t *n)
{
    const struct posixtrace_column *column;
    struct pt_native_column *c = pt_native_add_column(n, "attempt", "UInt64", 8, false);

    if (!c)
        return ENOMEM;
    pt_native_set_number(c, n->options.attempt);
    c = pt_native_add_column(n, "loaded", "DateTime", 4, false);
    if (!c)
        return ENOMEM;
    pt_native_set_number(c, n->options.loaded);
    for (size_t i = 0; (column = posixtrace_table_column(n->table, i)); i++)
        if (!pt_native_add_column(n, column->name, posixtrace_native_type(column),
                                  size_of(column->type), column->optional))
            return ENOMEM;
    return 0;
}

static int make_tables(posixtrace_native_t *n)
{
    struct posixtrace_tables_options options = { .host = n->options.host,
                                                 .clocks = n->options.clocks };
    struct pt_native_column **c = n->columns + PT_NATIVE_FIRST;
    const struct posixtrace_cell *origin;
    int error = 0;

    n->tables = n->options.tables;
    if (!n->tables)
        error = posixtrace_tables_create(n->trid, &options, sizeof options, &n->tables);
    if (error)
        return error;
    origin = posixtrace_tables_origin(n->tables);
    for (size_t i = 0; i < POSIXTRACE_COLUMN_POSITION; i++)
        pt_native_set_cell(c[i], &origin[i]);
    return 0;
}

int posixtrace_native_create(trace_id_t trid, unsigned table,
                             const struct posixtrace_native_options *options, size_t size,
                             posixtrace_native_t **native)
{
    posixtrace_native_t *n;
    int error;

    if (!native || !posixtrace_table_name(table) || (options && size == 0))
        return EINVAL;
    n = calloc(1, sizeof *n);
    if (!n)
        return ENOMEM;
    n->trid = trid;
    n->table = table;
    if (options)
        memcpy(&n->options, options, size < sizeof n->options ? size : sizeof n->options);
    error = make_columns(n);
    if (!error)
        error = make_tables(n);
    if (!error)
        error = posixtrace_fields_create(trid, &n->fields);
    if (!error && table == POSIXTRACE_TABLE_EVENTS)
        error = pt_native_find_fields(n);
    if (error)
        posixtrace_native_free(n);
    else
        *native = n;
    return error;
}

void posixtrace_native_free(posixtrace_native_t *native)
{
    if (!native)
        return;
    for (size_t i = 0; i < native->count; i++)
        pt_native_free_column(native->columns[i]);
    pt_native_free_types(native);
    pt_bytes_free(&native->scratch);
    pt_bytes_free(&native->start);
    pt_bytes_free(&native->thread);
    pt_bytes_free(&native->process);
    posixtrace_fields_free(native->fields);
    if (!native->options.tables)
        posixtrace_tables_free(native->tables);
    free(native->columns);
    free(native->pieces);
    free(native);
}

const struct posixtrace_native_column *posixtrace_native_column(const posixtrace_native_t *native,
                                                                size_t i)
{
    return native && i < native->count ? &native->columns[i]->about : NULL;
}

size_t posixtrace_native_left_out(const posixtrace_native_t *native)
{
    return native ? native->left_out : 0;
}

int posixtrace_native_rename(posixtrace_native_t *native, size_t i, const char *name)
{
    if (!native || native->written || i >= native->count || !native->columns[i]->about.is_field)
        return EINVAL;
    if (!name) {
        native->left_out += !native->columns[i]->dropped;
        native->columns[i]->dropped = true;
        return 0;
    }
    return pt_native_name_column(native->columns[i], name) ? 0 : ENOMEM;
}

int posixtrace_native_write(posixtrace_native_t *native,
                            int (*block)(void *context,
                                         const struct posixtrace_native_block *block),
                            void *context)
{
    int error;

    if (!native || !block || native->written)
        return EINVAL;
    native->written = true;
    native->block = block;
    native->context = context;
    error = native->table == POSIXTRACE_TABLE_EVENTS ? pt_native_write_events(native)
                                                     : pt_native_write_rows(native);
    if (!error && native->failed)
        error = ENOMEM;
    return error ? error : pt_native_end_block(native);
}
