/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* Strings and numbers; see scan.h.  scan_skip.c skips unneeded values. */
#include <string.h>
#include "text/escape.h"
#include "analysis/format/csv_json/scan.h"
#include "text/utf8.h"

enum { FOUND_BYTES = 20 };

bool pt_scan_fail(struct pt_text_scan *s, const char *expected)
{
    struct pt_scan_error *e = s->error;
    const uint8_t *at = (const uint8_t *)s->at;
    size_t left = (size_t)(s->end - s->at), taken = 0, took;
    char *to = e->found, *limit = e->found + sizeof e->found - PT_ESCAPE_MAX - 4;

    e->column = (size_t)(s->at - s->begin) + 1;
    e->expected = expected;
    e->member = s->member;
    if (left == 0)
        to = stpcpy(to, "the end of the line");
    while (taken < left && taken < FOUND_BYTES && to < limit) {
        took = 1;
        if (at[taken] == '\\' || at[taken] == '"') /* shown as it stands there */
            *to++ = (char)at[taken];
        else
            to = pt_escape_one(to, at + taken, left - taken, PT_ESCAPE_TEXT, true, &took);
        taken += took;
    }
    if (taken < left)
        to = stpcpy(to, "...");
    *to = '\0';
    return false;
}

/* ---- strings ---- */

/* The value of a hexadecimal digit, more than 15 of anything else. */
static unsigned hex_value(char digit)
{
    static const uint8_t one_more[256] = {
        ['0'] = 1, 2,  3,  4,  5,  6,          7,  8,  9,  10, ['A'] = 11,
        12,        13, 14, 15, 16, ['a'] = 11, 12, 13, 14, 15, 16,
    };

    return one_more[(uint8_t)digit] - 1u;
}

/* The four digits after \u. */
static bool read_unit(struct pt_text_scan *s, uint32_t *unit)
{
    *unit = 0;
    for (int i = 0; i < 4; i++, s->at++) {
        unsigned digit = s->at < s->end ? hex_value(*s->at) : 16;

        if (digit > 15)
            return pt_scan_fail(s, "four hexadecimal digits after \\u");
        *unit = *unit << 4 | digit;
    }
    return true;
}

/* \uXXXX, the cursor after the u: a character, two units that make one, or a
 * byte in disguise.  to has room for 4 bytes. */
static bool read_unicode(struct pt_text_scan *s, char *to, size_t *length)
{
    const char *begin = s->at - 2;
    uint32_t unit, low;

    if (!read_unit(s, &unit))
        return false;
    if (unit >= 0xdc80 && unit <= 0xdcff) {
        to[0] = (char)(unit - 0xdc00);
        *length = 1;
        return true;
    }
    if (unit >= 0xd800 && unit < 0xdc00 && s->end - s->at >= 2 && memcmp(s->at, "\\u", 2) == 0) {
        s->at += 2;
        if (!read_unit(s, &low))
            return false;
        if (low >= 0xdc00 && low < 0xe000) {
            *length = pt_utf8_encode(to, 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00));
            return true;
        }
    }
    if (unit >= 0xd800 && unit < 0xe000) {
        s->at = begin;
        return pt_scan_fail(s, "a character, or one of \\udc80 to \\udcff for a byte that is not "
                               "UTF-8");
    }
    *length = pt_utf8_encode(to, unit);
    return true;
}

/* An escape sequence, the cursor on the backslash. */
static bool read_escape(struct pt_text_scan *s, char *to, size_t *length)
{
    static const char from[] = "\"\\/bfnrt", into[] = "\"\\/\b\f\n\r\t";
    const char *known;

    if (s->end - s->at < 2)
        return pt_scan_fail(s, "an escape sequence");
    if (s->at[1] == 'u') {
        s->at += 2;
        return read_unicode(s, to, length);
    }
    known = s->at[1] ? strchr(from, s->at[1]) : NULL;
    if (!known)
        return pt_scan_fail(s, "one of the escapes \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX");
    s->at += 2;
    to[0] = into[known - from];
    *length = 1;
    return true;
}

/* The next character of a string: 1 to 4 bytes at to. */
static bool read_character(struct pt_text_scan *s, char *to, size_t *length)
{
    uint8_t c = (uint8_t)*s->at;

    if (c == '\\')
        return read_escape(s, to, length);
    if (c < 0x20 && !s->csv)
        return pt_scan_fail(s, "no control character in a string; write it as \\uXXXX");
    *length = pt_utf8_length((const uint8_t *)s->at, (size_t)(s->end - s->at));
    if (*length == 0)
        return pt_scan_fail(s, "UTF-8; write a byte NN that is not as \\udcNN");
    memcpy(to, s->at, *length);
    s->at += *length;
    return true;
}

