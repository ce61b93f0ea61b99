/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Exact accounting on the consumer's side (consumer.h).  For each writer
 *     recorded = delivered + excluded + refused + overwritten + pending
 * where recorded comes from its slot and the others from the numbers of the
 * events that the consumer saw.
 *
 * A tally holds the numbers of one writer.  A writer's events are numbered without gaps,
 * so the consumer need not see an overwritten event to count it: overwritten = highest
 * number seen - events seen.  Where recorded comes from changes in the life of a writer
 * (enum pt_account_source):
 *
 *   UNSEEN   the consumer has seen events, and no slot of the writer yet
 *   SLOT     the slot still belongs to the writer: recorded is as of the last look
 *   FINAL    the writer has ended and the consumer has claimed the slot: the counts are
 *            final, and the slot is released once they are safe
 *   FOLDED   another writer has reused the slot: the writer's counts are only part of the
 *            slot's past, the sum over its earlier writers
 *
 * Invariant: an event is in one tally or in one sum, never in both.  So l->gone, the events
 * of writers without a tally, is the past of all slots less l->taken, which the FINAL
 * tallies added to that past; and a tally that is forgotten to bound the memory goes into
 * l->folded.
 *
 * All calls are made by the one consumer, under the reading lock: by readers of a stream
 * without log, by the flush thread, and by recovery on its copy of a segment.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/assert.h"
#include "base/clock.h"
#include "base/hash.h"
#include "consumer/balance.h"
#include "consumer/checkpoint.h"
#include "shm/slot.h"

static struct pt_account *find(struct pt_consumer *l, uint64_t wid)
{
    uint32_t mask = l->tally_room - 1, i = pt_hash(wid, l->tally_factor) & mask;

    pt_assert(l->tally_room > l->tally_count && (l->tally_room & mask) == 0);
    while (l->tally[i].used && l->tally[i].author.wid != wid)
        i = (i + 1) & mask;
    return &l->tally[i];
}

/* True: the writer has ended, its slot was released, and all its events were seen: its last
 * one, or an event of the stream that is later than its end.  Its events may wait for many
 * rounds, while a stalled writer is inside an older event.  Changed numbers go into the log
 * first.  An onlooker forgets no tally, since no sum has the numbers from before its start. */
static bool is_complete(const struct pt_consumer *l, const struct pt_account *t)
{
    bool final = t->source == PT_TALLY_FINAL;

    return !l->passive && (final || t->source == PT_TALLY_FOLDED) &&
           !(l->seg->g.has_log && t->changed) && l->released - t->ended_at >= 2 &&
           ((final && t->next_no >= t->recorded) || l->delivered_ts > t->ended_ts);
}

/* Adds a complete tally to the sums.  The log keeps its own entry for the writer, so the
 * sums that are written to it do not contain these numbers again. */
static void forget(struct pt_consumer *l, const struct pt_account *t)
{
    struct pt_folded *f = &l->folded;

    pt_assert_call(is_complete(l, t));
    pt_assert(!l->passive);
    f->given += pt_account_given(t);
    f->cleared += t->cleared;
    f->excluded += t->excluded;
    f->refused += t->refused;
    f->overwritten += pt_account_overwritten(t);
    f->next += t->next_no;
    if (t->source == PT_TALLY_FOLDED) {
        f->named += pt_account_recorded(t);
        return;
    }
    f->recorded += t->recorded;
    for (unsigned c = 0; c < PT_LOST_OWN; c++)
        f->lost[c] += t->lost[c];
}

