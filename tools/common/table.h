/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * A table that fits the width of the output (out_columns()).  Its rows are gathered
 * first; then columns are as wide as their widest cell.  Where that is too much, the
 * blanks between columns become one, then the flexible columns become narrower, the
 * widest first, and a cell that does not fit has ".." in its middle; then optional columns go, the
 * rightmost first; at last any column becomes narrower.  No row is wrapped.
 */
#ifndef TABLE_H
#define TABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "common/colour.h"

enum { TABLE_COLUMNS = 16 };

struct table_column {
    const char *title;
    bool left; /* aligned to the left, else to the right */
    bool flexible, optional;
    bool hidden;        /* where all its cells are "-" */
    enum colour colour; /* of its cells, not of its title */
};

struct table_row;

struct table {
    const struct table_column *columns;
    size_t column_count;
    struct table_row *rows;
    size_t count, room;
};

void table_init(struct table *t, const struct table_column *columns, size_t count);
void table_free(struct table *t);

/* A line of its own among the rows, cut where it is too long. */
void table_add_caption(struct table *t, const char *text);
/* A new row, which table_cell() fills from the left. */
void table_add_row(struct table *t);
/* Adds a copy of text, which is shown unchanged: names have to be passed through utf8_show(). */
void table_cell(struct table *t, const char *text);

/* Writes text, cut to so many columns; how many it took. */
size_t table_put_cut(const char *text, size_t width);

/* Would all of it be shown, and no cell cut? */
bool table_fits(const struct table *t);

/* The heading, unless there is no row, and the rows. */
void table_print(const struct table *t);

#endif
