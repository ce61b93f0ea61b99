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
#include "base/clock.h"
#include "consumer/consumer.h"
#include "shm/mark_filter.h"
#include "shm/start_filter.h"
#include "shm/syncpoint.h"

enum { NEAR = 16384, BUFFER = NEAR + PT_MAX_DATA + 64 };

/* The author of events that the reader makes: the pid of the stream's owner, and no thread. */
static const struct pt_author *reader_author(struct pt_consumer *l)
{
    l->maker = (struct pt_author){ .wid = 1, .pid = (int32_t)l->seg->g.owner_pid };
    return &l->maker;
}

int pt_consumer_init(struct pt_consumer *l, struct pt_seg *seg)
{
    memset(l, 0, sizeof *l);
    l->seg = seg;
    pt_watch_init(&l->watch);
    pt_cursors_init(&l->cursors, seg);
    /* The chunk with the last START or STOP may have been read and freed by an earlier consumer,
     * and a full stream has no chunk for another one. */
    l->windows.open = pt_load_relaxed(&seg->h->window) != 0;
    pt_auto_stop_init(&l->stops, seg);
    pt_losses_init(&l->losses, seg);
    pt_accounts_init(&l->accounts, seg);
    l->buffer = malloc(BUFFER);
    return l->buffer ? 0 : -ENOMEM;
}

void pt_consumer_deinit(struct pt_consumer *l)
{
    if (!l->seg)
        return;
    pt_cursors_deinit(&l->cursors);
    pt_watch_deinit(&l->watch);
    pt_accounts_deinit(&l->accounts);
    pt_onlooker_deinit(&l->onlooker);
    free(l->buffer);
    free(l->more);
    l->seg = NULL;
}

void pt_consumer_finish(struct pt_consumer *l)
{
    l->finished = true;
}

/* Called with each new watermark, before events below it are read.  from: the watermark before. */
static void look_at_state(struct pt_consumer *l, uint64_t from)
{
    const struct pt_seg_header *h = l->seg->h;
    uint64_t state, restarts = pt_start_filter_restarts(h, &state);

    /* Not for LOOP streams, which do not start without room for START. */
    if (pt_state_runs(state) && l->seg->g.attr.stream_policy != POSIX_TRACE_LOOP)
        pt_windows_run_since(&l->windows, pt_state_ts(h, state));
    pt_auto_stop_look(&l->stops, state);
    if (l->passive && pt_auto_stop_missed(&l->stops, restarts, &from))
        pt_losses_miss(&l->losses, from, pt_clock_now(l->seg->g.clock));
}

/* The order matters: first the watermark, then losses and chunks.  So an event before the
 * watermark, or a loss before it, is committed before the scan loads its chunk or word. */
int pt_consumer_refresh(struct pt_consumer *l)
{
    uint64_t before = l->watermark;

    l->windows.now = pt_load_seqcst(&l->seg->h->window) != 0;
    if (l->finished)
        l->watermark = UINT64_MAX;
    else
        l->watermark = pt_watch_look(&l->watch, l->seg);
    pt_losses_look_at_missed(&l->losses, l->accounts.delivered_ts);
    look_at_state(l, before);
    if (!l->passive && !l->seg->copy)
        pt_syncpoint_maintain(l->seg->h, l->seg->g.clock);
    return pt_cursors_scan(&l->cursors, &l->windows);
}

/* Called when a chunk with START and STOP may have been overwritten unread: sets the window
 * to the state before the oldest remaining chunk, unless that one is being read.  False: no
 * such chunk is known. */
static bool relearn_window(struct pt_consumer *l)
{
    const struct pt_cursor *oldest = pt_cursors_oldest_control(&l->cursors);

    if (!oldest)
        return false;
    return !pt_cursor_is_first(oldest) ||
           pt_cursor_window_before(&l->cursors, oldest, &l->windows.open);
}

/* The same after a scan of the chunks; without such a chunk, the header's window word counts. */
static void settle_window(struct pt_consumer *l)
{
    l->windows.lost = false;
    if (!relearn_window(l))
        l->windows.open = l->windows.now;
}

void pt_consumer_learn_window(struct pt_consumer *l)
{
    l->windows.ts = 0;
    settle_window(l);
}

