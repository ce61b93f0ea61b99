/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See waiting.h. */
#include <posixtrace/system.h>
#include <string.h>
#include "base/clock.h"
#include "consumer/waiting.h"
#include "shm/syncpoint.h"

/* The offset of such a packet in its "chunk": above those of other events that are in none. */
#define PLACE      (1u << 24)
#define PLACE_STEP 256u
_Static_assert(PLACE + (uint64_t)PT_SLOT_MAX * PLACE_STEP < UINT32_MAX, "each slot has one");

/* One call that has not returned. */
struct found {
    struct pt_slot_view slot;
    struct pt_slot_waiting wait;
    uint32_t index;
    bool ended;
};

void pt_waiting_fill(struct pt_seg *seg, const struct pt_slot_waiting *w, uint64_t ts,
                     struct pt_waiting_data *data)
{
    *data = (struct pt_waiting_data){ w->type, w->call, w->object, -1, w->caller };
    if (w->began && w->began <= ts)
        data->duration = pt_syncpoint_elapsed(seg->h, w->began, ts);
}

/* Has the slot's writer ended, or is it being ended?  A thread that claims the slot for itself may
 * not have stored its own values yet. */
static bool has_ended(uint32_t state)
{
    return !pt_slot_is_live(state) && !pt_slot_is_ending(state) &&
           !(pt_slot_is_claimed(state) && pt_slot_claimer(state) != 0);
}

/* What the writer of slot i waits for. */
static bool find(struct pt_seg *seg, uint32_t i, struct found *f)
{
    uint32_t state = pt_load_acquire(&pt_seg_slot(seg, i)->state);

    if (pt_load_relaxed(&pt_seg_slot(seg, i)->waiting.number) == 0)
        return false;
    f->index = i;
    f->ended = has_ended(state);
    pt_slot_look(seg, i, &f->slot);
    return f->slot.stable && f->slot.author.level == 0 && (f->ended || pt_slot_is_live(state)) &&
           pt_waiting_look(seg, i, f->slot.wid, &f->wait);
}

static int put(struct pt_collect *r, const struct found *f, uint64_t ts)
{
    struct pt_waiting_data data;
    pt_u64 record[2 + sizeof data / 8] = { 0 };
    struct pt_log_packet p = {
        .author = f->slot.author,
        .events = 1,
        .bytes = pt_record_size(sizeof data),
        .base_ts = ts,
        .first_ts = ts,
        .last_ts = ts,
        .records = record,
        .chunk_seq = PT_LOG_MADE | ts,
        .chunk_off = PLACE + f->index * PLACE_STEP,
    };

    p.author.wid = pt_add_relaxed(&r->live->seg->h->next_wid, 1u);
    p.author.level = PT_LEVEL_MADE;
    p.author.slot_1 = 0;
    pt_waiting_fill(r->live->seg, &f->wait, ts, &data);
    pt_record_put_head(record, PT_RECORD_EVENT, POSIXTRACE_WAITING, sizeof data, 0, 0);
    memcpy(record + 2, &data, sizeof data);
    return r->sink.packet(r->sink.context, &p);
}

/* Of a writer that has ended, each is written once. */
static bool take(struct pt_seg *seg, const struct found *f)
{
    uint64_t number = f->wait.number;

    return !f->ended || seg->copy ||
           pt_cas_seqcst(&pt_seg_slot(seg, f->index)->waiting.number, &number, 0);
}

/* As that of an event of a thread with that time. */
static bool is_delivered(const struct pt_collect *r, uint64_t ts)
{
    struct pt_cursor c = { .author.wid = 2, .record.ts = ts };

    return pt_consumer_fate(r->live, &c, pt_collect_in_window(r, ts)) == PT_FATE_DELIVER;
}

/* The last time that a dead owner's segment knows of. */
static uint64_t last_time(struct pt_collect *r)
{
    uint64_t last = r->live->accounts.delivered_ts > r->last_ts ? r->live->accounts.delivered_ts
                                                                : r->last_ts;
    uint32_t n = pt_slot_count(r->live->seg);
    struct found f;

    for (uint32_t i = 0; i < n; i++)
        if (find(r->live->seg, i, &f) && f.wait.began > last)
            last = f.wait.began;
    return last;
}

/* The time of this round's events of threads that live, and of those that have ended. */
static uint64_t time_of(struct pt_collect *r, uint64_t state)
{
    const struct pt_consumer *l = r->live;

    if (!pt_state_runs(state) && pt_state_ts(l->seg->h, state) != 0)
        return pt_state_ts(l->seg->h, state);
    if (l->seg->copy)
        return last_time(r);
    return l->watermark == UINT64_MAX ? pt_clock_now(l->seg->g.clock) : l->watermark - 1;
}

int pt_collect_waiting(struct pt_collect *r)
{
    struct pt_seg *seg = r->live->seg;
    uint64_t state = pt_load_seqcst(&seg->h->state), ts;
    bool runs = pt_state_runs(state), live;
    uint32_t n = pt_slot_count(seg);
    struct found f;
    int e = 0;

    if (pt_set_has(pt_seg_filter(seg->h), POSIXTRACE_WAITING))
        return 0;
    live = runs ? r->live->finished : r->waits_told != state;
    ts = time_of(r, state);
    if (ts >= r->live->watermark)
        return 0; /* stopped later: the next round */
    for (uint32_t i = 0; e == 0 && i < n; i++)
        if (find(seg, i, &f) && (live || f.ended) && f.wait.began <= ts && is_delivered(r, ts) &&
            take(seg, &f))
            e = put(r, &f, ts);
    if (!runs)
        r->waits_told = state;
    return e;
}
