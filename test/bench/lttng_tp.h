/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* Two LTTng-UST events, as like ours as can be: 8 and 64 bytes of data. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER posixtrace_bench
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "lttng_tp.h"

#if !defined TEST_BENCH_LTTNG_TP_H || defined LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ
#define TEST_BENCH_LTTNG_TP_H

#include <stdint.h>
#include <lttng/tracepoint.h>

LTTNG_UST_TRACEPOINT_EVENT(posixtrace_bench, bench8, LTTNG_UST_TP_ARGS(uint64_t, value),
                           LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(uint64_t, value, value)))

LTTNG_UST_TRACEPOINT_EVENT(posixtrace_bench, bench64, LTTNG_UST_TP_ARGS(const uint64_t *, words),
                           LTTNG_UST_TP_FIELDS(lttng_ust_field_array(uint64_t, words, words, 8)))

#endif

#include <lttng/tracepoint-event.h>
