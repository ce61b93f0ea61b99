/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Reads a live stream event by event; see consumer.h.
 *
 * pt_consumer_next() is one loop.  It takes new losses, then the first event of the merge if that
 * is older than the watermark.  Otherwise it refreshes watermark and chunks, a bounded number of
 * times.  Then it makes the events that are due (STOP, START).  Last, it restarts a stream that
 * stopped itself and is now empty.  OVERFLOW and RESUME are made before the next event that is
 * delivered.
 *
 * A writer of a LOOP stream may recycle a chunk at any moment.  So an event is copied first, and
 * delivered only if the chunk's info word still has the cursor's generation after the copy.
 * Callers hold the reading lock.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/assert.h"
#include "consumer/consumer.h"
#include "shm/mark_filter.h"

/* The author of events that the reader makes: the pid of the stream's owner, and no thread. */
static const struct pt_author *reader_author(struct pt_consumer *l)
{
    l->author = (struct pt_author){ .wid = 1, .pid = (int32_t)l->seg->g.owner_pid };
    return &l->author;
}

int pt_consumer_init(struct pt_consumer *l, struct pt_seg *seg)
{
    memset(l, 0, sizeof *l);
    l->seg = seg;
    l->gap_to = 0;
    l->tally_max = PT_TALLY_MAX;
    l->overflow_ts = UINT64_MAX;
    /* The chunk with the last START or STOP may have been read and freed by an earlier consumer,
     * and a full stream has no chunk for another one. */
    l->window_open = pt_load_relaxed(&seg->h->window) != 0;
    pt_watch_init(&l->watch);
    pt_merge_init(&l->merge);
    l->buffer = malloc(PT_MAX_DATA + 64);
    return l->buffer ? 0 : -ENOMEM;
}

/* Events that were overwritten before the onlooker's start make a gap, which metrics have to know
 * of.  It starts at the clear, or else at the creation, and ends at the first remaining event. */
static void begin_in_gap(struct pt_consumer *l)
{
    uint64_t created = pt_load_relaxed(&l->seg->h->sync_first.ts);

    if (l->lost_last <= l->clear_ts)
        return;
    l->overflow_due = true;
    l->overflow_ts = l->clear_ts > created ? l->clear_ts : created;
}

int pt_consumer_look_on(struct pt_consumer *l, struct pt_seg *seg)
{
    const struct pt_seg_header *h = seg->h;
    int r = pt_consumer_init(l, seg);

    if (r < 0)
        return r;
    pt_assert(l->seg == seg && !seg->copy);
    l->passive = l->watch.passive = true;
    l->from_wid = pt_load_seqcst(&h->next_wid);
    l->from_gen = pt_load_seqcst(&h->next_gen);
    l->from_ts = l->lost_last = pt_load_seqcst(&h->lost_last_ts);
    l->missed_known = pt_load_seqcst(&h->missed_last);
    l->marks_met = pt_load_seqcst(&h->loss_marks);
    l->clear_ts = pt_load_seqcst(&h->clear_ts);
    if (l->clear_ts > l->from_ts)
        l->from_ts = l->clear_ts - 1;
    begin_in_gap(l);
    for (unsigned c = 0; c < PT_LOST_OWN; c++)
        l->from_no_slot[c] = pt_load_relaxed(&h->lost_no_slot[c]);
    l->from_switches = pt_load_relaxed(&h->lost_switches);
    r = pt_consumer_refresh(l);
    if (r == 0) {
        pt_consumer_learn_window(l);
        r = pt_consumer_begin_tallies(l);
    }
    if (r < 0)
        pt_consumer_deinit(l);
    return r;
}

void pt_consumer_deinit(struct pt_consumer *l)
{
    if (!l->seg)
        return;
    pt_cursor_unqueue_all(l);
    for (uint32_t i = 0; i < l->known_room; i++)
        free(l->known[i]);
    free(l->known);
    pt_merge_deinit(&l->merge);
    pt_watch_deinit(&l->watch);
    free(l->tally);
    free(l->ended);
    free(l->before);
    free(l->buffer);
    l->seg = NULL;
}

void pt_consumer_finish(struct pt_consumer *l)
{
    l->finished = true;
}

