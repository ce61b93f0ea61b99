/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The checkpoint of a consumer that writes a log: accounts in the segment (struct
 * pt_checkpoint, struct pt_slot_books) from which recovery reconstructs loss counts after
 * SIGKILL.
 *
 *     overwritten = recorded - given - excluded - refused - still to be given
 *
 * holds for each writer that has a slot, by the numbers in that slot, and for the sum of
 * all other writers, whose slots were reused or released.  For that sum, recorded is the
 * past of the slots (shm/slot.h); given, excluded and refused are the totals of all
 * writers less those of the writers with a slot.  So a writer that takes over an ended
 * slot transfers no numbers, and cannot make a checkpoint inconsistent.
 *
 * The log may lose some of the events that it was given, by its policy or because the
 * disk is full.  The checkpoint has the accounts of the log, too (struct pt_log_books), so
 * that recovery does not depend on the last ROUND, which may be older or newer:
 *
 *     lost by the log = given - found in the file
 *
 * The flush thread, the only writer, makes a checkpoint when it clears the log, and in each
 * commit of a round (collect.c) before it publishes the positions of that round.  It
 * writes the inactive one of two copies, then switches books_now with release order: a
 * kill at any moment leaves one complete copy.  Recovery reads a private copy of the
 * segment.
 *
 * A checkpoint has the positions in the chunks up to which it accounts, also in two copies.  A kill
 * between it and the last position that the round publishes leaves chunks with older positions:
 * recovery starts from those of the checkpoint.  Of a writer without a slot nothing else says
 * which of its events the sums have.
 *
 * A checkpoint is of one round.  Later packets of the log are not in it, and events in it
 * may still be in their chunks; log/reader/tail.c corrects both where it unites tail and
 * log.
 */
#ifndef PT_CONSUMER_CHECKPOINT_H
#define PT_CONSUMER_CHECKPOINT_H

#include "consumer/accounting.h"
#include "consumer/loss_mark.h"
#include "log/reader/reader.h"

/* For the next checkpoint: its accounts have the events of the chunk's contents up to there. */
void pt_checkpoint_position(const struct pt_seg *seg, uint32_t index, uint64_t gen, uint32_t at);
/* Makes a checkpoint: the accounts of each writer, in its slot; the sums; the marks of losses that
 * were put; the window after the round; the accounts of the log. */
void pt_checkpoint_leave(struct pt_accounts *a, const struct pt_losses *losses,
                         enum pt_window_then window, const struct pt_log_books *log);
/* The log was cleared: events that it was given before are no part of the stream. */
void pt_checkpoint_clear(struct pt_accounts *a);

/* In the copy of a dead consumer's segment: */

/* Chunks that the dead consumer did not come to publish get the positions of the checkpoint. */
void pt_checkpoint_positions(struct pt_seg *seg);
/* The window at the checkpoint. */
enum pt_window_then pt_checkpoint_window(const struct pt_seg *seg);

/* Takes the dead consumer's numbers of the slot's writer into t. */
void pt_checkpoint_take(const struct pt_seg *seg, uint32_t index, struct pt_account *t);
/* After the last round: fills *tail with the authors that have a slot, in a malloced array,
 * the sums of all others, and the last packet of the log that these numbers include.
 * 0 or -ENOMEM. */
int pt_checkpoint_tail(struct pt_accounts *a, struct pt_log_tail *tail);

/* The totals of a tally as a log lists them.  Used by each round, too. */
void pt_checkpoint_fill(const struct pt_account *t, struct pt_log_author_totals *a);

#endif
