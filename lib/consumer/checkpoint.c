/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See checkpoint.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/assert.h"
#include "consumer/checkpoint.h"
#include "shm/slot.h"

/* If another writer takes the slot meanwhile, the numbers in it have the wrong wid, and
 * readers ignore them. */
static void store_slot(struct pt_accounts *a, const struct pt_account *t, unsigned which)
{
    struct pt_slot *s;
    struct pt_slot_books *b;

    if (t->source != PT_TALLY_SLOT && t->source != PT_TALLY_FINAL)
        return;
    s = pt_seg_slot(a->seg, t->slot);
    if (pt_load_acquire(&s->wid) != t->author.wid)
        return;
    pt_assert(pt_account_given(t) >= t->cleared);
    b = &s->books[which];
    pt_store_relaxed(&b->wid, t->author.wid);
    pt_store_relaxed(&b->next, t->next_no);
    pt_store_relaxed(&b->given, pt_account_given(t) - t->cleared);
    pt_store_relaxed(&b->excluded, t->excluded + t->cleared);
    pt_store_relaxed(&b->refused, t->refused);
}

void pt_checkpoint_clear(struct pt_accounts *a)
{
    a->folded.cleared = a->folded.given;
    for (uint32_t i = 0; i < a->room; i++)
        if (a->tally[i].used)
            a->tally[i].cleared = pt_account_given(&a->tally[i]);
}

static uint64_t next_turn(const struct pt_seg *seg)
{
    return pt_load_relaxed(&seg->h->books_now) + 1;
}

void pt_checkpoint_position(const struct pt_seg *seg, uint32_t index, uint64_t gen, uint32_t at)
{
    pt_assert_call(!seg->copy);
    pt_store_relaxed(&pt_seg_chunk(seg, index)->booked[next_turn(seg) & 1u],
                     pt_consumed_make(gen, at));
}

void pt_checkpoint_leave(struct pt_accounts *a, const struct pt_losses *losses,
                         enum pt_window_then window, const struct pt_log_books *log)
{
    struct pt_seg_header *h = a->seg->h;
    uint64_t turn = next_turn(a->seg);
    unsigned which = (unsigned)(turn & 1u);
    struct pt_checkpoint sum = {
        .lsn = log->lsn,
        .given = a->folded.given - a->folded.cleared,
        .excluded = a->folded.excluded + a->folded.cleared,
        .refused = a->folded.refused,
        .watermark = a->delivered_ts,
        .events = log->events,
        .waiting = log->waiting,
        .log_full = log->full,
        .log_overwritten = log->overwritten,
        .log_error = log->error,
    };

    pt_assert_call(!a->passive && !a->seg->copy);
    pt_assert_valid(pt_accounting_balances(a));
    for (uint32_t i = 0; i < a->room; i++) {
        const struct pt_account *t = &a->tally[i];

        if (!t->used)
            continue;
        store_slot(a, t, which);
        sum.given += pt_account_given(t) - t->cleared;
        sum.excluded += t->excluded + t->cleared;
        sum.refused += t->refused;
    }
    pt_copy_watched(&h->books[which], &sum, sizeof sum);
    pt_store_relaxed(&h->books_piece[which], (uint64_t)log->piece);
    pt_store_relaxed(&h->books_ino[which], log->ino);
    pt_losses_book(losses, which);
    pt_store_relaxed(&h->loss_books[which].window, (uint32_t)window);
    pt_store_release(&h->books_now, turn);
    pt_losses_booked(losses);
}

enum pt_window_then pt_checkpoint_window(const struct pt_seg *seg)
{
    const struct pt_seg_header *h = seg->h;

    pt_assert_call(seg->copy);
    return (enum pt_window_then)h->loss_books[h->books_now & 1u].window;
}

/* The copy of a chunk that the last round did not touch is older than the chunk's own position. */
void pt_checkpoint_positions(struct pt_seg *seg)
{
    unsigned now = (unsigned)(seg->h->books_now & 1u);
    uint32_t n = pt_seg_chunk_count(seg);

    pt_assert_call(seg->copy);
    for (uint32_t i = 0; i < n; i++) {
        struct pt_chunk *c = pt_seg_chunk(seg, i);

        if (pt_consumed_is(c->booked[now], c->gen) &&
            (!pt_consumed_is(c->consumed, c->gen) || c->consumed < c->booked[now]))
            c->consumed = c->booked[now];
    }
}