enum pt_fate pt_consumer_fate(const struct pt_consumer *l, const struct pt_cursor *c,
                              bool window_open)
{
    uint64_t ts = c->record.ts;
    bool control = c->author.wid == 0;

    if (ts < l->clear_ts || (l->passive && ts <= l->onlooker.ts))
        return PT_FATE_EXCLUDE;
    if (control && c->record.truncated) /* filtered: only marks a window */
        return PT_FATE_EXCLUDE;
    /* In any window, since the START may not be there yet. */
    if (!control && pt_auto_stop_refuses(&l->stops, ts))
        return PT_FATE_REFUSED;
    /* Checked before the window, because the START that opened it may be overwritten, too. */
    if (ts <= l->losses.lost_last)
        return PT_FATE_OVERWRITTEN;
    /* The START that opened the window may have been taken from an onlooker. */
    if (!control && !window_open)
        return l->passive && !pt_cursors_control_is_at(&l->cursors, l->windows.next_no)
                   ? PT_FATE_OVERWRITTEN
                   : PT_FATE_EXCLUDE;
    return PT_FATE_DELIVER;
}

static int make_event(struct pt_consumer *l, struct pt_event *e, uint32_t id, uint64_t ts,
                      const void *data, uint32_t len)
{
    pt_assert_call(id < PT_ID_MAX && (data || len == 0));
    *e = (struct pt_event){
        .ts = ts, .id = (uint16_t)id, .data = data, .len = len, .author = reader_author(l)
    };
    l->accounts.delivered_ts = ts;
    l->copies = PT_CONSUMER_COPIES; /* its data changes with the next one */
    return PT_LIVE_EVENT;
}

/* Makes the OVERFLOW or RESUME that is due before an event with time ts. */
static int overflow(struct pt_consumer *l, struct pt_event *e, uint64_t ts)
{
    uint64_t at;
    bool hides;
    uint32_t id;

    if (pt_losses_are_quiet(&l->losses))
        return PT_LIVE_NONE;
    id = pt_losses_mark_before(&l->losses, ts, l->accounts.delivered_ts, &at, &hides);
    l->mark_hidden |= hides;
    return id ? make_event(l, e, id, at, NULL, 0) : PT_LIVE_NONE;
}

/* Makes the START or STOP that is due before an event with time ts.  An onlooker that has missed a
 * restart has no START, and gets OVERFLOW before the next STOP. */
static int synthetic(struct pt_consumer *l, struct pt_event *e, uint64_t ts)
{
    struct pt_auto_stop *a = &l->stops;
    bool stops;
    int r = PT_LIVE_NONE;

    /* If both are due, the START is that of an earlier stop. */
    if (pt_auto_stop_take_start(a, ts)) {
        if (!pt_set_has(&a->start_filter, POSIX_TRACE_START))
            return make_event(l, e, POSIX_TRACE_START, a->start_ts, &a->start_filter,
                              sizeof a->start_filter);
        l->mark_hidden = true;
    }
    if (l->passive && l->losses.unseen && a->phase == PT_AUTO_STOP_DUE && ts > a->gap_from)
        r = overflow(l, e, a->gap_from);
    if (r != PT_LIVE_NONE)
        return r;
    if (pt_auto_stop_take_stop(a, ts)) {
        l->stop_data = 1;
        /* If the stream was already stopped, and full when it was started, the window only
         * opens. */
        stops = l->windows.open && l->windows.ts != a->gap_from;
        pt_windows_open_at(&l->windows, a->gap_from);
        if (stops && !(a->stop_out & PT_MARK_STOP))
            return make_event(l, e, POSIX_TRACE_STOP, a->gap_from, &l->stop_data,
                              sizeof l->stop_data);
        l->mark_hidden = true;
    }
    return PT_LIVE_NONE;
}

/* New losses in a LOOP stream: drops every event up to the newest lost one.  False: it is
 * unknown whether the stream ran after them. */
static bool take_losses(struct pt_consumer *l)
{
    uint64_t first;

    if (!pt_losses_are_new(&l->losses) || !pt_losses_take(&l->losses, &first))
        return true;
    pt_losses_report(&l->losses, first);
    return relearn_window(l);
}

static int refresh(struct pt_consumer *l)
{
    int r = pt_consumer_refresh(l);

    if (r == 0 && (l->losses.lost_last || l->passive))
        settle_window(l);
    return r;
}

/* Called before each event.  If START or STOP was overwritten since the last scan of the chunks,
 * scans them again, so that the window before the event is known. */
static int look_at_losses(struct pt_consumer *l)
{
    int r = l->passive ? pt_consumer_notice_clear(l) : 0;

    if (r < 0)
        return r;
    return take_losses(l) && !l->windows.lost ? 0 : refresh(l);
}

