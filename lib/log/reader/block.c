/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * See block.h.  Where a caller wants only times and ids, of packets of columns no other column is
 * read: they are checked, so that the events are those that a reader of all gets.
 */
#if defined __GNUC__ && !defined __clang__ && defined __OPTIMIZE__
#pragma GCC optimize("O3") /* for its loops, as log/columns.c */
#endif
#include "log/reader/block.h"

#include "base/array.h"
#include "base/assert.h"
#include "log/reader/state.h"

/* The arrays, one after the other. */
struct arrays {
    uint64_t *ts, *addresses; /* ts become ns in place */
    uint32_t *lengths, *offsets;
    uint16_t *ids;
    uint8_t *truncated;
};

enum { EVENT_BYTES = 8 + 8 + 4 + 4 + 2 + 1 };

static int make_room(struct pt_log_reader *r, size_t most, struct arrays *a)
{
    if (pt_array_renew(&r->block, &r->block_room, most * EVENT_BYTES) != 0)
        return -ENOMEM;
    a->ts = (uint64_t *)(void *)r->block;
    a->addresses = a->ts + most;
    a->lengths = (uint32_t *)(void *)(a->addresses + most);
    a->offsets = a->lengths + most;
    a->ids = (uint16_t *)(void *)(a->offsets + most);
    a->truncated = (uint8_t *)(a->ids + most);
    return 0;
}

/* ---- times ---- */

/* All of one sync point, whose products fit 64 bits: the same nanoseconds as pt_sync_apply(). */
static void convert_short(const struct pt_sync *sync, uint64_t least, uint64_t *ts, size_t n)
{
    uint64_t since = least - sync->ts, mult = sync->mult;
    uint64_t whole = (uint64_t)sync->ns + pt_mul128_mul(since, mult);
    uint64_t part = since * mult & UINT32_MAX;

    for (size_t i = 0; i < n; i++)
        ts[i] = whole + ((part + (uint64_t)(uint32_t)(ts[i] - least) * (uint32_t)mult) >> 32);
}

/* In place.  Marks a gap where the clock was set. */
static void to_ns(struct pt_log_reader *r, uint64_t *ts, size_t n)
{
    uint64_t least = ts[0], most = ts[0];

    for (size_t i = 1; i < n; i++) {
        least = ts[i] < least ? ts[i] : least;
        most = ts[i] > most ? ts[i] : most;
    }
    r->given = true;
    r->given_ts = most;
    if (!pt_reader_has_sync(r, least))
        pt_reader_find_sync(r, least);
    if (pt_reader_has_sync(r, most) && least >= r->sync.ts && most - least <= UINT32_MAX &&
        r->sync.mult <= UINT32_MAX) {
        convert_short(&r->sync, least, ts, n);
        return;
    }
    for (size_t i = 0; i < n; i++)
        ts[i] = (uint64_t)pt_reader_ns(r, ts[i]);
}

/* ---- events ---- */

/* Of the columns that were opened last. */
static size_t fill_from_view(const struct pt_columns_view *v, uint64_t base, const struct arrays *a)
{
    uint16_t ids[PT_COLUMNS_CLASSES];

    for (uint32_t k = 0; k < v->class_count; k++)
        ids[k] = (uint16_t)(v->classes[k].low & PT_RECORD_ID_MASK);
    for (uint32_t i = 0; i < v->count; i++)
        a->ts[i] = base + v->time[i];
    for (uint32_t i = 0; i < v->count; i++)
        a->ids[i] = ids[v->sequence[i]];
    return v->count;
}

static inline void put(const struct arrays *a, size_t i, const struct pt_record *e,
                       const uint8_t *data, unsigned wanted)
{
    a->ts[i] = e->ts;
    a->ids[i] = (uint16_t)e->id;
    if (wanted & PT_BLOCK_ADDRESSES)
        a->addresses[i] = e->addr;
    if (!(wanted & (PT_BLOCK_LENGTHS | PT_BLOCK_DATA)))
        return;
    a->lengths[i] = e->len;
    a->truncated[i] = e->truncated;
    a->offsets[i] = (uint32_t)(e->data - data);
}

