/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* The points of points.h for LTTng-UST: the same fields, texts cut at the same length. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER macro
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "lttng_points.h"

#if !defined TEST_BENCH_MACRO_LTTNG_POINTS_H || defined LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ
#define TEST_BENCH_MACRO_LTTNG_POINTS_H

#include <stddef.h>
#include <lttng/tracepoint.h>

#ifndef POINT_SPAN
#define POINT_SPAN 64
#endif
#define POINT_TEXT(name, text, length)                      \
    lttng_ust_field_sequence_text(char, name, text, size_t, \
                                  (length) < POINT_SPAN ? (length) : POINT_SPAN)

LTTNG_UST_TRACEPOINT_EVENT(macro, receive, LTTNG_UST_TP_ARGS(int, id, long, bytes),
                           LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(int, id, id)
                                                   lttng_ust_field_integer(long, bytes, bytes)))
LTTNG_UST_TRACEPOINT_EVENT(macro, request_begin,
                           LTTNG_UST_TP_ARGS(int, id, const char *, text, size_t, length),
                           LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(int, id, id)
                                                   POINT_TEXT(text, text, length)))
LTTNG_UST_TRACEPOINT_EVENT(macro, lookup,
                           LTTNG_UST_TP_ARGS(const char *, key, size_t, length, int, found),
                           LTTNG_UST_TP_FIELDS(POINT_TEXT(key, key, length)
                                                   lttng_ust_field_integer(int, found, found)))
LTTNG_UST_TRACEPOINT_EVENT(macro, request_end, LTTNG_UST_TP_ARGS(int, id, long, bytes),
                           LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(int, id, id)
                                                   lttng_ust_field_integer(long, bytes, bytes)))
LTTNG_UST_TRACEPOINT_EVENT(macro, send, LTTNG_UST_TP_ARGS(int, id, long, bytes),
                           LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(int, id, id)
                                                   lttng_ust_field_integer(long, bytes, bytes)))

#endif

#include <lttng/tracepoint-event.h>
