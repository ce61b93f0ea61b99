/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The consumer's side of a segment: the merge of all chunks in time order, up
 * to the watermark, with the events that the standard requires in between: automatic
 * STOP and START, OVERFLOW and RESUME.  A stream has one consumer: its readers if it
 * has no log (one at a time, under the reading lock), or its flush thread, or a
 * recovery that reads a dead writer's segment.
 *
 * Windows.  Events between START and STOP and after the last clear are part of the
 * stream; others are excluded.  Events stamped between an automatic stop and the
 * restart were refused by the stream and count as lost (LOST_FULL).
 *
 * LOOP.  Chunks are overwritten in the order in which they were closed.  Events older
 * than the newest overwritten one are dropped, too, so that the reader gets the
 * contiguous newest suffix.  They count as overwritten inside and outside of windows: START and
 * STOP are overwritten like any event, so only the windows after the newest overwritten event are
 * known.  The numbering shows how many events a writer has lost that way: recorded - seen - still
 * to be read.  The consumer may see the events of a writer out of order within a flush round, but
 * not across rounds.
 *
 * Onlookers.  A passive consumer reads a stream that has another consumer, or none,
 * and changes nothing in the segment: it publishes no position, frees neither chunks nor slots,
 * resets nothing and restarts nothing.  It starts with the oldest event in a chunk that no consumer
 * has read to its end.  LOOP and the other consumer may take its chunks; it can still read a free
 * chunk until a writer reuses it.  The numbering shows the events that it misses, from its start on
 * (pt_account.base_no).  If the START of some events was taken from it, it misses these events,
 * too.
 */
#ifndef PT_CONSUMER_CONSUMER_H
#define PT_CONSUMER_CONSUMER_H

#include "base/assert.h"
#include "log/merge.h"
#include "log/writer/writer.h"
#include "shm/watermark.h"

/* One chunk that is being read. */
struct pt_cursor {
    struct pt_merge_node node;
    uint32_t index;
    uint64_t gen;
    uint32_t off;   /* of the current record */
    uint32_t size;  /* of the current record, with a TIME or AUTHOR record before it */
    uint32_t start; /* offset of the record after AUTHOR, and the time base there */
    uint64_t start_base;
    uint32_t limit; /* commit position at the last load */
    uint64_t base;
    uint64_t no; /* the author's number for the current event */
    struct pt_author author;
    struct pt_record record; /* the current one; data points into the chunk */
    bool queued;             /* in the merge */
    bool bad;                /* passive: the chunk has bytes that no writer makes; not read on */
};

/* Where the counts of a writer are. */
enum pt_account_source {
    PT_TALLY_UNSEEN, /* nowhere: the consumer has seen its events, but no slot of it yet */
    PT_TALLY_SLOT,   /* in its slot, as of the last scan */
    PT_TALLY_FINAL,  /* in this tally: the writer ended, and the consumer claimed its slot */
    PT_TALLY_FOLDED  /* in the slot's past: another writer has reused the slot */
};

/* What the consumer knows of one writer. */
struct pt_account {
    struct pt_author author;
    enum pt_account_source source;
    uint32_t look;       /* number of the last scan that found its slot */
    uint32_t slot;       /* index of that slot */
    uint32_t ended_at;   /* FINAL, FOLDED: value of pt_consumer.released at the writer's end */
    uint64_t ended_ts;   /* FINAL, FOLDED: when the consumer found the end; no event is later */
    uint64_t next_no;    /* number after the highest one seen */
    uint64_t seen;       /* events of any fate that the consumer has read */
    uint64_t resume_no;  /* a dead consumer has accounted for events below this number */
    uint64_t excluded;   /* outside the windows, or cleared: not part of the stream */
    uint64_t refused;    /* stamped between an automatic stop and the restart */
    uint64_t dropped;    /* seen, but overwritten or older than the newest overwritten event */
    uint64_t cleared;    /* delivered to the log before the last clear */
    uint64_t never_seen; /* at the end of the stream: overwritten, numbered from next_no on */
    uint64_t recorded;
    uint64_t lost[PT_LOST_OWN];
    /* Passive, valid if based: the writer's counts when the onlooker started. */
    uint64_t base_no, base_lost[PT_LOST_OWN];
    uint64_t seen_ts;  /* time of the last event seen */
    uint64_t told_no;  /* number of the event before which a gap was last reported */
    uint64_t named_at; /* when the thread's name was last read, see process/thread_name.h */
    bool based;
    bool used, changed;
};

