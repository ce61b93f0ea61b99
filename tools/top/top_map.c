/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See top_map.h. */
#include "top/top_map.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "common/tool.h"

enum { LOWEST_ROOM = 64 };

static size_t hash_of(const struct top_map *m, uint64_t a, uint64_t b)
{
    uint64_t mixed = (a * UINT64_C(0x9e3779b97f4a7c15) + b) * m->factor;

    mixed ^= mixed >> 32;
    return (size_t)(mixed * m->factor >> 20);
}

static uint32_t *place_of(const struct top_map *m, uint64_t a, uint64_t b)
{
    size_t mask = m->index_room - 1, i = hash_of(m, a, b) & mask;

    while (m->index[i]) {
        const struct top_node *node = m->items[m->index[i] - 1];

        if (node->a == a && node->b == b)
            break;
        i = (i + 1) & mask;
    }
    return &m->index[i];
}

void *top_map_find(const struct top_map *m, uint64_t a, uint64_t b)
{
    uint32_t at = m->index_room ? *place_of(m, a, b) : 0;

    return at ? m->items[at - 1] : NULL;
}

static void index_all(struct top_map *m)
{
    memset(m->index, 0, m->index_room * sizeof *m->index);
    for (size_t i = 0; i < m->count; i++)
        *place_of(m, m->items[i]->a, m->items[i]->b) = (uint32_t)i + 1;
}

static void make_room(struct top_map *m)
{
    m->room = m->room ? 2 * m->room : LOWEST_ROOM;
    m->items = tool_grow(m->items, m->room, sizeof(*m->items));
    m->index_room = 2 * m->room;
    m->index = tool_grow(m->index, m->index_room, sizeof *m->index);
    if (m->factor == 0 && getrandom(&m->factor, sizeof m->factor, GRND_NONBLOCK) < 0)
        m->factor = (uintptr_t)m;
    m->factor |= 1;
    index_all(m);
}

void *top_map_make(struct top_map *m, uint64_t a, uint64_t b, size_t size, size_t most)
{
    struct top_node *node = top_map_find(m, a, b);

    if (node || m->count >= most)
        return node;
    if (m->count == m->room)
        make_room(m);
    node = tool_grow(NULL, 1, size);
    memset(node, 0, size);
    node->a = a;
    node->b = b;
    m->items[m->count++] = node;
    *place_of(m, a, b) = (uint32_t)m->count;
    return node;
}

void top_map_sweep(struct top_map *m, bool (*drop)(void *context, void *item), void *context)
{
    size_t kept = 0;

    for (size_t i = 0; i < m->count; i++) {
        if (drop(context, m->items[i]))
            free(m->items[i]);
        else
            m->items[kept++] = m->items[i];
    }
    if (kept == m->count)
        return;
    m->count = kept;
    index_all(m);
}

void top_map_free(struct top_map *m, void (*release)(void *item))
{
    for (size_t i = 0; i < m->count; i++) {
        if (release)
            release(m->items[i]);
        free(m->items[i]);
    }
    free(m->items);
    free(m->index);
    memset(m, 0, sizeof *m);
}
