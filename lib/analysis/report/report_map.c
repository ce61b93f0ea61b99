/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See report_map.h. */
#include "analysis/report/report_map.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/assert.h"

enum { FIRST_ROOM = 64 };

struct pt_report_slot {
    struct pt_report_key key;
    void *item; /* NULL: the slot is free */
};

/* The mixer of splitmix64 (Steele 2014), over a sum of the three numbers. */
static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

static uint64_t hash_of(struct pt_report_key k)
{
    return mix(k.a * UINT64_C(0x9e3779b97f4a7c15) + k.b * UINT64_C(0xd1342543de82ef95) + k.c);
}

/* The slot of the key, or the free one that it would have; the table is never full. */
static struct pt_report_slot *slot_of(const struct pt_report_map *m, struct pt_report_key k)
{
    size_t i = (size_t)hash_of(k) & (m->room - 1);

    pt_assert(m->count < m->room);
    while (m->slots[i].item &&
           (m->slots[i].key.a != k.a || m->slots[i].key.b != k.b || m->slots[i].key.c != k.c))
        i = (i + 1) & (m->room - 1);
    return &m->slots[i];
}

static bool make_slots(struct pt_report_map *m)
{
    struct pt_report_map larger = *m;

    larger.room = m->room ? 2 * m->room : FIRST_ROOM;
    larger.slots = calloc(larger.room, sizeof *larger.slots);
    if (!larger.slots)
        return false;
    for (size_t i = 0; i < m->room; i++)
        if (m->slots[i].item)
            *slot_of(&larger, m->slots[i].key) = m->slots[i];
    free(m->slots);
    *m = larger;
    return true;
}

static bool make_items(struct pt_report_map *m)
{
    size_t room = m->item_room ? 2 * m->item_room : FIRST_ROOM;
    void **items = realloc(m->items, room * sizeof *items);

    if (!items)
        return false;
    m->items = items;
    m->item_room = room;
    return true;
}

void *pt_report_map_make(struct pt_report_map *m, struct pt_report_key key, size_t size)
{
    struct pt_report_slot *slot = m->room ? slot_of(m, key) : NULL;

    if (slot && slot->item)
        return slot->item;
    if (m->count == m->item_room && !make_items(m))
        return NULL;
    if (2 * (m->count + 1) > m->room && !make_slots(m))
        return NULL;
    slot = slot_of(m, key);
    slot->item = calloc(1, size);
    if (!slot->item)
        return NULL;
    slot->key = key;
    m->items[m->count++] = slot->item;
    return slot->item;
}

void *pt_report_map_find(const struct pt_report_map *m, struct pt_report_key key)
{
    return m->room ? slot_of(m, key)->item : NULL;
}

void pt_report_map_deinit(struct pt_report_map *m)
{
    for (size_t i = 0; i < m->count; i++)
        free(m->items[i]);
    free(m->items);
    free(m->slots);
}