enum pt_fate { PT_FATE_DELIVER, PT_FATE_EXCLUDE, PT_FATE_REFUSED, PT_FATE_OVERWRITTEN };

enum pt_auto { PT_AUTO_NONE, PT_AUTO_STOP_DUE, PT_AUTO_STOPPED };

/* Sums over the tallies that were forgotten to bound the memory. */
struct pt_folded {
    uint64_t given, excluded, refused, overwritten;
    uint64_t cleared;                     /* delivered to the log before the last clear */
    uint64_t next;                        /* sum of next_no */
    uint64_t recorded, lost[PT_LOST_OWN]; /* of tallies that were FINAL */
    uint64_t named;                       /* pt_account_recorded() of tallies that were FOLDED */
};

#define PT_TALLY_MAX 65536u

struct pt_consumer {
    struct pt_seg *seg;
    struct pt_watch watch;

    /* ---- merge ---- */
    struct pt_merge merge;
    struct pt_cursor **known; /* by chunk index */
    uint32_t known_room;
    uint64_t watermark;
    bool finished;         /* no writer is left: all committed events can be read */
    bool passive;          /* an onlooker */
    uint64_t delivered_ts; /* time of the last event delivered */
    uint64_t late;
    uint64_t clear_ts;
    uint8_t *buffer;         /* copy of the record that is delivered */
    struct pt_author author; /* of that record */
    int stop_data;

    /* ---- the start of an onlooker ---- */
    /* Passive, the header's values at the start: next_gen, lost_last_ts (or just before a later
     * clear_ts), next_wid, lost_no_slot, lost_switches. */
    uint64_t from_gen, from_ts;
    uint64_t from_wid;
    uint64_t from_no_slot[PT_LOST_OWN];
    uint64_t from_switches;
    struct pt_past past_before;        /* of all slots at the start */
    uint64_t lost_before[PT_LOST_OWN]; /* losses of the stream until then, see balance.h */
    uint64_t *before;                  /* for each slot the wid of its last past writer then */
    uint32_t before_count;

    /* ---- window: START and STOP, and automatic stops (window.c) ---- */
    bool window_open;
    bool window_now;    /* the header's window word, loaded before the last scan of the chunks */
    bool window_lost;   /* a START or STOP was overwritten while it was being read */
    uint64_t window_ts; /* of the last START or STOP that set window_open */
    enum pt_auto automatic;
    uint64_t gap_from, gap_to;   /* the last automatic stop and its restart */
    uint64_t past_from, past_to; /* the one before: see window.c */
    uint64_t opened_ts;          /* when the stream last ran by its state: the window is open
                                  * then, even if START found no room (stream/control_lock.c) */
    bool start_due;
    bool resume_due;            /* the gap ended, and the stream stays stopped */
    uint64_t start_ts;          /* time of the START that is due, or of the end of the gap */
    struct pt_set start_filter; /* in force at start_ts */
    unsigned stop_out;          /* marks of the last automatic stop that the filter leaves out */

    /* ---- losses: OVERFLOW and RESUME ---- */
    /* For OVERFLOW and RESUME of a loss (shm/mark_filter.h): the marks that the filter leaves
     * out; the choice that decided it, 0 if that was the filter at the last check; and, passive,
     * the last choice that was used. */
    bool marks_known;
    unsigned marks_out;
    uint64_t marks_choice, marks_met;
    bool overflow_due;
    bool overflowing;     /* OVERFLOW was reported and RESUME not yet */
    bool overflow_hidden; /* overflowing: the filter left OVERFLOW out */
    bool mark_hidden;     /* the filter left out a mark since the last event that was returned */
    bool missing;         /* the time before the watermark is in a gap, see shm/loss_interval.h */
    uint64_t missed_known, missed_from;
    uint64_t overflow_ts; /* oldest event lost or skipped since the last report */
    uint64_t lost_last;   /* the header's lost_last_ts at the last load */

