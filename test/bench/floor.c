/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See floor.h. */
#include <stdlib.h>
#include <string.h>
#include "bench/floor_stores.h"

pt_u64 pt_clock_offset; /* which the library has for itself */

static _Thread_local struct floor_buffer buffer __attribute__((tls_model("initial-exec")));

/* Each begins at another place of its page, as chunks do (struct pt_slot in lib/shm/layout.h says
 * why).  The prefetch is that of lib/writer/event_multi.c. */
enum { STEP = 128, AHEAD = 256 };
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
        if (!several[i]) {
            char *memory = aligned_alloc(4096, sizeof *several[i] + 4096);

            if (!memory)
                return false;
            memset(memory, 0, sizeof *several[i] + 4096);
            several[i] = (struct floor_buffer *)(void *)(memory + i * STEP % 4096);
        }
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

    for (unsigned i = 0; i < several_used; i++) {
        __builtin_prefetch(several[i]->bytes + several[i]->position + AHEAD, 1);
        floor_put(several[i], several_bytes, ts, id, data, 8, address);
    }
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
