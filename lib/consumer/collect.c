/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * A round from its start to its commit, and the events that the consumer makes itself;
 * see collect.h.  collect_chunk.c reads the chunks.
 *
 *   refresh  pt_consumer_refresh() takes a watermark and finds the new contents of chunks
 *   write    STOP, START, OVERFLOW and RESUME, then the records of all chunks that are
 *            older than the watermark, as packets to the sink
 *   commit   once the packets are safe: checkpoint, positions, full chunks given back
 *
 * Invariants.  A record is consumed (its position published) only after its packet is safe,
 * so a kill loses no event; the checkpoint has the positions, too, so recovery begins after the
 * records that it accounts for.
 * The packets of one author follow each other in time order.  Every event in a round is
 * older than its watermark, and every event older than it is in this round or an earlier
 * one, except late events of stalled writers.
 *
 * A round that fails (no memory) leaves the records that it has not accounted for in their
 * chunks, claims no watermark, and keeps the windows it knows; the next round continues
 * from there.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/assert.h"
#include "base/array.h"
#include "consumer/checkpoint.h"
#include "consumer/collect.h"
#include "consumer/waiting.h"
#include "log/reader/piece.h"
#include "shm/mark_filter.h"
#include "shm/pool.h"

int pt_collect_init(struct pt_collect *r, struct pt_consumer *live,
                    const struct pt_collect_sink *sink)
{
    memset(r, 0, sizeof *r);
    r->live = live;
    r->sink = *sink;
    if (live->seg->copy) {
        /* The dead flush thread has made a checkpoint, perhaps before the first START. */
        r->started = pt_load_relaxed(&live->seg->h->books_now) != 0;
        r->stop_hidden = pt_checkpoint_window(live->seg) == PT_WINDOW_HIDDEN;
    }
    r->copy = malloc(PT_CHUNK_MAX);
    return r->copy ? 0 : -ENOMEM;
}

void pt_collect_deinit(struct pt_collect *r)
{
    free(r->windows);
    free(r->controls);
    free(r->next);
    free(r->touched);
    free(r->runs);
    free(r->counts);
    free(r->copy);
}

/* seq, off: its place. */
static int put_at(struct pt_collect *r, uint64_t seq, uint32_t off, uint32_t id, uint64_t ts,
                  const void *data, uint32_t len)
{
    pt_u64 record[2 + sizeof(struct pt_set) / 8] = { 0 };
    struct pt_log_packet p = {
        .author = { .wid = 1, .pid = (int32_t)r->live->seg->g.owner_pid },
        .events = 1,
        .bytes = pt_record_size(len),
        .first_no = r->made_no,
        .base_ts = ts,
        .first_ts = ts,
        .last_ts = ts,
        .records = record,
        .chunk_seq = seq,
        .chunk_off = off,
    };

    /* OVERFLOW may come before the watermark has reached the lost events. */
    if (ts < r->made_ts)
        p.base_ts = p.first_ts = p.last_ts = r->made_ts;
    r->made_ts = p.last_ts;
    r->made_no++;
    pt_record_put_head(record, PT_RECORD_EVENT, id, len, 0, 0);
    if (len)
        memcpy(record + 2, data, len);
    return r->sink.packet(r->sink.context, &p);
}

/* The event is in no chunk, so time and type identify it.  Recovery makes it again unless the log
 * shows that it was written. */
static int put_made(struct pt_collect *r, uint32_t id, uint64_t ts, const void *data, uint32_t len)
{
    return put_at(r, PT_LOG_MADE | ts, id * PT_LOG_MADE_STEP, id, ts, data, len);
}

/* The marks of different losses may have the same time, so the end of the loss identifies them. */
static int put_loss(struct pt_collect *r, uint32_t id, uint64_t ts, uint64_t end)
{
    return put_at(r, PT_LOG_MADE | end, id * PT_LOG_MADE_STEP + PT_LOG_MADE_LOSS, id, ts, NULL, 0);
}

