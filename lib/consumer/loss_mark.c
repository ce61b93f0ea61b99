/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See loss_mark.h. */
#include <string.h>
#include "base/assert.h"
#include "consumer/loss_mark.h"
#include "shm/loss_interval.h"
#include "shm/mark_filter.h"

void pt_losses_init(struct pt_losses *x, struct pt_seg *seg)
{
    memset(x, 0, sizeof *x);
    x->seg = seg;
    x->overflow_ts = UINT64_MAX;
}

void pt_losses_look_on(struct pt_losses *x)
{
    const struct pt_seg_header *h = x->seg->h;

    x->passive = true;
    x->lost_last = pt_load_seqcst(&h->lost_last_ts);
    x->missed_known = pt_load_seqcst(&h->missed_last);
    x->marks_met = pt_load_seqcst(&h->loss_marks);
}

void pt_losses_restore(struct pt_losses *x)
{
    const struct pt_seg_header *h = x->seg->h;
    const struct pt_loss_books *b = &h->loss_books[h->books_now & 1u];

    pt_assert_call(x->seg->copy);
    x->told = b->lost_last;
    x->missed_known = b->missed_known;
    x->overflowing = b->overflowing != PT_OVERFLOW_NONE;
    x->overflow_hidden = b->overflowing == PT_OVERFLOW_HIDDEN;
    pt_losses_begin_at(x, h->books[h->books_now & 1u].watermark);
}

void pt_losses_begin_at(struct pt_losses *x, uint64_t ts)
{
    if (x->since < ts)
        x->since = ts;
}

static uint64_t not_before(const struct pt_losses *x, uint64_t delivered_ts)
{
    return delivered_ts < x->since ? x->since : delivered_ts;
}

void pt_losses_book(const struct pt_losses *x, unsigned which)
{
    struct pt_loss_books *b = &x->seg->h->loss_books[which];

    pt_store_relaxed(&b->lost_last, x->told);
    pt_store_relaxed(&b->missed_known, x->missed_known);
    pt_store_relaxed(&b->overflowing, (uint32_t)(!x->overflowing      ? PT_OVERFLOW_NONE
                                                 : x->overflow_hidden ? PT_OVERFLOW_HIDDEN
                                                                      : PT_OVERFLOW_WRITTEN));
}

void pt_losses_booked(const struct pt_losses *x)
{
    if (x->told == x->lost_last)
        pt_store_release(&x->seg->h->lost_taken, 0u);
}

void pt_losses_clear(struct pt_losses *x, uint64_t ts)
{
    bool later = x->lost_last >= ts;

    pt_losses_begin_at(x, ts);
    x->overflow_due = later;
    x->overflowing = false;
    x->missing = x->missing && x->missed_known + PT_MISSED_GRAIN > ts;
    x->marks_known = x->marks_known && (later || x->missing);
    if (!later) {
        x->told = x->lost_last;
        x->overflow_ts = UINT64_MAX;
    } else if (x->overflow_ts < ts || x->overflow_ts == UINT64_MAX) {
        x->overflow_ts = ts;
    }
    x->unseen = x->unseen && x->unseen_to > ts;
    if (x->unseen_from < ts)
        x->unseen_from = ts;
}

/* The choice about this loss, or 0.  For an onlooker a choice that it has already used is about an
 * older loss. */
static uint64_t take_choice(struct pt_losses *x)
{
    uint64_t choice;

    if (!x->passive)
        return pt_loss_marks_take(x->seg->h);
    choice = pt_load_seqcst(&x->seg->h->loss_marks);
    if (choice == x->marks_met)
        return 0;
    x->marks_met = choice;
    return choice;
}

/* now: the marks that the filter left out just before the loss was taken. */
static void take_marks(struct pt_losses *x, unsigned now)
{
    uint64_t choice = take_choice(x);

    pt_assert(x->passive || !x->marks_met);
    if (x->marks_known)
        return;
    x->marks_known = true;
    x->marks_choice = choice;
    x->marks_out = choice ? pt_state_of(choice) : now;
}

/* Moves the oldest lost time to lost_taken, where recovery finds it until the next checkpoint: the
 * word is stored first, so a kill at any instruction leaves the time in one of the two. */
static uint64_t take_first(struct pt_seg_header *h)
{
    uint64_t first = pt_load_seqcst(&h->lost_first_ts), taken = pt_load_relaxed(&h->lost_taken);

    do {
        if (taken == 0 || first < taken)
            pt_store_seqcst(&h->lost_taken, first);
    } while (!pt_cas_seqcst(&h->lost_first_ts, &first, UINT64_MAX));
    return first;
}

/* A new loss whose start an earlier version has not kept may begin at the checkpoint. */
static uint64_t take_first_of_dead(const struct pt_losses *x, uint64_t last)
{
    struct pt_seg_header *h = x->seg->h;
    uint64_t first = pt_exchange_seqcst(&h->lost_first_ts, UINT64_MAX);

    if (h->lost_taken && h->lost_taken < first)
        first = h->lost_taken;
    return first == UINT64_MAX && last > x->told ? 0 : first;
}