/* How many of the bytes at the cursor mean themselves. */
static size_t plain_bytes(const struct pt_text_scan *s, char end)
{
    const char *at = s->at;

    while (at < s->end && *at != end && *at != '\\' && (uint8_t)(*at - 0x20) < 0x60)
        at++;
    return (size_t)(at - s->at);
}

/* Reads the characters up to end into to; to may be NULL.  *misfit: NULL, or why to is "" and the
 * text was skipped: too long, or with a zero byte. */
static bool read_text(struct pt_text_scan *s, char end, char *to, size_t max, const char *too_long,
                      const char **misfit)
{
    size_t used = 0, length;
    const char *from;
    char character[4];

    *misfit = NULL;
    for (;;) {
        from = s->at;
        length = plain_bytes(s, end);
        s->at += length;
        if (length == 0) {
            bool doubled = s->csv && end == '"' && s->end - s->at > 1 && s->at[0] == '"' &&
                           s->at[1] == '"';

            if (s->at == s->end || (*s->at == end && !doubled))
                break;
            s->at += doubled;
            from = character;
            if (!read_character(s, character, &length))
                return false;
        }
        if (to && !*misfit && (used + length > max || *from == '\0'))
            *misfit = *from ? too_long : "no zero byte in a name";
        if (to && !*misfit)
            memcpy(to + used, from, length);
        used += length;
    }
    if (to)
        to[*misfit ? 0 : used] = '\0';
    return true;
}

static bool refuse(struct pt_text_scan *s, const char *begin, const char *misfit)
{
    s->at = begin;
    return pt_scan_fail(s, misfit);
}

bool pt_scan_string(struct pt_text_scan *s, char *to, size_t max, const char *too_long)
{
    const char *begin = s->at, *misfit;

    if (!pt_scan_take(s, '"', "a string") || !read_text(s, '"', to, max, too_long, &misfit) ||
        !pt_scan_take(s, '"', "the closing quote of a string"))
        return false;
    return !misfit || refuse(s, begin, misfit);
}

bool pt_scan_bare(struct pt_text_scan *s, char *to, size_t max, const char *too_long)
{
    const char *begin = s->at, *misfit;

    return read_text(s, ',', to, max, too_long, &misfit) && (!misfit || refuse(s, begin, misfit));
}

bool pt_scan_key(struct pt_text_scan *s, char *to, size_t max)
{
    const char *misfit;

    return pt_scan_take(s, '"', "a member's name in quotes") &&
           read_text(s, '"', to, max, "", &misfit) &&
           pt_scan_take(s, '"', "the closing quote of a string");
}

/* ---- numbers ---- */

/* The cursor has to be after a complete value, not inside "12.5" or "12x". */
static bool at_stop(const struct pt_text_scan *s)
{
    return s->at == s->end || (*s->at && strchr(s->stops, *s->at));
}

bool pt_scan_size(struct pt_text_scan *s, uint64_t max, const char *expected, uint64_t *size)
{
    const char *begin = s->at;
    uint64_t value = 0;

    while (s->at < s->end && (uint8_t)(*s->at - '0') <= 9) {
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, (uint64_t)(*s->at - '0'), &value))
            break;
        s->at++;
    }
    if (s->at == begin || !at_stop(s) || value > max || (*begin == '0' && s->at - begin > 1)) {
        s->at = begin;
        return pt_scan_fail(s, expected);
    }
    *size = value;
    return true;
}

bool pt_scan_hex(struct pt_text_scan *s, uint64_t *value)
{
    const char *at = s->at;
    uint64_t v = 0;

    if (s->end - at < 3 || at[0] != '0' || at[1] != 'x')
        return false;
    for (at += 2; at < s->end && hex_value(*at) < 16; at++)
        v = v << 4 | hex_value(*at);
    if (at - s->at < 3 || at - s->at > 18)
        return false;
    s->at = at;
    *value = v;
    return true;
}

bool pt_scan_bytes(struct pt_text_scan *s, uint8_t *to, size_t room, char end, size_t *used)
{
    size_t n = 0;

    for (; s->at < s->end && *s->at != end; s->at += 2) {
        unsigned high = hex_value(s->at[0]), low = s->end - s->at > 1 ? hex_value(s->at[1]) : 16;

        if ((high | low) > 15)
            return pt_scan_fail(s, "two hexadecimal digits for each byte");
        if (n == room)
            return pt_scan_fail(s, "at most 61440 bytes of data");
        to[n++] = (uint8_t)(high << 4 | low);
    }
    *used = n;
    return true;
}
