/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* The detail of rows that are no events: items, long slices, flows. */
#include <errno.h>
#include <stdlib.h>

#include "analysis/html/html_state.h"

enum { TOGETHER = 4 * PT_HTML_TILE_ITEMS }; /* are sorted, and become tiles */

void pt_html_detail_add(struct pt_html *h, const struct pt_html_item *item)
{
    bool wide = item->length > h->span / PT_HTML_WIDE_PART;
    struct pt_html_items *to = wide ? &h->wide_details : &h->details;

    if (h->error)
        return;
    pt_html_level_add(h, item);
    if (pt_html_items_add(h, to, item) && to->count == TOGETHER) {
        pt_html_items_tile(h, to, 4, &h->detail_tiles);
        pt_html_budget_keep(h);
    }
}

static int longs_by_time(const void *a, const void *b)
{
    const struct pt_html_long *x = a, *y = b;

    return (x->begin > y->begin) - (x->begin < y->begin);
}

static int flows_by_time(const void *a, const void *b)
{
    const struct pt_html_flow *x = a, *y = b;

    return (x->ns > y->ns) - (x->ns < y->ns);
}

static uint64_t long_member(const void *array, size_t i, unsigned column)
{
    const struct pt_html_long *l = (const struct pt_html_long *)array + i;

    return column == 0   ? l->row
           : column == 1 ? l->label
           : column == 2 ? (uint64_t)l->begin
           : column == 3 ? (uint64_t)l->length
                         : l->flags;
}

static uint64_t flow_member(const void *array, size_t i, unsigned column)
{
    const struct pt_html_flow *f = (const struct pt_html_flow *)array + i;

    return column == 0   ? f->from
           : column == 1 ? (uint64_t)f->ns
           : column == 2 ? f->to
           : column == 3 ? (uint64_t)f->length
                         : f->kind;
}

/* Tiles of five columns; begin and length: the numbers of theirs. */
static void put_sorted(struct pt_html *h, const void *array, size_t total,
                       uint64_t (*at)(const void *, size_t, unsigned), unsigned begin,
                       struct pt_html_tiles *tiles)
{
    for (size_t from = 0, n; from < total && !h->error; from += n) {
        struct pt_html_bytes *to = pt_html_block_begin(&h->blocks, 5);
        struct pt_html_column c = { .values = NULL };
        int64_t end = 0;
        uint32_t block = 0;
        int error;

        n = total - from < PT_HTML_TILE_ITEMS ? total - from : PT_HTML_TILE_ITEMS;
        for (unsigned column = 0; column < 5; column++) {
            c.count = 0;
            for (size_t i = from; i < from + n; i++)
                if (!pt_html_column_add(&c, at(array, i, column)))
                    pt_html_fail(h, ENOMEM);
            pt_html_put_column(to, &c, false);
        }
        for (size_t i = from; i < from + n; i++) {
            int64_t last = (int64_t)(at(array, i, begin) + at(array, i, 3));

            end = last > end ? last : end;
        }
        pt_html_column_deinit(&c);
        error = pt_html_block_end(&h->blocks, &block);
        if (error)
            pt_html_fail(h, error);
        else
            pt_html_tiles_add(h, tiles, (int64_t)at(array, from, begin), end, block, n);
    }
}

static void put_longs(struct pt_html *h)
{
    if (h->long_count > 0)
        qsort(h->longs, h->long_count, sizeof *h->longs, longs_by_time);
    put_sorted(h, h->longs, h->long_count, long_member, 2, &h->long_tiles);
    h->long_count = 0;
}

static void put_flows(struct pt_html *h)
{
    if (h->flow_count > 0)
        qsort(h->flows, h->flow_count, sizeof *h->flows, flows_by_time);
    put_sorted(h, h->flows, h->flow_count, flow_member, 1, &h->flow_tiles);
    h->flow_count = 0;
}

void pt_html_long_add(struct pt_html *h, uint32_t row, uint32_t label, int64_t begin, int64_t end,
                      unsigned flags)
{
    struct pt_html_long *at = pt_html_more(h, h->longs, h->long_count, &h->long_room, sizeof *at);

    if (!at)
        return;
    h->longs = at;
    at[h->long_count++] = (struct pt_html_long){ row, label, begin, end - begin, flags };
    if (h->long_count == TOGETHER)
        put_longs(h);
}

void pt_html_flow_add(struct pt_html *h, const struct pt_html_flow *flow)
{
    struct pt_html_flow *at = pt_html_more(h, h->flows, h->flow_count, &h->flow_room, sizeof *at);

    if (!at)
        return;
    h->flows = at;
    at[h->flow_count++] = *flow;
    if (h->flow_count == TOGETHER)
        put_flows(h);
}

void pt_html_details_end(struct pt_html *h)
{
    pt_html_items_tile(h, &h->details, 4, &h->detail_tiles);
    pt_html_items_tile(h, &h->wide_details, 4, &h->detail_tiles);
    put_longs(h);
    put_flows(h);
}
