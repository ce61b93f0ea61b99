/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * A block: how many columns and rows, then of each column name, type and values.  A column without
 * a value is left out: the engine fills it.
 */
#include <errno.h>
#include <stdlib.h>
#include "analysis/native/native_state.h"

enum { PIECES = 3 }; /* of a column */

static bool is_in_block(const struct pt_native_column *c)
{
    return c->constant ? c->values.used > 0 : c->rows > 0;
}

static size_t add_piece(struct iovec *to, const void *at, size_t length)
{
    *to = (struct iovec){ (void *)at, length };
    return length > 0;
}

static size_t add_column(struct iovec *to, struct pt_native_column *c, uint32_t rows)
{
    size_t used = c->values.used, n;

    if (c->constant || c->size)
        used = used / PT_NATIVE_ROWS * rows;
    n = add_piece(to, c->head.at, c->head.used);
    if (c->optional)
        n += add_piece(to + n, c->nulls.at, rows);
    return n + add_piece(to + n, c->values.at, used);
}

static void clear(posixtrace_native_t *n)
{
    for (size_t i = 0; i < n->count; i++) {
        struct pt_native_column *c = n->columns[i];

        if (!c->constant && !c->size) {
            pt_bytes_clear(&c->nulls);
            pt_bytes_clear(&c->values);
        }
        c->rows = 0;
    }
    n->rows = 0;
    n->bytes = 0;
}

int pt_native_end_block(posixtrace_native_t *n)
{
    size_t columns = 0, pieces = 1;
    int result;

    if (n->rows == 0)
        return 0;
    if (!n->pieces)
        n->pieces = calloc(n->count * PIECES + 1, sizeof *n->pieces);
    if (!n->pieces)
        return ENOMEM;
    for (size_t i = 0; i < n->count; i++) {
        struct pt_native_column *c = n->columns[i];

        if (!is_in_block(c))
            continue;
        if (!c->constant && !c->size && c->rows < n->rows)
            pt_native_pad(c, n->rows);
        if (pt_native_column_failed(c))
            return ENOMEM;
        pieces += add_column(n->pieces + pieces, c, n->rows);
        columns++;
    }
    n->start.used = 0;
    pt_parquet_put_varint(&n->start, columns);
    pt_parquet_put_varint(&n->start, n->rows);
    if (n->start.failed || n->scratch.failed || n->thread.failed || n->process.failed)
        return ENOMEM;
    add_piece(n->pieces, n->start.at, n->start.used);
    result = n->block(n->context, &(struct posixtrace_native_block){ n->pieces, pieces, n->rows });
    clear(n);
    return result;
}

int pt_native_end_row(posixtrace_native_t *n)
{
    n->rows++;
    return n->rows == PT_NATIVE_ROWS || n->bytes >= PT_NATIVE_BYTES ? pt_native_end_block(n) : 0;
}
