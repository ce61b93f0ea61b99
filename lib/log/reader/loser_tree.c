/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* The k-way merge of logs; see loser_tree.h. */
#include <errno.h>
#include <stdlib.h>
#include "base/assert.h"
#include "base/mul128.h"
#include "log/reader/loser_tree.h"

/* Time and rank of a contestant that is out: after all others, as no index is so great. */
#define OUT    UINT64_MAX
#define NOBODY (OUT - 1) /* rank: the first contestant at that match waits there */

void pt_loser_tree_init(struct pt_loser_tree *t)
{
    *t = (struct pt_loser_tree){ .ts = NULL };
}

void pt_loser_tree_deinit(struct pt_loser_tree *t)
{
    free(t->ts);
    pt_loser_tree_init(t);
}

int pt_loser_tree_reset(struct pt_loser_tree *t, size_t n)
{
    t->contestants = t->count = 0;
    if (n > t->room) {
        free(t->ts);
        t->room = 0;
        t->ts = malloc(4 * n * sizeof *t->ts);
        if (!t->ts)
            return -ENOMEM;
        t->rank = t->ts + 2 * n;
        t->room = n;
    }
    for (size_t i = n; i < 2 * n; i++)
        t->ts[i] = t->rank[i] = OUT;
    t->contestants = n;
    return 0;
}

void pt_loser_tree_enter(struct pt_loser_tree *t, uint32_t index, uint64_t ts, uint32_t tie)
{
    pt_assert_call(index < t->contestants && t->count < t->contestants);
    t->ts[t->contestants + index] = ts;
    t->rank[t->contestants + index] = (uint64_t)tie << 32 | index;
    t->count++;
}

#if defined __SIZEOF_INT128__
static inline bool is_before(uint64_t ts, uint64_t rank, uint64_t than_ts, uint64_t than_rank)
{
    return ((pt_mul128)ts << 64 | rank) < ((pt_mul128)than_ts << 64 | than_rank);
}
#else
static inline bool is_before(uint64_t ts, uint64_t rank, uint64_t than_ts, uint64_t than_rank)
{
    return (ts < than_ts) | ((ts == than_ts) & (rank < than_rank));
}
#endif

/* The match at which the winner played first; 0: there is none. */
static inline size_t first_match(const struct pt_loser_tree *t)
{
    return (t->contestants + t->winner) / 2;
}

/*
 * Plays the winner's matches up to the final, with that time and rank; returns the rank
 * of the new winner.  Where writers take turns the result of a match is unpredictable, so
 * the choice is arithmetic and no branch.
 */
static uint64_t play(struct pt_loser_tree *t, uint64_t ts, uint64_t rank)
{
    for (size_t i = first_match(t); i > 0; i /= 2) {
        uint64_t other = t->ts[i], other_rank = t->rank[i];
        uint64_t loses = 0 - (uint64_t)is_before(other, other_rank, ts, rank);
        uint64_t change = (other ^ ts) & loses, change_rank = (other_rank ^ rank) & loses;

        t->ts[i] = other ^ change;
        t->rank[i] = other_rank ^ change_rank;
        ts ^= change;
        rank ^= change_rank;
    }
    return rank;
}

static void set_winner(struct pt_loser_tree *t, uint64_t rank)
{
    t->winner_rank = rank;
    t->winner = (uint32_t)rank;
    t->limit = 0;
}

/* Plays each match in which an opponent waits; waits at the first one without. */
static void arrive(struct pt_loser_tree *t, uint32_t index)
{
    size_t i = t->contestants + index;
    uint64_t ts = t->ts[i], rank = t->rank[i];

    while ((i /= 2) > 0 && t->rank[i] != NOBODY)
        if (is_before(t->ts[i], t->rank[i], ts, rank)) {
            uint64_t other = t->ts[i], other_rank = t->rank[i];

            t->ts[i] = ts;
            t->rank[i] = rank;
            ts = other;
            rank = other_rank;
        }
    if (i == 0) {
        set_winner(t, rank);
    } else {
        t->ts[i] = ts;
        t->rank[i] = rank;
    }
}

/* Does each contestant that is not out wait at one match, or has won? */
#define LOOKED_AT 64u
PT_VALIDATOR bool is_valid(const struct pt_loser_tree *t)
{
    size_t in = t->contestants > 0 && t->winner_rank != OUT;

    if (t->contestants > LOOKED_AT)
        return true;
    for (size_t i = 1; i < t->contestants; i++) {
        if (t->rank[i] == NOBODY || (t->rank[i] != OUT && t->rank[i] == t->winner_rank))
            return false;
        in += t->rank[i] != OUT;
    }
    return in == t->count;
}
void pt_loser_tree_begin(struct pt_loser_tree *t)
{
    t->steady = false;
    for (size_t i = 1; i < t->contestants; i++)
        t->rank[i] = NOBODY;
    for (size_t i = 0; i < t->contestants; i++)
        arrive(t, (uint32_t)i);
    pt_assert_valid(is_valid(t));
}

/* The earliest of the contestants that lost only against the winner: the second of all. */
static void find_second(struct pt_loser_tree *t)
{
    uint64_t ts = OUT, rank = t->winner_rank;

    for (size_t i = first_match(t); i > 0; i /= 2) {
        uint64_t other = t->ts[i], before = 0 - (uint64_t)(other < ts);

        rank ^= (rank ^ t->rank[i]) & before;
        ts = other < ts ? other : ts;
    }
    pt_assert((uint32_t)rank != t->winner || ts == OUT);
    t->limit = ts;
    t->second = (uint32_t)rank;
}

bool pt_loser_tree_again(struct pt_loser_tree *t, uint64_t ts)
{
    uint64_t before = t->winner_rank;

    pt_assert_call(t->count > 0 && t->winner < t->contestants);
    if (t->steady && !t->limit) {
        find_second(t);
        if (ts < t->limit)
            return true;
        t->steady = false;
    }
    set_winner(t, play(t, ts, before));
    pt_assert(t->winner < t->contestants);
    pt_assert_valid(is_valid(t));
    if (t->winner_rank != before)
        return false;
    t->steady = true;
    find_second(t);
    return true;
}

void pt_loser_tree_leave(struct pt_loser_tree *t)
{
    pt_assert_call(t->count > 0);
    set_winner(t, play(t, OUT, OUT));
    t->count--;
    pt_assert_valid(is_valid(t));
}
