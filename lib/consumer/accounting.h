/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Exact accounts on the consumer's side.  For each writer
 *     recorded = delivered + excluded + refused + overwritten + pending
 * where recorded comes from its slot and the others from the numbers of the
 * events that the consumer saw.
 *
 * A tally holds the numbers of one writer.  A writer's events are numbered without gaps,
 * so the consumer need not see an overwritten event to count it: overwritten = highest
 * number seen - events seen.  Where recorded comes from changes in the life of a writer
 * (enum pt_account_source):
 *
 *   UNSEEN   the consumer has seen events, and no slot of the writer yet
 *   SLOT     the slot still belongs to the writer: recorded is as of the last look
 *   FINAL    the writer has ended and the consumer has claimed the slot: the counts are
 *            final, and the slot is released once they are safe
 *   FOLDED   another writer has reused the slot: the writer's counts are only part of the
 *            slot's past, the sum over its earlier writers
 *
 * Invariant: an event is in one tally or in one sum, never in both.  So gone, the events
 * of writers without a tally, is the past of all slots less taken, which the FINAL
 * tallies added to that past; and a tally that is forgotten to bound the memory goes into
 * folded.  A log folds authors, too (log/author_stats.h), and would count the numbers twice of one
 * that is reported again.  So the last report of an author says that it is the last; only then
 * may the tally be forgotten.
 *
 * All calls are made by the one consumer, under the reading lock: by readers of a stream
 * without log, by the flush thread, and by recovery on its copy of a segment.  The accounts know
 * neither chunks nor windows: consumer.c and collect.c decide on the fate of an event.
 */
#ifndef PT_CONSUMER_ACCOUNTING_H
#define PT_CONSUMER_ACCOUNTING_H

#include "base/assert.h"
#include "shm/segment.h"

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
    uint32_t ended_at;   /* FINAL, FOLDED: value of pt_accounts.released at the writer's end */
    uint64_t ended_ts;   /* FINAL, FOLDED: when the consumer found the end; no event is later */
    uint64_t next_no;    /* number after the highest one seen */
    uint64_t seen;       /* events of any fate that the consumer has read */
    uint64_t resume_no;  /* a dead consumer has accounted for events below this number */
    uint64_t excluded;   /* outside the windows, or cleared: not part of the stream */
    uint64_t refused;    /* stamped between an automatic stop and the restart */
    uint64_t dropped;    /* seen, but overwritten or older than the newest overwritten event */
    uint64_t cleared;    /* delivered to the log before the last clear */
    uint64_t never_seen; /* from next_no on, overwritten: known some time after the writer's end */
    uint64_t recorded;
    uint64_t lost[PT_LOST_OWN];
    /* Passive, valid if based: the writer's counts when the onlooker started. */
    uint64_t base_no, base_lost[PT_LOST_OWN];
    uint64_t seen_ts;  /* time of the last event seen */
    uint64_t told_no;  /* number of the event before which a gap was last reported */
    uint64_t named_at; /* when the thread's name was last read, see process/thread_name.h */
    bool based;
    bool used, changed;
    bool told_last; /* the log has its last numbers, and knows that they are */
};

enum pt_fate { PT_FATE_DELIVER, PT_FATE_EXCLUDE, PT_FATE_REFUSED, PT_FATE_OVERWRITTEN };

/* Sums over the tallies that were forgotten to bound the memory. */
struct pt_folded {
    uint64_t given, excluded, refused, overwritten;
    uint64_t cleared;                     /* delivered to the log before the last clear */
    uint64_t next;                        /* sum of next_no + never_seen */
    uint64_t recorded, lost[PT_LOST_OWN]; /* of tallies that were FINAL */
    uint64_t named;                       /* pt_account_recorded() of tallies that were FOLDED */
};

#define PT_TALLY_MAX 65536u

struct pt_accounts {
    struct pt_seg *seg;
    bool passive;             /* an onlooker: claims no slot, forgets no tally */
    uint64_t from_wid;        /* passive: writers from this number on came after its start */
    uint64_t delivered_ts;    /* time of the last event delivered; a writer that ended before has
                               * no more events */
    struct pt_account *tally; /* open addressing by wid */
    uint64_t factor;          /* of its hash, random: traced processes can choose their wids */
    uint32_t count, room;
    uint32_t max;     /* with more tallies than this, complete ones are forgotten */
    uint32_t look;    /* number of the last scan of the slots */
    uint32_t name_at; /* the tally whose name may be read next */
    uint32_t *ended;  /* claimed slots whose counts are in tallies; to be released */
    uint32_t ended_count, ended_room;
    uint32_t released; /* number of releases so far; with a log, one a round */
    struct pt_folded folded;
    struct pt_folded unlisted; /* of these, the ones forgotten before the log was last emptied */
    /* Events never seen, and so overwritten, of writers whose slots were reused. */
    uint64_t unseen;
    uint64_t settled, settled_ts; /* gone.recorded as pt_accounts_settle() found it, and when */
    /* The past of all slots at the last scan is taken + gone.  taken: writers that have a
     * FINAL tally here.  gone: writers whose slots were reused. */
    struct pt_past taken, gone;
};