enum pt_fate pt_consumer_fate(const struct pt_consumer *l, const struct pt_cursor *c,
                              bool window_open)
{
    uint64_t ts = c->record.ts;
    bool control = c->author.wid == 0;

    if (ts < l->clear_ts || (l->passive && ts <= l->from_ts))
        return PT_FATE_EXCLUDE;
    if (control && c->record.truncated) /* filtered: only marks a window */
        return PT_FATE_EXCLUDE;
    /* In any window, since the START may not be there yet. */
    if (!control && pt_consumer_in_gap(l, ts))
        return PT_FATE_REFUSED;
    /* Checked before the window, because the START that opened it may be overwritten, too. */
    if (ts <= l->lost_last)
        return PT_FATE_OVERWRITTEN;
    /* The START that opened the window may have been taken from an onlooker. */
    if (!control && !window_open)
        return l->passive ? PT_FATE_OVERWRITTEN : PT_FATE_EXCLUDE;
    return PT_FATE_DELIVER;
}

static int make_event(struct pt_consumer *l, struct pt_event *e, uint32_t id, uint64_t ts,
                      const void *data, uint32_t len)
{
    pt_assert_call(id < PT_ID_MAX && (data || len == 0));
    *e = (struct pt_event){
        .ts = ts, .id = (uint16_t)id, .data = data, .len = len, .author = reader_author(l)
    };
    l->delivered_ts = ts;
    return PT_LIVE_EVENT;
}

/* Makes the START or STOP that is due before an event with time ts. */
static int synthetic(struct pt_consumer *l, struct pt_event *e, uint64_t ts)
{
    bool stops;

    /* If both are due, the START is that of an earlier stop. */
    if (l->start_due && ts > l->start_ts) {
        l->start_due = false;
        if (!pt_set_has(&l->start_filter, POSIX_TRACE_START))
            return make_event(l, e, POSIX_TRACE_START, l->start_ts, &l->start_filter,
                              sizeof l->start_filter);
        l->mark_hidden = true;
    }
    if (l->automatic == PT_AUTO_STOP_DUE && ts > l->gap_from) {
        l->automatic = PT_AUTO_STOPPED;
        l->stop_data = 1;
        /* If the stream was already stopped, and full when it was started, the window only
         * opens. */
        stops = l->window_open && l->window_ts != l->gap_from;
        pt_consumer_open_window(l, l->gap_from);
        if (stops && !(l->stop_out & PT_MARK_STOP))
            return make_event(l, e, POSIX_TRACE_STOP, l->gap_from, &l->stop_data,
                              sizeof l->stop_data);
        l->mark_hidden = true;
    }
    return PT_LIVE_NONE;
}

/* New losses in a LOOP stream: drops every event up to the newest lost one.  False: it is
 * unknown whether the stream ran after them. */
static bool take_losses(struct pt_consumer *l)
{
    uint64_t last = pt_load_seqcst(&l->seg->h->lost_last_ts), first;
    unsigned out;

    if (last <= l->lost_last)
        return true;
    out = pt_loss_marks_now(l->seg->h);
    if (l->passive)
        first = pt_load_seqcst(&l->seg->h->lost_first_ts);
    else
        first = pt_exchange_seqcst(&l->seg->h->lost_first_ts, UINT64_MAX);
    if (first < l->overflow_ts)
        l->overflow_ts = first;
    pt_consumer_take_marks(l, out);
    l->lost_last = last;
    l->overflow_due = true;
    return pt_consumer_relearn_window(l);
}

static int refresh(struct pt_consumer *l)
{
    int r = pt_consumer_refresh(l);

    if (r == 0 && (l->lost_last || l->passive))
        pt_consumer_settle_window(l);
    return r;
}

/* Called before each event.  If START or STOP was overwritten since the last scan of the chunks,
 * scans them again, so that the window before the event is known. */
static int look_at_losses(struct pt_consumer *l)
{
    int r = l->passive ? pt_consumer_notice_clear(l) : 0;

    if (r < 0)
        return r;
    return take_losses(l) && !l->window_lost ? 0 : refresh(l);
}

