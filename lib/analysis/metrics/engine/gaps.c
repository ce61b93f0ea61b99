/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See gaps.h. */
#include <errno.h>
#include <stdlib.h>
#include "analysis/metrics/engine/gaps.h"

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
    if (g->count == GAPS_KEPT)
        drop_every_second(g);
    g->at[g->count].number = number;
    g->at[g->count++].from = from;
}

int64_t pt_gaps_begin(const struct pt_gaps *g, uint64_t number)
{
    size_t low = 0, high = g->count;

    /* The last entry whose number is not above. */
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;

        if (g->at[middle].number <= number)
            low = middle;
        else
            high = middle;
    }
    return g->at[low].from;
}
