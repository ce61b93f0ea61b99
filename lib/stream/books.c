/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See books.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "ring/slot.h"
#include "stream/books.h"

void pt_books_sum(struct pt_live *l, const struct pt_slot *s, uint64_t recorded)
{
    l->summed_recorded += recorded;
    for (unsigned c = 0; c < PT_LOST_OWN; c++)
        l->summed_lost[c] += pt_load_relaxed(&s->lost[c]);
}

/* A slot that has been taken by another writer meanwhile gets numbers with the
 * wrong wid, which are none. */
static void leave_one(struct pt_live *l, const struct pt_tally *t, unsigned which)
{
    struct pt_slot *s;
    struct pt_slot_books *b;
    struct pt_author author;

    if (t->source != PT_TALLY_SLOT && t->source != PT_TALLY_FINAL)
        return;
    s = pt_seg_slot(l->seg, t->slot);
    pt_copy_unchecked(&author, &s->author, sizeof author);
    if (author.wid != t->author.wid)
        return;
    b = &s->books[which];
    pt_store_relaxed(&b->wid, t->author.wid);
    pt_store_relaxed(&b->summed, (uint32_t)(t->source == PT_TALLY_FINAL));
    pt_store_relaxed(&b->next, t->next_no);
    pt_store_relaxed(&b->given, pt_tally_given(t));
    pt_store_relaxed(&b->excluded, t->excluded);
    pt_store_relaxed(&b->refused, t->refused);
}

void pt_books_leave(struct pt_live *l, uint64_t lsn)
{
    struct pt_seg_header *h = l->seg->h;
    uint64_t turn = pt_load_relaxed(&h->books_now) + 1;
    unsigned which = (unsigned)(turn & 1u);
    struct pt_books sum = { .lsn = lsn, .given = l->folded_given, .excluded = l->folded_excluded,
                            .refused = l->folded_refused, .recorded = l->summed_recorded };

    memcpy(sum.lost, l->summed_lost, sizeof sum.lost);
    for (uint32_t i = 0; i < l->tally_room; i++) {
        const struct pt_tally *t = &l->tally[i];

        if (!t->used)
            continue;
        leave_one(l, t, which);
        sum.given += pt_tally_given(t);
        sum.excluded += t->excluded;
        sum.refused += t->refused;
    }
    pt_copy_watched(&h->books[which], &sum, sizeof sum);
    pt_store_release(&h->books_now, turn);
}

/* The numbers about the slot's writer; NULL: nothing was seen of it. */
static const struct pt_slot_books *books_of(const struct pt_seg *seg, const struct pt_slot *s)
{
    const struct pt_slot_books *b = &s->books[seg->h->books_now & 1u];

    return s->author.wid && b->wid == s->author.wid ? b : NULL;
}

bool pt_books_has_summed(const struct pt_seg *seg, const struct pt_slot *s)
{
    const struct pt_slot_books *b = books_of(seg, s);

    return b && b->summed;
}

void pt_books_take(const struct pt_seg *seg, const struct pt_slot *s, struct pt_tally *t)
{
    const struct pt_slot_books *b = books_of(seg, s);

    if (!b)
        return;
    t->next_no = t->resume_no = b->next;
    t->seen = b->given + b->excluded + b->refused;
    t->excluded = b->excluded;
    t->refused = b->refused;
}

void pt_books_fill(const struct pt_tally *t, struct pt_log_author_totals *a)
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

/* Takes away what belongs to writers that have a slot. */
static void leave_out_slots(struct pt_seg *seg, struct pt_books *sum)
{
    uint32_t n = pt_slot_count(seg);

    for (uint32_t i = 0; i < n; i++) {
        const struct pt_slot *s = pt_seg_slot(seg, i);
        const struct pt_slot_books *b = books_of(seg, s);

        if (s->state == PT_SLOT_FREE || s->author.level == PT_LEVEL_CONTROL || !b || b->summed)
            continue;
        sum->given -= b->given;
        sum->excluded -= b->excluded;
        sum->refused -= b->refused;
    }
}

static void tell_sums(const struct pt_seg_header *h, const struct pt_books *sum,
                      struct pt_log_status *status)
{
    uint64_t stored = sum->recorded + h->gone_recorded;
    uint64_t passed = sum->excluded + sum->refused;

    for (unsigned c = 0; c < PT_LOST_OWN; c++)
        status->lost_unknown_author[c] = sum->lost[c] + h->gone_lost[c] + h->lost_no_slot[c];
    status->lost_unknown_author[PT_LOST_FULL] += sum->refused;
    status->lost_unknown_author[PT_LOST_OVERWRITTEN] += stored - sum->given - passed;
    status->recorded_unknown_author = stored > passed ? stored - passed : 0;
}

int pt_books_tail(struct pt_live *l, struct pt_log_tail *tail)
{
    const struct pt_seg_header *h = l->seg->h;
    struct pt_books sum = h->books[h->books_now & 1u];

    pt_live_take_counts(l);
    tail->authors = malloc((l->tally_count + 1) * sizeof *tail->authors);
    if (!tail->authors)
        return -ENOMEM;
    tail->author_count = 0;
    tail->lsn = sum.lsn;
    leave_out_slots(l->seg, &sum);
    for (uint32_t i = 0; i < l->tally_room; i++) {
        const struct pt_tally *t = &l->tally[i];

        if (!t->used)
            continue;
        if (t->source == PT_TALLY_SLOT) {
            pt_books_fill(t, &tail->authors[tail->author_count++]);
            continue;
        }
        sum.given += pt_tally_given(t);
        sum.excluded += t->excluded;
        sum.refused += t->refused;
    }
    tell_sums(h, &sum, &tail->status);
    return 0;
}
