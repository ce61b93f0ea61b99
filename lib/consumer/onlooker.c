/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See onlooker.h. */
#include <errno.h>
#include <string.h>
#include "base/assert.h"
#include "base/clock.h"
#include "consumer/balance.h"
#include "consumer/consumer.h"
#include "shm/start_filter.h"
#include "shm/syncpoint.h"

/* Events that were overwritten before the onlooker's start make a gap, which metrics have to know
 * of.  It starts at the clear, or else at the creation, and ends at the first remaining event. */
static void begin_in_gap(struct pt_consumer *l)
{
    uint64_t created = pt_load_relaxed(&l->seg->h->sync_first.ts);

    if (l->losses.lost_last > l->clear_ts)
        pt_losses_report(&l->losses, l->clear_ts > created ? l->clear_ts : created);
}

/* The numbers of the present come first: events and writers from them on are the onlooker's. */
static void load_start(struct pt_consumer *l)
{
    const struct pt_seg_header *h = l->seg->h;
    struct pt_onlooker *o = &l->onlooker;

    l->accounts.from_wid = pt_load_seqcst(&h->next_wid);
    l->cursors.from_gen = pt_load_seqcst(&h->next_gen);
    pt_losses_look_on(&l->losses);
    o->ts = l->losses.lost_last;
    l->clear_ts = pt_load_seqcst(&h->clear_ts);
    pt_losses_begin_at(&l->losses, l->clear_ts);
    if (l->clear_ts > o->ts)
        o->ts = l->clear_ts - 1;
    begin_in_gap(l);
    for (unsigned c = 0; c < PT_LOST_OWN; c++)
        o->no_slot[c] = pt_load_relaxed(&h->lost_no_slot[c]);
    o->switches = pt_load_relaxed(&h->lost_switches);
}

/* A thread's chunk may have events of before and after a STOP and START, or FILTER, that the
 * stream's consumer has taken: before the oldest of these that is left, events may be missing.  And
 * before the last restart of a stream that was full. */
static void begin_in_doubt(struct pt_consumer *l)
{
    const struct pt_cursor *c = pt_cursors_oldest_control(&l->cursors);
    const struct pt_merge_node *top = pt_merge_top(&l->cursors.merge);
    uint64_t restarted = pt_load_seqcst(&l->seg->h->gap_to);
    uint64_t left = c && c->queued ? c->record.ts : l->watermark;

    if (top && top->ts < left && !(c && c->no == 0))
        pt_losses_miss(&l->losses, top->ts, left - 1);
    if (top && top->ts < restarted)
        pt_losses_miss(&l->losses, top->ts, restarted);
}

static int begin_tally(struct pt_accounts *a, const struct pt_balance_entry *e)
{
    struct pt_account *t = pt_accounts_get(a, &e->t.author);

    if (!t)
        return -ENOMEM;
    if (e->has_slot)
        /* From the oldest event that was found: the consumer may have given back a chunk
         * between two that were. */
        pt_account_begin(t, PT_TALLY_SLOT, e->pending ? e->first_no : e->recorded, e->recorded,
                         e->lost);
    else if (e->pending)
        pt_account_begin(t, PT_TALLY_FINAL, e->first_no, e->end_no, NULL);
    return 0;
}

/* Takes the writers' present counts as base, so that only events that are still in chunks, and
 * later ones, count. */
static int begin_tallies(struct pt_consumer *l)
{
    struct pt_onlooker *o = &l->onlooker;
    struct pt_balance b = { .count = 0 };
    int r = pt_balance_take(l, &b);

    for (uint32_t i = 0; r == 0 && i < b.count; i++)
        r = begin_tally(&l->accounts, &b.entries[i]);
    if (r == 0)
        pt_balance_before(l, &b, o->lost);
    o->past = b.past;
    o->past_wid = b.past_wid;
    o->slots = b.slots;
    b.past_wid = NULL;
    pt_balance_free(&b);
    return r;
}

int pt_consumer_look_on(struct pt_consumer *l, struct pt_seg *seg)
{
    uint64_t state;
    int r = pt_consumer_init(l, seg);

    if (r < 0)
        return r;
    pt_assert(l->seg == seg && !seg->copy);
    l->passive = l->watch.passive = true;
    l->cursors.passive = l->stops.passive = l->accounts.passive = true;
    l->windows.next_no = UINT64_MAX;                       /* none was read */
    l->more = calloc(PT_CONSUMER_COPIES, sizeof *l->more); /* NULL: one event at a time */
    load_start(l);
    l->stops.restarts = pt_start_filter_restarts(seg->h, &state);
    r = pt_consumer_refresh(l);
    if (r == 0) {
        pt_consumer_learn_window(l);
        begin_in_doubt(l);
        r = begin_tallies(l);
    }
    if (r < 0)
        pt_consumer_deinit(l);
    return r;
}

