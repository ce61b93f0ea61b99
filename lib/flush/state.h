/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The internals of a flush thread, shared by its files:
 *
 *   thread.c    the thread: its life, its descriptors, what it is asked for
 *   cycle.c     a round, and clearing
 *   schedule.c  when a round is due, and sleeping until then
 *   pieces.c    a log in pieces
 */
#ifndef PT_FLUSH_STATE_H
#define PT_FLUSH_STATE_H

#include <pthread.h>
#include "consumer/collect.h"
#include "flush/cputime.h"
#include "flush/pieces.h"
#include "flush/thread.h"
#include "log/writer/lock.h"

struct pt_flusher {
    struct pt_stream *stream;
    struct pt_log_writer *writer;
    struct pt_collect round;
    pthread_t thread;
    int fd;
    struct pt_log_lock lock;
    uint32_t asked;    /* ASK_* */
    uint32_t answered; /* futex: counts answers to start and clear */
    int32_t answer;
    pthread_mutex_t clearing; /* one clear at a time, or request for pieces; inside no other lock */
    uint64_t clear_ts;
    struct pt_pieces pieces;
    uint32_t names_end;    /* names below are in the log */
    uint32_t described;    /* descriptions before this one of the list, too */
    uint32_t mappings_end; /* mappings before this one, too */
    uint32_t syncs;
    uint32_t clocks;        /* readings of CLOCK_REALTIME in the log, */
    uint32_t clock_syncs;   /* syncs at the last one, */
    bool clock_left;        /* whether the table had had no room for a correction, */
    uint64_t clock_due;     /* and when the next one is due, CLOCK_MONOTONIC */
    int switches;           /* why no context switches are recorded; 0: they are */
    uint64_t switch_buffer; /* bytes of the kernel's ring for them a processor; 0: none */
    bool holds;             /* reading, the flush thread's own note */
    bool writing;           /* has let go of it to write; under reading */
    uint64_t deadline;      /* CLOCK_MONOTONIC of the next round by time; 0: none */
    uint64_t expects;       /* after a round of many events: until then more are expected, 0: not */
    struct pt_cputime lookout;
    bool ran;        /* the stream ran in the last round */
    int first_error; /* of this file since it was cleared: what the log says; 0: none */
    pt_u64 log_lost[PT_LOSS_CAUSES];
};

/* cycle.c */
/* Where the packets of rounds go: context is the flusher. */
int pt_flush_put_packet(void *context, const struct pt_log_packet *packet);
/* Writes the names and sync points that later packets need, and what the host's clock shows.
 * last: in the round that ends the log. */
int pt_flush_names_and_syncs(struct pt_flusher *f, bool last);
/* Which numbers of writers the round reports says what it is: a usual one; the one at the seam of
 * two pieces; the one that ends the log. */
int pt_flush_cycle(struct pt_flusher *f, enum pt_totals which);
/* Is a round being made?  Loaded by those who ask for the status. */
void pt_flush_shows(struct pt_flusher *f, bool flushing);
/* A flush as posix_trace_flush initiates it; start was put by the caller then. */
void pt_flush_marked_round(struct pt_flusher *f, bool explicit_one);
/* As posix_trace_clear does, up to clear_ts. */
int pt_flush_clear(struct pt_flusher *f);

/* thread.c */
/* A new log on fd, which is f->writer then, with names, sync points and a first round.  lock: of
 * that file.  After an error f->writer is unchanged. */
int pt_flush_begin_log(struct pt_flusher *f, int fd, const struct pt_log_lock *lock,
                       const struct pt_piece_base *base);

/* pieces.c */
/* For the next piece or a request; the thread takes what was asked for. */
int pt_pieces_set(struct pt_flusher *f);
/* Is this piece long or old enough? */
bool pt_pieces_is_due(const struct pt_flusher *f);
/* Ends this piece and begins the next one, with a cycle between.  If that fails, the log
 * stays in this piece. */
void pt_pieces_turn(struct pt_flusher *f);
/* A cycle has ended. */
void pt_pieces_look(struct pt_flusher *f);
/* Part of the cycle at the seam, after its commit: the log is the next piece then, or stays if that
 * cannot be begun.  An error: it never can, and the log is given up. */
int pt_pieces_switch(struct pt_flusher *f);
/* The log is complete: the last piece gets its name. */
void pt_pieces_finish(struct pt_flusher *f);
void pt_pieces_deinit(struct pt_flusher *f);

/* schedule.c */
/* Stream policy FLUSH: rounds are made unasked. */
bool pt_flush_by_itself(const struct pt_flusher *f);
/* Then: must one be made now? */
bool pt_flush_is_due(struct pt_flusher *f);
/* A round has ended. */
void pt_flush_expect(struct pt_flusher *f);
/* Both sleep on the segment's flush_futex while it is so. */
void pt_flush_wait(struct pt_flusher *f, uint32_t futex);
void pt_flush_wait_if_stuck(struct pt_flusher *f, uint32_t futex);

#endif
