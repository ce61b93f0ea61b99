/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Automatic stops: a stream that is full stops itself, and its consumer restarts it once all events
 * have been read.  Between the two is a gap, in which the stream refuses events: those that are
 * stamped there count as lost (LOST_FULL).
 *
 * A writer whose chunk has room still records in a stream that has stopped itself, also between the
 * consumer's last scan and the restart.  The consumer reads such an event only after the restart,
 * when the stream may have stopped itself again.  So the gap before the last one is kept, too
 * (past_from, past_to).  An older one is not needed: the consumer ends a gap only after the
 * watermark has passed its start, and by then it has read all events of the gap before.
 *
 * The standard requires STOP at the start of a gap and START at its end.  This part says when they
 * are due; consumer.c and collect.c make them.  The restart stores the gap in the header first, for
 * recovery and for onlookers, and its end again when the stream runs: so no event that a writer has
 * refused is later than the end.  Events recorded between the change of the state and that end,
 * for as long as the consumer has no processor, are in the gap, too, and count as lost.
 *
 * Callers hold the reading lock.
 */
#ifndef PT_CONSUMER_AUTO_STOP_H
#define PT_CONSUMER_AUTO_STOP_H

#include "consumer/window.h"
#include "shm/segment.h"

enum pt_auto { PT_AUTO_NONE, PT_AUTO_STOP_DUE, PT_AUTO_STOPPED };

struct pt_auto_stop {
    struct pt_seg *seg;
    bool passive; /* an onlooker: restarts nothing, and finds the end of a gap in the header */
    enum pt_auto phase;
    uint64_t gap_from, gap_to;   /* the last automatic stop and its restart */
    uint64_t past_from, past_to; /* the one before */
    bool gap_ran, past_ran;      /* the stream ran again at its end: a consumer restarted it */
    bool start_due;
    bool resume_due;            /* the gap ended, and the stream stays stopped */
    uint64_t start_ts;          /* time of the START that is due, or of the end of the gap */
    struct pt_set start_filter; /* in force at start_ts */
    unsigned stop_out;          /* marks of the last automatic stop that the filter leaves out */
    uint64_t restarts;          /* passive: those that are known */
    uint64_t unseen_from;       /* passive: the stop whose STOP came too late; UINT64_MAX: none */
};

void pt_auto_stop_init(struct pt_auto_stop *a, struct pt_seg *seg);

/* Called with each new watermark, before events below it are read; state: the stream's state word.
 * So each event that was stamped since an automatic stop and is older than the watermark is
 * compared with the new gap. */
void pt_auto_stop_look(struct pt_auto_stop *a, uint64_t state);
/* Passive, after that: has the stream stopped itself and run again since the last look, and no STOP
 * and START say so?  It was not before *from, which is the watermark of that look.  restarts: those
 * until the state, pt_start_filter_restarts(). */
bool pt_auto_stop_missed(struct pt_auto_stop *a, uint64_t restarts, uint64_t *from);
/* Called on the copy of a dead consumer's segment, before its events are read: restores the
 * last automatic stop that the consumer ended, and the window after it. */
void pt_auto_stop_recover(struct pt_auto_stop *a, struct pt_windows *w);
/* Ends an automatic stop, if its STOP was reported; the stream must be empty.  True: the stream
 * runs again and a START is due.  False also if a call of stop has stopped it meanwhile. */
bool pt_auto_stop_restart(struct pt_auto_stop *a, struct pt_windows *w);
/* Called when all events before ts are cleared, after a look at the state: no mark of an older gap
 * is due.  It ends at ts, unless the stream was restarted later: until then it has refused events,
 * and nothing marks them.  The clear ends a stop, so a stream that is full has stopped itself
 * since then: that gap stays, with its marks. */
void pt_auto_stop_clear(struct pt_auto_stop *a, uint64_t ts);
/* Called by clear when no event is left.  The stream may have stopped itself after the
 * controller saw it run, because of a mark of the flush thread or an event of another thread.
 * Restarts it without STOP and START, but not if it has stopped itself after ts, the time of the
 * clear: then there may be events before the stop, as before any. */
void pt_auto_stop_restart_cleared(struct pt_auto_stop *a, struct pt_windows *w, uint64_t ts);

/* Is that time between an automatic stop and its restart? */
static inline bool pt_auto_stop_refuses(const struct pt_auto_stop *a, uint64_t ts)
{
    return (ts > a->gap_from && ts < a->gap_to) || (ts > a->past_from && ts < a->past_to);
}

/* Is START, the end of a gap without START, or STOP due before ts?  True once. */
static inline bool pt_auto_stop_take_start(struct pt_auto_stop *a, uint64_t ts)
{
    bool due = a->start_due && ts > a->start_ts;

    a->start_due &= !due;
    return due;
}

static inline bool pt_auto_stop_take_resume(struct pt_auto_stop *a, uint64_t ts)
{
    bool due = a->resume_due && ts > a->start_ts;

    a->resume_due &= !due;
    return due;
}

static inline bool pt_auto_stop_take_stop(struct pt_auto_stop *a, uint64_t ts)
{
    if (a->phase != PT_AUTO_STOP_DUE || ts <= a->gap_from)
        return false;
    a->phase = PT_AUTO_STOPPED;
    return true;
}

#endif
