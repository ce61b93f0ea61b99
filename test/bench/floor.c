/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See floor.h. */
#include "bench/floor_stores.h"

static _Thread_local struct floor_buffer buffer __attribute__((tls_model("initial-exec")));

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
