/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The size of the file.  While the events are read, tiles may use what the levels are unlikely to
 * need; at the end all blocks together have to fit.  First the fields of the tiles with the lowest
 * score go, then their events, then the detail of other rows, the oldest first.  Levels stay.
 */
#include <stdlib.h>

#include "analysis/html/html_state.h"
#include "analysis/html/html_web.h"

enum { LEVELS_PART = 8 }; /* of the budget, kept for levels */
enum { NOTES = 4096 };    /* bytes of further notes and the like */

static uint64_t for_tiles(const struct pt_html *h)
{
    return h->budget - h->budget / LEVELS_PART;
}

/* The tile with the lowest score that has fields, or events; NULL: there is none. */
static struct pt_html_event_tile *lowest(const struct pt_html *h, bool with_fields)
{
    struct pt_html_event_tile *found = NULL;

    for (size_t i = 0; i < h->now.count; i++) {
        struct pt_html_event_tile *t = &h->now.tiles[i];

        if ((with_fields ? t->fields : t->block) != PT_HTML_NO_BLOCK &&
            (!found || t->score < found->score))
            found = t;
    }
    return found;
}

bool pt_html_budget_wants_fields(const struct pt_html *h, double score)
{
    const struct pt_html_event_tile *t;

    if (h->fields_dropped == 0)
        return true;
    t = lowest(h, true);
    return t && t->score < score;
}

static bool drop_fields(struct pt_html *h)
{
    struct pt_html_event_tile *t = lowest(h, true);

    if (!t)
        return false;
    pt_html_block_drop(&h->blocks, t->fields);
    t->fields = PT_HTML_NO_BLOCK;
    h->fields_dropped += t->events;
    return true;
}

static bool drop_events(struct pt_html *h)
{
    struct pt_html_event_tile *t = lowest(h, false);

    if (!t)
        return false;
    pt_html_block_drop(&h->blocks, t->block);
    t->block = PT_HTML_NO_BLOCK;
    h->events_dropped += t->events;
    pt_html_tiles_add(h, &h->missing, t->from, t->to, PT_HTML_NO_BLOCK, t->events);
    return !h->error;
}

static bool drop_tile(struct pt_html *h, struct pt_html_tiles *tiles)
{
    for (size_t i = 0; i < tiles->count; i++) {
        struct pt_html_tile *t = &tiles->at[i];

        if (t->block == PT_HTML_NO_BLOCK)
            continue;
        pt_html_block_drop(&h->blocks, t->block);
        t->block = PT_HTML_NO_BLOCK;
        pt_html_tiles_add(h, &h->missing, t->from, t->to, PT_HTML_NO_BLOCK, t->items);
        return !h->error;
    }
    return false;
}

/* The rest: values of counters, items, flows, long slices. */
static bool drop_detail(struct pt_html *h)
{
    bool any = drop_tile(h, &h->counters[0].tiles) || drop_tile(h, &h->detail_tiles) ||
               drop_tile(h, &h->flow_tiles) || drop_tile(h, &h->long_tiles);

    h->detail_dropped |= any;
    return any;
}

static void drop_to(struct pt_html *h, uint64_t size)
{
    while (!h->error && h->blocks.size > size &&
           (drop_fields(h) || drop_events(h) || drop_detail(h)))
        ;
}

void pt_html_budget_keep(struct pt_html *h)
{
    drop_to(h, for_tiles(h));
}

static int by_time(const void *a, const void *b)
{
    const struct pt_html_tile *x = a, *y = b;

    return (x->from > y->from) - (x->from < y->from);
}

/* Spans that touch are one. */
static void merge_missing(struct pt_html_tiles *m)
{
    size_t kept = 0;

    if (m->count > 0)
        qsort(m->at, m->count, sizeof *m->at, by_time);
    for (size_t i = 0; i < m->count; i++) {
        if (kept > 0 && m->at[i].from <= m->at[kept - 1].to) {
            m->at[kept - 1].to = m->at[i].to > m->at[kept - 1].to ? m->at[i].to
                                                                  : m->at[kept - 1].to;
            continue;
        }
        m->at[kept++] = m->at[i];
    }
    m->count = kept;
}

/* What the head and the skeleton leave; the head gets shorter where blocks are dropped. */
static void set_exactly(struct pt_html *h)
{
    struct pt_html_bytes head = { .at = NULL };
    uint64_t fixed = NOTES;

    pt_html_head(h, &head);
    fixed += head.used;
    for (unsigned i = 0; i < PT_HTML_PIECES; i++)
        fixed += pt_html_pieces[i].length;
    h->budget = h->size > fixed ? h->size - fixed : 0;
    pt_html_bytes_deinit(&head);
}

void pt_html_budget_end(struct pt_html *h)
{
    char part[PT_HTML_COUNT], all[PT_HTML_COUNT];

    if (!h->error)
        set_exactly(h);
    drop_to(h, h->budget);
    if (h->detail_dropped)
        pt_html_note(h,
                     "The page has not all states, counters and long slices: its size is limited.");
    if (h->fields_dropped > 0)
        pt_html_note(
            h, "The fields of %s of %s events are not in the page, since its size is limited.",
            pt_html_count(part, h->fields_dropped), pt_html_count(all, h->events));
    if (h->events_dropped > 0)
        pt_html_note(h,
                     "%s of %s events are not in the page one by one, since its size is limited; "
                     "their sums are.",
                     pt_html_count(part, h->events_dropped), pt_html_count(all, h->events));
    merge_missing(&h->missing);
}
