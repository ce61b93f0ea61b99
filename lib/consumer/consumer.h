/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The consumer's side of a segment: all events in time order, up to the watermark, with the
 * events that the standard requires in between: automatic STOP and START, OVERFLOW and RESUME.  A
 * stream has one consumer: its readers if it has no log (one at a time, under the reading lock), or
 * its flush thread, or a recovery that reads a dead writer's segment; and any number of onlookers.
 *
 * A consumer is made of parts.  Each has its own structure, and only its own file changes it:
 *
 *   watch      shm/watermark.h   until when all events are committed
 *   cursors    cursor.h          the chunks, and their merge by time
 *   windows    window.h          START and STOP
 *   stops      auto_stop.h       a full stream stops itself and is restarted
 *   losses     loss_mark.h       OVERFLOW and RESUME
 *   accounts   accounting.h      what became of each writer's events
 *   onlooker   onlooker.h        where a passive consumer has started
 *
 * What joins them is here and in collect.c: the order of a refresh, and the fate of an event
 * (pt_consumer_fate), on which all parts but the first two decide.
 *
 *   between START and STOP, after the last clear    part of the stream; else excluded
 *   between an automatic stop and the restart       refused by the stream, lost (LOST_FULL)
 *   not newer than the newest overwritten event     overwritten
 *
 * LOOP.  Chunks are overwritten in the order in which they were closed.  Events older
 * than the newest overwritten one are dropped, too, so that the reader gets the
 * contiguous newest suffix.  They count as overwritten inside and outside of windows: START and
 * STOP are overwritten like any event, so only the windows after the newest overwritten event are
 * known.  The numbering shows how many events a writer has lost that way: recorded - seen - still
 * to be read.  The consumer may see the events of a writer out of order within a flush round, but
 * not across rounds.
 */
#ifndef PT_CONSUMER_CONSUMER_H
#define PT_CONSUMER_CONSUMER_H

#include "consumer/accounting.h"
#include "consumer/auto_stop.h"
#include "consumer/cursor.h"
#include "consumer/loss_mark.h"
#include "consumer/onlooker.h"
#include "consumer/window.h"
#include "shm/watermark.h"

struct pt_consumer {
    struct pt_seg *seg;
    bool passive;       /* an onlooker */
    bool finished;      /* no writer is left: all committed events can be read */
    bool mark_hidden;   /* no mark of a gap since the last event that was returned */
    uint64_t watermark; /* as of the last refresh */
    uint64_t clear_ts;
    uint64_t skip_ts; /* an onlooker's: the events of threads before it count as read */
    uint64_t late;
    /* Copies of the records that were delivered since pt_consumer_next(): their data, and the
     * authors of all but the first. */
    uint8_t *buffer;
    size_t used;             /* bytes of buffer */
    struct pt_author author; /* of the first */
    struct pt_author maker;  /* of events that the consumer makes */
    struct pt_author *more;  /* an onlooker's: of the others */
    unsigned copies;
    int stop_data; /* of a STOP that the consumer makes */
    struct pt_watch watch;
    struct pt_cursors cursors;
    struct pt_windows windows;
    struct pt_auto_stop stops;
    struct pt_losses losses;
    struct pt_accounts accounts;
    struct pt_onlooker onlooker;
};

int pt_consumer_init(struct pt_consumer *l, struct pt_seg *seg);
/* A passive consumer, which starts at the present state. */
int pt_consumer_look_on(struct pt_consumer *l, struct pt_seg *seg);
void pt_consumer_deinit(struct pt_consumer *l);

enum pt_consumer_next { PT_LIVE_NONE, PT_LIVE_EVENT, PT_LIVE_HELD };

/*
 * The next event; never blocks.  NONE: there is no event.  HELD: there is one, but a writer
 * that is inside an event may still commit an older one.  *e is valid until the next call; ns
 * is not filled.  Negative errno: -ENOMEM.
 */
int pt_consumer_next(struct pt_consumer *l, struct pt_event *e);

enum { PT_CONSUMER_COPIES = 64 };

/* An onlooker's: is there one more event that may be delivered at once? */
bool pt_consumer_is_near(const struct pt_consumer *l);
/* Delivers it, or another one, as pt_consumer_next() does; those delivered since then stay
 * valid, too. */
int pt_consumer_next_near(struct pt_consumer *l, struct pt_event *e);

/* Is there, before the event that pt_consumer_next() returned last, a gap that no event marks,
 * because the filter left out START, STOP, FILTER, OVERFLOW or RESUME, or the stream was cleared?
 * True once for each. */
static inline bool pt_consumer_hides_gap(struct pt_consumer *l)
{
    bool hides = l->mark_hidden;

    l->mark_hidden = false;
    return hides;
}

/* Takes a new watermark and scans for new chunks and commits.  0 or -ENOMEM. */
int pt_consumer_refresh(struct pt_consumer *l);
/* Called when no writer is left: all committed events can be read without a watermark. */
void pt_consumer_finish(struct pt_consumer *l);
/* Excludes all events before ts (posix_trace_clear), unless a later clear has come first. */
int pt_consumer_clear(struct pt_consumer *l, uint64_t ts);
/* Passive: the same if the stream was cleared meanwhile. */
int pt_consumer_notice_clear(struct pt_consumer *l);
/* Passive: the events of threads before that time, at most until now, count as read, also those
 * that a writer holds back until later.  0 or -ENOMEM. */
int pt_consumer_skip(struct pt_consumer *l, int64_t ns);

/* The fate of the cursor's record, by windows, gaps and overwriting.  Control records are part
 * of the stream outside windows, too. */
enum pt_fate pt_consumer_fate(const struct pt_consumer *l, const struct pt_cursor *c,
                              bool window_open);
/* A refused event counts as lost.  Its writer does not know if it found the stream running that the
 * consumer had just restarted. */
static inline void pt_consumer_note_refused(const struct pt_consumer *l, enum pt_fate fate)
{
    if (fate == PT_FATE_REFUSED && !l->passive && !l->seg->copy)
        pt_note_overrun(l->seg->h);
}

/* Sets the window to the state before the oldest remaining START or STOP; without any, to the
 * present state. */
void pt_consumer_learn_window(struct pt_consumer *l);

#endif
