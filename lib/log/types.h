/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Events counted by type.  Two forms: a table to count in, with a list of the
 * types that are not zero, so that a small packet costs little; and pairs, to
 * keep many such counts in little space.
 */
#ifndef PT_LOG_TYPES_H
#define PT_LOG_TYPES_H

#include <stdint.h>
#include "model/event.h"

struct pt_types {
    uint32_t count[PT_ID_MAX];
    uint16_t used[PT_ID_MAX];
    uint32_t used_count;
};

struct pt_type_count {
    uint32_t id;
    uint32_t events;
};

static inline void pt_types_add(struct pt_types *t, uint32_t id, uint32_t n)
{
    if (t->count[id] == 0)
        t->used[t->used_count++] = (uint16_t)id;
    t->count[id] += n;
}

static inline void pt_types_clear(struct pt_types *t)
{
    for (uint32_t i = 0; i < t->used_count; i++)
        t->count[t->used[i]] = 0;
    t->used_count = 0;
}

#endif
