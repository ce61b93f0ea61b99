/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The window as the consumer follows it: START opens it, STOP closes it.  Events outside are not
 * part of the stream.  The latest change by time counts, in whatever order the consumer finds the
 * changes.
 *
 * A START that found no room is in no chunk.  Then the state of the stream says that it ran from
 * opened_ts on (stream/control_lock.c), and the first event from that time on opens the window.
 *
 * No function here knows of chunks: consumer.c and collect.c read START and STOP from them.
 *
 * A START that was read may be in no chunk any more, and the STOP after it may have found no room.
 * So the checkpoint says whether the window was open after the round, and recovery begins with
 * that.
 */
#ifndef PT_CONSUMER_WINDOW_H
#define PT_CONSUMER_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

struct pt_windows {
    bool open;
    bool now;           /* the header's window word, loaded before the last scan of the chunks */
    bool lost;          /* a START or STOP was overwritten while it was being read */
    uint64_t ts;        /* of the last START or STOP that set open */
    uint64_t opened_ts; /* when the stream last ran by its state */
    uint64_t next_no;   /* of the control writer's record after the last one that was read */
};

/* The window changes at ts, unless a later START or STOP is already known. */
static inline void pt_windows_set(struct pt_windows *w, bool open, uint64_t ts)
{
    if (ts < w->ts)
        return;
    w->open = open;
    w->ts = ts;
}

/* By its state the stream runs since ts.  An earlier time stays while the window is still closed
 * there, because unread events may be from that time on. */
static inline void pt_windows_run_since(struct pt_windows *w, uint64_t ts)
{
    if (w->open || w->opened_ts <= w->ts)
        w->opened_ts = ts;
}

/* Called before an event with time ts: opens a window whose START found no room. */
static inline void pt_windows_open_at(struct pt_windows *w, uint64_t ts)
{
    if (!w->open && w->opened_ts > w->ts && ts >= w->opened_ts)
        pt_windows_set(w, true, w->opened_ts);
}

#endif