static int overflow(struct pt_consumer *l, struct pt_event *e, uint64_t ts)
{
    bool missing = l->missing && !l->overflowing && ts > l->missed_from;

    if (l->overflow_due || missing) {
        bool told = l->overflowing;
        uint64_t at = l->overflow_ts;

        if (missing && at > l->missed_from)
            at = l->missed_from;
        if (at > ts)
            at = ts;
        if (at < l->delivered_ts)
            at = l->delivered_ts;
        l->overflow_due = false;
        l->overflowing = true;
        l->overflow_ts = UINT64_MAX;
        if (!told) {
            l->overflow_hidden = !pt_consumer_shows_mark(l, POSIX_TRACE_OVERFLOW, at);
            if (!l->overflow_hidden)
                return make_event(l, e, POSIX_TRACE_OVERFLOW, at, NULL, 0);
        }
    }
    l->mark_hidden |= l->overflowing && l->overflow_hidden;
    if (l->overflowing && !l->missing) {
        l->overflowing = false;
        if (pt_consumer_shows_mark(l, POSIX_TRACE_RESUME, ts))
            return make_event(l, e, POSIX_TRACE_RESUME, ts, NULL, 0);
    }
    return PT_LIVE_NONE;
}

/* Advances the cursor at the top of the merge to its next record. */
static void step(struct pt_consumer *l, struct pt_cursor *c)
{
    enum pt_cursor_step next;

    pt_assert_call(pt_merge_top(&l->merge) == &c->node && c->queued);
    pt_cursor_consume(l, c);
    next = pt_cursor_decode(l, c);
    if (next == PT_CURSOR_EVENT) {
        pt_merge_sift_top(&l->merge);
        return;
    }
    l->window_lost |= next == PT_CURSOR_GONE && c->author.wid == 0;
    c->queued = false;
    pt_merge_pop(&l->merge);
    pt_cursor_retire(l, c);
}

static void drop_top(struct pt_consumer *l, struct pt_cursor *c)
{
    pt_assert_call(pt_merge_top(&l->merge) == &c->node && c->queued);
    l->window_lost |= c->author.wid == 0;
    c->queued = false;
    pt_merge_pop(&l->merge);
    pt_cursor_drop(l, c);
}

/* Sets the window by a START or STOP, or, at the first record of a chunk, to the state before it;
 * not if the chunk has been recycled. */
static void note_window(struct pt_consumer *l, const struct pt_cursor *c)
{
    if (c->record.id == POSIX_TRACE_START || c->record.id == POSIX_TRACE_STOP)
        pt_consumer_set_window(l, c->record.id == POSIX_TRACE_START, c->record.ts);
    else if (c->off == sizeof(struct pt_chunk))
        pt_consumer_take_window(l, c);
}

/* Copies the top record, then checks that the chunk was not recycled.  False: it was. */
static bool copy_out(struct pt_consumer *l, struct pt_cursor *c, struct pt_event *e)
{
    pt_assert(c->record.len <= PT_MAX_DATA);
    pt_copy_unchecked(l->buffer, c->record.data, c->record.len);
    if (!pt_cursor_valid(l, c))
        return false;
    l->author = c->author;
    *e = (struct pt_event){ .ts = c->record.ts,
                            .addr = c->record.addr,
                            .data = l->buffer,
                            .author = &l->author,
                            .len = c->record.len,
                            .id = (uint16_t)c->record.id,
                            .truncated = c->record.truncated };
    return true;
}

/* Passive: if numbers are missing between the writer's last event and this one, the stream's
 * consumer has taken those events, unless LOOP has overwritten them and reports that itself. */
static void look_at_gap(struct pt_consumer *l, const struct pt_cursor *c)
{
    struct pt_account *t = pt_consumer_tally(l, &c->author);

    if (!t || !t->based || c->no <= t->next_no || t->told_no >= c->no ||
        (t->next_no && t->seen_ts < l->lost_last))
        return;
    t->told_no = c->no;
    l->overflow_due = true;
    if (l->overflow_ts > t->seen_ts)
        l->overflow_ts = t->seen_ts;
}