/* The event at the cursor, if it waits, and what follows it in the packet.  *data: where offsets
 * begin. */
static size_t fill(struct pt_packet_cursor *c, const struct arrays *a, unsigned wanted,
                   const uint8_t **data)
{
    size_t n = 0;

    *data = c->cells.classes ? c->buffer : c->begun && c->waits ? c->record.data : c->decoder.p;
    if (c->begun && c->waits)
        put(a, n++, &c->record, *data, wanted);
    c->begun = false;
    while (pt_cursor_step(c) == 1)
        put(a, n++, &c->record, *data, wanted);
    return n;
}

/* Loads the cursor's next packet, unless the rest of one is left.  As pt_reader_load_packet(). */
static int load(struct pt_log_reader *r, struct pt_packet_cursor *c, unsigned wanted)
{
    int rc;

    if (c->begun)
        return 1;
    r->view_only = !wanted;
    r->viewed = false;
    rc = pt_reader_load_packet(r, c);
    r->view_only = false;
    return rc;
}

/* The events of the cursor's next packet.  How many, or negative errno. */
static long fill_block(struct pt_log_reader *r, struct pt_packet_cursor *c, unsigned wanted,
                       struct arrays *a, struct pt_log_block *b)
{
    bool begun = c->begun;
    size_t n, most;
    int rc = load(r, c, wanted);

    if (rc != 1)
        return rc;
    most = (size_t)(c->decoder.end - c->decoder.p) / PT_RECORD_HEAD + c->cells.left + 1;
    if (r->viewed)
        most = r->view.count;
    if (make_room(r, most, a) != 0)
        return -ENOMEM;
    n = r->viewed ? fill_from_view(&r->view, c->decoder.base, a) : fill(c, a, wanted, &b->data);
    r->viewed = false;
    b->author = &c->author;
    b->first_no = begun ? c->first_no + c->events - n : c->first_no;
    return (long)n;
}

/* The arrays from event first on. */
static void set_arrays(struct pt_log_block *b, const struct arrays *a, size_t first,
                       unsigned wanted)
{
    bool lengths = (wanted & (PT_BLOCK_LENGTHS | PT_BLOCK_DATA)) != 0;
    bool data = (wanted & PT_BLOCK_DATA) != 0;

    b->ns = (const int64_t *)a->ts + first;
    b->ids = a->ids + first;
    b->addresses = wanted & PT_BLOCK_ADDRESSES ? a->addresses + first : NULL;
    b->lengths = lengths ? a->lengths + first : NULL;
    b->truncated = lengths ? a->truncated + first : NULL;
    b->offsets = data ? a->offsets + first : NULL;
    b->data = data ? b->data : NULL;
}

/* How many events of the first n are before the time that was sought. */
static size_t before_sought(const struct pt_log_reader *r, const uint64_t *ns, size_t n)
{
    size_t i = 0;

    while (r->seeking && i < n && (int64_t)ns[i] < r->seek_ns)
        i++;
    return i;
}

int pt_log_reader_next_block(struct pt_log_reader *r, unsigned wanted, struct pt_log_block *b)
{
    struct pt_packet_cursor *c;
    struct arrays a = { .ts = NULL };
    int rc;

    *b = (struct pt_log_block){ .count = 0 };
    while ((rc = r->error ? r->error : pt_reader_first_packet(r, &c)) == 1) {
        long n = fill_block(r, c, wanted, &a, b);
        size_t first = 0;

        if (n < 0) {
            rc = (int)n;
            break;
        }
        if (n > 0) {
            to_ns(r, a.ts, (size_t)n);
            first = before_sought(r, a.ts, (size_t)n);
        }
        b->gap = r->gap;
        b->round = r->round.number;
        r->gap = r->gap && first == (size_t)n;
        pt_reader_packet_done(r, c);
        if (first == (size_t)n)
            continue;
        r->found = true;
        b->first_no += first;
        b->count = (size_t)n - first;
        set_arrays(b, &a, first, wanted);
        return 1;
    }
    r->error = rc < 0 ? rc : r->error;
    b->gap = rc == 0 && r->gap;
    r->gap = r->gap && rc < 0;
    return rc;
}