/* Advances the cursor at the top of the merge to its next record. */
static void step(struct pt_consumer *l, struct pt_cursor *c)
{
    enum pt_cursor_step next;

    pt_assert_call(pt_merge_top(&l->cursors.merge) == &c->node && c->queued);
    pt_cursor_consume(&l->cursors, c);
    next = pt_cursor_decode(&l->cursors, c);
    if (next == PT_CURSOR_EVENT) {
        pt_merge_sift_top(&l->cursors.merge);
        return;
    }
    l->windows.lost |= next == PT_CURSOR_GONE && c->author.wid == 0;
    c->queued = false;
    pt_merge_pop(&l->cursors.merge);
    pt_cursor_retire(&l->cursors, c);
}

static void drop_top(struct pt_consumer *l, struct pt_cursor *c)
{
    pt_assert_call(pt_merge_top(&l->cursors.merge) == &c->node && c->queued);
    l->windows.lost |= c->author.wid == 0;
    c->queued = false;
    pt_merge_pop(&l->cursors.merge);
    pt_cursor_drop(&l->cursors, c);
}

/* Sets the window by a START or STOP, or, at the first record of a chunk, to the state before it;
 * not if the chunk has been recycled. */
static void note_window(struct pt_consumer *l, const struct pt_cursor *c)
{
    if (c->record.id == POSIX_TRACE_START || c->record.id == POSIX_TRACE_STOP)
        pt_windows_set(&l->windows, c->record.id == POSIX_TRACE_START, c->record.ts);
    else if (pt_cursor_is_first(c))
        pt_cursor_window_before(&l->cursors, c, &l->windows.open);
}

/* Copies the top record, then checks that the chunk was not recycled.  False: it was. */
static bool copy_out(struct pt_consumer *l, struct pt_cursor *c, struct pt_event *e)
{
    uint8_t *data = l->buffer + l->used;
    struct pt_author *author = l->copies ? &l->more[l->copies - 1] : &l->author;

    pt_assert(c->record.len <= PT_MAX_DATA && l->used + c->record.len <= BUFFER);
    pt_assert(l->copies == 0 || (l->more && l->copies < PT_CONSUMER_COPIES));
    pt_copy_unchecked(data, c->record.data, c->record.len);
    if (!pt_cursor_valid(&l->cursors, c))
        return false;
    *author = c->author;
    l->used += c->record.len;
    l->copies++;
    *e = (struct pt_event){ .ts = c->record.ts,
                            .addr = c->record.addr,
                            .data = data,
                            .author = author,
                            .len = c->record.len,
                            .id = (uint16_t)c->record.id,
                            .truncated = c->record.truncated };
    return true;
}

/* Passive: the stream's consumer may have taken events before this one. */
static void look_at_gap(struct pt_consumer *l, const struct pt_cursor *c)
{
    struct pt_account *t = pt_accounts_get(&l->accounts, &c->author);

    if (t && pt_account_misses(t, c->no, l->losses.lost_last))
        pt_losses_report(&l->losses, t->seen_ts);
}

/* Counts an event of a thread.  0 or -ENOMEM. */
static int account(struct pt_consumer *l, const struct pt_cursor *c, enum pt_fate fate)
{
    struct pt_account *t = pt_accounts_get(&l->accounts, &c->author);

    if (!t)
        return -ENOMEM;
    if (l->passive && (!t->based || (c->record.ts <= l->onlooker.ts && c->no > t->next_no)))
        pt_account_base(t, c->no);
    pt_account_add(t, c->no, fate);
    pt_consumer_note_refused(l, fate);
    pt_account_saw(t, c->record.ts);
    return 0;
}

/* Delivers or skips the record at the top, which is older than the watermark, or was cleared. */
static int take_top(struct pt_consumer *l, struct pt_cursor *c, struct pt_event *e)
{
    bool control = c->author.wid == 0;
    enum pt_fate fate;
    int r;

    pt_assert_call(pt_merge_top(&l->cursors.merge) == &c->node &&
                   (c->record.ts < l->watermark || c->record.ts < l->clear_ts));
    pt_windows_open_at(&l->windows, c->record.ts);
    fate = pt_consumer_fate(l, c, l->windows.open);
    /* Its chunk was recycled, so it already counts as overwritten, in any window. */
    if (fate == PT_FATE_EXCLUDE && c->record.ts > l->onlooker.ts &&
        !pt_cursor_valid(&l->cursors, c))
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
        l->windows.next_no = c->no + 1;
        l->mark_hidden |= c->record.truncated && c->record.ts >= l->clear_ts;
    } else if (account(l, c, fate) < 0) {
        return -ENOMEM;
    }
    if (fate == PT_FATE_OVERWRITTEN && l->passive)
        pt_losses_report(&l->losses, c->record.ts);
    else if (fate == PT_FATE_OVERWRITTEN)
        pt_losses_note(&l->losses, c->record.ts);
    step(l, c);
    if (fate != PT_FATE_DELIVER)
        return PT_LIVE_NONE;
    if (e->ts < l->accounts.delivered_ts)
        l->late++;
    else
        l->accounts.delivered_ts = e->ts;
    return PT_LIVE_EVENT;
}

