/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See layout_cache.h. */
#include <errno.h>
#include <stdlib.h>
#include "model/layout_cache.h"

#define IDS 4096u /* beyond every id that a stream can have */

struct entry {
    struct posixtrace_layout *layout;
    uint32_t asked, next; /* calls that found none, and the one that looks again */
};

struct pt_layout_cache {
    struct entry entry[IDS];
};

struct pt_layout_cache *pt_layout_cache_new(void)
{
    return calloc(1, sizeof(struct pt_layout_cache));
}

void pt_layout_cache_free(struct pt_layout_cache *cache)
{
    for (size_t i = 0; cache && i < IDS; i++)
        free(cache->entry[i].layout);
    free(cache);
}

const struct posixtrace_layout *pt_layout_cache_get(struct pt_layout_cache *cache, uint32_t id,
                                                    bool *look)
{
    struct entry *e = id < IDS ? &cache->entry[id] : NULL;

    *look = e && !e->layout && e->asked++ == e->next && e->next < UINT32_MAX / 2;
    return e ? e->layout : NULL;
}

/* A text that this version does not understand will not be understood later. */
const struct posixtrace_layout *pt_layout_cache_put(struct pt_layout_cache *cache, uint32_t id,
                                                    const char *description)
{
    struct entry *e = &cache->entry[id];

    if (description && pt_layout_read(description, &e->layout) == -EINVAL)
        e->next = UINT32_MAX;
    else
        e->next = e->next ? 2 * e->next : 1;
    return e->layout;
}
