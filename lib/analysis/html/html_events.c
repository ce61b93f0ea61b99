/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* Tiles of events and of the slices in them; see html_state.h. */
#include <errno.h>
#include <stdlib.h>

#include "analysis/html/html_state.h"

static void add(struct pt_html *h, struct pt_html_column *c, uint64_t value)
{
    if (!pt_html_column_add(c, value))
        pt_html_fail(h, ENOMEM);
}

/* Which kinds of events the log has: the report engine needs to know. */
static void note_role(struct pt_html *h, struct pt_html_lane *lane, enum pt_report_role role)
{
    switch (role) {
    case PT_REPORT_SWITCH_IN:
    case PT_REPORT_SWITCH_OUT:
    case PT_REPORT_PREEMPTED:
        h->switches++;
        lane->switches = true;
        break;
    case PT_REPORT_BEGIN:
    case PT_REPORT_END:
    case PT_REPORT_UNLOCK:
    case PT_REPORT_LONG_CALL: h->calls++; break;
    default: break;
    }
}

void pt_html_event_add(struct pt_html *h, struct pt_html_lane *lane, const struct pt_tl_event *ev,
                       int64_t ns)
{
    struct pt_html_events *now = &h->now;
    struct pt_html_type *t;

    if (now->ns.count == PT_HTML_TILE_EVENTS || now->bytes >= PT_HTML_TILE_BYTES)
        pt_html_tile_end(h);
    t = pt_html_type_of(h, ev);
    if (!t || h->error)
        return;
    add(h, &now->ns, (uint64_t)ns);
    add(h, &now->lanes, lane->number);
    add(h, &now->types, t->number);
    pt_html_type_take(h, t, ev);
    note_role(h, lane, t->role);
    h->events++;
}

void pt_html_slice_add(struct pt_html *h, uint32_t row, uint32_t label, uint32_t ordinal)
{
    struct pt_html_events *now = &h->now;
    uint64_t end = now->ns.count - 1;

    add(h, &now->rows, row);
    add(h, &now->labels, label);
    add(h, &now->ends, end);
    add(h, &now->lengths, end - ordinal);
}

static uint32_t put_events(struct pt_html *h)
{
    struct pt_html_events *now = &h->now;
    const struct pt_html_column *const columns[] = { &now->ns,     &now->lanes,  &now->types,
                                                     &now->rows,   &now->labels, &now->ends,
                                                     &now->lengths };
    enum { COLUMNS = sizeof columns / sizeof *columns };
    struct pt_html_bytes *to = pt_html_block_begin(&h->blocks, COLUMNS);
    uint32_t block = PT_HTML_NO_BLOCK;
    int error;

    for (unsigned i = 0; i < COLUMNS; i++)
        pt_html_put_column(to, columns[i], false);
    error = pt_html_block_end(&h->blocks, &block);
    if (error)
        pt_html_fail(h, error);
    return block;
}

static void list_tile(struct pt_html *h)
{
    struct pt_html_events *now = &h->now;
    struct pt_html_event_tile tile = { .from = INT64_MAX,
                                       .first = now->first,
                                       .events = now->ns.count,
                                       .score = now->score,
                                       .fields = PT_HTML_NO_BLOCK };
    struct pt_html_event_tile *tiles;

    for (size_t i = 0; i < now->ns.count; i++) {
        int64_t ns = (int64_t)now->ns.values[i];

        tile.from = ns < tile.from ? ns : tile.from;
        tile.to = ns > tile.to ? ns : tile.to;
    }
    tile.block = put_events(h);
    if (!h->error && pt_html_budget_wants_fields(h, tile.score))
        tile.fields = pt_html_fields_end(h);
    else
        h->fields_dropped += tile.events;
    tiles = pt_html_more(h, now->tiles, now->count, &now->room, sizeof *tiles);
    if (h->error || !tiles)
        return;
    now->tiles = tiles;
    tiles[now->count++] = tile;
}

void pt_html_tile_end(struct pt_html *h)
{
    struct pt_html_events *now = &h->now;

    if (now->ns.count > 0 && !h->error) {
        list_tile(h);
        pt_html_budget_keep(h);
    }
    now->number++;
    now->first = h->events;
    now->score = 0;
    now->bytes = 0;
    now->ns.count = now->lanes.count = now->types.count = 0;
    now->rows.count = now->labels.count = now->ends.count = now->lengths.count = 0;
    pt_html_fields_clear(h);
}

void pt_html_events_deinit(struct pt_html *h)
{
    struct pt_html_events *now = &h->now;
    struct pt_html_column *const columns[] = { &now->ns,       &now->lanes,  &now->types,
                                               &now->rows,     &now->labels, &now->ends,
                                               &now->lengths,  &now->raw,    &now->raw_index,
                                               &now->truncated };

    for (unsigned i = 0; i < sizeof columns / sizeof *columns; i++)
        pt_html_column_deinit(columns[i]);
    pt_html_texts_deinit(&now->raw_texts);
    free(now->tiles);
}
