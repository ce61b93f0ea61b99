/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See round.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "ring/pool.h"
#include "stream/round.h"

#define MADE_STEP 512u   /* more than any event that the consumer makes */

int pt_round_init(struct pt_round *r, struct pt_live *live, const struct pt_round_sink *sink)
{
    memset(r, 0, sizeof *r);
    r->live = live;
    r->sink = *sink;
    r->copy = malloc(PT_CHUNK_MAX);
    return r->copy ? 0 : -ENOMEM;
}

void pt_round_deinit(struct pt_round *r)
{
    free(r->windows);
    free(r->touched);
    free(r->runs);
    free(r->copy);
}

static int grow(void *array, size_t *room, size_t count, size_t size)
{
    void **p = array, *fresh;

    if (count < *room)
        return 0;
    fresh = realloc(*p, (*room * 2 + 64) * size);
    if (!fresh)
        return -ENOMEM;
    *p = fresh;
    *room = *room * 2 + 64;
    return 0;
}

static bool window_open_at(const struct pt_round *r, uint64_t ts)
{
    bool open = r->live->window_open;

    for (size_t i = 0; i < r->window_count && r->windows[i].ts <= ts; i++)
        open = r->windows[i].open;
    return open;
}

/* An event at the very time of its STOP is in; STOP comes after it. */
static bool in_window(const struct pt_round *r, uint64_t ts)
{
    return window_open_at(r, ts) || (ts > 0 && window_open_at(r, ts - 1));
}

static int note_window(struct pt_round *r, const struct pt_cursor *c)
{
    uint32_t id = c->record.id;
    int e;

    if (id != POSIX_TRACE_START && id != POSIX_TRACE_STOP)
        return 0;
    e = grow(&r->windows, &r->window_room, r->window_count, sizeof *r->windows);
    if (e == 0)
        r->windows[r->window_count++] =
            (struct pt_window){ c->record.ts, id == POSIX_TRACE_START };
    return e;
}

/* The packet under construction: a run of records of one author in one chunk. */
struct run {
    struct pt_log_packet p;
    uint32_t end;
    bool open;
};

static int close_run(struct pt_round *r, const struct pt_cursor *c, struct run *run)
{
    int e;

    if (!run->open)
        return 0;
    run->open = false;
    e = grow(&r->runs, &r->run_room, r->run_count, sizeof *r->runs);
    if (e < 0)
        return e;
    run->p.bytes = run->end - run->p.chunk_off;
    run->p.records = (const uint8_t *)pt_seg_chunk(r->live->seg, c->index) + run->p.chunk_off;
    r->runs[r->run_count++] = (struct pt_run){ run->p, c->index };
    return 0;
}

static int add_to_run(struct pt_round *r, const struct pt_cursor *c, struct run *run)
{
    int e = 0;

    if (run->open && (run->p.author.wid != c->author.wid || run->end != c->start ||
                      run->p.author.tid != c->author.tid))
        e = close_run(r, c, run);
    if (!run->open) {
        run->p = (struct pt_log_packet){
            .author = c->author, .chunk_seq = c->gen, .chunk_off = c->start, .first_no = c->no,
            .base_ts = c->start_base, .first_ts = c->record.ts };
        run->open = true;
    }
    run->p.last_ts = c->record.ts;
    run->p.events++;
    run->end = c->off + c->size;
    return e;
}

/* One record: into the run, or passed over and accounted for. */
static int take_record(struct pt_round *r, struct pt_cursor *c, struct run *run)
{
    struct pt_live *l = r->live;
    bool control = c->author.wid == 0;
    enum pt_fate fate = pt_live_fate(l, c, control || in_window(r, c->record.ts));
    struct pt_tally *t;

    if (!control) {
        t = pt_live_tally(l, &c->author);
        if (!t)
            return -ENOMEM;
        pt_live_account(t, c->no, fate);
    }
    if (fate == PT_FATE_OVERWRITTEN && c->record.ts < l->overflow_ts)
        l->overflow_ts = c->record.ts;
    if (fate == PT_FATE_DELIVER) {
        if (c->record.ts < l->delivered_ts)
            l->late++;
        return add_to_run(r, c, run);
    }
    return close_run(r, c, run);
}