static bool rehash(struct pt_consumer *l)
{
    struct pt_account *old = l->tally, *fresh;
    uint32_t room = l->tally_room, keep = 0, new_room = 64;
    bool full = l->tally_count >= l->tally_max;

    for (uint32_t i = 0; i < room; i++)
        keep += old[i].used && !(full && is_complete(l, &old[i]));
    while (new_room < keep * 4)
        new_room *= 2;
    fresh = calloc(new_room, sizeof *fresh);
    if (!fresh)
        return false;
    pt_assert(keep * 4 <= new_room && (new_room & (new_room - 1)) == 0);
    l->tally = fresh;
    l->tally_factor = pt_hash_factor();
    l->tally_room = new_room;
    l->tally_count = 0;
    for (uint32_t i = 0; i < room; i++) {
        if (!old[i].used)
            continue;
        if (full && is_complete(l, &old[i])) {
            forget(l, &old[i]);
            continue;
        }
        *find(l, old[i].author.wid) = old[i];
        l->tally_count++;
    }
    free(old);
    pt_assert(l->tally_count == keep);
    return true;
}

#if PT_ASSERTIONS > 0
bool pt_accounting_balances(struct pt_consumer *l)
{
    const struct pt_folded *f = &l->folded;
    bool own = !l->passive && !l->seg->copy; /* else numbers come from the segment */
    uint32_t count = 0;

    for (uint32_t i = 0; i < l->tally_room; i++) {
        const struct pt_account *t = &l->tally[i];

        if (!t->used)
            continue;
        count++;
        if (find(l, t->author.wid) != t)
            return false;
        if (own &&
            (t->excluded + t->refused + t->dropped > t->seen || t->cleared > pt_account_given(t)))
            return false;
    }
    return count == l->tally_count && count <= l->tally_room && l->ended_count <= l->ended_room &&
           (!own || f->cleared <= f->given);
}
#endif
struct pt_account *pt_consumer_tally(struct pt_consumer *l, const struct pt_author *author)
{
    struct pt_account *t;

    if (l->tally_room) {
        t = find(l, author->wid);
        if (t->used)
            return t;
    }
    if ((l->tally_count + 1) * 2 > l->tally_room && !rehash(l))
        return NULL;
    t = find(l, author->wid);
    memset(t, 0, sizeof *t);
    pt_assert(!t->used);
    t->used = true;
    t->based = l->passive && author->wid >= l->from_wid;
    t->author = *author;
    l->tally_count++;
    return t;
}

void pt_consumer_account(struct pt_account *t, uint64_t no, enum pt_fate fate)
{
    if (no < t->resume_no)
        return;
    if (no >= t->next_no)
        t->next_no = no + 1;
    t->seen++;
    t->excluded += fate == PT_FATE_EXCLUDE;
    t->refused += fate == PT_FATE_REFUSED;
    t->dropped += fate == PT_FATE_OVERWRITTEN;
    t->changed = true;
}

/* A dead consumer may have accounted for the first of them. */
void pt_consumer_account_many(struct pt_account *t, uint64_t no, uint64_t n)
{
    uint64_t from = no < t->resume_no ? t->resume_no : no;

    t->changed = true;
    if (no + n <= from)
        return;
    t->seen += no + n - from;
    if (no + n > t->next_no)
        t->next_no = no + n;
}

static void add_past(struct pt_past *sum, const struct pt_past *p, uint64_t factor)
{
    sum->recorded += factor * p->recorded;
    sum->lost_bytes += factor * p->lost_bytes;
    for (unsigned c = 0; c < PT_LOST_OWN; c++)
        sum->lost[c] += factor * p->lost[c];
}

static void note_end(const struct pt_consumer *l, struct pt_account *t)
{
    t->ended_at = l->released;
    t->ended_ts = pt_clock_now(l->seg->g.clock);
}

static void set_counts(struct pt_consumer *l, struct pt_account *t, const struct pt_slot_view *v,
                       uint32_t index)
{
    if (v->author.names != t->author.names) {
        memcpy(t->author.name, v->author.name, sizeof t->author.name);
        t->author.names = v->author.names;
        t->changed = true;
    }
    t->look = l->look;
    t->slot = index;
    t->recorded = v->mine.recorded;
    memcpy(t->lost, v->mine.lost, sizeof t->lost);
}

