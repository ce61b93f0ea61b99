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
 * contiguous newest suffix.  They count as overwritten whatever their window was:
 * START and STOP are overwritten like any event, so exactly the windows after the
 * newest overwritten event are known.  The numbering shows how many events a writer
 * has lost that way: recorded - seen - still to be read.  The consumer may see the
 * events of a writer out of order within a flush round, but not across rounds.
 *
 * Onlookers.  A passive consumer reads a stream that has another consumer, or none,
 * and changes nothing in the segment: it publishes no position, gives back neither
 * chunks nor slots, resets nothing and restarts nothing.  It begins with the oldest
 * event in a chunk that no consumer has read to its end.  LOOP and the other consumer
 * may take its chunks; it can still read a free chunk until a writer reuses it.  The
 * numbering shows the events that it misses, from its start on (pt_tally.base_no).
 * If the START of some events was taken from it, it misses these events, too.
 */
#ifndef PT_CONSUMER_CONSUMER_H
#define PT_CONSUMER_CONSUMER_H

#include "log/merge.h"
#include "log/writer/writer.h"
#include "shm/watermark.h"

/* One chunk that is being read. */
struct pt_cursor {
    struct pt_merge_node node;
    uint32_t index;
    uint64_t gen;
    uint32_t off;   /* of the current record */
    uint32_t size;  /* of the current record (with TIME, AUTHOR before it) */
    uint32_t start; /* where it begins without AUTHOR, and the base there */
    uint64_t start_base;
    uint32_t limit; /* committed when last looked */
    uint64_t base;
    uint64_t no; /* author's number of the current event */
    struct pt_author author;
    struct pt_record record; /* the current one; data points into the chunk */
    bool queued;             /* in the merge */
    bool bad;                /* passive: has bytes that no writer makes, goes no further */
};

/* Where the counts of a writer are. */
enum pt_tally_source {
    PT_TALLY_UNSEEN, /* only events of it were seen so far */
    PT_TALLY_SLOT,   /* in its slot, as of the last look */
    PT_TALLY_FINAL,  /* its slot has ended and given them to us */
    PT_TALLY_FOLDED  /* its slot was needed by another: in the slot's past */
};

/* What the consumer knows of one writer. */
struct pt_tally {
    struct pt_author author;
    enum pt_tally_source source;
    uint32_t look;       /* the look at which its slot was seen */
    uint32_t slot;       /* which one that was */
    uint32_t ended_at;   /* FINAL, FOLDED: how often slots had been released */
    uint64_t ended_ts;   /* FINAL, FOLDED: when that was found; no event is later */
    uint64_t next_no;    /* number after the highest one seen */
    uint64_t seen;       /* events passed over or delivered */
    uint64_t resume_no;  /* a dead consumer has accounted for earlier ones */
    uint64_t excluded;   /* outside the windows, or cleared: not part of the stream */
    uint64_t refused;    /* between automatic stop and restart */
    uint64_t dropped;    /* seen, but overwritten or older than what was */
    uint64_t cleared;    /* delivered to the log before it was last cleared */
    uint64_t never_seen; /* overwritten before they or later ones were seen; at the end */
    uint64_t recorded;
    uint64_t lost[PT_LOST_OWN];
    /* Passive: what was before we began to look, and whether that is known. */
    uint64_t base_no, base_lost[PT_LOST_OWN];
    uint64_t seen_ts;  /* of the last event seen */
    uint64_t told_no;  /* number of the event before which a gap was reported */
    uint64_t named_at; /* when its name was last read, see process/thread_name.h */
    bool based;
    bool used, changed;
};

enum pt_fate { PT_FATE_DELIVER, PT_FATE_EXCLUDE, PT_FATE_REFUSED, PT_FATE_OVERWRITTEN };

enum pt_auto { PT_AUTO_NONE, PT_AUTO_STOP_DUE, PT_AUTO_STOPPED };

/* Of tallies that were forgotten. */
struct pt_folded {
    uint64_t given, excluded, refused, overwritten;
    uint64_t cleared;                     /* given to the log before it was last cleared */
    uint64_t next;                        /* how many were seen or passed over */
    uint64_t recorded, lost[PT_LOST_OWN]; /* of those that were FINAL */
    uint64_t named; /* recorded by those that were not, and known to be theirs */
};

#define PT_TALLY_MAX 65536u

