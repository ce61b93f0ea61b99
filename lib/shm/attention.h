/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Wake-ups between processes that share a segment: for a reader or flush thread that waits, for a
 * stream that has stopped itself, and for a stream that has reached its fill mark
 * (posixtrace_watch_fill, control/fill_watermark.h).  Async-signal-safe.
 */
#ifndef PT_SHM_ATTENTION_H
#define PT_SHM_ATTENTION_H

#include "shm/layout.h"

/* UNTIL_FULL and FLUSH: the stream in this state stops itself at ts, which is now.  One
 * compare-and-exchange, true when it was ours, else the state is there; it becomes a STOP
 * event when it is read. */
bool pt_stream_stop_full(struct pt_seg_header *h, uint64_t *state, uint64_t ts);
/* After a stream that has stopped itself runs again: writers close no chunks for that stop any
 * more. */
void pt_stream_forget_stop(struct pt_seg_header *h);
/* Wakes who waits on the stream and resets the waiter bits of attention. */
void pt_stream_wake(struct pt_seg_header *h, uint32_t waiters);

void pt_fill_watermark_tell(struct pt_seg_header *h) PT_COLD;
void pt_fill_watermark_arm(struct pt_seg_header *h) PT_COLD;
/* Called by a reader that finds no event: sets the mark also if as much is full already.  True: it
 * was not set before, and the reader has to look once more. */
bool pt_fill_watermark_rearm(struct pt_seg_header *h) PT_COLD;

/* A chunk was closed. */
static inline void pt_fill_watermark_closed(struct pt_seg_header *h)
{
    uint32_t mark = pt_load_relaxed(&h->fill_mark);

    if (pt_unlikely(mark) && pt_load_relaxed(&h->full_chunks) >= mark)
        pt_fill_watermark_tell(h);
}

/* A chunk was given back. */
static inline void pt_fill_watermark_freed(struct pt_seg_header *h)
{
    if (pt_unlikely(pt_load_relaxed(&h->fill_level)) && pt_load_relaxed(&h->fill_mark) == 0)
        pt_fill_watermark_arm(h);
}

#endif