/* Delivers or skips the record at the top, which is older than the watermark. */
static int take_top(struct pt_consumer *l, struct pt_cursor *c, struct pt_event *e)
{
    bool control = c->author.wid == 0;
    struct pt_account *t = NULL;
    enum pt_fate fate;
    int r;

    pt_assert_call(pt_merge_top(&l->merge) == &c->node && c->record.ts < l->watermark);
    pt_consumer_open_window(l, c->record.ts);
    fate = pt_consumer_fate(l, c, l->window_open);
    /* Its chunk was recycled, so it already counts as overwritten, in any window. */
    if (fate == PT_FATE_EXCLUDE && c->record.ts > l->from_ts && !pt_cursor_valid(l, c))
        fate = PT_FATE_OVERWRITTEN;
    if (l->passive && fate == PT_FATE_DELIVER && !control)
        look_at_gap(l, c);
    /* Also before a filtered START or STOP, which is not delivered but changes the window. */
    r = fate == PT_FATE_DELIVER || control ? synthetic(l, e, c->record.ts) : PT_LIVE_NONE;
    if (r == PT_LIVE_NONE && fate == PT_FATE_DELIVER)
        r = overflow(l, e, c->record.ts);
    if (r != PT_LIVE_NONE)
        return r;
    if (fate == PT_FATE_DELIVER && !copy_out(l, c, e)) {
        drop_top(l, c);
        return PT_LIVE_NONE;
    }
    if (control) {
        note_window(l, c);
        l->mark_hidden |= c->record.truncated && c->record.ts >= l->clear_ts;
    } else {
        t = pt_consumer_tally(l, &c->author);
        if (!t)
            return -ENOMEM;
        if (l->passive && (!t->based || (c->record.ts <= l->from_ts && c->no > t->next_no)))
            pt_consumer_base(t, c->no);
        pt_consumer_account(t, c->no, fate);
        t->seen_ts = c->record.ts;
    }
    if (fate == PT_FATE_OVERWRITTEN && c->record.ts < l->overflow_ts)
        l->overflow_ts = c->record.ts;
    l->overflow_due |= l->passive && fate == PT_FATE_OVERWRITTEN;
    step(l, c);
    if (fate != PT_FATE_DELIVER)
        return PT_LIVE_NONE;
    if (e->ts < l->delivered_ts)
        l->late++;
    else
        l->delivered_ts = e->ts;
    return PT_LIVE_EVENT;
}

int pt_consumer_next(struct pt_consumer *l, struct pt_event *e)
{
    unsigned looks = 0;
    int r;

    for (;;) {
        struct pt_merge_node *top;

        r = look_at_losses(l);
        if (r < 0)
            return r;
        top = pt_merge_top(&l->merge);
        if (top && top->ts < l->watermark) {
            r = take_top(l, (struct pt_cursor *)(void *)top, e);
            if (r != PT_LIVE_NONE)
                return r;
            continue;
        }
        /* The event is newer than the last refresh.  If no writer is inside an event, another
         * refresh moves the watermark past it. */
        if (looks == 0 || (top && !l->watch.held && looks < 4)) {
            looks++;
            r = refresh(l);
            if (r < 0)
                return r;
            continue;
        }
        r = synthetic(l, e, l->watermark);
        if (r != PT_LIVE_NONE)
            return r;
        if (top)
            return PT_LIVE_HELD;
        if (pt_consumer_restart(l))
            return synthetic(l, e, UINT64_MAX);
        return l->watch.held && !l->finished ? PT_LIVE_HELD : PT_LIVE_NONE;
    }
}

/* Excludes all events up to ts.  clear_ts excludes those that are committed later with an
 * older time. */
int pt_consumer_clear(struct pt_consumer *l, uint64_t ts)
{
    struct pt_merge_node *top;
    struct pt_event e;
    int r = pt_consumer_refresh(l);

    l->clear_ts = ts;
    take_losses(l);
    while (r >= 0 && (top = pt_merge_top(&l->merge)) && top->ts < ts && top->ts < l->watermark)
        r = take_top(l, (struct pt_cursor *)(void *)top, &e);
    l->overflow_due = l->overflowing = l->missing = l->start_due = l->resume_due = false;
    l->marks_known = false;
    l->overflow_ts = UINT64_MAX;
    l->automatic = PT_AUTO_NONE;
    l->gap_to = ts;
    l->late = 0;
    if (r >= 0 && pt_merge_top(&l->merge) == NULL)
        pt_consumer_restart_cleared(l);
    return r < 0 ? r : 0;
}

int pt_consumer_notice_clear(struct pt_consumer *l)
{
    uint64_t ts = pt_load_seqcst(&l->seg->h->clear_ts);

    return ts == l->clear_ts ? 0 : pt_consumer_clear(l, ts);
}
