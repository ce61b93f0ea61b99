/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The totals of each author: events recorded, events lost by cause.  The writer keeps
 * such a table and writes it to the log; the reader rebuilds it from the log.
 *
 * Bounded: with more than max authors the writer's table folds some into one sum without a name.
 * A number is either in an entry or in that sum, never in both, although the stream reports each
 * author's numbers from its start.  So the table folds only these: first authors that ended and
 * will not be reported again, then those without numbers of the stream.  The others are as many as
 * the consumer knows, see accounting.h.
 *
 * The reader's table has room for all that a writer lists.  If a log has more, it forgets those
 * that changed least recently; what the sums of the log have and no entry is of unknown authors.
 */
#ifndef PT_LOG_TOTALS_H
#define PT_LOG_TOTALS_H

#include <stdbool.h>
#include <stddef.h>
#include "log/format.h"

#define PT_TOTALS_MAX        65536u
#define PT_TOTALS_READER_MAX 262144u

struct pt_total {
    struct pt_author author;
    uint64_t recorded;
    uint64_t lost[PT_LOSS_CAUSES];     /* as reported by the stream, cumulative */
    uint64_t log_lost[PT_LOSS_CAUSES]; /* by the log: FULL, OVERWRITTEN, ERROR */
    uint64_t listed_in;                /* round whose ROUND packet has these numbers */
    uint64_t touched;                  /* when it last changed, by pt_author_stats.changes */
    uint32_t part_events;              /* writer: in the part being written; reader: found in
                                          parts that count as lost, see take_back_spared() */
    bool dirty;                        /* changed since it was listed */
    bool ended;                        /* nothing will come any more */
};

struct pt_author_stats {
    struct pt_total *entries;
    size_t count, room;
    size_t max;     /* entries */
    size_t fold_at; /* so many entries are too many; 0: max */
    bool forgets;   /* the reader's: folds none */
    bool forgot;
    uint32_t *hash; /* entry index + 1, by wid; open addressing */
    size_t hash_room;
    uint64_t factor; /* of the hash: a log chooses its wids */
    uint64_t changes;
    uint64_t recorded; /* sums over entries and folded ones */
    uint64_t lost[PT_LOSS_CAUSES];
    uint64_t folded_recorded;
    uint64_t folded_lost[PT_LOSS_CAUSES];
    bool folded_now; /* since the writer last listed all */
};

void pt_author_stats_init(struct pt_author_stats *t);
void pt_author_stats_deinit(struct pt_author_stats *t);
void pt_author_stats_clear(struct pt_author_stats *t);

/* The entry of an author, made if need be; NULL without memory.  Good until the next call that
 * makes one.  The name of an entry that exists stays: it may be newer than that of a packet. */
struct pt_total *pt_author_stats_get(struct pt_author_stats *t, const struct pt_author *author);
struct pt_total *pt_author_stats_find(const struct pt_author_stats *t, uint64_t wid);

/* The stream's own cumulative numbers for an author, and its latest name.  Of one that ended these
 * are the last ones: no call has its number again. */
int pt_author_stats_set(struct pt_author_stats *t, const struct pt_log_author_totals *totals);
/* The latest name of an author that has an entry. */
void pt_author_stats_name(struct pt_author_stats *t, uint64_t wid, const char name[16]);
/* n more events of an author were lost by the log; those of one that has no
 * entry (any more) go to the sum without a name. */
void pt_author_stats_lose(struct pt_author_stats *t, uint64_t wid, unsigned cause, uint64_t n);

/* Lists an entry in a packet, and reads it back (stream's and log's share apart). */
void pt_author_stats_put(struct pt_packet_author *to, const struct pt_total *from);
int pt_author_stats_read(struct pt_author_stats *t, const struct pt_packet_author *from);

static inline bool pt_cause_is_of_log(unsigned cause)
{
    return cause >= 4; /* POSIXTRACE_LOST_LOG_FULL and those after it */
}

#endif