    /* ---- accounting (accounting.c) ---- */
    struct pt_account *tally; /* open addressing by wid */
    uint64_t tally_factor;    /* of its hash, random: traced processes can choose their wids */
    uint32_t tally_count, tally_room;
    uint32_t look;      /* number of the last scan of the slots */
    uint32_t name_at;   /* the tally whose name may be read next */
    uint32_t tally_max; /* with more tallies than this, complete ones are forgotten */
    uint32_t *ended;    /* claimed slots whose counts are in tallies; to be released */
    uint32_t ended_count, ended_room;
    uint32_t released; /* number of releases so far; with a log, one a round */
    struct pt_folded folded;
    /* At the end: events never seen, and so overwritten, of forgotten tallies and of writers
     * whose slots were reused. */
    uint64_t unseen;
    /* The past of all slots at the last scan is taken + gone.  taken: writers that have a
     * FINAL tally here.  gone: writers whose slots were reused. */
    struct pt_past taken, gone;
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

/* Is there, before the event that pt_consumer_next() returned last, a gap that no event marks,
 * because the filter left out START, STOP, FILTER, OVERFLOW or RESUME?  True once for each. */
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
/* Excludes all events before ts (posix_trace_clear). */
int pt_consumer_clear(struct pt_consumer *l, uint64_t ts);
/* Passive: the same if the stream was cleared meanwhile. */
int pt_consumer_notice_clear(struct pt_consumer *l);

/* Between an automatic stop and its restart? */
static inline bool pt_consumer_in_gap(const struct pt_consumer *l, uint64_t ts)
{
    return (ts > l->gap_from && ts < l->gap_to) || (ts > l->past_from && ts < l->past_to);
}

/* The fate of the cursor's record, by windows, gaps and overwriting.  Control records are part
 * of the stream outside windows, too. */
enum pt_fate pt_consumer_fate(const struct pt_consumer *l, const struct pt_cursor *c,
                              bool window_open);

/* window.c */

/* Called with each new watermark, before events below it are read: has the stream stopped
 * itself?  So each event that was stamped since the stop and is older than the watermark
 * is compared with the new gap. */
void pt_consumer_look_at_state(struct pt_consumer *l);
/* Called on the copy of a dead consumer's segment, before its events are read: restores the
 * last automatic stop that the consumer ended. */
void pt_consumer_take_gap(struct pt_consumer *l);
/* Sets the window to the state before the first record of a control writer's chunk.  False:
 * the chunk has been recycled. */
bool pt_consumer_take_window(struct pt_consumer *l, const struct pt_cursor *c);
/* Called when a chunk with START and STOP may have been overwritten unread: sets the window
 * to the state before the oldest remaining chunk, unless that one is being read.  False: no
 * such chunk is known. */
bool pt_consumer_relearn_window(struct pt_consumer *l);
/* The same after a scan of the chunks; without such a chunk, the header's window word counts. */
void pt_consumer_settle_window(struct pt_consumer *l);
/* Sets the window to the state before the oldest remaining START or STOP; without any, to the
 * present state. */
void pt_consumer_learn_window(struct pt_consumer *l);
/* The window changes at ts, unless a later START or STOP is already known. */
void pt_consumer_set_window(struct pt_consumer *l, bool open, uint64_t ts);
/* Called before an event with time ts: opens a window whose START found no room. */
static inline void pt_consumer_open_window(struct pt_consumer *l, uint64_t ts)
{
    if (!l->window_open && l->opened_ts > l->window_ts && ts >= l->opened_ts)
        pt_consumer_set_window(l, true, l->opened_ts);
}

/* Called when the consumer took a loss.  now: the marks that the filter left out just before.
 * Only the first loss of a gap decides. */
void pt_consumer_take_marks(struct pt_consumer *l, unsigned now);
/* Does the filter let OVERFLOW or RESUME with that time pass?  RESUME ends the gap. */
bool pt_consumer_shows_mark(struct pt_consumer *l, uint32_t id, uint64_t ts);

/* Ends an automatic stop, if its STOP was reported; the stream must be empty.  True: the stream
 * runs again and a START is due.  False also if a call of stop has stopped it meanwhile. */
bool pt_consumer_restart(struct pt_consumer *l);
/* Called by clear when no event is left.  The stream may have stopped itself after the
 * controller saw it run, because of a mark of the flush thread or an event of another thread.
 * Restarts it without STOP and START. */
void pt_consumer_restart_cleared(struct pt_consumer *l);

/* accounting.c */

#if PT_ASSERTIONS > 0
/* Is each tally found by its wid, and are no more events passed over than were seen? */
bool pt_accounting_balances(struct pt_consumer *l);
#endif
/* Passive: takes the writers' present counts as base, so that only events that are still in
 * chunks, and later ones, count. */
int pt_consumer_begin_tallies(struct pt_consumer *l);
/* Sets a tally's base: events below number no are not losses, even if older events are still
 * in chunks and some between them are gone. */
void pt_consumer_base(struct pt_account *t, uint64_t no);

/* Loads the counts of all slots into the tallies and claims the slots of ended writers.  They
 * are released once their counts are safe: with a log, after the round that writes them. */
void pt_consumer_take_counts(struct pt_consumer *l);
/* The same between two rounds of a stream with log.  It claims no slot, because the next
 * round, which would release it, may never come. */
void pt_consumer_look_at_counts(struct pt_consumer *l);
void pt_consumer_release_ended(struct pt_consumer *l);
/* Finds or makes the tally of a writer; NULL: no memory. */
struct pt_account *pt_consumer_tally(struct pt_consumer *l, const struct pt_author *author);
/* Accounts for event number no of a writer and its fate. */
void pt_consumer_account(struct pt_account *t, uint64_t no, enum pt_fate fate);
/* The same for n delivered events from number no on. */
void pt_consumer_account_many(struct pt_account *t, uint64_t no, uint64_t n);
/* How many events were overwritten, up to the highest number seen; at the end of the stream,
 * up to the last number. */
static inline uint64_t pt_account_overwritten(const struct pt_account *t)
{
    return t->next_no - t->seen + t->dropped + t->never_seen;
}

/* How many events its writer has recorded.  If the slot was reused, only the events up to the
 * last one seen are known to be the writer's; the pasts of the slots contain the rest. */
static inline uint64_t pt_account_recorded(const struct pt_account *t)
{
    return t->source == PT_TALLY_FOLDED ? t->next_no : t->recorded;
}

/* How many were delivered. */
static inline uint64_t pt_account_given(const struct pt_account *t)
{
    return t->seen - t->excluded - t->refused - t->dropped;
}

/* cursor.c; shared with the flush thread */

enum pt_cursor_step { PT_CURSOR_EVENT, PT_CURSOR_END, PT_CURSOR_GONE };
/* Decodes the record at c->off into c->record.  GONE: overwritten, or not a valid record. */
enum pt_cursor_step pt_cursor_decode(struct pt_consumer *l, struct pt_cursor *c);
/* Advances past the current record and publishes the position. */
void pt_cursor_consume(struct pt_consumer *l, struct pt_cursor *c);
/* Is the chunk still the one the cursor was made for? */
bool pt_cursor_valid(const struct pt_consumer *l, const struct pt_cursor *c);
void pt_cursor_drop(struct pt_consumer *l, struct pt_cursor *c);
/* Empties the merge; frees the cursors that are in no other table. */
void pt_cursor_unqueue_all(struct pt_consumer *l);
/* Frees a chunk that is full and read to its end, and then the cursor. */
bool pt_cursor_retire(struct pt_consumer *l, struct pt_cursor *c);

#endif
