/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Events in order: round by round, and within a round by (time, writer).
 *
 * Per event the work is one decode, one conversion by the cached sync point, and the
 * matches of the tournament, or one comparison while the same writer stays first;
 * payloads are not copied.  An event's cursor advances at the next call only, so that
 * the event's pointers stay valid until then.
 */
#include "base/assert.h"
#include "log/reader/state.h"

#define CACHE_LINE 64u /* only for prefetching: another size costs little */

/* Times before and after a step cannot be compared: as where events are missing between them.
 * Imported times are as given. */
static void pass_steps(struct pt_log_reader *r, size_t to)
{
    if (r->sync_at != PT_NO_SYNC && r->params.clock != POSIXTRACE_CLOCK_REALTIME && !r->map_count)
        while (r->sync_at < to) {
            r->gap |= pt_sync_is_step(&r->syncs[r->sync_at], &r->syncs[r->sync_at + 1]);
            r->sync_at++;
        }
    else
        r->sync_at = to;
}

PT_COLD void pt_reader_find_sync(struct pt_log_reader *r, uint64_t ts)
{
    static const struct pt_sync identity = { .mult = 1ull << 32 };
    size_t i, n;
    const struct pt_sync *table = pt_reader_table(r, &n);

    r->sync_from = 0;
    r->sync_to = UINT64_MAX;
    r->sync = identity;
    if (!n)
        return;
    i = pt_sync_find(table, n, ts);
    pass_steps(r, i);
    r->sync = table[i];
    if (i > 0)
        r->sync_from = r->sync.ts;
    if (i + 1 < n)
        r->sync_to = table[i + 1].ts;
}

/* The first cursor has advanced.  While it stays first, t->second is the cursor that
 * comes next: prefetches its author and its next records. */
static inline void moved(struct pt_reader_round *round, uint64_t ts)
{
    struct pt_loser_tree *t = &round->contest;

    if (pt_likely(pt_loser_tree_stays(t, ts)))
        return;
    if (pt_loser_tree_again(t, ts)) {
        const struct pt_packet_cursor *next = &round->cursors[t->second];

        __builtin_prefetch(&next->author);
        for (unsigned ahead = 0; ahead < 3 * CACHE_LINE; ahead += CACHE_LINE)
            __builtin_prefetch(next->decoder.p + ahead);
    }
}

/* Advances the cursor past the event that was delivered last.  0 or negative errno. */
static inline int advance(struct pt_log_reader *r, struct pt_packet_cursor *c)
{
    int rc = pt_cursor_step(c);

    pt_assert(c == &r->round.cursors[r->round.contest.winner]);
    if (pt_unlikely(rc != 1))
        rc = pt_reader_next_packet(r, c);
    if (pt_likely(rc == 1))
        moved(&r->round, c->record.ts);
    else if (rc == 0)
        pt_loser_tree_leave(&r->round.contest);
    return rc < 0 ? rc : 0;
}

/* The event at the first cursor. */
static inline void give(struct pt_log_reader *r, struct pt_event *e)
{
    struct pt_packet_cursor *c = &r->round.cursors[r->round.contest.winner];

    pt_assert(r->round.contest.winner < r->round.cursor_count);
    pt_assert(c->decoder.p <= c->decoder.end);
    r->round.current = c;
    __builtin_prefetch(c->decoder.p + 3 * CACHE_LINE);
    e->ns = pt_reader_ns(r, c->record.ts);
    e->ts = c->record.ts;
    e->addr = c->record.addr;
    e->data = c->record.data;
    e->author = &c->author;
    e->len = c->record.len;
    e->id = (uint16_t)c->record.id;
    e->truncated = c->record.truncated;
}

int pt_log_reader_next(struct pt_log_reader *r, struct pt_event *e)
{
    do {
        int rc = r->round.current ? advance(r, r->round.current) : 0;

        if (pt_unlikely(rc < 0))
            return rc;
        r->round.current = NULL;
        if (pt_unlikely(!r->round.contest.count)) {
            rc = r->error ? r->error : pt_reader_next_round(r);
            if (rc < 0)
                r->error = rc;
            if (rc <= 0)
                return rc;
        }
        give(r, e);
    } while (pt_unlikely(r->seeking) && e->ns < r->seek_ns);
    r->seeking = false;
    r->given = true;
    r->given_ts = e->ts;
    return 1;
}

int pt_log_reader_next_whole(struct pt_log_reader *r, struct pt_event *e, bool *gap)
{
    struct pt_full *full = &r->full;
    int rc;

    do
        rc = pt_log_reader_next(r, e);
    while (rc == 1 && (r->round.damaged || (full->on && e->ts > full->ts)));
    if (rc == 0 && full->on) {
        r->gap |= !full->reported;
        full->reported = true;
    }
    *gap = r->gap || (rc == 1 && r->round.hides);
    r->gap = r->gap && rc < 0;
    return rc;
}

/* Like advance() within a packet; at the packet's end, and of the sync point, it changes
 * nothing. */
bool pt_log_reader_near(struct pt_log_reader *r, struct pt_event *e)
{
    struct pt_packet_cursor *c = r->round.current;
    struct pt_decoder before;

    if (pt_unlikely(!c || r->seeking || r->round.hides))
        return false;
    before = c->decoder;
    if (c->cells.left) {
        if (pt_unlikely(!pt_reader_has_sync(r, c->cells.base + *c->cells.time)))
            return false;
        pt_cells_next(&c->cells, &c->record);
    } else if (pt_unlikely(pt_decode_event(&c->decoder, &c->record) != 1 ||
                           !pt_reader_has_sync(r, c->record.ts))) {
        c->decoder = before;
        return false;
    }
    moved(&r->round, c->record.ts);
    give(r, e);
    r->given_ts = e->ts;
    return true;
}

int pt_log_reader_rewind(struct pt_log_reader *r)
{
    if (!r->source.seekable)
        return -ESPIPE;
    pt_follow_forget(&r->follow);
    r->full = (struct pt_full){ .on = false };
    pt_reader_restart(r, r->first_offset);
    return 0;
}

int pt_log_reader_seek(struct pt_log_reader *r, int64_t ns)
{
    const struct pt_index_entry *entry;
    size_t n;
    const struct pt_sync *table = pt_reader_table(r, &n);
    uint64_t ts = pt_sync_invert(table, n, ns);

    if (!r->source.seekable) {
        if (r->given && ts <= r->given_ts)
            return -ESPIPE;
    } else {
        /* There are no events before the first entry.  The tail of an incomplete log, and parts
         * that damage hid from the index, are read in any case. */
        entry = pt_index_find(&r->index, ts);
        if (!entry && r->index.count)
            entry = &r->index.entries[r->index.count - 1];
        pt_follow_forget(&r->follow);
        r->full = (struct pt_full){ .on = false };
        pt_reader_restart(r, entry ? entry->offset : r->first_offset);
    }
    r->seeking = true;
    r->seek_ns = ns;
    r->seek_ts = r->source.seekable ? ts : 0;
    return 0;
}