struct pt_live {
    struct pt_seg *seg;
    struct pt_watch watch;
    struct pt_merge merge;
    struct pt_cursor **known; /* by chunk index */
    uint32_t known_room;
    uint64_t watermark;
    bool finished;              /* no writer is left: all committed events can be read */
    bool passive;               /* only looks on */
    uint64_t from_gen, from_ts; /* passive: chunks taken, LOOP's loss, writers known when */
    uint64_t from_wid;          /* we began */
    uint64_t from_no_slot[PT_LOST_OWN];
    uint64_t from_switches;
    struct pt_past past_before;        /* of all slots, when we began */
    uint64_t lost_before[PT_LOST_OWN]; /* by the stream until then, see balance.h */
    uint64_t *before;                  /* of each of them the last writer in it, see balance.h */
    uint32_t before_count;
    uint64_t delivered_ts; /* of the last event delivered */
    uint64_t late;
    uint64_t clear_ts;
    bool window_open;
    bool window_now;    /* as the header says, before the last look at the chunks */
    bool window_lost;   /* a START or STOP was overwritten while it was being read */
    uint64_t window_ts; /* of the START or STOP that says so; older ones come late */
    enum pt_auto automatic;
    uint64_t gap_from, gap_to;   /* the last automatic stop and its restart */
    uint64_t past_from, past_to; /* the one before: see window.c */
    uint64_t opened_ts;          /* when the stream last ran by its state: the window is open
                                  * then, even if START found no room (stream/control_lock.c) */
    bool start_due;
    bool resume_due;            /* the gap ended, and the stream stays stopped */
    uint64_t start_ts;          /* of the START, or the end of the gap, that is due */
    struct pt_set start_filter; /* in force then */
    unsigned stop_out;          /* marks of the last automatic stop that are left out */
    /* For OVERFLOW and RESUME of a loss (shm/mark_filter.h): the marks that are left out, and
     * the choice that decided it, 0: the filter at the last look. */
    bool marks_known;
    unsigned marks_out;
    uint64_t marks_choice, marks_met;
    bool overflow_due;
    bool overflowing;     /* OVERFLOW was reported and RESUME not yet */
    bool overflow_hidden; /* overflowing: the filter left OVERFLOW out */
    bool mark_hidden;     /* it left a mark out since the last event that was given */
    bool missing;         /* what lies before the watermark is a gap, see shm/missed.h */
    uint64_t missed_known, missed_from;
    uint64_t overflow_ts;   /* oldest event lost or passed over since the last report */
    uint64_t lost_last;     /* as last read from the header */
    struct pt_tally *tally; /* open addressing by wid */
    uint64_t tally_factor;  /* of its hash: traced processes can choose their wids */
    uint32_t tally_count, tally_room, look;
    uint32_t name_at;   /* the tally whose name may be read next */
    uint32_t tally_max; /* above that, tallies that are complete are forgotten */
    uint32_t *ended;    /* slots whose counts we have, to be released */
    uint32_t ended_count, ended_room;
    uint32_t released; /* how often they were: once a round, with a log */
    struct pt_folded folded;
    /* Never seen, overwritten, of forgotten tallies and of writers whose slots were
     * needed; at the end. */
    uint64_t unseen;
    /* The past of all slots, as of the last look: what we gave to it, having a tally
     * of each, and the rest, whose slots others needed. */
    struct pt_past taken, gone;
    uint8_t *buffer;         /* copy of the record that is delivered */
    struct pt_author author; /* of that record */
    int stop_data;
};

int pt_live_init(struct pt_live *l, struct pt_seg *seg);
/* A passive consumer; it begins here. */
int pt_live_look_on(struct pt_live *l, struct pt_seg *seg);
void pt_live_deinit(struct pt_live *l);

enum pt_live_next { PT_LIVE_NONE, PT_LIVE_EVENT, PT_LIVE_HELD };

/*
 * The next event; never blocks.  NONE: nothing is there.  HELD: something is,
 * but a writer that is inside an event may still bring something older.  *e is
 * good until the next call; ns is not filled.  Negative errno: -ENOMEM.
 */
int pt_live_next(struct pt_live *l, struct pt_event *e);

/* For the event that pt_live_next() has given last: is there a gap before it that no event
 * marks, since the filter left out START, STOP, FILTER, OVERFLOW or RESUME?  Once for each. */
static inline bool pt_live_hides_gap(struct pt_live *l)
{
    bool hides = l->mark_hidden;

    l->mark_hidden = false;
    return hides;
}

/* Looks for new chunks, commits and bounds now. 0 or -ENOMEM. */
int pt_live_refresh(struct pt_live *l);
/* No writer is left: all committed events can be read, whatever the watermark. */
void pt_live_finish(struct pt_live *l);
/* Passes over everything up to now (posix_trace_clear). */
int pt_live_clear(struct pt_live *l, uint64_t ts);
/* Passive: the same if the stream was cleared meanwhile. */
int pt_live_notice_clear(struct pt_live *l);

/* Between an automatic stop and its restart? */
static inline bool pt_live_in_gap(const struct pt_live *l, uint64_t ts)
{
    return (ts > l->gap_from && ts < l->gap_to) || (ts > l->past_from && ts < l->past_to);
}

/* What becomes of the cursor's record, by windows, gaps and overwriting; control
 * records are in whatever window_open says. */
enum pt_fate pt_live_fate(const struct pt_live *l, const struct pt_cursor *c, bool window_open);

/* window.c */

/* With each new watermark, before what it lets through is looked at: has the stream stopped
 * itself?  Whatever was stamped since then and is older than the watermark finds the gap. */
