/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The side of LTTng-UST, a module that is loaded only where lttng.sh has made
 * a session: linking it would start LTTng's threads in every benchmark.
 */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "lttng_tp.h"

void bench_lttng_event8(uint64_t value);
void bench_lttng_loop8(void *arg, long calls);
void bench_lttng_loop64(void *arg, long calls);

static const uint64_t words[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };

void bench_lttng_event8(uint64_t value)
{
    lttng_ust_tracepoint(posixtrace_bench, bench8, value);
}

void bench_lttng_loop8(void *arg, long calls)
{
    (void)arg;
    for (; calls > 0; calls--)
        lttng_ust_tracepoint(posixtrace_bench, bench8, words[0]);
}

void bench_lttng_loop64(void *arg, long calls)
{
    (void)arg;
    for (; calls > 0; calls--)
        lttng_ust_tracepoint(posixtrace_bench, bench64, words);
}
