/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * See traceparent.h.  The form, as W3C Trace Context (of 2021, section 3.2) has it:
 *
 *   version "-" 32 digits "-" 16 digits "-" 2 digits
 *
 * Digits are hexadecimal in lower case.  Version ff is none, and 00 ends there.  Later versions may
 * have "-" and any text after that, and define only the flag 1.
 */
#include <stddef.h>
#include <string.h>
#include "model/traceparent.h"

enum { TRACE = 3, SPAN = TRACE + 32 + 1, FLAGS = SPAN + 16 + 1, END = FLAGS + 2 };

/* -1: none */
static int digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Digits, not all of them 0; stops at a NUL. */
static bool is_id(const char *text, size_t length)
{
    bool any = false;

    for (size_t i = 0; i < length; i++) {
        if (digit(text[i]) < 0)
            return false;
        any |= text[i] != '0';
    }
    return any;
}

/* -1: they are no digits */
static int byte_of(const char *text)
{
    int high = digit(text[0]), low = high < 0 ? -1 : digit(text[1]);

    return low < 0 ? -1 : high << 4 | low;
}

static bool ends(int version, char next)
{
    return next == '\0' || (version > 0 && next == '-');
}

bool pt_traceparent_parse(const char *text, struct pt_traceparent *to)
{
    int version = byte_of(text), flags;

    memset(to, 0, sizeof *to);
    if (version < 0 || version == 0xff || text[TRACE - 1] != '-' || !is_id(text + TRACE, 32) ||
        text[SPAN - 1] != '-' || !is_id(text + SPAN, 16) || text[FLAGS - 1] != '-')
        return false;
    flags = byte_of(text + FLAGS);
    if (flags < 0 || !ends(version, text[END]))
        return false;
    memcpy(to->trace_id, text + TRACE, sizeof to->trace_id);
    memcpy(to->span_id, text + SPAN, sizeof to->span_id);
    to->flags = (uint8_t)(version == 0 ? flags : flags & 1);
    return true;
}
