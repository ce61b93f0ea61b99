/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * A picture as lines of text, a pure function of the model and the view.  Lines have no control
 * characters and no more columns than the view; a line has one colour.
 */
#ifndef TOP_SCREEN_H
#define TOP_SCREEN_H

#include "common/colour.h"
#include "common/utf8.h"
#include "top/top.h"

enum top_section { TOP_PAIR_TABLE, TOP_THREAD_TABLE, TOP_LOCK_TABLE, TOP_SITE_TABLE, TOP_TABLES };
enum { TOP_ALL = TOP_TABLES }; /* of struct top_view.section */

struct top_view {
    size_t columns, rows; /* rows 0: as many as there are, of each table the first 'most' */
    size_t most;
    enum utf8_style style; /* UTF8_TERMINAL or UTF8_TERMINAL_ASCII */
    unsigned section;      /* the only table, or TOP_ALL */
    bool frozen, help;
    const char *prompt;  /* instead of the last line: the typed text, or NULL */
    const char *message; /* the same: of the last key, or NULL */
};

struct top_line {
    char *text;
    enum colour colour;
};

struct top_screen {
    struct top_line *lines;
    size_t count;
};

void top_screen_make(struct top_screen *to, const struct top_model *m, const struct top_view *v);
void top_screen_free(struct top_screen *s);

/* ---- for top_tables.c ---- */

enum { TOP_LINE = 2048 };

/* A line as it grows. */
struct top_row {
    char text[TOP_LINE];
    size_t length, columns; /* bytes, and columns of the terminal */
};

/* Adds text, escaped, cut and padded to width columns, with a blank before it unless it is the
 * first.  width 0: as it is. */
void top_row_cell(struct top_row *row, const struct top_view *v, const char *text, size_t width,
                  bool left);
/* Adds a line of text as it is, cut to the columns. */
void top_screen_add(struct top_screen *to, const struct top_view *v, const char *text,
                    enum colour colour);
__attribute__((format(printf, 4, 5))) void top_screen_format(struct top_screen *to,
                                                             const struct top_view *v,
                                                             enum colour colour, const char *format,
                                                             ...);
/* At most lines lines of a table with its heading; how many it would take. */
size_t top_table_put(struct top_screen *to, const struct top_model *m, const struct top_view *v,
                     enum top_section section, size_t lines);
size_t top_table_rows(const struct top_model *m, enum top_section section);

#endif
