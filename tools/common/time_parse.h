/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Moments as people write them (posixtrace-print(1)):
 *
 *   1795255200123456789              nanoseconds since 1970
 *   @1795255200.123456789            seconds since 1970
 *   2026-11-21T10:00:00.123456789Z   ISO 8601, UTC; the fraction may be missing
 *   +1.5s +20ms +3us +100ns +2min    after the first event of the log
 *
 * Nothing is rounded: more digits than nanoseconds have must be zeros.
 */
#ifndef TIME_PARSE_H
#define TIME_PARSE_H

#include <stdbool.h>
#include <stdint.h>

struct when {
    enum { WHEN_NEVER, WHEN_ABSOLUTE, WHEN_RELATIVE } kind; /* NEVER: not given */
    int64_t ns;
};

/* False if text is none of the forms or outside of 1970 to 2262. */
bool when_parse(const char *text, struct when *when);

/* The moment, with the first event at first; given only. */
int64_t when_resolve(const struct when *when, int64_t first);

/* As ISO 8601 with nine decimals; returns the end; at most 40 bytes. */
char *when_put_iso(char *to, int64_t ns);

/* The same, as a string in one of four static buffers. */
const char *when_iso(int64_t ns);

/* A span with a unit that suits it, four digits: "1.234 ms".  As above. */
const char *when_span(int64_t ns);

#endif
