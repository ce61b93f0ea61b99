/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* The index of rounds; see index.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/assert.h"
#include "base/array.h"
#include "log/index.h"

#define FIRST_SPACING (64u << 10)

void pt_index_init(struct pt_index *x)
{
    memset(x, 0, sizeof *x);
    x->spacing = FIRST_SPACING;
}

void pt_index_deinit(struct pt_index *x)
{
    free(x->entries);
    x->entries = NULL;
}

void pt_index_clear(struct pt_index *x)
{
    pt_index_deinit(x);
    pt_index_init(x);
}

/* Merges pairs of entries; the later half's last_ts is already the greater. */
static void thin(struct pt_index *x)
{
    size_t kept = 0;

    for (size_t i = 0; i + 1 < x->count; i += 2) {
        struct pt_index_entry *a = &x->entries[i], *b = a + 1;

        if (b->first_ts < a->first_ts)
            a->first_ts = b->first_ts;
        a->last_ts = b->last_ts;
        x->entries[kept++] = *a;
    }
    x->count = kept;
    x->spacing *= 2;
}

int pt_index_append(struct pt_index *x, const struct pt_index_entry *entry)
{
    int error = pt_array_grow(&x->entries, &x->room, x->count, sizeof *x->entries);

    if (error)
        return error;
    pt_assert(x->count < x->room && x->count < PT_INDEX_MAX);
    x->entries[x->count++] = *entry;
    x->bytes = 0;
    if (x->count == PT_INDEX_MAX)
        thin(x);
    return 0;
}

int pt_index_add(struct pt_index *x, uint64_t offset, uint64_t bytes, uint64_t first_ts,
                 uint64_t last_ts, bool goes_on)
{
    struct pt_index_entry *last = x->count ? &x->entries[x->count - 1] : NULL;
    bool begins = !last || (!goes_on && x->bytes >= x->spacing);
    int error = 0;

    if (last && last->last_ts > last_ts)
        last_ts = last->last_ts;
    if (begins)
        error = pt_index_append(x, &(struct pt_index_entry){ offset, first_ts, last_ts });
    if (last && (error || !begins)) {
        if (first_ts < last->first_ts)
            last->first_ts = first_ts;
        last->last_ts = last_ts;
    }
    x->bytes += bytes;
    pt_assert(x->count < 2 || x->entries[x->count - 2].last_ts <= x->entries[x->count - 1].last_ts);
    return error;
}

const struct pt_index_entry *pt_index_find(const struct pt_index *x, uint64_t ts)
{
    size_t low = 0, high = x->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (x->entries[middle].last_ts >= ts)
            high = middle;
        else
            low = middle + 1;
    }
    return low < x->count ? &x->entries[low] : NULL;
}