void pt_live_look_at_state(struct pt_live *l);
/* In the copy of a dead consumer's segment, before it is looked at: the automatic stop that
 * the consumer ended last. */
void pt_live_take_gap(struct pt_live *l);
/* The window as it was before the first record of a chunk of the control writer.  False:
 * the chunk does not have these contents any more. */
bool pt_live_take_window(struct pt_live *l, const struct pt_cursor *c);
/* A chunk of START and STOP may have been overwritten unread.  The oldest one that is
 * left says how the window was before it, unless it is being read.  False: none is known. */
bool pt_live_relearn_window(struct pt_live *l);
/* The same after a look at the chunks; where none is left, the header says it. */
void pt_live_settle_window(struct pt_live *l);
/* The window before the oldest START or STOP that is there: without any, as now. */
void pt_live_learn_window(struct pt_live *l);
/* The window changes at ts, unless a later START or STOP is known already. */
void pt_live_set_window(struct pt_live *l, bool open, uint64_t ts);
/* Before an event with time ts: opens the window that has no START. */
static inline void pt_live_open_window(struct pt_live *l, uint64_t ts)
{
    if (!l->window_open && l->opened_ts > l->window_ts && ts >= l->opened_ts)
        pt_live_set_window(l, true, l->opened_ts);
}

/* A loss was taken; now: what the filter before that leaves out.  The first one of a gap counts. */
void pt_live_take_marks(struct pt_live *l, unsigned now);
/* Is OVERFLOW or RESUME with that time to be made?  After RESUME the gap is over. */
bool pt_live_shows_mark(struct pt_live *l, uint32_t id, uint64_t ts);

/* Ends an automatic stop, if its STOP was reported; the stream must be empty.
 * True: it runs again and a START is due.  False also where a call has stopped it. */
bool pt_live_restart(struct pt_live *l);
/* By clear, when nothing is left: of a stream that has stopped itself after its controller saw
 * it run, by a mark of the flush thread or an event of another thread.  It makes neither STOP
 * nor START. */
void pt_live_restart_cleared(struct pt_live *l);

/* accounting.c */

/* Passive: all that the writers have done up to now is not our loss, but for what
 * still lies in chunks. */
int pt_live_begin_tallies(struct pt_live *l);
/* What comes before event number no of it is no loss: also where several events that are older
 * than we look are left of it, and others between them are gone. */
void pt_live_base(struct pt_tally *t, uint64_t no);

/* Takes the counts of the writers' slots into the tallies.  Slots of ended
 * writers are released when they are safe with us, which for a stream with log
 * is after the round that writes them. */
void pt_live_take_counts(struct pt_live *l);
/* The same between two rounds of a stream with log: no slot is taken, because the next round,
 * which would release it, may never come. */
void pt_live_look_at_counts(struct pt_live *l);
void pt_live_release_ended(struct pt_live *l);
/* Tally of a writer, made if need be; NULL: no memory. */
struct pt_tally *pt_live_tally(struct pt_live *l, const struct pt_author *author);
/* Accounts for event number no of a writer and what became of it. */
void pt_live_account(struct pt_tally *t, uint64_t no, enum pt_fate fate);
/* n events from number no on that were delivered. */
void pt_live_account_many(struct pt_tally *t, uint64_t no, uint64_t n);
/* How many events up to the highest number seen, at the end up to the last one,
 * were overwritten. */
static inline uint64_t pt_tally_overwritten(const struct pt_tally *t)
{
    return t->next_no - t->seen + t->dropped + t->never_seen;
}

/* How many events its writer has recorded.  Of a writer whose slot was needed by another only
 * those up to the last one seen are known to be its own; the sums of the slots have the rest. */
static inline uint64_t pt_tally_recorded(const struct pt_tally *t)
{
    return t->source == PT_TALLY_FOLDED ? t->next_no : t->recorded;
}

/* How many were delivered. */
static inline uint64_t pt_tally_given(const struct pt_tally *t)
{
    return t->seen - t->excluded - t->refused - t->dropped;
}

/* cursor.c; shared with the flush thread */

enum pt_cursor_step { PT_CURSOR_EVENT, PT_CURSOR_END, PT_CURSOR_GONE };
/* Decodes the record at c->off into c->record. GONE: overwritten, or not what a writer makes. */
enum pt_cursor_step pt_cursor_decode(struct pt_live *l, struct pt_cursor *c);
/* Advances past the current record and publishes the position. */
void pt_cursor_consume(struct pt_live *l, struct pt_cursor *c);
/* Is the chunk still the one the cursor was made for? */
bool pt_cursor_valid(const struct pt_live *l, const struct pt_cursor *c);
void pt_cursor_drop(struct pt_live *l, struct pt_cursor *c);
/* Empties the merge; frees the cursors that were only there. */
void pt_cursor_unqueue_all(struct pt_live *l);
/* Gives the chunk back if it is full and read; the cursor is gone then. */
bool pt_cursor_retire(struct pt_live *l, struct pt_cursor *c);

#endif
