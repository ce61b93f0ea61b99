/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Counters: all values, and levels with the least, greatest and last value of each bucket.  A level
 * takes what the finer one has; see html_levels.c.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/html/html_state.h"

enum { SAMPLE_BYTES = 32, FINEST_PART = 18, COARSEST_PART = 8 };

/* counters[0] has all values. */
void pt_html_counters_init(struct pt_html *h)
{
    unsigned shift = 0;

    while (h->span >> shift >= INT64_C(1) << FINEST_PART)
        shift += 2;
    h->counter_count = 1;
    for (; h->counter_count < PT_HTML_LEVELS && h->span >> shift >= INT64_C(1) << COARSEST_PART;
         shift += 2)
        h->counters[h->counter_count++].shift = shift;
}

static void store(struct pt_html *h, struct pt_html_samples *s, const struct pt_html_sample *sample)
{
    struct pt_html_sample *at = pt_html_more(h, s->at, s->count, &s->room, sizeof *at);

    if (!at)
        return;
    s->at = at;
    at[s->count++] = *sample;
}

static int by_row(const void *a, const void *b)
{
    const struct pt_html_sample *x = a, *y = b;

    if (x->row != y->row)
        return (x->row > y->row) - (x->row < y->row);
    return (x->ns > y->ns) - (x->ns < y->ns);
}

static void join(struct pt_html_sample *to, const struct pt_html_sample *from)
{
    to->least = from->least < to->least ? from->least : to->least;
    to->most = from->most > to->most ? from->most : to->most;
    to->last = from->last;
}

/* Sorted samples, those of a bucket together. */
static void make_level(struct pt_html *h, struct pt_html_samples *to,
                       const struct pt_html_samples *from)
{
    for (size_t i = 0; i < from->count && !h->error; i++) {
        struct pt_html_sample *last = to->count ? &to->at[to->count - 1] : NULL;
        const struct pt_html_sample *s = &from->at[i];

        if (last && last->row == s->row && last->ns >> to->shift == s->ns >> to->shift)
            join(last, s);
        else
            store(h, to, s);
    }
}

/* There are too many: the finest level has them from now on, and nothing has each. */
static void fold(struct pt_html *h)
{
    struct pt_html_samples *all = &h->counters[0];

    if (all->count > 0)
        qsort(all->at, all->count, sizeof *all->at, by_row);
    make_level(h, &h->counters[1], all);
    all->count = 0;
    all->full = true;
}

void pt_html_counter_add(struct pt_html *h, uint32_t row, int64_t ns, double value)
{
    const struct pt_html_sample sample = { row, ns, value, value, value };
    struct pt_html_samples *all = &h->counters[0];
    struct pt_html_row *r;

    if (h->error || row == PT_HTML_NO_ROW)
        return;
    r = &h->rows[row];
    r->least = value < r->least ? value : r->least;
    r->most = value > r->most ? value : r->most;
    if (all->count >= h->budget / SAMPLE_BYTES && h->counter_count > 1)
        fold(h);
    store(h, all, &sample);
}

/* A level of parts that were made one after the other is one of all of them. */
static void unite(struct pt_html *h, struct pt_html_samples *level)
{
    struct pt_html_samples whole = { .shift = level->shift };

    qsort(level->at, level->count, sizeof *level->at, by_row);
    make_level(h, &whole, level);
    free(level->at);
    *level = whole;
}

static uint64_t bits_of(double d)
{
    uint64_t bits;

    memcpy(&bits, &d, sizeof bits);
    return bits;
}

static uint64_t member(const struct pt_html_sample *s, unsigned column)
{
    switch (column) {
    case 0: return s->row;
    case 1: return (uint64_t)s->ns;
    case 2: return bits_of(s->least);
    case 3: return bits_of(s->most);
    default: return bits_of(s->last);
    }
}

static void put_tile(struct pt_html *h, struct pt_html_samples *s, size_t from, size_t count)
{
    unsigned columns = s == h->counters ? 3 : 5;
    struct pt_html_bytes *to = pt_html_block_begin(&h->blocks, columns);
    struct pt_html_column c = { .values = NULL };
    int64_t begin = INT64_MAX, end = 0;
    uint32_t block = 0;
    int error;

    for (unsigned n = 0; n < columns; n++) {
        c.count = 0;
        for (size_t i = from; i < from + count; i++)
            if (!pt_html_column_add(&c, member(&s->at[i], n)))
                pt_html_fail(h, ENOMEM);
        pt_html_put_column(to, &c, false);
    }
    for (size_t i = from; i < from + count; i++) {
        begin = s->at[i].ns < begin ? s->at[i].ns : begin;
        end = s->at[i].ns > end ? s->at[i].ns : end;
    }
    pt_html_column_deinit(&c);
    error = pt_html_block_end(&h->blocks, &block);
    if (error)
        pt_html_fail(h, error);
    else
        pt_html_tiles_add(h, &s->tiles, begin, end, block, count);
}

static int by_time(const void *a, const void *b)
{
    const struct pt_html_sample *x = a, *y = b;

    return (x->ns > y->ns) - (x->ns < y->ns);
}

static void put_tiles(struct pt_html *h, struct pt_html_samples *s)
{
    if (s->count > 0)
        qsort(s->at, s->count, sizeof *s->at, by_time);
    for (size_t i = 0, n; i < s->count && !h->error; i += n) {
        n = s->count - i < PT_HTML_TILE_ITEMS ? s->count - i : PT_HTML_TILE_ITEMS;
        qsort(s->at + i, n, sizeof *s->at, by_row);
        put_tile(h, s, i, n);
    }
}

static void make_levels(struct pt_html *h)
{
    const struct pt_html_samples *finer = &h->counters[0];
    unsigned n = 1;

    if (finer->full) {
        fold(h);
        unite(h, &h->counters[1]);
        finer = &h->counters[n++];
    } else if (finer->count > 0) {
        qsort(finer->at, finer->count, sizeof *finer->at, by_row);
    }
    for (; n < h->counter_count && !h->error; n++) {
        make_level(h, &h->counters[n], finer);
        if (2 * h->counters[n].count > finer->count)
            h->counters[n].full = true;
        else
            finer = &h->counters[n];
    }
}

void pt_html_counters_end(struct pt_html *h)
{
    make_levels(h);
    for (unsigned n = h->counter_count; n > 0 && !h->error; n--)
        if (!h->counters[n - 1].full)
            put_tiles(h, &h->counters[n - 1]);
    if (h->counters[0].full)
        pt_html_note(h, "Counters are in the page as ranges of values, not value by value.");
}

void pt_html_counters_deinit(struct pt_html *h)
{
    for (unsigned n = 0; n < h->counter_count; n++) {
        free(h->counters[n].at);
        free(h->counters[n].tiles.at);
    }
}
