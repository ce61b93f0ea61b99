/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* The k-way merge: a binary heap; see merge.h. */
#include <stdbool.h>
#include <stdlib.h>
#include "base/assert.h"
#include "base/atomics.h"
#include "base/array.h"
#include "log/merge.h"

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

static inline bool is_before(const struct pt_merge_entry *a, const struct pt_merge_entry *b)
{
    if (pt_unlikely(a->ts == b->ts))
        return a->node->tie < b->node->tie;
    return a->ts < b->ts;
}

/* Puts e where it belongs between the root and the free place i. */
static void climb(struct pt_merge_entry *heap, size_t i, struct pt_merge_entry e)
{
    for (; i > 0 && is_before(&e, &heap[(i - 1) / 2]); i = (i - 1) / 2)
        heap[i] = heap[(i - 1) / 2];
    heap[i] = e;
}

/* Are the first entries in the order of a heap?  Of a large one only these are looked at. */
#define LOOKED_AT 64u
PT_VALIDATOR bool is_valid(const struct pt_merge *m)
{
    if (m->count > m->room)
        return false;
    for (size_t i = 0; i < m->count && i < LOOKED_AT; i++)
        if (m->heap[i].ts != m->heap[i].node->ts ||
            (i > 0 && is_before(&m->heap[i], &m->heap[(i - 1) / 2])))
            return false;
    return true;
}
int pt_merge_push(struct pt_merge *m, struct pt_merge_node *node)
{
    int error = pt_array_grow(&m->heap, &m->room, m->count, sizeof *m->heap);

    if (error)
        return error;
    climb(m->heap, m->count, (struct pt_merge_entry){ node->ts, node });
    m->count++;
    pt_assert_valid(is_valid(m));
    return 0;
}

/*
 * Where many writers take turns, the earlier child is unpredictable, and
 * the new top belongs near the leaves.  So the free place moves down to a leaf without
 * comparing it with the entry (bottom-up heapsort, Wegener 1993), and arithmetic instead
 * of a branch chooses the child; then the entry climbs, mostly not at all.  The first
 * test is for the common case in which the same writer stays first.
 */
void pt_merge_sift_top(struct pt_merge *m)
{
    struct pt_merge_entry *heap = m->heap, e = { heap[0].node->ts, heap[0].node };
    size_t i = 0, n = m->count, right;

    pt_assert_call(n > 0);
    heap[0] = e;
    if ((n < 2 || is_before(&e, &heap[1])) && (n < 3 || is_before(&e, &heap[2])))
        return;
    while ((right = 2 * i + 2) < n) {
        size_t child = right - is_before(&heap[right - 1], &heap[right]);

        heap[i] = heap[child];
        i = child;
    }
    if (right == n) {
        heap[i] = heap[right - 1];
        i = right - 1;
    }
    climb(heap, i, e);
    pt_assert_valid(is_valid(m));
}

void pt_merge_pop(struct pt_merge *m)
{
    pt_assert_call(m->count > 0);
    m->heap[0] = m->heap[--m->count];
    if (m->count)
        pt_merge_sift_top(m);
}
