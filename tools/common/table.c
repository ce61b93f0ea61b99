/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * See table.h.
 */
#include "common/table.h"

#include <stdlib.h>
#include <string.h>

#include "common/utf8.h"
#include "common/stdout_buffer.h"
#include "common/tool.h"

enum { NARROW = 8, GAP = 2 };

struct table_row {
    char *cells[TABLE_COLUMNS];
    size_t filled;
    bool is_caption; /* its text is the first cell */
};

struct layout {
    size_t width[TABLE_COLUMNS], gap;
    bool left_out[TABLE_COLUMNS];
};

void table_init(struct table *t, const struct table_column *columns, size_t count)
{
    *t = (struct table){ .columns = columns, .column_count = count };
}

void table_free(struct table *t)
{
    for (size_t i = 0; i < t->count; i++) {
        for (size_t c = 0; c < t->rows[i].filled; c++)
            free(t->rows[i].cells[c]);
    }
    free(t->rows);
}

void table_add_row(struct table *t)
{
    if (t->count == t->room) {
        t->room = t->room ? 2 * t->room : 16;
        t->rows = tool_grow(t->rows, t->room, sizeof *t->rows);
    }
    t->rows[t->count++] = (struct table_row){ .filled = 0 };
}

void table_cell(struct table *t, const char *text)
{
    struct table_row *row = &t->rows[t->count - 1];
    size_t size = strlen(text) + 1;

    row->cells[row->filled] = memcpy(tool_grow(NULL, size, 1), text, size);
    row->filled++;
}

void table_add_caption(struct table *t, const char *text)
{
    table_add_row(t);
    table_cell(t, text);
    t->rows[t->count - 1].is_caption = true;
}

static size_t columns_of(const char *text)
{
    return utf8_columns(text, strlen(text));
}

static size_t sum_of(const struct table *t, const struct layout *l)
{
    size_t sum = 0;

    for (size_t c = 0; c < t->column_count; c++)
        sum += l->left_out[c] ? 0 : l->width[c] + l->gap;
    return sum - l->gap;
}

/* The widest column, flexible or any, that may become narrower; column_count: there is none. */
static size_t widest(const struct table *t, const struct layout *l, bool flexible)
{
    size_t best = t->column_count;

    for (size_t c = 0; c < t->column_count; c++) {
        if ((t->columns[c].flexible || !flexible) && !l->left_out[c] && l->width[c] > NARROW &&
            (best == t->column_count || l->width[c] > l->width[best]))
            best = c;
    }
    return best;
}

/* The largest width of the cells and the title. */
static size_t natural_width(const struct table *t, size_t c)
{
    size_t width = columns_of(t->columns[c].title);

    for (size_t i = 0; i < t->count; i++) {
        const struct table_row *row = &t->rows[i];
        size_t cell = c < row->filled && !row->is_caption ? columns_of(row->cells[c]) : 0;

        width = cell > width ? cell : width;
    }
    return width;
}

static bool says_nothing(const struct table *t, size_t c)
{
    for (size_t i = 0; i < t->count; i++) {
        const struct table_row *row = &t->rows[i];

        if (c < row->filled && !row->is_caption && strcmp(row->cells[c], "-") != 0)
            return false;
    }
    return true;
}

/* Without the columns that are left out; false: they do not fit. */
static bool fits(const struct table *t, struct layout *l)
{
    size_t most = out_columns(), c;

    l->gap = GAP;
    for (c = 0; c < t->column_count; c++)
        l->width[c] = natural_width(t, c);
    if (sum_of(t, l) > most)
        l->gap = 1;
    while (sum_of(t, l) > most && (c = widest(t, l, true)) < t->column_count)
        l->width[c]--;
    return sum_of(t, l) <= most;
}

static void lay_out(const struct table *t, struct layout *l)
{
    size_t c = t->column_count;

    memset(l, 0, sizeof *l);
    for (size_t i = 0; i < t->column_count; i++)
        l->left_out[i] = t->columns[i].hidden && says_nothing(t, i);
    while (!fits(t, l) && c-- > 0)
        l->left_out[c] |= t->columns[c].optional;
    /* numbers of 20 digits in many columns */
    while (sum_of(t, l) > out_columns() && (c = widest(t, l, false)) < t->column_count)
        l->width[c]--;
}

bool table_fits(const struct table *t)
{
    struct layout l;

    lay_out(t, &l);
    for (size_t c = 0; c < t->column_count; c++) {
        if (l.width[c] < natural_width(t, c) || (l.left_out[c] && t->columns[c].optional))
            return false;
    }
    return true;
}

size_t table_put_cut(const char *text, size_t width)
{
    size_t length = strlen(text), head, tail;
    size_t columns = utf8_cut(text, length, width, &head, &tail);

    out_bytes(text, head);
    if (head < length && width >= 2) {
        out_text("..");
        out_bytes(text + tail, length - tail);
    }
    return columns;
}

/* Cut to width columns, in a colour; how many columns it took. */
static size_t put_coloured(const char *text, size_t width, enum colour colour)
{
    size_t took;

    if (colour != COLOUR_PLAIN && *text)
        out_text(colour_code(colour));
    took = table_put_cut(text, width);
    if (colour != COLOUR_PLAIN && *text)
        out_text(colour_code(COLOUR_PLAIN));
    return took;
}

/* heading: in one colour, whatever the columns have. */
static void print_cells(const struct table *t, const struct layout *l, const char *const *cells,
                        size_t count, bool heading)
{
    size_t due = 0; /* blanks before the next cell */

    for (size_t c = 0; c < count; c++) {
        size_t used = columns_of(cells[c]), before = 0;

        if (l->left_out[c])
            continue;
        if (!t->columns[c].left && used < l->width[c])
            before = l->width[c] - used;
        out_spaces(due + before);
        /* a cut before a wide character may take less than the width */
        due = l->gap + l->width[c] - before -
              put_coloured(cells[c], l->width[c], heading ? COLOUR_FAINT : t->columns[c].colour);
    }
    out_text("\n");
}

static void print_heading(const struct table *t, const struct layout *l)
{
    const char *titles[TABLE_COLUMNS];

    for (size_t c = 0; c < t->column_count; c++)
        titles[c] = t->columns[c].title;
    print_cells(t, l, titles, t->column_count, true);
}

void table_print(const struct table *t)
{
    struct layout l;

    if (t->count == 0)
        return;
    lay_out(t, &l);
    print_heading(t, &l);
    for (size_t i = 0; i < t->count; i++) {
        const struct table_row *row = &t->rows[i];

        if (row->is_caption) {
            put_coloured(row->cells[0], out_columns(), COLOUR_FAINT);
            out_text("\n");
        } else {
            print_cells(t, &l, (const char *const *)row->cells, row->filled, false);
        }
    }
}
