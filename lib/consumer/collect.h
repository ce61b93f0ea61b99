/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * One flush round (a flush cycle): from the chunks of a segment to packets of a log.  Used
 * by the flush thread, and by recovery on the copy of a dead writer's segment.  It reads
 * chunk by chunk, not event by event in time order: readers of the log merge.
 */
#ifndef PT_CONSUMER_COLLECT_H
#define PT_CONSUMER_COLLECT_H

#include "consumer/consumer.h"
#include "log/contents.h"
#include "log/types.h"

/* Where the packets go. */
struct pt_collect_sink {
    int (*packet)(void *context, const struct pt_log_packet *packet);
    void *context;
};

struct pt_window {
    uint64_t ts;
    bool open;
};

/* A chunk and the time of its next event. */
struct pt_next {
    uint64_t ts;
    uint32_t index;
};

/* Records that become a packet, still in their chunk. */
struct pt_run {
    struct pt_log_packet packet;
    uint32_t index;
    bool counted; /* the events by type are in pt_collect.counts */
    size_t counts;
    uint32_t count_count;
};

struct pt_switches;

struct pt_collect {
    struct pt_consumer *live;
    struct pt_collect_sink sink;
    struct pt_window *windows; /* START and STOP of this round, by time */
    size_t window_count, window_room;
    uint64_t *controls; /* times of all control records of this round, for a log with a size */
    size_t control_count, control_room;
    struct pt_run *runs;
    size_t run_count, run_room, emitted;
    struct pt_types types;        /* of the current run */
    struct pt_type_count *counts; /* of all runs of the round */
    size_t count_count, count_room;
    struct pt_next *next; /* chunks in reading order */
    size_t next_count, next_room;
    uint32_t *touched; /* chunks to publish as consumed after the write */
    size_t touched_count, touched_room;
    size_t given_back;         /* chunks freed by the last commit */
    uint8_t *copy;             /* copy of a chunk that LOOP may recycle meanwhile */
    bool more;                 /* events newer than the watermark are left */
    bool unfinished;           /* the previous round failed half-way */
    bool hides;                /* the filter left out a mark of missing events; until a
                                * ROUND says so */
    bool started;              /* there may be events before the next control record */
    bool stop_hidden;          /* the last STOP was left out, and the stream not started since */
    bool overflow;             /* LOOP: events were overwritten, and OVERFLOW is due */
    uint64_t gap_from, gap_to; /* LOOP: what was overwritten while a round wrote it; 0: nothing */
    uint64_t made_no, made_ts; /* of events that the consumer makes: number of the next, time of
                                   * the last */
    uint64_t started_ts;       /* time of the last START that the consumer made */
    uint64_t last_ts;          /* of all packets, the latest time */
    uint64_t waits_told;       /* state word of the stop at which calls were noted: waiting.h */
    struct pt_switches *switches; /* context switches of the traced threads; NULL: not wanted */
    int (*put_switches)(struct pt_switches *switches, struct pt_collect *r);
};

int pt_collect_init(struct pt_collect *r, struct pt_consumer *live,
                    const struct pt_collect_sink *sink);
void pt_collect_deinit(struct pt_collect *r);

/* Called after pt_consumer_refresh(): gives all events older than the watermark to the sink. */
int pt_collect_write(struct pt_collect *r);
/* For the checkpoint: as of the last record that was taken. */
enum pt_window_then pt_collect_window(const struct pt_collect *r);
/* After the packets are safe: makes the checkpoint, gives the chunks back. */
void pt_collect_commit(struct pt_collect *r, const struct pt_log_books *log);

/* Writes an event that the consumer makes as a packet of its own. */
int pt_collect_put_made(struct pt_collect *r, uint32_t id, uint64_t ts, const void *data,
                        uint32_t len);
/* LOOP has taken away, since the round has begun, events that it would have written, the first of
 * them with that time: the round gets OVERFLOW and RESUME around them. */
void pt_collect_note_gap(struct pt_collect *r, uint64_t from);
/* The stream was cleared up to ts: a gap before it that no round has marked yet gets no marks. */
void pt_collect_clear(struct pt_collect *r, uint64_t ts);

/* collect_chunk.c: the parts of pt_collect_write that look at records. */
/* Reads START and STOP before all other chunks, whose events depend on them.  AGAIN: LOOP has
 * overwritten a START or STOP meanwhile; the caller refreshes and repeats. */
enum { PT_ROUND_AGAIN = 1 };
int pt_collect_windows(struct pt_collect *r);
/* Makes runs of the records of one chunk that are older than the watermark. */
int pt_collect_chunk(struct pt_collect *r, struct pt_cursor *c);
/* A START, STOP or FILTER; hidden: the filter leaves it out.  The last STOP of all is no gap. */
void pt_collect_note_control(struct pt_collect *r, uint32_t id, bool hidden);
/* An event with the time of its STOP is in the window; STOP is written after it. */
bool pt_collect_in_window(const struct pt_collect *r, uint64_t ts);
/* What a cycle reports of the writers: what has changed; at the seam of two pieces of a log,
 * without events that no cycle has seen (log/reader/piece.h); at the end of the log, all. */
enum pt_totals { PT_TOTALS_CHANGED, PT_TOTALS_SEAM, PT_TOTALS_ALL };
/* Totals of the writers whose counts or names changed, in a malloced array; -ENOMEM.  Also the sums
 * of writers without a tally. */
int pt_collect_totals(struct pt_consumer *l, enum pt_totals which, struct pt_name_turn *names,
                      struct pt_log_author_totals **totals, size_t *count,
                      struct pt_log_status *status);
/* After a cycle at a seam, and its commit: adds the writers to the base of the next piece, and
 * their events count as given to another log.  0 or -ENOMEM. */
struct pt_piece_base;
int pt_collect_base(struct pt_collect *r, struct pt_piece_base *base);

#endif