int pt_collect_put_made(struct pt_collect *r, uint32_t id, uint64_t ts, const void *data,
                        uint32_t len)
{
    return pt_set_has(pt_seg_filter(r->live->seg->h), id) ? 0 : put_made(r, id, ts, data, len);
}

/* START, RESUME, STOP, OVERFLOW, in this order: they are one author's packets.  They come before
 * the events of the round, which are older than STOP, so a LOOP log may give STOP and OVERFLOW up
 * and still have some of these events.  Then START or RESUME, of a later round, marks the gap. */
static int put_due(struct pt_collect *r)
{
    struct pt_consumer *l = r->live;
    struct pt_auto_stop *a = &l->stops;
    const struct pt_set *filter = &a->start_filter;
    bool marks = l->seg->g.attr.stream_policy == POSIX_TRACE_FLUSH && !l->losses.overflowing;
    bool start = pt_auto_stop_take_start(a, l->watermark);
    bool resume = pt_auto_stop_take_resume(a, l->watermark) || start;
    int e = 0, one = 1;

    if (start) {
        r->started_ts = a->start_ts;
        pt_collect_note_control(r, POSIX_TRACE_START, pt_set_has(filter, POSIX_TRACE_START));
        if (!pt_set_has(filter, POSIX_TRACE_START))
            e = put_made(r, POSIX_TRACE_START, a->start_ts, filter, sizeof *filter);
    }
    if (e == 0 && resume && marks && !pt_set_has(filter, POSIX_TRACE_RESUME))
        e = put_made(r, POSIX_TRACE_RESUME, a->start_ts, NULL, 0);
    if (e == 0 && pt_auto_stop_take_stop(a, l->watermark)) {
        r->hides |= (a->stop_out & PT_MARK_STOP) != 0;
        if (!(a->stop_out & PT_MARK_STOP) && pt_collect_in_window(r, a->gap_from - 1))
            e = put_made(r, POSIX_TRACE_STOP, a->gap_from, &one, sizeof one);
        if (e == 0 && marks && !(a->stop_out & PT_MARK_FULL_OVERFLOW))
            e = put_made(r, POSIX_TRACE_OVERFLOW, a->gap_from, NULL, 0);
    }
    return e;
}

/* OVERFLOW or RESUME of a loss with that end. */
static int put_mark(struct pt_collect *r, uint32_t id, uint64_t ts, uint64_t end)
{
    bool shows = pt_losses_shows(&r->live->losses, id, ts);

    r->hides |= !shows;
    return shows ? put_loss(r, id, ts, end) : 0;
}

/* OVERFLOW or RESUME of losses that have no other mark (shm/loss_interval.h), when such a gap
 * starts or ends in this round. */
static int put_missed(struct pt_collect *r)
{
    struct pt_consumer *l = r->live;
    uint64_t at;
    uint32_t id;
    bool shows;
    int e;

    if (!pt_losses_missed_mark(&l->losses, l->accounts.delivered_ts, l->watermark, &id, &at))
        return 0;
    shows = pt_losses_shows(&l->losses, id, at);
    l->losses.overflow_hidden = id == POSIX_TRACE_OVERFLOW && !shows;
    r->hides |= !shows;
    /* When OVERFLOW is made, the end is unknown. */
    e = shows ? put_loss(r, id, at, id == POSIX_TRACE_RESUME ? at : UINT64_MAX) : 0;
    if (e < 0)
        return e;
    pt_losses_missed_put(&l->losses);
    return 0;
}

/* LOOP: true if events were overwritten since the last round, or the last clear.  The loss decides
 * over the events of this round; OVERFLOW is written before the first one that is delivered.  By
 * then all that the round excludes were seen, for they are older, and one may be the oldest that is
 * missing. */
static bool look_at_overflow(struct pt_collect *r)
{
    struct pt_losses *x = &r->live->losses;
    uint64_t first;

    pt_losses_take(x, &first);
    return x->lost_last > x->told;
}

