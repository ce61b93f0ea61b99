/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See balance.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/assert.h"
#include "base/hash.h"
#include "consumer/balance.h"
#include "shm/pool.h"
#include "shm/slot.h"

#define LOWEST_ROOM 64u

/* ---- entries ---- */

static uint32_t *place_of(const struct pt_balance *b, uint64_t wid)
{
    uint32_t mask = b->index_room - 1, i = pt_hash(wid, b->factor) & mask;

    pt_assert((b->index_room & mask) == 0 && b->count < b->index_room);
    while (b->index[i] && b->entries[b->index[i] - 1].t.author.wid != wid)
        i = (i + 1) & mask;
    return &b->index[i];
}

static struct pt_balance_entry *find(const struct pt_balance *b, uint64_t wid)
{
    uint32_t at = b->index_room ? *place_of(b, wid) : 0;

    return at ? &b->entries[at - 1] : NULL;
}

static bool make_room(struct pt_balance *b)
{
    uint32_t room = b->room ? b->room * 2 : LOWEST_ROOM;
    struct pt_balance_entry *entries = realloc(b->entries, room * sizeof *entries);
    uint32_t *index;

    if (!entries)
        return false;
    b->entries = entries;
    index = calloc(room * 2, sizeof *index);
    if (!index)
        return false;
    free(b->index);
    b->index = index;
    b->factor = pt_hash_factor();
    b->index_room = room * 2;
    b->room = room;
    for (uint32_t i = 0; i < b->count; i++)
        *place_of(b, entries[i].t.author.wid) = i + 1;
    return true;
}

/* Made if need be; NULL: no memory. */
static struct pt_balance_entry *entry(struct pt_balance *b, const struct pt_author *author)
{
    struct pt_balance_entry *e;

    if (b->count == b->room && !make_room(b))
        return NULL;
    e = find(b, author->wid);
    if (e)
        return e;
    e = &b->entries[b->count++];
    memset(e, 0, sizeof *e);
    e->t.author = *author;
    e->source = PT_BALANCE_SUM;
    e->first_no = UINT64_MAX;
    *place_of(b, author->wid) = b->count;
    pt_assert(b->count <= b->room && find(b, author->wid) == e);
    return e;
}

/* ---- steps 1 and 3: the chunks ---- */

/* A position in a chunk, where the walk starts. */
struct place {
    uint32_t off, past; /* events that end at or before past were consumed */
    uint64_t base, no;
    struct pt_author author;
};

static bool has_contents(const struct pt_consumer *l, uint32_t i, uint64_t word, uint64_t gen)
{
    const struct pt_cursor *c = i < l->cursors.known_room ? l->cursors.known[i] : NULL;

    return pt_word_is(word, gen) &&
           (pt_word_state(word) != PT_CHUNK_FREE ||
            (l->passive && ((c && c->gen == gen) || gen >= l->cursors.from_gen)));
}

static void begin_in(const struct pt_consumer *l, uint32_t i, uint64_t gen, struct place *p)
{
    const struct pt_chunk *c = pt_seg_chunk(l->seg, i);
    const struct pt_cursor *known = i < l->cursors.known_room ? l->cursors.known[i] : NULL;
    uint64_t consumed = pt_load_acquire(&c->consumed);

    if (known && known->gen == gen) {
        *p = (struct place){ known->off, known->off, known->base, known->no, known->author };
        return;
    }
    p->off = p->past = sizeof *c;
    p->base = pt_load_relaxed(&c->base_ts);
    p->no = pt_load_relaxed(&c->first_no);
    pt_copy_unchecked(&p->author, &c->author, sizeof p->author);
    p->author.name[15] = '\0';
    if (!l->passive && pt_consumed_is(consumed, gen))
        p->past = pt_consumed_at(consumed);
}

/* The chunk's records from there on, copied; their end.  0: it was taken away meanwhile. */
static uint32_t copy_chunk(const struct pt_consumer *l, struct pt_balance *b, uint32_t i,
                           struct place *p)
{
    struct pt_info *info = pt_seg_info(l->seg, i);
    const struct pt_chunk *c = pt_seg_chunk(l->seg, i);
    uint64_t word = pt_load_acquire(&info->word), gen = pt_load_acquire(&c->gen);
    uint32_t end;

    if (!has_contents(l, i, word, gen))
        return 0;
    begin_in(l, i, gen, p);
    end = pt_chunk_position(l->seg, pt_load_acquire(&c->commit));
    if (p->off >= end)
        return 0;
    pt_assert(end <= PT_CHUNK_MAX);
    pt_copy_unchecked(b->copy + p->off, (const uint8_t *)c + p->off, end - p->off);
    pt_fence_acquire();
    return pt_word_is(pt_load_relaxed(&info->word), gen) ? end : 0;
}

static void count(struct pt_balance_entry *e, uint64_t no)
{
    if (no < e->t.resume_no || (e->source == PT_BALANCE_OWN && no >= e->recorded))
        return;
    e->pending++;
    if (no < e->first_no)
        e->first_no = no;
    if (no >= e->end_no)
        e->end_no = no + 1;
}

