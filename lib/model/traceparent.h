/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* The header traceparent of W3C Trace Context, as POSIXTRACE_CONTEXT stores it. */
#ifndef PT_MODEL_TRACEPARENT_H
#define PT_MODEL_TRACEPARENT_H

#include <stdbool.h>
#include <stdint.h>

/* Data of POSIXTRACE_CONTEXT: ids in lower-case digits, without NUL; all zero bytes: none. */
struct pt_traceparent {
    char trace_id[32], span_id[16];
    uint8_t flags;
};
_Static_assert(sizeof(struct pt_traceparent) == 49, "no padding");

/* False: text is not of the form, and *to is zero.  Reads text up to its NUL, at most 56 bytes.
 * Async-signal-safe. */
bool pt_traceparent_parse(const char *text, struct pt_traceparent *to);

#endif