static int put_overflow(struct pt_collect *r)
{
    struct pt_consumer *l = r->live;
    uint64_t overflow, resume;
    int e = 0;

    if (r->overflow &&
        pt_losses_loop_marks(&l->losses, l->accounts.delivered_ts, &overflow, &resume)) {
        e = put_mark(r, POSIX_TRACE_OVERFLOW, overflow, l->losses.lost_last);
        if (e == 0)
            e = put_mark(r, POSIX_TRACE_RESUME, resume, l->losses.lost_last);
    }
    r->overflow = e < 0;
    if (e == 0)
        pt_losses_loop_put(&l->losses);
    return e;
}

/* Losses after the watermark are for the next round, which finds them. */
void pt_collect_note_gap(struct pt_collect *r, uint64_t from)
{
    const struct pt_consumer *l = r->live;
    uint64_t to = pt_load_seqcst(&l->seg->h->lost_last_ts);

    if (from < l->accounts.delivered_ts || from >= l->watermark)
        return;
    if (from < l->clear_ts)
        from = l->clear_ts; /* the last one found was cleared */
    if (to >= l->watermark)
        to = l->watermark - 1;
    if (to < from)
        to = from;
    if (r->gap_to == 0 || from < r->gap_from)
        r->gap_from = from;
    if (to > r->gap_to)
        r->gap_to = to;
}

void pt_collect_clear(struct pt_collect *r, uint64_t ts)
{
    if (r->gap_to < ts)
        r->gap_to = 0;
    else if (r->gap_from < ts)
        r->gap_from = ts;
}

static int put_gap(struct pt_collect *r)
{
    const struct pt_losses *x = &r->live->losses;
    unsigned out = pt_loss_marks_now(r->live->seg->h);
    int e = 0;

    r->hides |= !x->overflowing && out;
    if (!x->overflowing && !(out & PT_MARK_OVERFLOW))
        e = put_loss(r, POSIX_TRACE_OVERFLOW, r->gap_from, r->gap_to);
    if (e == 0 && !x->overflowing && !(out & PT_MARK_RESUME))
        e = put_loss(r, POSIX_TRACE_RESUME, r->gap_to, r->gap_to);
    if (e == 0)
        r->gap_to = 0;
    return e;
}

/* Those of before the round first: they are one author's packets.  The marks of a gap that begins
 * after ts wait: one that begins before it may still be found, and has to be marked first. */
static int put_losses(struct pt_collect *r, uint64_t ts)
{
    int e = put_overflow(r);

    return e < 0 || r->gap_to == 0 || r->gap_from > ts ? e : put_gap(r);
}

/* Are START and STOP in the order of time? */
PT_VALIDATOR bool windows_are_sorted(const struct pt_collect *r)
{
    for (size_t i = 1; i < r->window_count; i++)
        if (r->windows[i - 1].ts > r->windows[i].ts)
            return false;
    return true;
}
/* Gives a run to the sink, after the marks of losses before it: a full log then has no events
 * after a loss without its marks.  If LOOP has recycled its chunk meanwhile, its events count as
 * overwritten. */
static int emit(struct pt_collect *r, struct pt_run *run)
{
    struct pt_consumer *l = r->live;
    struct pt_log_packet *p = &run->packet;
    struct pt_account *t;
    int marks, e;

    pt_assert(run->packet.bytes > 0 && run->packet.events > 0);
    pt_assert(run->packet.first_ts <= run->packet.last_ts);
    if (p->last_ts > r->last_ts)
        r->last_ts = p->last_ts;
    if (run->counted) {
        p->types = r->counts + run->counts;
        p->type_count = run->count_count;
    }
    if (l->seg->g.attr.stream_policy == POSIX_TRACE_LOOP && !l->seg->copy) {
        pt_copy_unchecked(r->copy, p->records, p->bytes);
        if (!pt_cursor_valid(&l->cursors,
                             &(struct pt_cursor){ .index = run->index, .gen = p->chunk_seq })) {
            /* A control writer has no tally. */
            t = p->author.wid ? pt_accounts_get(&l->accounts, &p->author) : NULL;
            if (t)
                pt_account_drop(t, p->events);
            pt_collect_note_gap(r, p->first_ts);
            return 0;
        }
        p->records = r->copy;
    }
    marks = put_losses(r, p->first_ts);
    e = r->sink.packet(r->sink.context, p);
    return marks ? marks : e;
}