/* The writer of events in a chunk; NULL: it does not count.  -ENOMEM in *error. */
static struct pt_balance_entry *writer_of(struct pt_balance *b, const struct pt_author *author,
                                          int *error)
{
    uint32_t i = author->slot_1 - 1;
    struct pt_balance_entry *e;

    if (author->wid == 0)
        return NULL;
    e = find(b, author->wid);
    if (e || !(b->discover || (i < b->slots && author->wid <= b->past_wid[i])))
        return e;
    e = entry(b, author);
    *error = e ? 0 : -ENOMEM;
    return e;
}

static int look_at_chunk(const struct pt_consumer *l, struct pt_balance *b, uint32_t i)
{
    struct place p;
    uint32_t end = copy_chunk(l, b, i, &p);
    struct pt_decoder d = { b->copy + p.off, b->copy + end, p.base };
    /* An onlooker skips events up to this time: they were overwritten or cleared before. */
    uint64_t after = l->passive ? l->onlooker.ts : 0;
    struct pt_balance_entry *e = NULL;
    struct pt_record_author a;
    bool known = false;
    struct pt_record r;
    int error = 0;

    if (end == 0)
        return 0;
    while (pt_decode_next(&d, &r) == 1) {
        if (r.kind == PT_RECORD_AUTHOR) {
            memcpy(&a, r.data, sizeof a);
            p.author = a.author;
            p.author.name[15] = '\0';
            p.no = a.first_no;
            known = false;
            continue;
        }
        if (!known)
            e = writer_of(b, &p.author, &error);
        if (error)
            return error;
        known = true;
        if (e && !b->discover && (uint32_t)(d.p - b->copy) > p.past && r.ts > after)
            count(e, p.no);
        p.no++;
    }
    return 0;
}

static int look_at_chunks(const struct pt_consumer *l, struct pt_balance *b, bool discover)
{
    uint32_t n = pt_seg_chunk_count(l->seg);
    int r = pt_seg_reachable(l->seg, n) < n ? -ENOMEM : 0;

    pt_assert_call(discover || b->past_wid);
    b->discover = discover;
    for (uint32_t i = 0; r == 0 && i < n; i++)
        r = look_at_chunk(l, b, i);
    return r;
}

/* ---- step 2: the slots ---- */

static void add_past(struct pt_past *sum, const struct pt_past *p, uint64_t factor)
{
    sum->recorded += factor * p->recorded;
    for (unsigned c = 0; c < PT_LOST_OWN; c++)
        sum->lost[c] += factor * p->lost[c];
}

static void take_own(struct pt_balance_entry *e, uint64_t recorded,
                     const uint64_t lost[PT_LOST_OWN])
{
    e->source = PT_BALANCE_OWN;
    e->recorded = recorded;
    memcpy(e->lost, lost, sizeof e->lost);
}

static int look_at_slots(const struct pt_consumer *l, struct pt_balance *b)
{
    uint32_t n = pt_slot_count(l->seg);

    b->past_wid = calloc(n + 1, sizeof *b->past_wid);
    if (!b->past_wid)
        return -ENOMEM;
    b->slots = n;
    for (unsigned c = 0; c < PT_LOST_OWN; c++)
        b->lost_no_slot[c] = pt_load_relaxed(&l->seg->h->lost_no_slot[c]);
    for (uint32_t i = 0; i < n; i++) {
        struct pt_balance_entry *e;
        struct pt_slot_view v;

        pt_slot_look(l->seg, i, &v);
        add_past(&b->past, &v.past, 1);
        b->past_wid[i] = v.past_wid;
        if (!v.own || v.author.level == PT_LEVEL_CONTROL)
            continue;
        e = entry(b, &v.author);
        if (!e)
            return -ENOMEM;
        e->has_slot = true;
        take_own(e, v.mine.recorded, v.mine.lost);
    }
    return 0;
}

/* Whose slot has gone: the consumer has its last numbers, which then are not among the past
 * that counts, or it has not. */
static void look_at_slotless(const struct pt_consumer *l, struct pt_balance *b)
{
    for (uint32_t i = 0; i < b->count; i++) {
        struct pt_balance_entry *e = &b->entries[i];

        if (!e->has_slot && !l->passive && e->t.source == PT_TALLY_FINAL)
            take_own(e, e->t.recorded, e->t.lost);
    }
    add_past(&b->past, l->passive ? &l->onlooker.past : &l->accounts.taken, (uint64_t)-1);
}

/* Was the writer in a past when the onlooker began?  That is now, if nothing is left of it. */
static bool was_before(const struct pt_consumer *l, const struct pt_balance *b,
                       const struct pt_author *author)
{
    const uint64_t *before = l->onlooker.past_wid ? l->onlooker.past_wid : b->past_wid;
    uint32_t n = l->onlooker.past_wid ? l->onlooker.slots : b->slots, i = author->slot_1 - 1;

    return i < n && author->wid <= before[i];
}

