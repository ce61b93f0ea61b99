/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The place of a thread's work in a distributed trace: what a request carried in the header
 * traceparent of W3C Trace Context.
 *
 *     posixtrace_context(header);               the request says whose work this is
 *     POSIXTRACE_EVENT("request:begin", id);
 *     ...
 *     POSIXTRACE_EVENT("request:end", id);
 *     posixtrace_context(NULL);                 what follows is no part of that trace
 *
 * The call records an event POSIXTRACE_CONTEXT (posixtrace/system.h) with fields, which every tool
 * shows and every filter knows:
 *
 *     str[32] trace_id; str[16] span_id; x8 flags
 *
 * 'posixtrace export --to=otlp' makes of it the trace and the parent of spans.  The rule:
 *
 *  - A context belongs to the thread that records it.  It is the parent of the spans that this
 *    thread begins after it, as long as it is the newest of the open spans and contexts there.
 *    A span that begins inside of such a span has that one as its parent.
 *  - It ends with the next context of the thread, also an empty one, and with the span inside which
 *    it was recorded.  Then the context of before that span is in force again.
 *  - A span that is open when the context is recorded does not change.
 *
 * A server that handles a request after the other calls it before the first event of each request,
 * with NULL for a request without a header.  A server that handles parts of several requests on
 * one thread calls it before each part: contexts need not be nested.
 */
#ifndef POSIXTRACE_CONTEXT_H
#define POSIXTRACE_CONTEXT_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <posixtrace/event.h>
#include <posixtrace/system.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes of a traceparent of version 00, with its NUL. */
#define POSIXTRACE_TRACEPARENT_SIZE 56

/*
 * traceparent: "00-", 32 hexadecimal digits of the trace, '-', 16 of the calling span, '-', 2 of
 * flags; lower case, no space around it.  NULL: the work of this thread is part of no trace from
 * now on.  Of a later version than 00, text after the flags is skipped, which begins with '-', and
 * of the flags only the first, sampled, is kept.
 *
 * EINVAL  it is not of that form, or its version is ff, or an id is all zeros.  An empty
 *         context is recorded: the work is not part of the trace of the request before.
 *
 * Costs an event of 49 bytes, and some 50 ns for the check.  Async-signal-safe, thread-safe, no
 * cancellation point, leaves errno alone.
 */
int posixtrace_context(const char *traceparent);

/*
 * Stores the context of an event as a traceparent of version 00.  False: the event is none, or an
 * empty one, and nothing is stored.  Thread-safe, async-signal-safe.
 */
static inline bool posixtrace_context_text(const struct posixtrace_event *event,
                                           char traceparent[POSIXTRACE_TRACEPARENT_SIZE])
{
    static const char digits[] = "0123456789abcdef";
    const unsigned char *data = (const unsigned char *)event->data;

    if (event->id != POSIXTRACE_CONTEXT || event->data_len != 49 || data[0] == 0)
        return false;
    memcpy(traceparent, "00-", 3);
    memcpy(traceparent + 3, data, 32);
    traceparent[35] = '-';
    memcpy(traceparent + 36, data + 32, 16);
    traceparent[52] = '-';
    traceparent[53] = digits[data[48] >> 4];
    traceparent[54] = digits[data[48] & 15];
    traceparent[55] = '\0';
    return true;
}

#ifdef __cplusplus
}
#endif
#endif
