/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The state of a page while it is made.  docs/report-page.md describes the result.
 *
 * One pass of the timeline engine makes events, slices, processors, counters and losses
 * (html_timeline.c); one of the report engine states, locks and flows (html_states.c), if the log
 * has context switches or calls.  Both add items to rows.  An item goes into the finest level,
 * which joins short neighbours and gives the result to the next one, and so on (html_levels.c).
 * Memory is that of the blocks, which the budget bounds (html_budget.c), of the levels, of one
 * tile, and of lanes and rows.
 *
 * The first error is kept in error; after it nothing is added.
 */
#ifndef PT_HTML_STATE_H
#define PT_HTML_STATE_H

#include <posixtrace/event.h>
#include <posixtrace/info.h>
#include <posixtrace/page.h>
#include <posixtrace/typed.h>

#include "analysis/format/common/format.h"
#include "analysis/format/timeline/timeline.h"
#include "analysis/html/html_blocks.h"
#include "analysis/html/html_columns.h"
#include "analysis/html/html_texts.h"
#include "analysis/report/report_map.h"
#include "analysis/report/report_types.h"

enum {
    PT_HTML_TILE_EVENTS = 65536,
    PT_HTML_TILE_BYTES = 8 << 20, /* of data of events; then the tile ends */
    PT_HTML_TILE_ITEMS = 16384,
    PT_HTML_WIDE_PART = 64, /* of the span: longer items have tiles of their own */
    PT_HTML_LEVELS = 27,    /* resolutions from 1 to 4^26 = 2^52 ns */
    PT_HTML_NOTES = 16,
    PT_HTML_COUNT = 28, /* bytes of a number with separators */
    PT_HTML_NO_ROW = UINT32_MAX
};

/* ---- items of rows ---- */

struct pt_html_item {
    uint32_t row, value;
    uint64_t count;
    int64_t begin, length, covered;
};

struct pt_html_items {
    struct pt_html_item *at;
    size_t count, room;
};

struct pt_html_tile {
    int64_t from, to;
    uint32_t block;
    uint64_t items;
};

struct pt_html_tiles {
    struct pt_html_tile *at;
    size_t count, room;
};

/* The item of a row that a level still adds to; count 0: none. */
struct pt_html_open {
    struct pt_html_item item;
    int64_t bucket, votes;
};

struct pt_html_level {
    unsigned shift;            /* resolution: 1 << shift ns */
    bool full;                 /* it has had more items than it may: it only joins */
    struct pt_html_open *open; /* by row */
    struct pt_html_items items;
    uint64_t count;
    struct pt_html_tiles tiles;
};

/* ---- counters ---- */

struct pt_html_sample {
    uint32_t row;
    int64_t ns;
    double least, most, last;
};

struct pt_html_samples {
    unsigned shift;
    bool full;
    struct pt_html_sample *at;
    size_t count, room;
    struct pt_html_tiles tiles;
};

/* ---- lanes and rows ---- */

enum pt_html_kind {
    PT_HTML_SLICE,
    PT_HTML_STATE,
    PT_HTML_EVENTS,
    PT_HTML_COUNTER,
    PT_HTML_LOSS,
    PT_HTML_CPU,
    PT_HTML_LOCK
};

struct pt_html_row {
    enum pt_html_kind kind;
    uint32_t owner, part; /* lane and depth; process, and option or place of the name; processor */
    uint64_t object;      /* of a lock: its address */
    double least, most;   /* of a counter */
};

struct pt_html_thread {
    int32_t pid, tid;
    uint64_t events;
};

/* A slice that has begun. */
struct pt_html_begun {
    int64_t ns;
    uint64_t tile;
    uint32_t ordinal, label, row;
    bool cut;
};

struct pt_html_process {
    int32_t pid;
    uint32_t number;
    bool any;
    char name[16];
};

struct pt_html_lane {
    bool any, shared; /* shared: of the threads without a lane, with their events only */
    int32_t pid, tid;
    uint32_t number;                 /* in the order of their first events */
    struct pt_html_process *process; /* NULL: of none */
    char name[16];
    int64_t begin, end;
    uint64_t events, lost;
    uint32_t events_row, state_row;
    struct pt_html_begun *begun;
    unsigned depth, room, rows;
    bool switches;        /* it has context switches */
    uint32_t *slice_rows; /* by depth */
};

/* ---- events ---- */

/* An address of a process at a time. */
struct pt_html_site {
    uint64_t address;
    int64_t ns;
    int32_t pid;
    bool ambiguous; /* another process had it, too */
};

enum pt_html_address { PT_HTML_NO_ADDRESS, PT_HTML_CODE, PT_HTML_DATA };