/* An onlooker's: as much as is known of one, and the rest is the sums'. */
static void settle_onlooker(const struct pt_consumer *l, struct pt_balance *b)
{
    for (uint32_t i = 0; i < b->count; i++) {
        struct pt_balance_entry *e = &b->entries[i];
        uint64_t known = e->t.next_no + e->pending;
        struct pt_past own = { .recorded = known > e->t.recorded ? known : e->t.recorded };

        if (e->has_slot)
            continue;
        memcpy(own.lost, e->t.lost, sizeof own.lost);
        take_own(e, own.recorded, own.lost);
        if (!was_before(l, b, &e->t.author))
            add_past(&b->past, &own, (uint64_t)-1);
    }
}

int pt_balance_take(const struct pt_consumer *l, struct pt_balance *b)
{
    int r = 0;

    b->copy = malloc(PT_CHUNK_MAX);
    if (!b->copy)
        return -ENOMEM;
    b->folded = l->accounts.folded;
    for (uint32_t i = 0; r == 0 && i < l->accounts.room; i++) {
        struct pt_balance_entry *e = NULL;

        if (!l->accounts.tally[i].used)
            continue;
        e = entry(b, &l->accounts.tally[i].author);
        r = e ? 0 : -ENOMEM;
        if (e)
            e->t = l->accounts.tally[i];
    }
    if (r == 0)
        r = look_at_chunks(l, b, true);
    if (r == 0)
        r = look_at_slots(l, b);
    if (r < 0)
        return r;
    look_at_slotless(l, b);
    r = look_at_chunks(l, b, false);
    if (l->passive)
        settle_onlooker(l, b);
    return r;
}

void pt_balance_free(struct pt_balance *b)
{
    free(b->entries);
    free(b->index);
    free(b->copy);
    free(b->past_wid);
    memset(b, 0, sizeof *b);
}

/* ---- results ---- */

static uint64_t above_zero(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

void pt_balance_add(const struct pt_consumer *l, const struct pt_balance_entry *e,
                    uint64_t lost[PT_LOSS_CAUSES], uint64_t *recorded)
{
    const struct pt_account *t = &e->t;

    if (e->source != PT_BALANCE_OWN)
        return;
    for (unsigned c = 0; c < PT_LOST_OWN; c++)
        lost[c] += e->lost[c] - (l->passive ? t->base_lost[c] : 0);
    lost[PT_LOST_FULL] += t->refused;
    lost[PT_LOST_OVERWRITTEN] += above_zero(e->recorded, t->seen + e->pending) + t->dropped;
    *recorded += e->recorded - t->base_no - t->excluded - t->refused;
}

void pt_balance_before(const struct pt_consumer *l, const struct pt_balance *b,
                       uint64_t lost[PT_LOST_OWN])
{
    uint64_t stored = b->past.recorded, held = 0;

    for (unsigned c = 0; c < PT_LOST_OWN; c++)
        lost[c] = b->past.lost[c] + b->lost_no_slot[c];
    for (uint32_t i = 0; i < b->count; i++) {
        const struct pt_balance_entry *e = &b->entries[i];

        /* From the number on with which its tally begins. */
        if (e->pending)
            held += (e->has_slot ? e->recorded : e->end_no) - e->first_no;
        if (e->has_slot || !was_before(l, b, &e->t.author))
            stored += e->recorded;
        for (unsigned c = 0; e->has_slot && c < PT_LOST_OWN; c++)
            lost[c] += e->lost[c];
    }
    /* Cleared events are not losses.  Without a loss since the clear, a reader or the log has got
     * the other missing events. */
    if (l->losses.lost_last > l->clear_ts)
        lost[PT_LOST_OVERWRITTEN] += above_zero(stored, held);
}

void pt_balance_add_rest(const struct pt_consumer *l, const struct pt_balance *b,
                         uint64_t lost[PT_LOSS_CAUSES], uint64_t *recorded)
{
    const struct pt_folded *f = &b->folded;
    uint64_t stored = b->past.recorded + f->recorded;
    uint64_t seen = f->next;

    for (unsigned c = 0; c < PT_LOST_OWN; c++)
        lost[c] += b->past.lost[c] + f->lost[c] + b->lost_no_slot[c] - l->onlooker.no_slot[c];
    lost[PT_LOST_FULL] += f->refused;
    lost[PT_LOST_OVERWRITTEN] += f->overwritten;
    *recorded += stored - f->excluded - f->refused;
    for (uint32_t i = 0; i < b->count; i++) {
        const struct pt_balance_entry *e = &b->entries[i];

        if (e->source != PT_BALANCE_SUM)
            continue;
        seen += e->t.seen + e->pending;
        lost[PT_LOST_FULL] += e->t.refused;
        lost[PT_LOST_OVERWRITTEN] += e->t.dropped;
        *recorded -= e->t.excluded + e->t.refused;
    }
    lost[PT_LOST_OVERWRITTEN] += above_zero(stored, seen);
}
