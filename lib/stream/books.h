/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The books of a consumer that writes a log, as it leaves them in the segment
 * for who comes after SIGKILL (struct pt_books), and what that one reads in them.
 *
 *     overwritten = recorded - given - excluded - refused - still to be given
 *
 * holds for each writer that has a slot, by the numbers in that slot, and for all
 * the others together, whose slots were needed or given back.  Of those, recorded
 * is the past of the slots (shm/slot.h); given, excluded and refused are what
 * the consumer has seen of everybody less what it has seen of those with a slot.
 * So a writer that takes another's ended slot has nothing to hand over, and
 * cannot come in between when the consumer leaves its numbers.
 *
 * Of what was given the log may lose a part again: its policy, or a disk that is full.
 * The books say what the log has made of it, so that recovery need not trust what the
 * log says of its losses, which may be older than the books, or newer:
 *
 *     lost by the log = given - found in the file
 *
 * A kill finds the books as of one round.  What is in the log behind that round's
 * last packet is not in them, and what they contain may still lie in its chunk,
 * unless the kill came at leisure: where tail and log are united both are made
 * up for (log/reader_tail.c).  One thing is not: records passed over by the last
 * round, of writers without a slot, are taken twice if the kill comes between the
 * books and the positions of the round.
 */
#ifndef PT_STREAM_BOOKS_H
#define PT_STREAM_BOOKS_H

#include "log/reader.h"
#include "stream/live.h"

/* Leaves what was seen of each writer, in its slot, and of all of them, and what the
 * log has made of what it was given. */
void pt_books_leave(struct pt_live *l, const struct pt_log_books *log);
/* The log was cleared: what it was given before is no part of the stream. */
void pt_books_clear(struct pt_live *l);

/* In the copy of a dead consumer's segment: */

/* What the dead consumer has seen of the slot's writer. */
void pt_books_take(const struct pt_seg *seg, uint32_t index, struct pt_tally *t);
/* After the last round: authors with a slot, in a malloced array, the sums of all
 * others, and the packet up to which the log is in these numbers. 0 or -ENOMEM. */
int pt_books_tail(struct pt_live *l, struct pt_log_tail *tail);

void pt_books_fill(const struct pt_tally *t, struct pt_log_author_totals *a);

#endif