struct pt_html_field {
    char kind;
    bool is_signed, is_bool;
    struct pt_html_column values;
    struct pt_html_texts texts; /* of s, b and j */
    enum pt_html_address address;
    struct pt_html_site *named; /* different values of an address, html_named.c */
    size_t named_count, named_room;
    uint64_t last_value;
    int32_t last_pid;
};

struct pt_html_type {
    uint32_t number;
    char *name;
    bool is_system;
    int32_t begin, end; /* labels */
    enum pt_report_role role;
    const posixtrace_layout_t *layout; /* NULL: no description */
    size_t count;                      /* of fields */
    struct pt_html_field *fields;
    struct pt_html_column sites;
    size_t events; /* in the tile */
    uint64_t last_address;
    int32_t last_pid;
    uint32_t last_site;
};

struct pt_html_event_tile {
    int64_t from, to;
    uint64_t first, events;
    uint32_t block, fields;
    double score; /* the longest slice that ends there, as a multiple of the mean of its label */
};

struct pt_html_events {
    struct pt_html_column ns, lanes, types;
    struct pt_html_column rows, labels, ends, lengths;
    struct pt_html_column raw, raw_index, truncated;
    struct pt_html_texts raw_texts;
    size_t bytes;
    uint64_t number, first; /* of the tile; of its first event */
    double score;
    struct pt_html_event_tile *tiles;
    size_t count, room;
};

struct pt_html_long {
    uint32_t row, label;
    int64_t begin, length;
    unsigned flags;
};

struct pt_html_flow {
    uint32_t from, to, kind;
    int64_t ns, length;
};

struct pt_html {
    trace_id_t trid;
    struct posixtrace_page_options options;
    struct posixtrace_info info;
    posixtrace_fields_t *fields;
    int error;
    int64_t origin, span;
    uint64_t size, budget; /* bytes of the file, and of blocks, at most */
    uint64_t read;         /* events, in all passes */
    uint64_t events;

    struct pt_html_blocks blocks;
    uint32_t first_blocks; /* numbers of the file */

    struct pt_report_map lanes, processes, rows_by_key, site_map, named;
    struct pt_html_lane *last_lane, *shared_lane;
    size_t lanes_most;
    struct pt_html_thread *kept; /* have lanes; in order.  NULL: the first ones have */
    size_t kept_count;
    bool rows_left_out;
    uint64_t unkept; /* threads without a lane, as far as is known */
    struct pt_html_row *rows;
    uint32_t row_count, row_room;
    struct pt_html_site *sites; /* html_types.c */
    size_t site_count, site_room;
    char **labels;
    double *label_mean; /* by label: mean length, and how many */
    uint64_t *label_count;
    uint32_t labels_known;

    struct pt_html_level levels[PT_HTML_LEVELS];
    unsigned level_count;
    size_t level_most;    /* items of a level at most */
    uint64_t slice_items; /* that were added to the finest level, but for those of events */
    struct pt_html_samples counters[PT_HTML_LEVELS];
    unsigned counter_count;

    struct pt_html_type *types[PT_TL_TYPES];
    struct pt_html_type **type_list;
    uint32_t type_count;
    struct pt_html_events now; /* the tile */

    struct pt_html_long *longs;
    size_t long_count, long_room;
    struct pt_html_tiles long_tiles;
    struct pt_html_items details, wide_details;
    struct pt_html_tiles detail_tiles;
    struct pt_html_flow *flows;
    size_t flow_count, flow_room;
    struct pt_html_tiles flow_tiles;
    struct pt_html_tiles missing;

    char *notes[PT_HTML_NOTES];
    unsigned note_count;
    uint64_t fields_dropped, events_dropped; /* events */
    bool detail_dropped;

    /* the timeline pass */
    uint64_t switches, calls, gaps; /* events of these kinds; places where events are missing */
    struct pt_timeline *timeline;
    int64_t gap_ns, stop_ns;
    bool in_gap, marked, stopped;
    char *counter_names[PT_TL_OPTIONS];
};

/* ---- html_state.c ---- */