/* Orders equal times by chunk, so that the order is the same each time: recovery makes the round
 * again and compares it with the log, to find how far the dead flush thread had come. */
static int by_first(const void *a, const void *b)
{
    const struct pt_log_packet *x = &((const struct pt_run *)a)->packet;
    const struct pt_log_packet *y = &((const struct pt_run *)b)->packet;

    if (x->first_ts != y->first_ts)
        return x->first_ts < y->first_ts ? -1 : 1;
    if (x->chunk_seq != y->chunk_seq)
        return x->chunk_seq < y->chunk_seq ? -1 : 1;
    return x->chunk_off < y->chunk_off ? -1 : x->chunk_off > y->chunk_off;
}

/* Gives the runs that start before ts to the sink, by time. */
static int emit_runs(struct pt_collect *r, uint64_t ts)
{
    size_t waiting = r->run_count - r->emitted;
    int e = 0;

    pt_assert_call(r->emitted <= r->run_count);
    if (waiting > 1)
        qsort(r->runs + r->emitted, waiting, sizeof *r->runs, by_first);
    while (e == 0 && r->emitted < r->run_count && r->runs[r->emitted].packet.first_ts <= ts)
        e = emit(r, &r->runs[r->emitted++]);
    if (r->emitted == r->run_count)
        r->emitted = r->run_count = r->count_count = 0;
    return e;
}

static int by_ts(const void *a, const void *b)
{
    const struct pt_next *x = a, *y = b;

    return x->ts < y->ts ? -1 : x->ts > y->ts;
}

/* The chunks by the time of their next event; those without one first. */
static int order_chunks(struct pt_collect *r)
{
    struct pt_consumer *l = r->live;
    int e = 0;

    r->next_count = 0;
    for (uint32_t i = 0; e == 0 && i < l->cursors.known_room; i++) {
        struct pt_cursor *c = l->cursors.known[i];

        if (!c)
            continue;
        e = pt_array_grow(&r->next, &r->next_room, r->next_count, sizeof *r->next);
        if (e == 0)
            r->next[r->next_count++] = (struct pt_next){
                pt_cursor_decode(&l->cursors, c) == PT_CURSOR_EVENT ? c->record.ts : 0, i
            };
    }
    if (r->next_count)
        qsort(r->next, r->next_count, sizeof *r->next, by_ts);
    return e;
}

/*
 * An author's packets must follow each other in time, and a chunk that the author adopted may
 * continue after the start of its next one.  So chunks are read in the order of their first
 * events, and a run waits until no chunk can have an older one.  Most runs are written at
 * once, while they are still in the processor's cache.
 */
static int write_chunks(struct pt_collect *r)
{
    int e = order_chunks(r), rest;

    pt_assert_valid(windows_are_sorted(r));
    for (size_t i = 0; e == 0 && i < r->next_count; i++) {
        e = emit_runs(r, r->next[i].ts);
        if (e == 0)
            e = pt_collect_chunk(r, r->live->cursors.known[r->next[i].index]);
    }
    /* The runs are accounted for, so they are written even after an error. */
    rest = emit_runs(r, UINT64_MAX);
    pt_assert(rest < 0 || r->run_count == 0);
    return e ? e : rest;
}

/* Takes the losses before it reads the windows.  A START or STOP that is overwritten before the
 * windows are read is then not later than the losses; one that is overwritten afterwards was
 * read. */
