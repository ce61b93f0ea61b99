/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Things by two numbers, in the order in which they came.  A thing begins with a struct top_node.
 */
#ifndef TOP_MAP_H
#define TOP_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct top_node {
    uint64_t a, b;
};

/* Zeros are an empty one. */
struct top_map {
    struct top_node **items;
    size_t count, room;
    uint32_t *index; /* open addressing: item + 1 */
    size_t index_room;
    uint64_t factor; /* of the hash, random: a traced process chooses the numbers */
};

void *top_map_find(const struct top_map *m, uint64_t a, uint64_t b);
/* The same; where there is none, one of zeros; NULL: there are as many as most. */
void *top_map_make(struct top_map *m, uint64_t a, uint64_t b, size_t size, size_t most);
/* Frees each for which drop() returns true; it frees what the thing owns. */
void top_map_sweep(struct top_map *m, bool (*drop)(void *context, void *item), void *context);
/* Frees all; release() frees what a thing owns, NULL: nothing. */
void top_map_free(struct top_map *m, void (*release)(void *item));

#endif
