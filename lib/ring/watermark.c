/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See watermark.h. */
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "base/sys.h"
#include "ring/slot.h"
#include "ring/watermark.h"

#define LOOKS 3   /* a writer seen under two values was outside in between */

void pt_watch_init(struct pt_watch *w)
{
    memset(w, 0, sizeof *w);
}

void pt_watch_deinit(struct pt_watch *w)
{
    free(w->seen);
}

static bool make_room(struct pt_watch *w, uint32_t n)
{
    struct pt_seen *p;

    if (n <= w->room)
        return true;
    p = realloc(w->seen, (n + 64) * sizeof *p);
    if (!p)
        return false;
    memset(p + w->room, 0, (n + 64 - w->room) * sizeof *p);
    w->seen = p;
    w->room = n + 64;
    return true;
}

/* The bound of one writer; UINT64_MAX: it holds nothing back. */
static uint64_t bound_of(struct pt_seen *seen, struct pt_seg *seg, uint32_t index, uint64_t before,
                         uint64_t now)
{
    struct pt_slot *s = pt_seg_slot(seg, index);
    uint64_t inside = pt_load_acquire(&s->inside);
    struct pt_author author;
    uint32_t wid;

    pt_copy_unchecked(&author, &s->author, sizeof author);
    wid = author.wid;
    if (pt_load_acquire(&s->state) != PT_SLOT_LIVE || inside == 0) {
        seen->inside = 0;
        seen->bound = now;
        seen->wid = wid;
        return UINT64_MAX;
    }
    if (seen->wid != wid) {
        seen->wid = wid;
        seen->inside = 0;
        seen->bound = pt_load_relaxed(&s->attach_ts);
    }
    if (seen->inside != inside) {
        /* It began this event after the last look. */
        if (seen->bound < before && seen->inside != 0)
            seen->bound = before;
        seen->inside = inside;
        seen->since_ns = pt_clock_ns(CLOCK_MONOTONIC);
        return seen->bound;
    }
    if (pt_clock_ns(CLOCK_MONOTONIC) - seen->since_ns > PT_STALL_NS) {
        /* Stalled, or dead: the sweep finds the dead. */
        if (author.level != PT_LEVEL_CONTROL && !pt_sys_thread_exists(author.pid, author.tid))
            pt_slot_detach(seg, index, 0);
        return UINT64_MAX;
    }
    return seen->bound;
}

static uint64_t look(struct pt_watch *w, struct pt_seg *seg)
{
    uint64_t now = pt_clock_now(seg->h->clock), bound = now, before = w->looked;
    uint32_t n;

    if (seg->h->fences)
        pt_fence_seqcst();
    else
        pt_barrier_all();
    n = pt_slot_count(seg);
    w->held = false;
    if (!make_room(w, n)) {
        w->held = true;
        return 0;
    }
    for (uint32_t i = 0; i < n; i++) {
        uint64_t b = bound_of(&w->seen[i], seg, i, before, now);

        if (b < bound) {
            bound = b;
            w->held = true;
        }
    }
    w->looked = now;
    return bound;
}

uint64_t pt_watch_look(struct pt_watch *w, struct pt_seg *seg)
{
    uint64_t best = 0;

    for (int i = 0; i < LOOKS; i++) {
        uint64_t bound = look(w, seg);

        if (bound > best)
            best = bound;
        if (!w->held)
            break;
    }
    return best;
}
