/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* The tables measurements and gaps: rows of cells, as posixtrace/tables.h gives them. */
#include "analysis/native/native_state.h"

static void put_cell(posixtrace_native_t *n, struct pt_native_column *c,
                     const struct posixtrace_cell *cell)
{
    if (c->constant || cell->null)
        return;
    if (c->size) {
        pt_native_number(c, n->rows, (uint64_t)cell->number);
        return;
    }
    n->scratch.used = 0;
    pt_parquet_put_text(&n->scratch, cell->text, cell->length);
    pt_native_bytes(c, n->rows, n->scratch.at, n->scratch.used);
    n->bytes += n->scratch.used;
}

static int on_row(void *context, const struct posixtrace_cell *cells)
{
    posixtrace_native_t *n = context;

    for (size_t i = PT_NATIVE_FIRST; i < n->count; i++)
        put_cell(n, n->columns[i], &cells[i - PT_NATIVE_FIRST]);
    return pt_native_end_row(n);
}

int pt_native_write_rows(posixtrace_native_t *n)
{
    return posixtrace_tables_rows(n->tables, n->table, on_row, n);
}
