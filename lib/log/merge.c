/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* The k-way merge: a binary heap of pointers; see merge.h. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include "log/merge.h"

#define FIRST_ROOM 32u

void pt_merge_init(struct pt_merge *m)
{
    *m = (struct pt_merge){ .heap = NULL };
}

void pt_merge_deinit(struct pt_merge *m)
{
    free(m->heap);
    pt_merge_init(m);
}

void pt_merge_clear(struct pt_merge *m)
{
    m->count = 0;
}

static inline bool is_before(const struct pt_merge_node *a, const struct pt_merge_node *b)
{
    return a->ts < b->ts || (a->ts == b->ts && a->tie < b->tie);
}

int pt_merge_push(struct pt_merge *m, struct pt_merge_node *node)
{
    size_t i;

    if (m->count == m->room) {
        size_t room = m->room ? m->room * 2 : FIRST_ROOM;
        struct pt_merge_node **heap = realloc(m->heap, room * sizeof(*heap));

        if (!heap)
            return -ENOMEM;
        m->heap = heap;
        m->room = room;
    }
    for (i = m->count++; i > 0; i = (i - 1) / 2) {
        if (!is_before(node, m->heap[(i - 1) / 2]))
            break;
        m->heap[i] = m->heap[(i - 1) / 2];
    }
    m->heap[i] = node;
    return 0;
}

void pt_merge_sift_top(struct pt_merge *m)
{
    struct pt_merge_node **heap = m->heap, *node = heap[0];
    size_t i = 0, n = m->count;

    for (;;) {
        size_t child = 2 * i + 1;

        if (child >= n)
            break;
        if (child + 1 < n && is_before(heap[child + 1], heap[child]))
            child++;
        if (!is_before(heap[child], node))
            break;
        heap[i] = heap[child];
        i = child;
    }
    heap[i] = node;
}

void pt_merge_pop(struct pt_merge *m)
{
    m->heap[0] = m->heap[--m->count];
    if (m->count)
        pt_merge_sift_top(m);
}
