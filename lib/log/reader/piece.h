/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * A log in pieces: files that one flush thread writes one after the other, each of them a whole
 * log.
 *
 * The numbers of a stream (recorded, lost) grow from its start on.  A piece has only those that
 * came after the piece before it, so that the sums over all pieces are the stream's: each event
 * and each loss is in one of them.  The base of a piece is what all pieces before it have.  Its
 * writer subtracts the base from the stream's numbers, and stores it at the start of the piece
 * (struct pt_packet_piece), for a recovery, which also starts with numbers of the whole stream.
 *
 * The seam is after a flush cycle.  An event that was recorded by then, and that this cycle has not
 * seen, belongs to the next piece: the base has the number of the first such event of each author,
 * and not how many it has recorded.
 */
#ifndef PT_LOG_READER_PIECE_H
#define PT_LOG_READER_PIECE_H

#include "log/contents.h"
#include "log/format.h"

#define PT_PIECE_CAUSES 4u /* losses of the stream; those of a log are counted for each piece */

struct pt_piece_author {
    uint64_t wid, next_no, recorded, lost[PT_PIECE_CAUSES];
    /* By how much its numbers are below the base now: they went into the sums of all authors. */
    uint64_t less, less_lost[PT_PIECE_CAUSES];
    bool listed; /* in this piece */
};

struct pt_piece_base {
    uint32_t number; /* of the piece that begins with this base; 0: there is none */
    uint64_t events, recorded, lost[PT_LOSS_CAUSES];
    uint64_t lost_switches, late, made_ts;
    uint64_t unknown_lost[PT_PIECE_CAUSES]; /* of authors that are not listed; not in the file */
    struct pt_piece_author *authors;        /* by wid */
    size_t count, room;
};

void pt_piece_base_deinit(struct pt_piece_base *b);
/* 0 or -ENOMEM, and there is none. */
int pt_piece_base_copy(struct pt_piece_base *to, const struct pt_piece_base *from);
/* In any order; pt_piece_base_sort() comes before the first call of those below.  -ENOMEM. */
int pt_piece_base_add(struct pt_piece_base *b, const struct pt_piece_author *author);
void pt_piece_base_sort(struct pt_piece_base *b);
/* NULL: it was not there at the seam. */
struct pt_piece_author *pt_piece_base_find(const struct pt_piece_base *b, uint64_t wid);
/* From a packet whose numbers are in order; 0 or -ENOMEM. */
int pt_piece_base_read(struct pt_piece_base *b, const struct pt_packet_piece *p);
/* 0: it does not fit into a packet. */
uint32_t pt_piece_base_bytes(const struct pt_piece_base *b);
/* Fills all but the head. */
void pt_piece_base_store(const struct pt_piece_base *b, struct pt_packet_piece *p);

/* The numbers of a stream become those of the piece.  Authors without new numbers are left out,
 * unless the piece lists them already. */
void pt_piece_subtract(struct pt_piece_base *b, struct pt_log_status *status,
                       struct pt_log_author_totals *authors, size_t *count);
/* The same for the tail of a dead writer, whose checkpoint has no event that an earlier piece was
 * given (pt_checkpoint_clear). */
void pt_piece_subtract_tail(const struct pt_piece_base *b, struct pt_log_status *status,
                            struct pt_log_author_totals *authors, size_t count);

#endif