void pt_accounts_init(struct pt_accounts *a, struct pt_seg *seg);
void pt_accounts_deinit(struct pt_accounts *a);

#if PT_ASSERTIONS > 0
/* Is each tally found by its wid, and are no more events passed over than were seen? */
bool pt_accounting_balances(struct pt_accounts *a);
#endif

/* Has the writer ended, and were all its events seen?  Its numbers will not change. */
bool pt_account_is_complete(const struct pt_accounts *a, const struct pt_account *t);
/* Its log was emptied, and gets all numbers again: those of tallies that are forgotten as a sum. */
void pt_accounts_tell_again(struct pt_accounts *a);

/* Forgets the tallies of writers that have ended and are complete. */
void pt_accounts_trim(struct pt_accounts *a);

/* Finds or makes the tally of a writer; NULL: no memory. */
struct pt_account *pt_accounts_get(struct pt_accounts *a, const struct pt_author *author);
/* Loads the counts of all slots into the tallies and claims the slots of ended writers.  They
 * are released once their counts are safe: with a log, after the round that writes them.
 * finished: no writer is left, and all events were read. */
void pt_accounts_take(struct pt_accounts *a, bool finished);
/*
 * The same before a round of a LOOP stream with log takes its watermark.  What writers recorded
 * that have ended by now is older than the watermark: after the round each of their events was
 * seen, or was overwritten.
 */
void pt_accounts_settle(struct pt_accounts *a);
/* The same between two rounds of a stream with log.  It claims no slot, because the next
 * round, which would release it, may never come. */
void pt_accounts_look(struct pt_accounts *a, bool finished);
void pt_accounts_release(struct pt_accounts *a);

/* Accounts for event number no of a writer and its fate. */
void pt_account_add(struct pt_account *t, uint64_t no, enum pt_fate fate);
/* The same for n delivered events from number no on. */
void pt_account_add_many(struct pt_account *t, uint64_t no, uint64_t n);
/* Passive: the event had that time. */
static inline void pt_account_saw(struct pt_account *t, uint64_t ts)
{
    t->seen_ts = ts;
}

/* n events that were accounted for as delivered are overwritten. */
static inline void pt_account_drop(struct pt_account *t, uint64_t n)
{
    t->dropped += n;
}

/* Passive: the tally of a writer that has recorded so many events when the onlooker starts; no as
 * for pt_account_base(); lost: its losses until then, or NULL. */
void pt_account_begin(struct pt_account *t, enum pt_account_source source, uint64_t no,
                      uint64_t recorded, const uint64_t *lost);
/* Sets a tally's base: events below number no are not losses, even if older events are still
 * in chunks and some between them are gone. */
void pt_account_base(struct pt_account *t, uint64_t no);
/* Passive: are numbers missing between the writer's last event and event no?  Then the stream's
 * consumer has taken those events, unless LOOP has overwritten them, which happened up to
 * lost_last, and reports that itself.  True once for each gap. */
static inline bool pt_account_misses(struct pt_account *t, uint64_t no, uint64_t lost_last)
{
    if (!t->based || no <= t->next_no || t->told_no >= no || (t->next_no && t->seen_ts < lost_last))
        return false;
    t->told_no = no;
    return true;
}

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

/* ---- names of threads, see process/thread_name.h ---- */

#define PT_NAMES_A_ROUND 64u

/* The limits for reading names in a round. */
struct pt_name_turn {
    uint64_t now; /* CLOCK_MONOTONIC */
    unsigned left;
    bool all; /* however many, and however often they were read */
};

/* May a name that was read at *read_at, 0 for never, be read again?  Then *read_at is now. */
bool pt_thread_name_is_due(struct pt_name_turn *turn, uint64_t *read_at);

/* Those of writers that have a slot, into the consumer's books of them. */
void pt_accounts_read_names(struct pt_accounts *a, struct pt_name_turn *turn);

#endif