/* The first tick of the stream's clock, up to now, whose time is ns or later. */
static uint64_t tick_at(const struct pt_consumer *l, int64_t ns)
{
    struct pt_seg_header *h = l->seg->h;
    uint64_t low = pt_load_relaxed(&h->sync_first.ts), high = pt_clock_now(l->seg->g.clock), middle;

    while (low < high) {
        middle = low + (high - low) / 2;
        if (pt_syncpoint_convert(h, middle) < ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Events of one author that are skipped. */
struct skipped {
    struct pt_author author;
    uint64_t no, count, last_ts;
};

/* 0 or -ENOMEM. */
static int account_for(struct pt_consumer *l, struct skipped *k)
{
    struct pt_account *t = k->count ? pt_accounts_get(&l->accounts, &k->author) : NULL;

    if (k->count == 0)
        return 0;
    if (!t)
        return -ENOMEM;
    if (!t->based)
        pt_account_base(t, k->no);
    pt_account_add_many(t, k->no, k->count);
    pt_account_saw(t, k->last_ts);
    k->no += k->count;
    k->count = 0;
    return 0;
}

/* Events from before the onlooker's start or a clear, one by one: they are not part of the stream.
 */
static int skip_before(struct pt_consumer *l, struct pt_cursor *c, uint64_t until)
{
    struct pt_account *t;

    while (pt_cursor_decode(&l->cursors, c) == PT_CURSOR_EVENT && c->record.ts < until &&
           (c->record.ts <= l->onlooker.ts || c->record.ts < l->clear_ts)) {
        t = pt_accounts_get(&l->accounts, &c->author);
        if (!t)
            return -ENOMEM;
        if (!t->based || c->no > t->next_no)
            pt_account_base(t, c->no);
        pt_account_add(t, c->no, PT_FATE_EXCLUDE);
        pt_account_saw(t, c->record.ts);
        pt_cursor_consume(&l->cursors, c);
    }
    return 0;
}

/* Skips the events that one chunk has until then.  A writer may overwrite them meanwhile: they
 * count as skipped only if the chunk is the same after they were decoded. */
static int skip_in(struct pt_consumer *l, struct pt_cursor *c, uint64_t until)
{
    const uint8_t *at = (const uint8_t *)pt_seg_chunk(l->seg, c->index);
    int r = skip_before(l, c, until);
    struct pt_decoder d = { at + c->off, at + c->limit, c->base }, place = d;
    struct skipped k = { .author = c->author, .no = c->no };
    struct pt_record_author a;
    struct pt_record record;

    while (r == 0 && pt_decode_next(&d, &record) == 1) {
        if (record.kind == PT_RECORD_AUTHOR) {
            pt_copy_unchecked(&a, record.data, sizeof a);
            if (!pt_cursor_valid(&l->cursors, c))
                break;
            r = account_for(l, &k);
            k = (struct skipped){ .author = a.author, .no = a.first_no };
            k.author.name[15] = '\0';
        } else if (record.ts >= until) {
            break;
        } else {
            k.count++;
            k.last_ts = record.ts;
        }
        place = d;
    }
    if (r < 0 || !pt_cursor_valid(&l->cursors, c)) {
        pt_cursor_drop(&l->cursors, c);
        return r;
    }
    r = account_for(l, &k);
    c->off = (uint32_t)(place.p - at);
    c->base = place.base;
    c->author = k.author;
    c->no = k.no;
    return r;
}

/* START, STOP and FILTER stay: they say which events are part of the stream. */
int pt_consumer_skip(struct pt_consumer *l, int64_t ns)
{
    int r = pt_consumer_notice_clear(l);
    uint64_t until;

    pt_assert(l->passive);
    if (r == 0)
        r = pt_consumer_refresh(l);
    if (r < 0)
        return r;
    until = tick_at(l, ns);
    if (until > l->skip_ts)
        l->skip_ts = until;
    /* What comes later is skipped when it is read. */
    if (until > l->watermark)
        until = l->watermark;
    pt_cursors_unqueue(&l->cursors);
    for (uint32_t i = 0; r == 0 && i < l->cursors.known_room; i++)
        if (l->cursors.known[i] && l->cursors.known[i]->author.wid != 0)
            r = skip_in(l, l->cursors.known[i], until);
    return r < 0 ? r : pt_consumer_refresh(l);
}