bool pt_losses_take(struct pt_losses *x, uint64_t *first)
{
    uint64_t last = pt_load_seqcst(&x->seg->h->lost_last_ts);
    unsigned out;

    if (last <= x->lost_last)
        return false;
    out = pt_loss_marks_now(x->seg->h);
    if (x->passive)
        *first = pt_load_seqcst(&x->seg->h->lost_first_ts);
    else if (x->seg->copy)
        *first = take_first_of_dead(x, last);
    else
        *first = take_first(x->seg->h);
    pt_losses_note(x, *first);
    take_marks(x, out);
    x->lost_last = last;
    return true;
}

void pt_losses_miss(struct pt_losses *x, uint64_t from, uint64_t to)
{
    pt_assert_call(x->passive);
    if (!x->unseen || from < x->unseen_from)
        x->unseen_from = from;
    if (!x->unseen || to > x->unseen_to)
        x->unseen_to = to;
    x->unseen = true;
}

void pt_losses_look_at_missed(struct pt_losses *x, uint64_t delivered_ts)
{
    struct pt_seg_header *h = x->seg->h;
    unsigned out = pt_loss_marks_now(h);
    uint64_t known = x->missed_known;

    delivered_ts = not_before(x, delivered_ts);
    x->missing = pt_loss_interval_look(h, delivered_ts, &x->missed_known, &x->missed_from);
    if (x->missed_known == known)
        return;
    if (!x->passive)
        pt_store_seqcst(&h->missed_told, x->missed_known);
    take_marks(x, out);
}

bool pt_losses_shows(struct pt_losses *x, uint32_t id, uint64_t ts)
{
    unsigned mark = id == POSIX_TRACE_RESUME ? PT_MARK_RESUME : PT_MARK_OVERFLOW;
    unsigned out = pt_loss_marks_now(x->seg->h);

    if (x->marks_known &&
        (mark == PT_MARK_OVERFLOW || (x->marks_choice && pt_loss_marks_cover(x->marks_choice, ts))))
        out = x->marks_out;
    if (mark == PT_MARK_RESUME)
        x->marks_known = false;
    return !(out & mark);
}

/* ---- event by event ---- */

/* Begins a gap, or adds to the present one.  from: the start of one that no lost time shows.  True:
 * *at is the time of its OVERFLOW. */
static bool begin_gap(struct pt_losses *x, uint64_t from, uint64_t ts, uint64_t delivered_ts,
                      uint64_t *at)
{
    bool first = !x->overflowing;

    *at = x->overflow_ts < from ? x->overflow_ts : from;
    if (*at > ts)
        *at = ts;
    if (*at < not_before(x, delivered_ts))
        *at = not_before(x, delivered_ts);
    x->overflow_due = false;
    x->overflowing = true;
    x->overflow_ts = UINT64_MAX;
    if (first)
        x->overflow_hidden = !pt_losses_shows(x, POSIX_TRACE_OVERFLOW, *at);
    return first && !x->overflow_hidden;
}

uint32_t pt_losses_mark_before(struct pt_losses *x, uint64_t ts, uint64_t delivered_ts,
                               uint64_t *at, bool *hides)
{
    bool missing = x->missing && ts > x->missed_from, unseen = x->unseen && ts > x->unseen_from;
    uint64_t from = missing ? x->missed_from : UINT64_MAX;

    if (unseen && x->unseen_from < from)
        from = x->unseen_from;
    *hides = false;
    if ((x->overflow_due || (!x->overflowing && (missing || unseen))) &&
        begin_gap(x, from, ts, delivered_ts, at))
        return POSIX_TRACE_OVERFLOW;
    *hides = x->overflowing && x->overflow_hidden;
    x->unseen = x->unseen && ts <= x->unseen_to;
    if (!x->overflowing || x->missing || (unseen && x->unseen))
        return 0;
    x->overflowing = false;
    *at = ts;
    return pt_losses_shows(x, POSIX_TRACE_RESUME, ts) ? POSIX_TRACE_RESUME : 0;
}

/* ---- by flush round ---- */

bool pt_losses_missed_mark(const struct pt_losses *x, uint64_t delivered_ts, uint64_t watermark,
                           uint32_t *id, uint64_t *at)
{
    uint64_t begin = x->overflow_ts < x->missed_from ? x->overflow_ts : x->missed_from;

    if (x->overflowing == x->missing && !(x->missing && x->seg->copy))
        return false;
    *id = x->missing ? POSIX_TRACE_OVERFLOW : POSIX_TRACE_RESUME;
    *at = x->missing && begin > delivered_ts ? begin : delivered_ts;
    if (*at > watermark)
        *at = watermark;
    *at = not_before(x, *at); /* a clear may be later than the watermark */
    return true;
}

void pt_losses_missed_put(struct pt_losses *x)
{
    x->overflowing = x->missing;
    x->overflow_ts = UINT64_MAX;
}

bool pt_losses_loop_marks(struct pt_losses *x, uint64_t delivered_ts, uint64_t *overflow,
                          uint64_t *resume)
{
    delivered_ts = not_before(x, delivered_ts);
    /* Chunks that were taken between a round and its commit have times older than the last round
     * of the log: OVERFLOW and RESUME get the time of that round then. */
    *resume = x->lost_last > delivered_ts ? x->lost_last : delivered_ts;
    *overflow = x->overflow_ts > delivered_ts ? x->overflow_ts : delivered_ts;
    if (*overflow > *resume)
        *overflow = *resume;
    x->overflow_ts = UINT64_MAX;
    return !x->overflowing;
}