/* Times strictly between the two are part of the stream, whatever they are. */
static void plain_times(const struct pt_round *r, uint64_t *low, uint64_t *high)
{
    const struct pt_live *l = r->live;

    *high = l->watermark;
    *low = l->clear_ts > l->lost_last ? l->clear_ts : l->lost_last;
    if (l->gap_to == UINT64_MAX)
        *high = l->gap_from < *high ? l->gap_from : *high;
    else if (l->gap_to > *low)
        *low = l->gap_to;
    /* START or STOP in this round: every event is looked at. */
    if (r->window_count || !l->window_open)
        *high = 0;
}

/* The records that follow in the run, as long as there is nothing to decide:
 * most of them.  Chunks that LOOP may take away go record by record. */
static int take_plain(struct pt_round *r, struct pt_cursor *c, struct run *run)
{
    struct pt_live *l = r->live;
    const uint8_t *at = (const uint8_t *)pt_seg_chunk(l->seg, c->index);
    struct pt_decoder d = { at + c->off, at + c->limit, c->base }, before = d;
    uint64_t low, high, n = 0;
    struct pt_record record;
    struct pt_tally *t;

    plain_times(r, &low, &high);
    if (l->seg->h->attr.stream_policy == POSIX_TRACE_LOOP || c->author.wid == 0)
        return 0;
    while (pt_decode_next(&d, &record) == 1 && record.kind == PT_RECORD_EVENT &&
           record.ts > low && record.ts < high && record.ts >= l->delivered_ts) {
        run->p.last_ts = record.ts;
        before = d;
        n++;
    }
    if (n == 0)
        return 0;
    t = pt_live_tally(l, &c->author);
    if (!t)
        return -ENOMEM;
    pt_live_account_many(t, c->no, n);
    run->p.events += (uint32_t)n;
    run->end = c->off = (uint32_t)(before.p - at);
    c->base = before.base;
    c->no += n;
    return 0;
}

/* Everything of one chunk that is older than the watermark. */
static int write_chunk(struct pt_round *r, struct pt_cursor *c)
{
    struct pt_live *l = r->live;
    struct run run = { .open = false };
    int e = grow(&r->touched, &r->touched_room, r->touched_count, sizeof *r->touched);

    if (e < 0)
        return e;
    r->touched[r->touched_count++] = c->index;
    while (e == 0 && pt_cursor_decode(l, c) == PT_CURSOR_EVENT) {
        if (c->record.ts >= l->watermark) {
            r->more = true;
            break;
        }
        e = take_record(r, c, &run);
        c->off += c->size;
        c->no++;
        if (e == 0 && run.open)
            e = take_plain(r, c, &run);
    }
    if (run.open) {
        int e2 = close_run(r, c, &run);

        e = e ? e : e2;
    }
    return e;
}

static bool is_control(const struct pt_live *l, const struct pt_cursor *c)
{
    return pt_seg_chunk(l->seg, c->index)->author.level == PT_LEVEL_CONTROL;
}

static int by_time(const void *a, const void *b)
{
    const struct pt_window *x = a, *y = b;

    return x->ts < y->ts ? -1 : x->ts > y->ts;
}

/* Windows first: they decide over the events of all other chunks. */
static int gather_windows(struct pt_round *r)
{
    struct pt_live *l = r->live;
    uint64_t oldest = UINT64_MAX;
    int e = 0;

    r->window_count = 0;
    for (uint32_t i = 0; e == 0 && i < l->known_room; i++) {
        struct pt_cursor *c = l->known[i], peek;

        if (!c || !is_control(l, c))
            continue;
        peek = *c;
        if (c->off == sizeof(struct pt_chunk) && c->base < oldest) {
            oldest = c->base;
            l->window_open = pt_seg_chunk(l->seg, i)->window != 0;
        }
        while (e == 0 && pt_cursor_decode(l, &peek) == PT_CURSOR_EVENT &&
               peek.record.ts < l->watermark) {
            e = note_window(r, &peek);
            peek.off += peek.size;
        }
    }
    if (r->window_count)
        qsort(r->windows, r->window_count, sizeof *r->windows, by_time);
    return e;
}