static int learn_windows(struct pt_collect *r)
{
    int e;

    for (;;) {
        /* The flush works by chunk: the merge only served to find new contents. */
        pt_cursors_unqueue(&r->live->cursors);
        r->overflow = look_at_overflow(r);
        e = pt_collect_windows(r);
        if (e != PT_ROUND_AGAIN)
            return e;
        e = pt_consumer_refresh(r->live);
        if (e < 0)
            return e;
    }
}

int pt_collect_write(struct pt_collect *r)
{
    struct pt_consumer *l = r->live;
    int e;

    r->more = false;
    r->touched_count = 0;
    r->hides |= l->losses.overflowing && l->losses.overflow_hidden;
    e = learn_windows(r);
    r->started |= l->windows.open; /* the first START may have been overwritten */
    if (e == 0)
        e = put_missed(r);
    if (e == 0)
        e = put_due(r);
    if (e == 0)
        e = write_chunks(r);
    if (e == 0)
        e = put_losses(r, UINT64_MAX);
    if (e == 0 && r->switches)
        e = r->put_switches(r->switches, r);
    if (e == 0)
        e = pt_collect_waiting(r);
    r->unfinished = e < 0;
    if (r->unfinished) {
        /* Some chunks still have events older than the watermark; the next round writes them. */
        r->more = true;
        l->watermark = l->accounts.delivered_ts;
        pt_losses_forget_missed(&l->losses); /* if a gap was open, the next round is in it, too */
        return e;
    }
    pt_assert(r->run_count == 0 && r->touched_count <= r->next_count);
    if (r->window_count)
        pt_windows_set(&l->windows, r->windows[r->window_count - 1].open,
                       r->windows[r->window_count - 1].ts);
    if (l->watermark != UINT64_MAX)
        l->accounts.delivered_ts = l->watermark;
    return e;
}

enum pt_window_then pt_collect_window(const struct pt_collect *r)
{
    if (r->live->windows.open)
        return PT_WINDOW_OPEN;
    return r->stop_hidden ? PT_WINDOW_HIDDEN : PT_WINDOW_CLOSED;
}

static void book_positions(const struct pt_collect *r)
{
    const struct pt_consumer *l = r->live;

    for (size_t i = 0; i < r->touched_count; i++) {
        const struct pt_cursor *c = l->cursors.known[r->touched[i]];

        if (c)
            pt_checkpoint_position(l->seg, c->index, c->gen, c->off);
    }
}

void pt_collect_commit(struct pt_collect *r, const struct pt_log_books *log)
{
    struct pt_consumer *l = r->live;

    /* Checkpoint before positions: after SIGKILL between the two, recovery takes the positions of
     * the checkpoint. */
    pt_assert_call(!r->unfinished || r->more);
    book_positions(r);
    pt_checkpoint_leave(&l->accounts, &l->losses, pt_collect_window(r), log);
    if (r->started_ts > pt_load_relaxed(&l->seg->h->start_told))
        pt_store_release(&l->seg->h->start_told, r->started_ts);
    r->given_back = 0;
    for (size_t i = 0; i < r->touched_count; i++) {
        struct pt_cursor *c = l->cursors.known[r->touched[i]];

        if (!c)
            continue;
        pt_assert(c->index == r->touched[i] && c->off <= c->limit);
        pt_store_release(&pt_seg_chunk(l->seg, c->index)->consumed,
                         pt_consumed_make(c->gen, c->off));
        r->given_back += pt_cursor_retire(&l->cursors, c);
    }
    r->touched_count = 0;
    pt_accounts_release(&l->accounts);
}

/* At a seam an event that no cycle has seen is part of the next piece. */
static void fill_totals(const struct pt_accounts *all, struct pt_account *t, enum pt_totals which,
                        struct pt_log_author_totals *a)
{
    uint64_t passed = t->excluded + t->refused;