/* The first error is kept. */
void pt_html_fail(struct pt_html *h, int error);
void pt_html_note(struct pt_html *h, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* One more in an array that grows; NULL: no memory. */
void *pt_html_more(struct pt_html *h, void *array, size_t count, size_t *room, size_t size);
struct pt_html_tile *pt_html_tiles_add(struct pt_html *h, struct pt_html_tiles *tiles, int64_t from,
                                       int64_t to, uint32_t block, uint64_t items);
/* A time of the log in the page. */
int64_t pt_html_time(const struct pt_html *h, int64_t ns);

/* A number for people, "999,692"; text. */
const char *pt_html_count(char text[PT_HTML_COUNT], uint64_t n);

/* ---- html_rows.c ---- */

/* Which threads have lanes, where there are too many for the size of the page.  0 or ENOMEM. */
int pt_html_lanes_choose(struct pt_html *h);
/* Notes about those that have none. */
void pt_html_lanes_end(struct pt_html *h);
struct pt_html_lane *pt_html_lane_of(struct pt_html *h, int32_t pid, int32_t tid);
struct pt_html_process *pt_html_process_of(struct pt_html *h, int32_t pid);
void pt_html_lane_name(struct pt_html_lane *lane, const char *name);
uint32_t pt_html_row_add(struct pt_html *h, struct pt_html_row row);
/* The row of a kind that is not of a lane; made when it is new. */
uint32_t pt_html_row_of(struct pt_html *h, struct pt_html_row row);
uint32_t pt_html_slice_row(struct pt_html *h, struct pt_html_lane *lane, unsigned depth);
void pt_html_rows_deinit(struct pt_html *h);

/* ---- html_levels.c ---- */

void pt_html_levels_init(struct pt_html *h);
/* Room for one more row in all levels; false: no memory. */
bool pt_html_levels_room(struct pt_html *h, uint32_t rows);
void pt_html_level_add(struct pt_html *h, const struct pt_html_item *item);
/* The items of all levels are complete: their blocks. */
void pt_html_levels_end(struct pt_html *h);
void pt_html_levels_deinit(struct pt_html *h);

/* ---- html_items.c ---- */

bool pt_html_items_add(struct pt_html *h, struct pt_html_items *items,
                       const struct pt_html_item *item);
/* Sorts the items and makes tiles of them; columns: 6 of levels, 4 of the detail. */
void pt_html_items_tile(struct pt_html *h, struct pt_html_items *items, unsigned columns,
                        struct pt_html_tiles *tiles);
/* ---- html_detail.c ---- */

/* An item of the rows of states, losses, processors and locks: into the levels and the detail. */
void pt_html_detail_add(struct pt_html *h, const struct pt_html_item *item);
void pt_html_details_end(struct pt_html *h);
void pt_html_long_add(struct pt_html *h, uint32_t row, uint32_t label, int64_t begin, int64_t end,
                      unsigned flags);
void pt_html_flow_add(struct pt_html *h, const struct pt_html_flow *flow);

/* ---- html_counters.c ---- */

/* Options for the timeline: types with one field, a number; to have room for PT_TL_OPTIONS + 1. */
int pt_html_find_counters(trace_id_t trid, posixtrace_fields_t *fields, char **to);
void pt_html_counters_init(struct pt_html *h);
void pt_html_counter_add(struct pt_html *h, uint32_t row, int64_t ns, double value);
void pt_html_counters_end(struct pt_html *h);
void pt_html_counters_deinit(struct pt_html *h);

/* ---- html_types.c ---- */

struct pt_html_type *pt_html_type_of(struct pt_html *h, const struct pt_tl_event *ev);
void pt_html_type_take(struct pt_html *h, struct pt_html_type *t, const struct pt_tl_event *ev);
/* The block of the fields of the tile; PT_HTML_NO_BLOCK: there is none. */
uint32_t pt_html_fields_end(struct pt_html *h);
void pt_html_fields_clear(struct pt_html *h);
void pt_html_types_deinit(struct pt_html *h);

/* ---- html_named.c ---- */

enum pt_html_address pt_html_address_of(const char *name, char kind, bool is_system);
void pt_html_named_add(struct pt_html *h, struct pt_html_field *f, uint64_t value,
                       const struct posixtrace_event *e);
/* NULL: it has none. */
const char *pt_html_address_name(const struct pt_html *h, enum pt_html_address kind,
                                 const struct pt_html_site *site);

/* ---- html_events.c ---- */

void pt_html_event_add(struct pt_html *h, struct pt_html_lane *lane, const struct pt_tl_event *ev,
                       int64_t ns);
/* A slice that ends with the last event. */
void pt_html_slice_add(struct pt_html *h, uint32_t row, uint32_t label, uint32_t ordinal);
void pt_html_tile_end(struct pt_html *h);
void pt_html_events_deinit(struct pt_html *h);

/* ---- html_budget.c ---- */

/* Drops blocks until they fit, those of the least use first. */
void pt_html_budget_keep(struct pt_html *h);
/* Is a tile with that score worth its fields? */
bool pt_html_budget_wants_fields(const struct pt_html *h, double score);
void pt_html_budget_end(struct pt_html *h);

/* ---- html_timeline.c, html_states.c ---- */

void pt_html_timeline_pass(struct pt_html *h);
void pt_html_states_pass(struct pt_html *h);

/* ---- html_head.c, html_write.c ---- */

void pt_html_head(struct pt_html *h, struct pt_html_bytes *to);
void pt_html_write(struct pt_html *h);

#endif
