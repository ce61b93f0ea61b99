/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See earliest.h. */
#include "input/earliest.h"

#include <stdlib.h>

#include "common/tool.h"

void earliest_init(struct earliest *e, size_t sources)
{
    e->at = tool_grow(NULL, sources + 1, sizeof *e->at);
    e->count = 0;
}

void earliest_free(struct earliest *e)
{
    free(e->at);
    e->at = NULL;
}

static bool is_before(const struct earliest_item *a, const struct earliest_item *b)
{
    return a->key < b->key || (a->key == b->key && a->place < b->place);
}

static void swap(struct earliest *e, size_t a, size_t b)
{
    struct earliest_item kept = e->at[a];

    e->at[a] = e->at[b];
    e->at[b] = kept;
}

static void sink(struct earliest *e)
{
    for (size_t at = 0;;) {
        size_t least = at, left = 2 * at + 1;

        for (size_t child = left; child < left + 2 && child < e->count; child++)
            if (is_before(&e->at[child], &e->at[least]))
                least = child;
        if (least == at)
            return;
        swap(e, at, least);
        at = least;
    }
}

void earliest_add(struct earliest *e, size_t place, int64_t key)
{
    size_t at = e->count++;

    e->at[at] = (struct earliest_item){ key, place };
    for (; at > 0 && is_before(&e->at[at], &e->at[(at - 1) / 2]); at = (at - 1) / 2)
        swap(e, at, (at - 1) / 2);
}

void earliest_advance(struct earliest *e, int64_t key)
{
    e->at[0].key = key;
    sink(e);
}

void earliest_drop(struct earliest *e)
{
    e->at[0] = e->at[--e->count];
    sink(e);
}
