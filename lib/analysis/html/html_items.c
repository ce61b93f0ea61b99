/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* Items as tiles: sorted by time, cut into pieces, each sorted by row.  See html_state.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/html/html_state.h"

bool pt_html_items_add(struct pt_html *h, struct pt_html_items *items,
                       const struct pt_html_item *item)
{
    struct pt_html_item *at = pt_html_more(h, items->at, items->count, &items->room, sizeof *at);

    if (!at)
        return false;
    items->at = at;
    at[items->count++] = *item;
    return true;
}

static int by_time(const void *a, const void *b)
{
    const struct pt_html_item *x = a, *y = b;

    return (x->begin > y->begin) - (x->begin < y->begin);
}

static int by_row(const void *a, const void *b)
{
    const struct pt_html_item *x = a, *y = b;

    return x->row != y->row ? (x->row > y->row) - (x->row < y->row) : by_time(a, b);
}

static uint64_t member(const struct pt_html_item *item, unsigned column)
{
    switch (column) {
    case 0: return item->row;
    case 1: return (uint64_t)item->begin;
    case 2: return (uint64_t)item->length;
    case 3: return item->value;
    case 4: return item->count;
    default: return (uint64_t)(item->length - item->covered);
    }
}

static void put_tile(struct pt_html *h, struct pt_html_item *at, size_t count, unsigned columns,
                     struct pt_html_tiles *tiles)
{
    struct pt_html_bytes *to = pt_html_block_begin(&h->blocks, columns);
    struct pt_html_column c = { .values = calloc(count, sizeof(uint64_t)), count, count };
    int64_t from = INT64_MAX, end = 0;
    uint32_t block = 0;
    int error = c.values ? 0 : ENOMEM;

    qsort(at, count, sizeof *at, by_row);
    for (unsigned n = 0; n < columns && !error; n++) {
        for (size_t i = 0; i < count; i++)
            c.values[i] = member(&at[i], n);
        pt_html_put_column(to, &c, n == 5);
    }
    for (size_t i = 0; i < count; i++) {
        from = at[i].begin < from ? at[i].begin : from;
        end = at[i].begin + at[i].length > end ? at[i].begin + at[i].length : end;
    }
    pt_html_column_deinit(&c);
    if (!error)
        error = pt_html_block_end(&h->blocks, &block);
    if (error)
        pt_html_fail(h, error);
    else
        pt_html_tiles_add(h, tiles, from, end, block, count);
}

/* Most tiles are in order as they come: a look costs less than qsort() does then. */
static void sort(struct pt_html_item *at, size_t count, int (*order)(const void *, const void *))
{
    for (size_t i = 1; i < count; i++)
        if (order(&at[i - 1], &at[i]) > 0) {
            qsort(at, count, sizeof *at, order);
            return;
        }
}

/* Moves the long ones to the front; returns how many. */
static size_t part_wide(const struct pt_html *h, struct pt_html_items *items)
{
    size_t wide = 0;

    for (size_t i = 0; i < items->count; i++) {
        struct pt_html_item item = items->at[i];

        if (item.length <= h->span / PT_HTML_WIDE_PART)
            continue;
        items->at[i] = items->at[wide];
        items->at[wide++] = item;
    }
    return wide;
}

void pt_html_items_tile(struct pt_html *h, struct pt_html_items *items, unsigned columns,
                        struct pt_html_tiles *tiles)
{
    size_t wide = items->count > PT_HTML_TILE_ITEMS ? part_wide(h, items) : 0, count;

    if (items->count > 0) {
        sort(items->at, wide, by_time);
        sort(items->at + wide, items->count - wide, by_time);
    }
    for (size_t i = 0; i < items->count && !h->error; i += count) {
        count = (i < wide ? wide : items->count) - i;
        count = count < PT_HTML_TILE_ITEMS ? count : PT_HTML_TILE_ITEMS;
        put_tile(h, items->at + i, count, columns, tiles);
    }
    free(items->at);
    *items = (struct pt_html_items){ .at = NULL };
}
