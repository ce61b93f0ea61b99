/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See floor.h. */
#include <stdlib.h>
#include "bench/floor_stores.h"

static _Thread_local struct floor_buffer buffer __attribute__((tls_model("initial-exec")));

/* Each allocated by itself, as streams are mapped: side by side they would be at the same
 * place of a page. */
static _Thread_local struct floor_buffer *several[FLOOR_MOST]
    __attribute__((tls_model("initial-exec")));
static _Thread_local unsigned several_used __attribute__((tls_model("initial-exec")));
static size_t several_bytes;

#define ADDRESS ((uint64_t)(uintptr_t)__builtin_return_address(0))

void bench_empty(unsigned id, const void *data, size_t len)
{
    (void)id;
    (void)data;
    (void)len;
}

/* len is a constant here, as in a function that records one kind of event. */
void bench_floor8_tsc(unsigned id, const void *data, size_t len)
{
    (void)len;
    floor_stores(&buffer, PT_CLOCK_TSC, id, data, 8, ADDRESS);
}

void bench_floor64_tsc(unsigned id, const void *data, size_t len)
{
    (void)len;
    floor_stores(&buffer, PT_CLOCK_TSC, id, data, 64, ADDRESS);
}

void bench_floor8_monotonic(unsigned id, const void *data, size_t len)
{
    (void)len;
    floor_stores(&buffer, PT_CLOCK_MONOTONIC, id, data, 8, ADDRESS);
}

void bench_floor64_monotonic(unsigned id, const void *data, size_t len)
{
    (void)len;
    floor_stores(&buffer, PT_CLOCK_MONOTONIC, id, data, 64, ADDRESS);
}

bool bench_floor_use(unsigned count, size_t bytes)
{
    for (unsigned i = 0; i < count; i++) {
        if (!several[i])
            several[i] = calloc(1, sizeof *several[i]);
        if (!several[i])
            return false;
        several[i]->position = several[i]->position < bytes ? several[i]->position : 0;
    }
    several_used = count;
    several_bytes = bytes;
    return true;
}

static inline __attribute__((always_inline)) void put_several(int clock, unsigned id,
                                                              const void *data, uint64_t address)
{
    uint64_t ts = pt_clock_now(clock);

    for (unsigned i = 0; i < several_used; i++)
        floor_put(several[i], several_bytes, ts, id, data, 8, address);
}

void bench_floor8_several_tsc(unsigned id, const void *data, size_t len)
{
    (void)len;
    put_several(PT_CLOCK_TSC, id, data, ADDRESS);
}

void bench_floor8_several_monotonic(unsigned id, const void *data, size_t len)
{
    (void)len;
    put_several(PT_CLOCK_MONOTONIC, id, data, ADDRESS);
}
