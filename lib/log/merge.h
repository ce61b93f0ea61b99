/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The k-way merge by (time, writer) of live streams, where writers come and go: a
 * binary heap of nodes that the caller embeds in its cursors.  Logs have the
 * tournament of log/reader/loser_tree.h.
 * One caller at a time.  Only pt_merge_push allocates.
 */
#ifndef PT_LOG_MERGE_H
#define PT_LOG_MERGE_H

#include <stddef.h>
#include <stdint.h>

struct pt_merge_node {
    uint64_t ts;  /* of the cursor's current event */
    uint64_t tie; /* decides among equal times: the lower comes first */
};

/* The time is stored beside the pointer, so that most comparisons stay in the heap array. */
struct pt_merge_entry {
    uint64_t ts;
    struct pt_merge_node *node;
};

struct pt_merge {
    struct pt_merge_entry *heap;
    size_t count, room;
};

void pt_merge_init(struct pt_merge *m);
void pt_merge_deinit(struct pt_merge *m);
void pt_merge_clear(struct pt_merge *m);
/* 0 or -ENOMEM */
int pt_merge_push(struct pt_merge *m, struct pt_merge_node *node);
/* To be called after the top node's ts or tie grew. */
void pt_merge_sift_top(struct pt_merge *m);
/* Removes the top node. */
void pt_merge_pop(struct pt_merge *m);

static inline struct pt_merge_node *pt_merge_top(const struct pt_merge *m)
{
    return m->count ? m->heap[0].node : NULL;
}

#endif
