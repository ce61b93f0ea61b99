/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The k-way merge of a round of a log, by (time, tie): a loser tree (Knuth, volume 3), a
 * tournament in which each match remembers its loser.  A winner that returns with a later
 * time plays only the matches on its path to the final.  That path is known beforehand: no
 * step waits for the one before it to find the next one, as in a heap.  All contestants
 * are there from the start; live streams, where they come and go, have the heap of
 * merge.h.
 *
 * When a contestant wins twice in a row, the tournament finds the second of all.  As long
 * as the winner's time stays below that of the second, it wins without a match.
 *
 * One caller at a time.  Only pt_loser_tree_reset allocates.
 */
#ifndef PT_LOG_READER_TOURNAMENT_H
#define PT_LOG_READER_TOURNAMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pt_loser_tree {
    /* The losers of match 1 (the final) to contestants - 1; after them the contestants,
     * as they were entered.  Times and ranks are separate arrays: compilers move pairs
     * through vector registers, which takes three times as long. */
    uint64_t *ts;
    uint64_t *rank; /* tie, which decides among equal times; index */
    size_t contestants, room;
    size_t count; /* those that are not out */
    uint64_t winner_rank;
    uint32_t winner, second; /* second: if limit is not 0 */
    bool steady;             /* the winner before this one won more than once */
    uint64_t limit;          /* time below which the winner wins again; 0: not known */
};

void pt_loser_tree_init(struct pt_loser_tree *t);
void pt_loser_tree_deinit(struct pt_loser_tree *t);

/* Contestants 0 to n - 1, all of them out.  0 or -ENOMEM. */
int pt_loser_tree_reset(struct pt_loser_tree *t, size_t n);
/* Before pt_loser_tree_begin(): contestant index takes part. */
void pt_loser_tree_enter(struct pt_loser_tree *t, uint32_t index, uint64_t ts, uint32_t tie);
void pt_loser_tree_begin(struct pt_loser_tree *t);

/* The winner returns with a later time; t->winner is the new winner.  True: it is the
 * same one, and t->second is the second. */
bool pt_loser_tree_again(struct pt_loser_tree *t, uint64_t ts);
/* The winner is out. */
void pt_loser_tree_leave(struct pt_loser_tree *t);

/* With that time the winner is first again: nothing need be done. */
static inline bool pt_loser_tree_stays(const struct pt_loser_tree *t, uint64_t ts)
{
    return ts < t->limit;
}

#endif
