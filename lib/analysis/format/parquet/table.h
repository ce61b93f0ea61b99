/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * A table of posixtrace/tables.h as a file: its columns, and rows until a group is full.
 */
#ifndef PT_PARQUET_TABLE_H
#define PT_PARQUET_TABLE_H

#include <posixtrace/tables.h>
#include "analysis/format/parquet/file.h"

enum { PT_PARQUET_ROWS = 1 << 17, PT_PARQUET_GROUP_BYTES = 32 << 20 }; /* of a group at most */
enum { PT_PARQUET_COLUMNS = 64 };

struct pt_parquet_table {
    struct pt_parquet_file file;
    unsigned table; /* enum posixtrace_table */
    struct pt_parquet_column *columns[PT_PARQUET_COLUMNS];
    size_t count;
    struct pt_bytes valued[PT_PARQUET_COLUMNS]; /* rows of this group with a value */
    struct pt_bytes scratch;
    uint32_t rows; /* of this group */
    size_t bytes;
};

/* The options of the format that its tables have, and what they share. */
struct pt_parquet_options {
    bool integer_time;
    posixtrace_tables_t *tables;
};

/* Starts a file with the columns of the table, and what all rows of the log have.  0 or
 * job->error. */
int pt_parquet_table_open(struct pt_parquet_table *t, struct pt_job *job, unsigned table,
                          const struct pt_parquet_options *o, FILE *to);
/* Writes the rows that it holds as a group. */
int pt_parquet_table_group(struct pt_parquet_table *t);
/* Writes the rest, what the log has lost, and the end of the file. */
int pt_parquet_table_end(struct pt_parquet_table *t);
void pt_parquet_table_free(struct pt_parquet_table *t);

/* A text of a column with names, of this row. */
void pt_parquet_table_name(struct pt_parquet_table *t, size_t column, const char *text,
                           size_t length);
/* This row has a value in a column that may be null. */
static inline void pt_parquet_table_has(struct pt_parquet_table *t, size_t column)
{
    pt_parquet_put32(&t->valued[column], t->rows);
}
/* A row with a cell for each column.  0 or job->error. */
int pt_parquet_table_row(struct pt_parquet_table *t, const struct posixtrace_cell *cells);

#endif