/* Passive: is the record at the top before the position?  It may have been held back while the
 * position was set. */
static bool is_skipped(const struct pt_consumer *l, const struct pt_cursor *c)
{
    uint64_t ts = c->record.ts;

    return ts < l->skip_ts && c->author.wid != 0 && ts > l->onlooker.ts && ts >= l->clear_ts;
}

/* It counts as read.  0 or -ENOMEM. */
static int skip_top(struct pt_consumer *l, struct pt_cursor *c)
{
    int r;

    pt_assert_call(l->passive);
    if (!pt_cursor_valid(&l->cursors, c)) {
        drop_top(l, c);
        return 0;
    }
    r = account(l, c, PT_FATE_DELIVER);
    if (r == 0)
        step(l, c);
    return r;
}

static int take_or_skip_top(struct pt_consumer *l, struct pt_cursor *c, struct pt_event *e)
{
    return is_skipped(l, c) ? skip_top(l, c) : take_top(l, c, e);
}

/* The event at the top may be another one after it has been looked at for losses; so there is room
 * for any. */
bool pt_consumer_is_near(const struct pt_consumer *l)
{
    const struct pt_merge_node *top = pt_merge_top(&l->cursors.merge);

    return l->more && top && top->ts < l->watermark && l->copies > 0 &&
           l->copies < PT_CONSUMER_COPIES && l->used <= NEAR;
}

int pt_consumer_next(struct pt_consumer *l, struct pt_event *e)
{
    l->used = l->copies = 0;
    return pt_consumer_next_near(l, e);
}

int pt_consumer_next_near(struct pt_consumer *l, struct pt_event *e)
{
    unsigned looks = 0;
    int r;

    for (;;) {
        struct pt_merge_node *top;

        r = look_at_losses(l);
        if (r < 0)
            return r;
        top = pt_merge_top(&l->cursors.merge);
        if (top && top->ts < l->watermark) {
            r = take_or_skip_top(l, (struct pt_cursor *)(void *)top, e);
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
        /* Its START comes with the next watermark: a writer may still be inside an older event. */
        if (pt_auto_stop_restart(&l->stops, &l->windows)) {
            looks = 0;
            continue;
        }
        return l->watch.held && !l->finished ? PT_LIVE_HELD : PT_LIVE_NONE;
    }
}

/* Excludes all events before ts, also those that a writer inside an event holds back: they stayed
 * in their chunks, and LOOP would count them as overwritten.  clear_ts excludes those that are
 * committed later with an older time. */
int pt_consumer_clear(struct pt_consumer *l, uint64_t ts)
{
    bool has_read = l->accounts.delivered_ts != 0;
    unsigned copies = l->copies;
    struct pt_merge_node *top;
    struct pt_event e;
    int r;

    if (ts < l->clear_ts)
        return 0;
    r = pt_consumer_refresh(l);
    l->clear_ts = ts;
    take_losses(l);
    while (r >= 0 && (top = pt_merge_top(&l->cursors.merge)) && top->ts < ts)
        r = take_top(l, (struct pt_cursor *)(void *)top, &e);
    l->copies = copies;         /* a START or STOP that was made is not delivered */
    l->mark_hidden |= has_read; /* nothing says that events are missing */
    pt_losses_clear(&l->losses, ts);
    pt_auto_stop_clear(&l->stops, ts);
    l->late = 0;
    if (r >= 0 && pt_merge_top(&l->cursors.merge) == NULL)
        pt_auto_stop_restart_cleared(&l->stops, &l->windows, ts);
    return r < 0 ? r : 0;
}

int pt_consumer_notice_clear(struct pt_consumer *l)
{
    uint64_t ts = pt_load_seqcst(&l->seg->h->clear_ts);

    return ts == l->clear_ts ? 0 : pt_consumer_clear(l, ts);
}
