/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The levels: each joins short neighbours of a row that begin in the same bucket, and gives
 * complete items to the next coarser one.  So each level takes the items of the finer one only, and
 * the cost is bounded by that of the finest.  A level that has had too many items keeps none and
 * still joins.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/html/html_state.h"

enum {
    FINEST_PART = 20,  /* the finest level has at most 2^20 buckets over the span, */
    COARSEST_PART = 8, /* the coarsest at least 2^8, unless it has too many items */
    ITEM_BYTES = 128   /* a level has at most an item for so many bytes of the budget */
};

void pt_html_levels_init(struct pt_html *h)
{
    unsigned shift = 0;

    while (h->span >> shift >= INT64_C(1) << FINEST_PART)
        shift += 2;
    do {
        h->levels[h->level_count++].shift = shift;
        shift += 2;
    } while (h->level_count < PT_HTML_LEVELS && shift < 62 && h->span >> (shift - 2) > 0);
    h->level_most = (size_t)(h->budget / ITEM_BYTES);
}

bool pt_html_levels_room(struct pt_html *h, uint32_t rows)
{
    for (unsigned i = 0; i < h->level_count; i++) {
        struct pt_html_open *open = realloc(h->levels[i].open, rows * sizeof *open);

        if (!open)
            return false;
        memset(open + h->row_room, 0, (rows - h->row_room) * sizeof *open);
        h->levels[i].open = open;
    }
    return true;
}

static void add(struct pt_html *h, unsigned n, const struct pt_html_item *item);

/* The item is complete at that level. */
static void give(struct pt_html *h, unsigned n, const struct pt_html_item *item)
{
    struct pt_html_level *level = &h->levels[n];

    level->count++;
    if (!level->full && level->items.count >= h->level_most && n + 1 < h->level_count) {
        free(level->items.at);
        level->items = (struct pt_html_items){ .at = NULL };
        level->full = true;
    }
    if (!level->full)
        pt_html_items_add(h, &level->items, item);
    if (n + 1 < h->level_count)
        add(h, n + 1, item);
}

static void close(struct pt_html *h, unsigned n, struct pt_html_open *open)
{
    struct pt_html_item item = open->item;

    open->item.count = 0;
    if (item.count > 0)
        give(h, n, &item);
}

/* The value that covers most of the time, as Boyer and Moore count votes. */
static void vote(struct pt_html_open *open, const struct pt_html_item *item)
{
    if (item->value == open->item.value) {
        open->votes += item->covered;
    } else if (item->covered > open->votes) {
        open->item.value = item->value;
        open->votes = item->covered - open->votes;
    } else {
        open->votes -= item->covered;
    }
}

static void join(struct pt_html_open *open, const struct pt_html_item *item)
{
    int64_t end = open->item.begin + open->item.length, last = item->begin + item->length;

    if (item->begin < open->item.begin)
        open->item.begin = item->begin;
    open->item.length = (last > end ? last : end) - open->item.begin;
    open->item.count += item->count;
    open->item.covered += item->covered;
    vote(open, item);
}

static void add(struct pt_html *h, unsigned n, const struct pt_html_item *item)
{
    struct pt_html_level *level = &h->levels[n];
    struct pt_html_open *open = &level->open[item->row];
    int64_t bucket = item->begin >> level->shift;
    bool is_long = item->length >> level->shift > 0;

    if (open->item.count > 0 && open->bucket == bucket && !is_long) {
        join(open, item);
        return;
    }
    close(h, n, open);
    if (is_long)
        give(h, n, item);
    else
        *open = (struct pt_html_open){ *item, bucket, item->covered };
}

void pt_html_level_add(struct pt_html *h, const struct pt_html_item *item)
{
    if (h->error || item->row == PT_HTML_NO_ROW)
        return;
    h->slice_items++;
    add(h, 0, item);
}

/* Coarse levels that no view needs; but the last one stays if the finer ones have none. */
static bool is_of_use(const struct pt_html *h, unsigned n, uint64_t finer, bool any)
{
    const struct pt_html_level *level = &h->levels[n];

    if (level->full || 2 * level->count > finer)
        return false;
    return !any || h->span >> level->shift >= INT64_C(1) << COARSEST_PART;
}

void pt_html_levels_end(struct pt_html *h)
{
    uint64_t finer = h->slice_items;
    bool wanted[PT_HTML_LEVELS] = { false }, any = false;

    for (unsigned n = 0; n < h->level_count && !h->error; n++)
        for (uint32_t row = 0; row < h->row_count; row++)
            close(h, n, &h->levels[n].open[row]);
    for (unsigned n = 0; n < h->level_count; n++) {
        wanted[n] = is_of_use(h, n, finer, any);
        any |= wanted[n];
        finer = wanted[n] ? h->levels[n].count : finer;
    }
    for (unsigned n = h->level_count; n > 0 && !h->error; n--)
        if (wanted[n - 1])
            pt_html_items_tile(h, &h->levels[n - 1].items, 6, &h->levels[n - 1].tiles);
}

void pt_html_levels_deinit(struct pt_html *h)
{
    for (unsigned n = 0; n < h->level_count; n++) {
        free(h->levels[n].open);
        free(h->levels[n].items.at);
        free(h->levels[n].tiles.at);
    }
}
