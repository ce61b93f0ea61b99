/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Reading the values of a line of text: jsonl and csv.  A cursor moves over the line; each
 * reader leaves it after the value it took, or stores the first error and returns false, which
 * callers return, too.  No recursion, no allocation, nothing read after the line.
 *
 * Strings are UTF-8 where a lone surrogate \udcNN, NN from 80 to ff, is the byte NN
 * (escape.h).
 */
#ifndef PT_FORMAT_SCAN_H
#define PT_FORMAT_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pt_scan_error {
    size_t column;      /* byte in the line, from 1 */
    const char *member; /* which one, "" if none of the known */
    const char *expected;
    char found[64]; /* the text at the cursor, for messages */
};

struct pt_text_scan {
    const char *begin, *at, *end;
    const char *member; /* being read, "" outside */
    const char *stops;  /* characters that may follow a number */
    bool csv;           /* a quote in a string is doubled; control characters pass */
    struct pt_scan_error *error;
};

/* Stores what was expected at the cursor; false. */
bool pt_scan_fail(struct pt_text_scan *s, const char *expected);

static inline bool pt_scan_is_at(const struct pt_text_scan *s, char wanted)
{
    return s->at < s->end && *s->at == wanted;
}

static inline void pt_scan_space(struct pt_text_scan *s)
{
    while (s->at < s->end && (*s->at == ' ' || *s->at == '\t' || *s->at == '\r'))
        s->at++;
}

static inline bool pt_scan_take(struct pt_text_scan *s, char wanted, const char *expected)
{
    if (!pt_scan_is_at(s, wanted))
        return pt_scan_fail(s, expected);
    s->at++;
    return true;
}

/*
 * A string in quotes into to, terminated; at most max bytes, none of them zero.  With
 * to NULL it is only passed over, and may be and hold anything.
 */
bool pt_scan_string(struct pt_text_scan *s, char *to, size_t max, const char *too_long);
/* The same without quotes, up to a comma or the end (csv). */
bool pt_scan_bare(struct pt_text_scan *s, char *to, size_t max, const char *too_long);
/* The name of a member: longer ones than max become "". */
bool pt_scan_key(struct pt_text_scan *s, char *to, size_t max);

/* An integer from 0 to max, in decimal. */
bool pt_scan_size(struct pt_text_scan *s, uint64_t max, const char *expected, uint64_t *size);
/* "0x" and 1 to 16 digits; the cursor stays where it was if there is none. */
bool pt_scan_hex(struct pt_text_scan *s, uint64_t *value);
/* Pairs of hexadecimal digits, as many as there are, into at most room bytes. */
bool pt_scan_bytes(struct pt_text_scan *s, uint8_t *to, size_t room, char end, size_t *used);

/* Any value of JSON, at most 64 inside each other. */
bool pt_scan_skip_value(struct pt_text_scan *s);

#endif