/* The checkpoint of a slot's writer; NULL: the consumer had seen no event of it. */
static const struct pt_slot_books *books_of(const struct pt_seg *seg, uint32_t index, uint64_t wid)
{
    const struct pt_slot_books *b = &pt_seg_slot(seg, index)->books[seg->h->books_now & 1u];

    return wid && b->wid == wid ? b : NULL;
}

void pt_checkpoint_take(const struct pt_seg *seg, uint32_t index, struct pt_account *t)
{
    const struct pt_slot_books *b = books_of(seg, index, t->author.wid);

    pt_assert_call(seg->copy && t->source == PT_TALLY_UNSEEN);
    if (!b)
        return;
    t->next_no = t->resume_no = b->next;
    t->seen = b->given + b->excluded + b->refused;
    t->excluded = b->excluded;
    t->refused = b->refused;
}

void pt_checkpoint_fill(const struct pt_account *t, struct pt_log_author_totals *a)
{
    uint64_t recorded = pt_account_recorded(t);

    memset(a, 0, sizeof *a);
    a->author = t->author;
    if (recorded > t->excluded + t->refused)
        a->recorded = recorded - t->excluded - t->refused;
    for (unsigned c = 0; c < PT_LOST_OWN; c++)
        a->lost[c] = t->lost[c];
    a->lost[PT_LOST_FULL] += t->refused;
    a->lost[PT_LOST_OVERWRITTEN] += pt_account_overwritten(t);
}

/* Subtracts the numbers of the writers that have a slot. */
static void subtract_slots(struct pt_seg *seg, struct pt_checkpoint *sum)
{
    uint32_t n = pt_slot_count(seg);
    struct pt_slot_view v;

    for (uint32_t i = 0; i < n; i++) {
        const struct pt_slot_books *b;

        pt_slot_look(seg, i, &v);
        b = v.own ? books_of(seg, i, v.wid) : NULL;
        if (!b || v.author.level == PT_LEVEL_CONTROL)
            continue;
        sum->given -= b->given;
        sum->excluded -= b->excluded;
        sum->refused -= b->refused;
    }
}

static void report_sums(const struct pt_accounts *a, const struct pt_checkpoint *sum,
                        struct pt_log_status *status)
{
    uint64_t stored = a->gone.recorded;
    uint64_t passed = sum->excluded + sum->refused;

    for (unsigned c = 0; c < PT_LOST_OWN; c++)
        status->lost_unknown_author[c] = a->gone.lost[c] + a->seg->h->lost_no_slot[c];
    status->lost_switches = a->seg->h->lost_switches;
    status->lost_unknown_author[PT_LOST_FULL] += sum->refused;
    status->lost_unknown_author[PT_LOST_OVERWRITTEN] += stored - sum->given - passed;
    status->recorded_unknown_author = stored > passed ? stored - passed : 0;
}

int pt_checkpoint_tail(struct pt_accounts *a, struct pt_log_tail *tail)
{
    const struct pt_seg_header *h = a->seg->h;
    struct pt_checkpoint sum = h->books[h->books_now & 1u];

    pt_accounts_take(a, true);
    tail->authors = malloc((a->count + 1) * sizeof *tail->authors);
    if (!tail->authors)
        return -ENOMEM;
    tail->author_count = 0;
    tail->watermark = sum.watermark;
    tail->lost_told = h->loss_books[h->books_now & 1u].lost_last;
    tail->overflowing = h->loss_books[h->books_now & 1u].overflowing != 0;
    tail->booked = (struct pt_log_books){
        .lsn = sum.lsn,
        .events = sum.events,
        .waiting = sum.waiting,
        .full = sum.log_full,
        .overwritten = sum.log_overwritten,
        .error = sum.log_error,
        .piece = (uint32_t)h->books_piece[h->books_now & 1u],
    };
    pt_assert_call(a->seg->copy);
    subtract_slots(a->seg, &sum);
    tail->given_unnamed = sum.given;
    for (uint32_t i = 0; i < a->room; i++) {
        const struct pt_account *t = &a->tally[i];

        if (!t->used)
            continue;
        if (t->source == PT_TALLY_SLOT) {
            struct pt_log_author_totals *author = &tail->authors[tail->author_count++];
            const struct pt_slot_books *b = books_of(a->seg, t->slot, t->author.wid);

            pt_checkpoint_fill(t, author);
            author->logged = b ? b->given : 0;
            author->logged_to = b ? b->next : 0;
            continue;
        }
        sum.given += pt_account_given(t);
        sum.excluded += t->excluded;
        sum.refused += t->refused;
    }
    pt_assert(tail->author_count <= a->count);
    report_sums(a, &sum, &tail->status);
    return 0;
}
