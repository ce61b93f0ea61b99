/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* A row under construction; see tables_state.h. */
#include <string.h>

#include "analysis/tables/tables_state.h"

_Static_assert((unsigned)POSIXTRACE_MEASUREMENTS_COLUMNS <= PT_TABLES_CELLS &&
                   (unsigned)POSIXTRACE_GAPS_COLUMNS <= PT_TABLES_CELLS,
               "room for all");

void pt_table_row_begin(struct pt_table_row *r)
{
    for (size_t i = POSIXTRACE_COMMON_COLUMNS; i < r->count; i++)
        r->cells[i] = (struct posixtrace_cell){ .null = true };
}

void pt_table_row_number(struct pt_table_row *r, unsigned column, int64_t number)
{
    r->cells[column] = (struct posixtrace_cell){ .number = number };
}

void pt_table_row_text(struct pt_table_row *r, unsigned column, const char *text)
{
    r->cells[column] = text ? (struct posixtrace_cell){ .text = text, .length = strlen(text) }
                            : (struct posixtrace_cell){ .null = true };
}

void pt_table_row_thread(struct pt_table_row *r, unsigned column, pid_t pid, pid_t tid,
                         uint64_t thread_id, const char *name)
{
    pt_table_row_number(r, column, pid);
    pt_table_row_number(r, column + 1, tid);
    pt_table_row_number(r, column + 2, (int64_t)thread_id);
    pt_table_row_text(r, column + 3, name ? name : pt_tables_thread(r->t, pid, tid, thread_id));
    pt_table_row_text(r, column + 4, posixtrace_tables_process(r->t, pid));
}

int pt_table_row_end(struct pt_table_row *r)
{
    int error = r->row(r->context, r->cells);

    r->cells[POSIXTRACE_COLUMN_POSITION].number++;
    return error;
}
