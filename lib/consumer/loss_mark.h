/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Losses, and their marks OVERFLOW and RESUME.  There are two kinds of loss:
 *
 *   LOOP     a writer recycled a chunk: every event up to lost_last is lost or dropped
 *   missed   threads without memory, handlers nested too deep: an interval of time, which is open
 *            while such losses happen (shm/loss_interval.h)
 *
 * OVERFLOW stands where the oldest missing event would be, but not before an event that was
 * delivered; RESUME before the first event that is in no gap.  overflowing is true in between.
 * Losses in that time make no second OVERFLOW.
 *
 * The filter may leave out a mark.  The filter in force at the loss decides, where the segment has
 * kept that choice (shm/mark_filter.h); only the first loss of a gap decides.
 *
 * consumer.c makes marks event by event, collect.c by flush round.  Callers hold the reading lock.
 *
 * The checkpoint of a stream with log says which marks are in the log.  Recovery, whose copy of the
 * segment does not show what the dead flush thread has written since, makes the marks of the newest
 * loss again, and log/reader/tail.c drops those that the log shows.
 */
#ifndef PT_CONSUMER_LOSS_MARK_H
#define PT_CONSUMER_LOSS_MARK_H

#include "shm/segment.h"

struct pt_losses {
    struct pt_seg *seg;
    bool passive;       /* an onlooker: takes no loss away from the stream's consumer */
    uint64_t lost_last; /* the header's lost_last_ts at the last load */
    /* The marks that the filter leaves out; the choice that decided it, 0 if that was the filter at
     * the last check; and, passive, the last choice that was used. */
    bool marks_known;
    unsigned marks_out;
    uint64_t marks_choice, marks_met;
    bool overflow_due;
    bool overflowing;     /* OVERFLOW was reported and RESUME not yet */
    bool overflow_hidden; /* overflowing: the filter left OVERFLOW out */
    bool missing;         /* the time before the watermark is in a gap */
    uint64_t missed_known, missed_from;
    bool unseen; /* pt_losses_miss(): between these times */
    uint64_t unseen_from, unseen_to;
    uint64_t overflow_ts; /* oldest event lost or skipped since the last report */
    uint64_t told;        /* rounds: the lost_last whose marks were put */
    uint64_t since;       /* no mark is before it: the last clear, a copy's checkpoint */
};

void pt_losses_init(struct pt_losses *x, struct pt_seg *seg);
/* Passive: losses until now are not the onlooker's. */
void pt_losses_look_on(struct pt_losses *x);
/* From now on, no mark is before ts. */
void pt_losses_begin_at(struct pt_losses *x, uint64_t ts);
/* In a copy: the state of the checkpoint.  lost_last is 0 still, so that the next loss is due. */
void pt_losses_restore(struct pt_losses *x);
/* For copy number which of the checkpoint. */
void pt_losses_book(const struct pt_losses *x, unsigned which);
/* The checkpoint has taken effect. */
void pt_losses_booked(const struct pt_losses *x);
/* Events before ts were cleared: no mark is due for them, and those of later losses are due as in a
 * new stream. */
void pt_losses_clear(struct pt_losses *x, uint64_t ts);

/* Has LOOP overwritten events since the last call? */
static inline bool pt_losses_are_new(const struct pt_losses *x)
{
    return pt_load_seqcst(&x->seg->h->lost_last_ts) > x->lost_last;
}

/* The same, and takes these losses.  *first: the oldest of them; in a copy, also of those that the
 * dead consumer has taken since its checkpoint. */
bool pt_losses_take(struct pt_losses *x, uint64_t *first);
/* Events with that time are lost: the next OVERFLOW is not later. */
static inline void pt_losses_note(struct pt_losses *x, uint64_t ts)
{
    if (ts < x->overflow_ts)
        x->overflow_ts = ts;
}

/* The same, and OVERFLOW is due. */
static inline void pt_losses_report(struct pt_losses *x, uint64_t ts)
{
    x->overflow_due = true;
    pt_losses_note(x, ts);
}

/* Passive: events are missing, at unknown times between these two. */
void pt_losses_miss(struct pt_losses *x, uint64_t from, uint64_t to);

/* Called with each new watermark; delivered_ts: time of the last event delivered. */
void pt_losses_look_at_missed(struct pt_losses *x, uint64_t delivered_ts);
/* The next such call finds a gap that is open as if it were new. */
static inline void pt_losses_forget_missed(struct pt_losses *x)
{
    x->missed_known = 0;
}

/* Does the filter let OVERFLOW or RESUME with that time pass?  RESUME ends the gap. */
bool pt_losses_shows(struct pt_losses *x, uint32_t id, uint64_t ts);

/* Can an event be delivered without a mark before it? */
static inline bool pt_losses_are_quiet(const struct pt_losses *x)
{
    return !x->overflow_due && !x->overflowing && !x->missing && !x->unseen;
}

/* The mark before an event with time ts, and its time *at; 0: none.  *hides: the filter has left
 * out an OVERFLOW. */
uint32_t pt_losses_mark_before(struct pt_losses *x, uint64_t ts, uint64_t delivered_ts,
                               uint64_t *at, bool *hides);

/* The same for a flush round, whose losses of LOOP are known after its events.  Has a gap of missed
 * events begun or ended in it?  Then its mark is put, and pt_losses_missed_put() called. */
bool pt_losses_missed_mark(const struct pt_losses *x, uint64_t delivered_ts, uint64_t watermark,
                           uint32_t *id, uint64_t *at);
void pt_losses_missed_put(struct pt_losses *x);
/* Times of OVERFLOW and RESUME.  False: there are none, since an OVERFLOW has no RESUME yet. */
bool pt_losses_loop_marks(struct pt_losses *x, uint64_t delivered_ts, uint64_t *overflow,
                          uint64_t *resume);
/* These were put, or none were due. */
static inline void pt_losses_loop_put(struct pt_losses *x)
{
    x->told = x->lost_last;
}

#endif
