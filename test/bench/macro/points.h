/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The trace points that the patches of this folder add to other programs, as posixtrace events
 * (MACRO_POSIXTRACE), as LTTng-UST events with the same fields (MACRO_LTTNG), or as nothing.
 *
 *   POINT_RECEIVE(id, bytes)         the program has read from a connection
 *   POINT_BEGIN(id, text, size)    it begins with a request
 *   POINT_LOOKUP(key, length, found) it has looked for a key
 *   POINT_END(id, bytes)             the request is done
 *   POINT_SEND(id, bytes)            it has written
 *
 * id, found: int.  bytes: long.  text, key: const char *, with a length, perhaps without a NUL.
 * SPAN is as many bytes of a text as an event has.
 */
#ifndef TEST_BENCH_MACRO_POINTS_H
#define TEST_BENCH_MACRO_POINTS_H

#define POINT_SPAN 64

#if defined MACRO_POSIXTRACE
#include <posixtrace/emit.h>

static inline size_t point_span(size_t length)
{
    return length < POINT_SPAN ? length : POINT_SPAN;
}

#define POINT_RECEIVE(id, bytes) POSIXTRACE_EVENT("receive", (int)(id), (long)(bytes))
#define POINT_BEGIN(id, text, size) \
    POSIXTRACE_EVENT("request:begin", (int)(id), posixtrace_text(text, point_span(size)))
#define POINT_LOOKUP(key, length, found) \
    POSIXTRACE_EVENT("lookup", posixtrace_text(key, point_span(length)), (int)(found))
#define POINT_END(id, bytes)  POSIXTRACE_EVENT("request:end", (int)(id), (long)(bytes))
#define POINT_SEND(id, bytes) POSIXTRACE_EVENT("send", (int)(id), (long)(bytes))

#elif defined MACRO_LTTNG
#include "lttng_points.h"

#define POINT_RECEIVE(id, bytes)         lttng_ust_tracepoint(macro, receive, id, bytes)
#define POINT_BEGIN(id, text, size)      lttng_ust_tracepoint(macro, request_begin, id, text, size)
#define POINT_LOOKUP(key, length, found) lttng_ust_tracepoint(macro, lookup, key, length, found)
#define POINT_END(id, bytes)             lttng_ust_tracepoint(macro, request_end, id, bytes)
#define POINT_SEND(id, bytes)            lttng_ust_tracepoint(macro, send, id, bytes)

#else
#define POINT_RECEIVE(id, bytes)         ((void)0)
#define POINT_BEGIN(id, text, size)      ((void)0)
#define POINT_LOOKUP(key, length, found) ((void)0)
#define POINT_END(id, bytes)             ((void)0)
#define POINT_SEND(id, bytes)            ((void)0)
#endif

#endif
