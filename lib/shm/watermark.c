/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See watermark.h. */
#include <stdlib.h>
#include <string.h>
#include "base/assert.h"
#include "base/clock.h"
#include "base/sys.h"
#include "shm/liveness.h"
#include "shm/slot.h"
#include "shm/watermark.h"

#define LOOKS 3 /* a writer seen under two values was outside in between */

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

/* Has another thread taken the control lock away from this control writer, after PT_STALL_NS
 * (stream/control_lock.c)?  If it still writes its record, that comes late, as of any stalled
 * writer. */
static bool was_passed_by(const struct pt_seg *seg, uint32_t index, const struct pt_author *author)
{
    uint32_t named = pt_control_slot_1(pt_load_seqcst(&seg->h->control));

    return author->level == PT_LEVEL_CONTROL && named != 0 && named != index + 1;
}

/* LOOP: see watermark.h.  overwritten: the time of the newest event that is overwritten; it was
 * loaded before inside. */
static bool brings_nothing(struct pt_seen *seen, const struct pt_seg *seg,
                           const struct pt_author *author, uint64_t overwritten)
{
    uint64_t ran;

    if (seg->g.attr.stream_policy != POSIX_TRACE_LOOP ||
        (seen->still_ts && overwritten <= seen->still_ts))
        return false;
    if (author->pid != pt_sys_pid() || !pt_sys_run_time(author->tid, &ran))
        return false;
    if (seen->still_ts && ran == seen->ran_ns)
        return true;
    seen->ran_ns = ran;
    seen->still_ts = pt_clock_now(seg->g.clock);
    return false;
}

/* The bound of one writer; UINT64_MAX: it holds nothing back. */
static uint64_t bound_of(struct pt_watch *w, struct pt_seg *seg, uint32_t index, uint64_t now,
                         uint64_t overwritten)
{
    struct pt_seen *seen = &w->seen[index];
    struct pt_slot *s = pt_seg_slot(seg, index);
    uint32_t state = pt_load_acquire(&s->state);
    uint64_t inside = pt_load_acquire(&s->inside);
    struct pt_author author;
    uint64_t wid;

    pt_copy_unchecked(&author, &s->author, sizeof author);
    wid = pt_load_acquire(&s->wid);
    if (!pt_slot_is_live(state) || inside == 0 || was_passed_by(seg, index, &author)) {
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
        if (seen->bound < w->looked && seen->inside != 0)
            seen->bound = w->looked;
        seen->inside = inside;
        seen->still_ts = 0;
        seen->since_ns = pt_clock_ns(CLOCK_MONOTONIC);
        return seen->bound;
    }
    /* Killed in the middle of this event: it will not bring anything any more. */
    if (author.level != PT_LEVEL_CONTROL && pt_thread_is_gone(author.pid, author.tid)) {
        if (!w->passive)
            pt_slot_end_dead(seg, index, state);
        return UINT64_MAX;
    }
    if (brings_nothing(seen, seg, &author, overwritten))
        return UINT64_MAX;
    return pt_clock_ns(CLOCK_MONOTONIC) - seen->since_ns > PT_STALL_NS ? UINT64_MAX : seen->bound;
}

static uint64_t look(struct pt_watch *w, struct pt_seg *seg)
{
    uint64_t now = pt_clock_now(seg->g.clock), bound = now;
    uint64_t overwritten = pt_load_seqcst(&seg->h->lost_last_ts);
    uint32_t n;

    if (seg->g.fences)
        pt_fence_seqcst();
    else
        pt_barrier_all();
    n = pt_slot_count(seg);
    w->held = false;
    if (!make_room(w, n)) {
        w->held = true;
        return 0;
    }
    pt_assert(n <= w->room);
    for (uint32_t i = 0; i < n; i++) {
        uint64_t b = bound_of(w, seg, i, now, overwritten);

        if (b < bound) {
            bound = b;
            w->held = true;
        }
    }
    pt_assert(bound <= now && w->held == (bound < now));
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
    pt_assert(best <= w->looked);
    return best;
}
