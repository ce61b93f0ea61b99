/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The counts that uniting a log with the tail of a dead writer needs, shared by
 *
 *   tail.c     which events of the tail the log lacks
 *   balance.c  the losses that follow, by author and cause
 */
#ifndef PT_LOG_READER_TAIL_H
#define PT_LOG_READER_TAIL_H

#include "log/reader/state.h"

/* A stretch of a chunk that the log has. */
struct pt_range {
    uint64_t chunk;
    uint32_t from, to;
    bool unbooked; /* in a packet after the last one of the tail's books */
};

/* Events of one author that the tail names, or of all that it does not name. */
struct pt_author_share {
    struct pt_log_author_totals *author;
    uint64_t present; /* unbooked in the log, less those that the tail has, too; mod 2^64 */
    uint64_t booked;  /* in the log and in the tail's books, except for control writers */
    uint64_t dropped; /* in the tail, and the log has lost them: not read again; the same */
};

struct pt_union {
    const struct pt_log_reader *reader;
    struct pt_log_tail *tail;
    struct pt_range *ranges;
    size_t count, room;
    struct pt_author_share *shares; /* by wid; the last one is of all other authors */
    uint64_t booked, dropped;       /* of all authors, control writers included */
    uint64_t made_ts;               /* of the consumer's own last event in the log */
    uint32_t mark;                  /* the last mark of a loss: OVERFLOW, RESUME; 0: none */
    uint64_t resumed;               /* no loss with such an end, or an earlier one, lacks RESUME */
    uint64_t floor;                 /* all that is older is in whole rounds of the log */
    uint64_t late;                  /* except for events of stalled writers */
    uint64_t given_ts;              /* the unbooked round had given all older events to the log */
    uint64_t given;                 /* tail packets before this one, by pt_log_packet.lsn, */
    uint64_t chunk;                 /* and what this one, of that chunk, has before the offset */
    uint32_t offset;
};

/* The share of an author, or that of all authors that the tail does not name. */
struct pt_author_share *pt_union_share(const struct pt_union *u, uint64_t wid);

/* balance.c */
/* The numbers of log and tail replace those of the last ROUND.  0 or -ENOMEM. */
int pt_union_balance(struct pt_log_reader *r, const struct pt_union *u);

#endif