static void take_slot(struct pt_consumer *l, const struct pt_slot_view *v, uint32_t index,
                      enum pt_account_source source)
{
    struct pt_account *t;

    pt_assert_call(source == PT_TALLY_SLOT || source == PT_TALLY_FINAL);
    if (!v->own || v->author.level == PT_LEVEL_CONTROL)
        return;
    t = pt_consumer_tally(l, &v->author);
    if (!t || t->source == PT_TALLY_FINAL)
        return;
    if (l->seg->copy && t->source == PT_TALLY_UNSEEN)
        pt_checkpoint_take(l->seg, index, t);
    t->changed |= t->source != source || t->recorded != v->mine.recorded ||
                  memcmp(t->lost, v->mine.lost, sizeof t->lost) != 0;
    t->source = source;
    set_counts(l, t, v, index);
    if (source == PT_TALLY_FINAL)
        note_end(l, t);
}

/* Writers whose slots are gone keep their last counts. */
static void look_on(struct pt_consumer *l)
{
    uint32_t n = pt_slot_count(l->seg);

    pt_assert_call(l->passive);
    l->look++;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t state = pt_load_acquire(&pt_seg_slot(l->seg, i)->state);
        struct pt_slot_view v;
        struct pt_account *t;

        pt_slot_look(l->seg, i, &v);
        if (!v.own || !v.stable || v.author.level == PT_LEVEL_CONTROL ||
            !(t = pt_consumer_tally(l, &v.author)))
            continue;
        t->source = state == PT_SLOT_ENDED ? PT_TALLY_FINAL : PT_TALLY_SLOT;
        set_counts(l, t, &v, i);
    }
}

void pt_consumer_base(struct pt_account *t, uint64_t no)
{
    pt_assert_call(t->used);
    t->base_no = t->resume_no = t->next_no = t->seen = no;
    t->excluded = 0;
    t->based = true;
}

static int begin_tally(struct pt_consumer *l, const struct pt_balance_entry *e)
{
    struct pt_account *t = pt_consumer_tally(l, &e->t.author);

    if (!t)
        return -ENOMEM;
    if (e->has_slot) {
        /* From the oldest event that was found: the consumer may have given back a chunk
         * between two that were. */
        pt_consumer_base(t, e->pending ? e->first_no : e->recorded);
        t->source = PT_TALLY_SLOT;
        t->recorded = e->recorded;
        memcpy(t->lost, e->lost, sizeof t->lost);
        memcpy(t->base_lost, e->lost, sizeof t->base_lost);
    } else if (e->pending) {
        pt_consumer_base(t, e->first_no);
        t->source = PT_TALLY_FINAL;
        t->recorded = e->end_no;
    }
    return 0;
}

int pt_consumer_begin_tallies(struct pt_consumer *l)
{
    struct pt_balance b = { .count = 0 };
    int r = pt_balance_take(l, &b);

    for (uint32_t i = 0; r == 0 && i < b.count; i++)
        r = begin_tally(l, &b.entries[i]);
    if (r == 0)
        pt_balance_before(l, &b, l->lost_before);
    l->past_before = b.past;
    l->before = b.past_wid;
    l->before_count = b.slots;
    b.past_wid = NULL;
    pt_balance_free(&b);
    return r;
}

/* The counts of the slot's writer become past; those that a tally has, too, are added to
 * l->taken. */
static void release(struct pt_consumer *l, uint32_t index)
{
    struct pt_slot_view v;
    const struct pt_account *t;

    pt_assert_call(!l->passive && !l->seg->copy);
    pt_slot_look(l->seg, index, &v);
    t = l->tally_room ? find(l, v.wid) : NULL;
    /* Not own: a new writer claimed the slot and was killed before it stored its number.
     * The counts in the slot were taken before. */
    if (v.own && t && t->used && t->source == PT_TALLY_FINAL)
        add_past(&l->taken, &v.mine, 1);
    pt_slot_release(l->seg, index);
}