/* An event that the consumer makes, as a packet of its own. */
static int put_made(struct pt_round *r, uint32_t id, uint64_t ts, const void *data, uint32_t len)
{
    uint64_t record[2 + sizeof(struct pt_set) / 8] = { 0 };
    struct pt_log_packet p = {
        .author = { .wid = 1, .pid = (int32_t)r->live->seg->h->owner_pid },
        .events = 1, .bytes = pt_record_size(len), .first_no = r->made_no,
        .base_ts = ts, .first_ts = ts, .last_ts = ts, .records = record,
        /* not from a chunk: a sequence that no chunk has */
        .chunk_seq = 0, .chunk_off = (uint32_t)r->made_no * MADE_STEP,
    };

    if (pt_set_has(&r->live->seg->h->filter, id))
        return 0;
    r->made_no++;
    pt_record_put_head(record, PT_RECORD_EVENT, id, len, 0, 0);
    if (len)
        memcpy(record + 2, data, len);
    return r->sink.packet(r->sink.context, &p);
}

/* STOP, OVERFLOW, START, RESUME, in this order: they are one author's packets. */
static int put_due(struct pt_round *r)
{
    struct pt_live *l = r->live;
    struct pt_seg_header *h = l->seg->h;
    bool marks = h->attr.stream_policy == POSIX_TRACE_FLUSH;
    struct pt_set filter;
    int e = 0, one = 1;

    if (l->start_due && l->gap_to < l->watermark) {
        l->start_due = false;
        pt_set_copy(&filter, &h->filter);
        e = put_made(r, POSIX_TRACE_START, l->gap_to, &filter, sizeof filter);
        if (e == 0 && marks)
            e = put_made(r, POSIX_TRACE_RESUME, l->gap_to, NULL, 0);
    }
    if (e == 0 && l->automatic == PT_AUTO_STOP_DUE && l->gap_from < l->watermark) {
        l->automatic = PT_AUTO_STOPPED;
        e = put_made(r, POSIX_TRACE_STOP, l->gap_from, &one, sizeof one);
        if (e == 0 && marks)
            e = put_made(r, POSIX_TRACE_OVERFLOW, l->gap_from, NULL, 0);
    }
    return e;
}

/* LOOP: was anything overwritten since the last round?  Decides over the events
 * of this one; told afterwards, because events that are passed over now may be
 * the oldest that are missing. */
static bool look_at_overflow(struct pt_round *r)
{
    struct pt_live *l = r->live;
    uint64_t last = pt_load_seqcst(&l->seg->h->lost_last_ts), first;

    if (last <= l->lost_last)
        return false;
    first = pt_exchange_seqcst(&l->seg->h->lost_first_ts, UINT64_MAX);
    l->lost_last = last;
    if (first < l->overflow_ts)
        l->overflow_ts = first;
    /* A dead flush thread has told of these already. */
    return first != UINT64_MAX || !l->seg->copy;
}

static int put_overflow(struct pt_round *r)
{
    struct pt_live *l = r->live;
    uint64_t at = l->overflow_ts < l->lost_last ? l->overflow_ts : l->lost_last;
    int e = put_made(r, POSIX_TRACE_OVERFLOW, at, NULL, 0);

    l->overflow_ts = UINT64_MAX;
    return e ? e : put_made(r, POSIX_TRACE_RESUME, l->lost_last, NULL, 0);
}

static int by_first(const void *a, const void *b)
{
    const struct pt_run *x = a, *y = b;

    return x->packet.first_ts < y->packet.first_ts ? -1 : x->packet.first_ts > y->packet.first_ts;
}

/* Hands a run over; what LOOP has taken away meanwhile is overwritten. */
static int emit(struct pt_round *r, struct pt_run *run)
{
    struct pt_live *l = r->live;
    struct pt_log_packet *p = &run->packet;
    struct pt_tally *t;

    if (l->seg->h->attr.stream_policy == POSIX_TRACE_LOOP && !l->seg->copy) {
        pt_copy_unchecked(r->copy, p->records, p->bytes);
        if (!pt_cursor_valid(l, &(struct pt_cursor){ .index = run->index, .gen = p->chunk_seq })) {
            t = pt_live_tally(l, &p->author);
            if (t)
                t->dropped += p->events;
            return 0;
        }
        p->records = r->copy;
    }
    return r->sink.packet(r->sink.context, p);
}

