/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The k-way merge of a round of a log, by (time, tie): a tournament of which each
 * match remembers its loser.  Whoever won plays again on its way up only, and that
 * way is known beforehand: no step waits for the one before it to say where the
 * next one is, as in a heap.  All contestants are there from the begin; live
 * streams, where they come and go, have the heap of merge.h.
 *
 * Who wins twice is looked at more closely: as long as its time stays below that
 * of the second it goes on winning, and no match is played.
 *
 * One caller at a time.  Only pt_tournament_reset allocates.
 */
#ifndef PT_LOG_TOURNAMENT_H
#define PT_LOG_TOURNAMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pt_tournament {
    /* The losers of match 1 (the final) to contestants - 1; until it begins, the
     * contestants themselves, behind them.  Times apart from ranks: moved together
     * they go through vector registers, which takes three times as long. */
    uint64_t *ts;
    uint64_t *rank;                   /* tie, which decides among equal times; index */
    size_t   contestants, room;
    size_t   count;                   /* those that are not out */
    uint64_t winner_rank;
    uint32_t winner, second;          /* second: if limit is not 0 */
    bool     steady;                  /* who won before did so more than once */
    uint64_t limit;                   /* time below which the winner wins again; 0: not known */
};

void pt_tournament_init(struct pt_tournament *t);
void pt_tournament_deinit(struct pt_tournament *t);

/* Contestants 0 to n - 1, all of them out.  0 or -ENOMEM. */
int pt_tournament_reset(struct pt_tournament *t, size_t n);
/* Before the begin: this one is in. */
void pt_tournament_enter(struct pt_tournament *t, uint32_t index, uint64_t ts, uint32_t tie);
void pt_tournament_begin(struct pt_tournament *t);

/* The winner has another time; t->winner is who wins now.  True: it is the same, and
 * t->second comes behind it. */
bool pt_tournament_again(struct pt_tournament *t, uint64_t ts);
/* The winner is out. */
void pt_tournament_leave(struct pt_tournament *t);

/* With that time the winner is first again: nothing need be done. */
static inline bool pt_tournament_stays(const struct pt_tournament *t, uint64_t ts)
{
    return ts < t->limit;
}

#endif
