/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* The stores of the floor (floor.h), inlined into whoever includes this. */
#ifndef TEST_BENCH_FLOOR_STORES_H
#define TEST_BENCH_FLOOR_STORES_H

#include "base/atomics.h"
#include "base/clock.h"
#include "bench/floor.h"

/* Relaxed atomic stores stay eight bytes each: none is merged or vectorised.  The buffer
 * wraps after size bytes. */
static inline __attribute__((always_inline)) void floor_put(struct floor_buffer *b, size_t size,
                                                            uint64_t ts, unsigned id,
                                                            const void *data, size_t len,
                                                            uint64_t address)
{
    const uint64_t *words = data;
    uint64_t *at;
    uint64_t position = b->position;

    if (pt_unlikely(position + 24 + len > size))
        position = 0;
    at = (uint64_t *)(void *)(b->bytes + position);
    pt_store_relaxed(&at[0], ts);
    pt_store_relaxed(&at[1], (uint64_t)len << 32 | id);
    if (len == 8) {
        pt_store_relaxed(&at[2], address);
        pt_store_relaxed(&at[3], words[0]);
    } else {
        for (size_t i = 0; i < len / 8; i++)
            pt_store_relaxed(&at[2 + i], words[i]);
    }
    pt_store_release(&b->position, position + (len == 8 ? 32 : 16 + len));
}

static inline __attribute__((always_inline)) void floor_stores(struct floor_buffer *b, int clock,
                                                               unsigned id, const void *data,
                                                               size_t len, uint64_t address)
{
    floor_put(b, FLOOR_BYTES, pt_clock_now(clock), id, data, len, address);
}

#endif