/* By time: an author's packets must follow each other, and a chunk that was
 * adopted may go on later than the author's own next one. */
static int emit_runs(struct pt_round *r)
{
    int e = 0;

    if (r->run_count)
        qsort(r->runs, r->run_count, sizeof *r->runs, by_first);
    for (size_t i = 0; e == 0 && i < r->run_count; i++)
        e = emit(r, &r->runs[i]);
    return e;
}

int pt_round_write(struct pt_round *r)
{
    struct pt_live *l = r->live;
    bool overflow;
    int e;

    r->more = false;
    r->touched_count = 0;
    r->run_count = 0;
    /* The flush works by chunk: the merge only served to find what is new. */
    pt_cursor_unqueue_all(l);
    overflow = look_at_overflow(r);
    e = put_due(r);
    if (e == 0)
        e = gather_windows(r);
    for (uint32_t i = 0; e == 0 && i < l->known_room; i++)
        if (l->known[i])
            e = write_chunk(r, l->known[i]);
    if (e == 0 && overflow)
        e = put_overflow(r);
    if (e == 0)
        e = emit_runs(r);
    if (r->window_count)
        l->window_open = r->windows[r->window_count - 1].open;
    if (l->watermark != UINT64_MAX)
        l->delivered_ts = l->watermark;
    return e;
}

void pt_round_commit(struct pt_round *r)
{
    struct pt_live *l = r->live;

    /* Tallies before positions: who comes after SIGKILL in between goes over
     * records again that the tallies know, and recognises them by number. */
    pt_live_leave_tallies(l);
    for (size_t i = 0; i < r->touched_count; i++) {
        struct pt_cursor *c = l->known[r->touched[i]];

        if (!c)
            continue;
        pt_store_release(&pt_seg_chunk(l->seg, c->index)->consumed, c->gen << 24 | c->off);
        pt_cursor_retire(l, c);
    }
    r->touched_count = 0;
    pt_live_release_ended(l);
}

static void fill_totals(const struct pt_tally *t, struct pt_log_author_totals *a)
{
    memset(a, 0, sizeof *a);
    a->author = t->author;
    if (t->recorded > t->excluded + t->refused)
        a->recorded = t->recorded - t->excluded - t->refused;
    for (unsigned c = 0; c < PT_LOST_OWN; c++)
        a->lost[c] = t->lost[c];
    a->lost[PT_LOST_FULL] += t->refused;
    a->lost[PT_LOST_OVERWRITTEN] += pt_tally_overwritten(t);
}

int pt_round_totals(struct pt_live *l, bool all, struct pt_log_author_totals **totals,
                    size_t *count, struct pt_log_status *status)
{
    struct pt_seg_header *h = l->seg->h;
    struct pt_log_author_totals *a;

    pt_live_take_counts(l);
    a = malloc((l->tally_count + 1) * sizeof *a);
    if (!a)
        return -ENOMEM;
    *count = 0;
    status->recorded_unknown_author = pt_load_relaxed(&h->gone_recorded) - l->folded_excluded -
                                      l->folded_refused;
    for (unsigned c = 0; c < PT_LOST_OWN; c++)
        status->lost_unknown_author[c] =
            pt_load_relaxed(&h->gone_lost[c]) + pt_load_relaxed(&h->lost_no_slot[c]);
    status->lost_unknown_author[PT_LOST_FULL] += l->folded_refused;
    status->lost_unknown_author[PT_LOST_OVERWRITTEN] += l->folded_overwritten;
    for (uint32_t i = 0; i < l->tally_room; i++) {
        struct pt_tally *t = &l->tally[i];

        if (!t->used)
            continue;
        /* The slot's counts of a folded writer are in the sums, ours are not. */
        if (t->source == PT_TALLY_FOLDED)
            status->recorded_unknown_author -= t->excluded + t->refused;
        if (!all && !t->changed)
            continue;
        fill_totals(t, &a[(*count)++]);
        t->changed = false;
    }
    *totals = a;
    return 0;
}
