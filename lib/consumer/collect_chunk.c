/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * One chunk of a segment as runs: consecutive records of one author that are part of the
 * stream and will be one packet.
 *
 * Whether a record is delivered depends only on its time: on the windows, the last clear, the gap
 * of an automatic stop, the losses of LOOP.  None of these change during a round.  So time is
 * divided into spans, and in most of them every event is delivered.
 *
 *   take_record  decides about one record
 *   plain_span   the span around its time in which every event is delivered
 *   take_plain   adds the following events in that span, with one comparison each, and counts them
 *                by type
 *
 * take_plain() stops at any other record (another author, a new time base, a time outside the span,
 * bytes that no writer makes, the end), and take_record() decides about that one.  So take_plain()
 * has no special case, and the accounts are the same as if take_record() had decided about each
 * record.
 *
 * Each record is decoded once: the log writer gets the counts by type with the run, and only copies
 * and computes the checksum.
 *
 * LOOP may recycle a chunk meanwhile: its records count only if the chunk has the same contents
 * afterwards; otherwise they count as never seen, and so as overwritten.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/assert.h"
#include "base/array.h"
#include "consumer/collect.h"
#include "log/scan.h"
#include "shm/pool.h"

/* How many of the round's STARTs and STOPs are not later than ts. */
static size_t windows_until(const struct pt_collect *r, uint64_t ts)
{
    size_t low = 0, high = r->window_count;

    while (low < high) {
        size_t mid = low + (high - low) / 2;

        if (r->windows[mid].ts <= ts)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

static bool window_open_at(const struct pt_collect *r, uint64_t ts)
{
    size_t n = windows_until(r, ts);

    pt_assert(n <= r->window_count && (n == 0 || r->windows[n - 1].ts <= ts));
    return n ? r->windows[n - 1].open : r->live->windows.open;
}

bool pt_collect_in_window(const struct pt_collect *r, uint64_t ts)
{
    return window_open_at(r, ts) || (ts > 0 && window_open_at(r, ts - 1));
}

static int add_window(struct pt_collect *r, uint64_t ts, bool open)
{
    int e = pt_array_grow(&r->windows, &r->window_room, r->window_count, sizeof *r->windows);

    if (e == 0)
        r->windows[r->window_count++] = (struct pt_window){ ts, open };
    return e;
}

/* How many control records of the round are not later than ts. */
static size_t controls_until(const struct pt_collect *r, uint64_t ts)
{
    size_t low = 0, high = r->control_count;

    while (low < high) {
        size_t mid = low + (high - low) / 2;

        if (r->controls[mid] <= ts)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

static int note_control(struct pt_collect *r, uint64_t ts)
{
    int e;

    if (r->live->seg->g.attr.log_policy == POSIX_TRACE_APPEND)
        return 0;
    e = pt_array_grow(&r->controls, &r->control_room, r->control_count, sizeof *r->controls);
    if (e == 0)
        r->controls[r->control_count++] = ts;
    return e;
}

static int note_window(struct pt_collect *r, const struct pt_cursor *c)
{
    uint32_t id = c->record.id;

    if ((id != POSIX_TRACE_START && id != POSIX_TRACE_STOP) || c->record.ts < r->live->windows.ts)
        return 0;
    return add_window(r, c->record.ts, id == POSIX_TRACE_START);
}

/* The run under construction; its events by type are in the round's table. */
struct run {
    struct pt_log_packet p;
    uint32_t end;
    bool open;
    bool counted; /* every event is in the table */
};

/* Without memory for the counts, the log writer counts itself. */
static bool keep_counts(struct pt_collect *r, struct pt_run *kept)
{
    struct pt_types *t = &r->types;

    kept->counts = r->count_count;
    kept->count_count = t->used_count;
    for (uint32_t i = 0; i < t->used_count; i++) {
        if (pt_array_grow(&r->counts, &r->count_room, r->count_count, sizeof *r->counts) < 0)
            return false;
        r->counts[r->count_count++] = (struct pt_type_count){ t->used[i], t->count[t->used[i]] };
    }
    return true;
}

/* take_record() has made room in runs when it opened the run. */
static void close_run(struct pt_collect *r, const struct pt_cursor *c, struct run *run)
{
    struct pt_run kept = { .index = c->index };

    if (!run->open)
        return;
    run->open = false;
    kept.counted = run->counted && keep_counts(r, &kept);
    run->p.bytes = run->end - run->p.chunk_off;
    run->p.records = (const uint8_t *)pt_seg_chunk(r->live->seg, c->index) + run->p.chunk_off;
    kept.packet = run->p;
    pt_assert(r->run_count < r->run_room && run->end > run->p.chunk_off);
    pt_assert(run->end <= c->off + c->size && run->end <= r->live->seg->g.chunk_size);
    r->runs[r->run_count++] = kept;
}

static void open_run(struct pt_collect *r, const struct pt_cursor *c, struct run *run)
{
    run->p = (struct pt_log_packet){ .author = c->author,
                                     .chunk_seq = c->gen,
                                     .chunk_off = c->start,
                                     .first_no = c->no,
                                     .base_ts = c->start_base,
                                     .first_ts = c->record.ts,
                                     .last_ts = c->record.ts };
    run->open = run->counted = true;
    pt_types_clear(&r->types);
}

/* A log with a size keeps or gives up packets in the order of their first events.  So there each
 * control record has a packet of its own, and no other packet has events of before and after one:
 * no such log has events of both sides of START, STOP or FILTER and not what stands between. */
static bool is_apart(const struct pt_collect *r, const struct pt_cursor *c, const struct run *run)
{
    return r->control_count > 0 && (c->author.wid == 0 || controls_until(r, run->p.last_ts) !=
                                                              controls_until(r, c->record.ts));
}

static void add_to_run(struct pt_collect *r, const struct pt_cursor *c, struct run *run)
{
    if (run->open && (run->p.author.wid != c->author.wid || run->end != c->start ||
                      run->p.author.tid != c->author.tid || is_apart(r, c, run)))
        close_run(r, c, run);
    if (!run->open)
        open_run(r, c, run);
    if (c->record.ts > run->p.last_ts)
        run->p.last_ts = c->record.ts;
    run->p.events++;
    run->end = c->off + c->size;
    /* Not an event type: the log writer finds it, too, and refuses the packet. */
    if (c->record.id - 1u < PT_ID_MAX - 1u)
        pt_types_add(&r->types, c->record.id, 1);
    else
        run->counted = false;
}

void pt_collect_note_control(struct pt_collect *r, uint32_t id, bool hidden)
{
    bool loops = r->live->seg->g.attr.log_policy == POSIX_TRACE_LOOP;
    bool start = id == POSIX_TRACE_START;

    /* No event is before the first START.  A LOOP log may give up a STOP that was shown. */
    r->hides |= hidden && r->started &&
                (id == POSIX_TRACE_FILTER || (start && (r->stop_hidden || loops)));
    r->started |= start;
    if (start || id == POSIX_TRACE_STOP)
        r->stop_hidden = hidden && !start;
}

/* Adds one record to the run, or skips and accounts for it.  It allocates first, so that a failure
 * changes nothing. */
static int take_record(struct pt_collect *r, struct pt_cursor *c, struct run *run)
{
    struct pt_consumer *l = r->live;
    bool control = c->author.wid == 0;
    enum pt_fate fate = pt_consumer_fate(l, c, control || pt_collect_in_window(r, c->record.ts));
    /* Room for the current run and for one that this record may start. */
    int e = pt_array_grow(&r->runs, &r->run_room, r->run_count + 1, sizeof *r->runs);
    struct pt_account *t = control ? NULL : pt_accounts_get(&l->accounts, &c->author);

    if (e < 0 || (!control && !t))
        return -ENOMEM;
    if (t)
        pt_account_add(t, c->no, fate);
    pt_consumer_note_refused(l, fate);
    if (control && c->record.ts >= l->clear_ts)
        pt_collect_note_control(r, c->record.id, c->record.truncated);
    if (fate == PT_FATE_OVERWRITTEN)
        pt_losses_note(&l->losses, c->record.ts);
    if (fate == PT_FATE_DELIVER && c->record.ts < l->accounts.delivered_ts)
        l->late++;
    if (fate == PT_FATE_DELIVER)
        add_to_run(r, c, run);
    else
        close_run(r, c, run);
    pt_assert(c->record.ts < l->watermark && c->off + c->size <= c->limit);
    c->off += c->size;
    c->no++;
    return 0;
}

/* Finds times around ts such that each event strictly between low and high is delivered. */
static void plain_span(const struct pt_collect *r, uint64_t ts, uint64_t *low, uint64_t *high)
{
    const struct pt_consumer *l = r->live;
    size_t n = windows_until(r, ts), control = controls_until(r, ts);

    *high = l->watermark;
    *low = l->clear_ts > l->losses.lost_last ? l->clear_ts : l->losses.lost_last;
    if (l->accounts.delivered_ts > *low + 1)
        *low = l->accounts.delivered_ts - 1;
    if (l->stops.past_to > *low)
        *low = l->stops.past_to;
    if (l->stops.gap_to == UINT64_MAX)
        *high = l->stops.gap_from < *high ? l->stops.gap_from : *high;
    else if (l->stops.gap_to > *low)
        *low = l->stops.gap_to;
    if (!window_open_at(r, ts))
        *high = 0;
    if (n && r->windows[n - 1].ts > *low)
        *low = r->windows[n - 1].ts;
    if (n < r->window_count && r->windows[n].ts < *high)
        *high = r->windows[n].ts;
    if (control && r->controls[control - 1] > *low)
        *low = r->controls[control - 1];
    if (control < r->control_count && r->controls[control] < *high)
        *high = r->controls[control];
}

/* Adds the events after the one that take_record() has just added to the run. */
static void take_plain(struct pt_collect *r, struct pt_cursor *c, struct run *run)
{
    struct pt_consumer *l = r->live;
    const uint8_t *at = (const uint8_t *)pt_seg_chunk(l->seg, c->index);
    struct pt_record_scan s = { .at = { at + c->off, at + c->limit, c->base },
                                .last_ts = run->p.last_ts };
    uint64_t low, high;
    struct pt_account *t;

    if (c->author.wid == 0)
        return;
    plain_span(r, c->record.ts, &low, &high);
    pt_scan_events(&s, low, high, &r->types);
    if (s.events == 0 || !pt_cursor_valid(&l->cursors, c)) {
        run->counted = run->counted && s.events == 0;
        return;
    }
    t = pt_accounts_get(&l->accounts, &c->author); /* exists since the previous record */
    pt_assert(t && t->used && s.at.p <= at + c->limit);
    pt_account_add_many(t, c->no, s.events);
    run->p.events += (uint32_t)s.events;
    run->p.last_ts = s.last_ts;
    run->end = c->off = (uint32_t)(s.at.p - at);
    c->no += s.events;
}

int pt_collect_chunk(struct pt_collect *r, struct pt_cursor *c)
{
    struct pt_consumer *l = r->live;
    struct run run = { .open = false };
    enum pt_cursor_step step = PT_CURSOR_END;
    int e = pt_array_grow(&r->touched, &r->touched_room, r->touched_count, sizeof *r->touched);

    pt_assert_call(!c->queued && l->cursors.known[c->index] == c);
    if (e < 0)
        return e;
    r->touched[r->touched_count++] = c->index;
    while (e == 0 && (step = pt_cursor_decode(&l->cursors, c)) == PT_CURSOR_EVENT) {
        if (c->record.ts >= l->watermark) {
            r->more = true;
            break;
        }
        e = take_record(r, c, &run);
        if (e == 0 && run.open)
            take_plain(r, c, &run);
    }
    close_run(r, c, &run);
    /* Its last event that was found, if any, or one before it, is the last one before the gap. */
    if (step == PT_CURSOR_GONE && !c->bad && c->size > 0)
        pt_collect_note_gap(r, c->node.ts);
    return e;
}

static int by_time(const void *a, const void *b)
{
    const struct pt_window *x = a, *y = b;

    return x->ts < y->ts ? -1 : x->ts > y->ts;
}

static int by_value(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;

    return *x < *y ? -1 : *x > *y;
}

static void sort_windows(struct pt_collect *r)
{
    if (r->window_count > 1)
        qsort(r->windows, r->window_count, sizeof *r->windows, by_time);
    if (r->control_count > 1)
        qsort(r->controls, r->control_count, sizeof *r->controls, by_value);
}

/* Reads START and STOP from the control writer's chunks, up to the watermark.  *oldest: the oldest
 * of these chunks, or NULL. */
static int read_windows(struct pt_collect *r, const struct pt_cursor **oldest)
{
    struct pt_consumer *l = r->live;
    int e = 0;

    *oldest = NULL;
    for (uint32_t i = 0; e == 0 && i < l->cursors.known_room; i++) {
        struct pt_cursor *c = l->cursors.known[i], peek;

        if (!c || c->author.level != PT_LEVEL_CONTROL)
            continue;
        peek = *c;
        if (!*oldest || c->gen < (*oldest)->gen)
            *oldest = c;
        while (e == 0 && pt_cursor_decode(&l->cursors, &peek) == PT_CURSOR_EVENT &&
               peek.record.ts < l->watermark) {
            e = note_window(r, &peek);
            if (e == 0)
                e = note_control(r, peek.record.ts);
            peek.off += peek.size;
        }
        if (!pt_cursor_valid(&l->cursors, c))
            return PT_ROUND_AGAIN;
    }
    return e;
}

static bool is_booked(const struct pt_consumer *l, const struct pt_cursor *oldest)
{
    return l->seg->copy && oldest->base < l->windows.ts;
}

int pt_collect_windows(struct pt_collect *r)
{
    struct pt_consumer *l = r->live;
    const struct pt_cursor *oldest;
    int e;

    if (!r->unfinished)
        r->window_count = r->control_count = 0;
    e = read_windows(r, &oldest);
    if (e != 0)
        return e;
    /* The oldest chunk has the state before its first record, unless it was read in part.  In a
     * copy the checkpoint may have it, too, and not yet the chunk's position. */
    if (oldest && pt_cursor_is_first(oldest) && !r->unfinished && !is_booked(l, oldest)) {
        if (!pt_cursor_window_before(&l->cursors, oldest, &l->windows.open))
            return PT_ROUND_AGAIN;
    } else if (!oldest && l->losses.lost_last) {
        l->windows.open = l->windows.now;
    }
    sort_windows(r);
    /* As pt_windows_open_at(). */
    if (l->windows.opened_ts > l->windows.ts && l->windows.opened_ts < l->watermark &&
        !window_open_at(r, l->windows.opened_ts)) {
        e = add_window(r, l->windows.opened_ts, true);
        sort_windows(r);
    }
    return e;
}