    pt_checkpoint_fill(t, a);
    t->changed = false;
    if (which != PT_TOTALS_SEAM) {
        a->ended = t->told_last = pt_account_is_complete(all, t);
        return;
    }
    /* The next piece, or the next cycle of this one, lists it. */
    t->changed = pt_account_recorded(t) != t->next_no;
    a->recorded = t->next_no > passed ? t->next_no - passed : 0;
}

static bool is_due(const struct pt_accounts *all, const struct pt_account *t, enum pt_totals which)
{
    if (t->told_last)
        return false;
    if (which == PT_TOTALS_SEAM)
        return t->changed || pt_account_recorded(t) != t->next_no;
    return t->changed || which == PT_TOTALS_ALL || pt_account_is_complete(all, t);
}

/* Of writers that the log does not know any more.  The last piece has what they recorded. */
static void add_unlisted(const struct pt_folded *f, enum pt_totals which, struct pt_log_status *st)
{
    for (unsigned c = 0; c < PT_LOST_OWN; c++)
        st->lost_unknown_author[c] += f->lost[c];
    st->lost_unknown_author[PT_LOST_FULL] += f->refused;
    st->lost_unknown_author[PT_LOST_OVERWRITTEN] += f->overwritten;
    if (which != PT_TOTALS_SEAM)
        st->recorded_unknown_author += f->recorded + f->named - f->excluded - f->refused;
}

int pt_collect_totals(struct pt_consumer *l, enum pt_totals which, struct pt_name_turn *names,
                      struct pt_log_author_totals **totals, size_t *count,
                      struct pt_log_status *status)
{
    struct pt_seg_header *h = l->seg->h;
    struct pt_log_author_totals *a;
    uint64_t named;

    pt_accounts_take(&l->accounts, l->finished);
    pt_accounts_read_names(&l->accounts, names);
    a = malloc((l->accounts.count + 1) * sizeof *a);
    if (!a)
        return -ENOMEM;
    *count = 0;
    named = l->accounts.folded.named;
    for (unsigned c = 0; c < PT_LOST_OWN; c++)
        status->lost_unknown_author[c] = l->accounts.gone.lost[c] +
                                         pt_load_relaxed(&h->lost_no_slot[c]);
    status->lost_unknown_author[PT_LOST_OVERWRITTEN] += l->accounts.unseen;
    status->lost_switches = pt_load_relaxed(&h->lost_switches);
    for (uint32_t i = 0; i < l->accounts.room; i++) {
        struct pt_account *t = &l->accounts.tally[i];

        if (!t->used)
            continue;
        /* The sums of the slots contain the events of folded writers. */
        if (t->source == PT_TALLY_FOLDED)
            named += pt_account_recorded(t);
        if (is_due(&l->accounts, t, which))
            fill_totals(&l->accounts, t, which, &a[(*count)++]);
    }
    status->recorded_unknown_author = 0;
    if (which != PT_TOTALS_SEAM && l->accounts.gone.recorded > named)
        status->recorded_unknown_author = l->accounts.gone.recorded - named;
    add_unlisted(&l->accounts.unlisted, which, status);
    pt_assert(*count <= l->accounts.count);
    *totals = a;
    return 0;
}

int pt_collect_base(struct pt_collect *r, struct pt_piece_base *base)
{
    struct pt_accounts *a = &r->live->accounts;
    struct pt_log_author_totals totals;
    int e = 0;

    pt_accounts_trim(a);
    base->made_ts = r->made_ts;
    for (uint32_t i = 0; e == 0 && i < a->room; i++) {
        struct pt_account *t = &a->tally[i];
        bool changed = t->changed;
        struct pt_piece_author author;

        if (!t->used)
            continue;
        fill_totals(a, t, PT_TOTALS_SEAM, &totals);
        t->changed = changed;
        author = (struct pt_piece_author){ .wid = t->author.wid,
                                           .next_no = t->next_no,
                                           .recorded = totals.recorded };
        memcpy(author.lost, totals.lost, sizeof author.lost);
        e = pt_piece_base_add(base, &author);
    }
    pt_piece_base_sort(base);
    return e;
}