/* Remembers a claimed slot for release.  Without memory it is released at once. */
static void note_ended(struct pt_consumer *l, uint32_t index)
{
    uint32_t *p = l->ended;

    if (l->ended_count == l->ended_room) {
        p = realloc(p, (l->ended_room * 2 + 64) * sizeof *p);
        if (!p) {
            release(l, index);
            return;
        }
        l->ended = p;
        l->ended_room = l->ended_room * 2 + 64;
    }
    pt_assert(l->ended_count < l->ended_room);
    l->ended[l->ended_count++] = index;
}

void pt_consumer_release_ended(struct pt_consumer *l)
{
    pt_assert_call(!l->passive);
    for (uint32_t i = 0; i < l->ended_count; i++)
        release(l, l->ended[i]);
    l->ended_count = 0;
    l->released++;
}

/* The state of a slot only decides whether it is claimed: its counts belong to the writer
 * from its first event until they become past.  claims: claims ended slots, which the caller
 * releases later. */
static void look_at_slots(struct pt_consumer *l, bool claims)
{
    uint32_t n = pt_slot_count(l->seg);
    struct pt_past past = { .recorded = 0 };
    struct pt_slot_view v;

    l->look++;
    for (uint32_t i = 0; i < n; i++) {
        struct pt_slot *s = pt_seg_slot(l->seg, i);
        uint32_t ended = PT_SLOT_ENDED;
        bool ours = claims && !l->seg->copy && pt_load_relaxed(&s->state) == ended &&
                    pt_cas_seqcst(&s->state, &ended, (uint32_t)PT_SLOT_CLAIMED);

        pt_slot_look(l->seg, i, &v);
        add_past(&past, &v.past, 1);
        take_slot(l, &v, i, ours ? PT_TALLY_FINAL : PT_TALLY_SLOT);
        if (ours)
            note_ended(l, i);
    }
    add_past(&past, &l->taken, (uint64_t)-1);
    l->gone = past;
}

/* At the end of a stream: all chunks were read, so every recorded event that was not seen was
 * overwritten, possibly all events of a writer.  Each call recomputes the number, because an
 * earlier call may have come before the last chunks were read. */
static void count_never_seen(const struct pt_consumer *l, struct pt_account *t)
{
    uint64_t n = l->finished && t->recorded > t->next_no ? t->recorded - t->next_no : 0;

    t->changed |= t->never_seen != n;
    t->never_seen = n;
}

/* The same for writers whose slots were reused: only the sum of their recorded events is known, and
 * the events seen of each.  In a dead consumer's segment the latter are not known. */
static void count_unseen(struct pt_consumer *l)
{
    uint64_t stored = l->gone.recorded + l->folded.recorded;
    uint64_t seen = l->folded.next;

    if (!l->finished || l->seg->copy)
        return;
    for (uint32_t i = 0; i < l->tally_room; i++)
        if (l->tally[i].used && l->tally[i].source == PT_TALLY_FOLDED)
            seen += l->tally[i].next_no;
    l->unseen = stored > seen ? stored - seen : 0;
}

static void take_counts(struct pt_consumer *l, bool claims)
{
    if (l->passive) {
        look_on(l);
        return;
    }
    look_at_slots(l, claims);
    for (uint32_t i = 0; i < l->tally_room; i++) {
        struct pt_account *t = &l->tally[i];

        if (t->used && (t->source == PT_TALLY_SLOT || t->source == PT_TALLY_UNSEEN) &&
            t->look != l->look) {
            t->source = PT_TALLY_FOLDED;
            note_end(l, t);
            t->recorded = 0;
            memset(t->lost, 0, sizeof t->lost);
            t->changed = true;
        }
        count_never_seen(l, t);
    }
    count_unseen(l);
    pt_assert_valid(pt_accounting_balances(l));
}

void pt_consumer_take_counts(struct pt_consumer *l)
{
    take_counts(l, true);
}

void pt_consumer_look_at_counts(struct pt_consumer *l)
{
    take_counts(l, false);
}
