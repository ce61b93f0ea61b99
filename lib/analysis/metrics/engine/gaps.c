/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See gaps.h. */
#include <errno.h>
#include <stdlib.h>
#include "analysis/metrics/engine/gaps.h"
#include "base/assert.h"

enum { GAPS_KEPT = 8192 };

int pt_gaps_init(struct pt_gaps *g)
{
    g->count = 0;
    g->at = calloc(GAPS_KEPT, sizeof *g->at);
    return g->at ? 0 : ENOMEM;
}

void pt_gaps_deinit(struct pt_gaps *g)
{
    free(g->at);
}

/* The first one stays. */
static void drop_every_second(struct pt_gaps *g)
{
    for (size_t i = 0; 2 * i < g->count; i++)
        g->at[i] = g->at[2 * i];
    g->count = (g->count + 1) / 2;
}

void pt_gaps_add(struct pt_gaps *g, uint64_t number, int64_t from)
{
    pt_assert_call(number > (g->count ? g->at[g->count - 1].number : 0));
    if (g->count == GAPS_KEPT)
        drop_every_second(g);
    pt_assert(g->count < GAPS_KEPT);
    g->at[g->count].number = number;
    g->at[g->count++].from = from;
}

int64_t pt_gaps_begin(const struct pt_gaps *g, uint64_t number)
{
    size_t low = 0, high = g->count;

    pt_assert_call(g->count > 0 && number > 0);
    /* The last entry whose number is not above. */
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;

        if (g->at[middle].number <= number)
            low = middle;
        else
            high = middle;
    }
    pt_assert(low == 0 || g->at[low].number <= number);
    pt_assert(low + 1 == g->count || g->at[low + 1].number > number);
    return g->at[low].from;
}
