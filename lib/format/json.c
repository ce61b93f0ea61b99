/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See json.h. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include "format/json.h"
#include "format/utf8.h"

#define HEX "0123456789abcdef"

void pt_json_flush(struct pt_json *j)
{
    if (!j->failed && fwrite_unlocked(j->text, 1, j->used, j->file) != j->used)
        j->failed = true;
    j->used = 0;
}

void pt_json_text(struct pt_json *j, const char *text, size_t length)
{
    for (size_t n; length > 0; text += n, length -= n) {
        n = length < PT_JSON_PIECE ? length : PT_JSON_PIECE;
        pt_json_piece(j, text, n);
    }
}

/* Digits of v before end; returns where they begin. */
static char *digits(char *end, uint64_t v)
{
    static const char pairs[] =
        "00010203040506070809101112131415161718192021222324252627282930313233343536373839"
        "40414243444546474849505152535455565758596061626364656667686970717273747576777879"
        "8081828384858687888990919293949596979899";

    while (v >= 100) {
        end -= 2;
        memcpy(end, pairs + 2 * (v % 100), 2);
        v /= 100;
    }
    if (v >= 10) {
        end -= 2;
        memcpy(end, pairs + 2 * v, 2);
    } else {
        *--end = (char)('0' + v);
    }
    return end;
}

void pt_json_unsigned(struct pt_json *j, uint64_t v)
{
    char text[20], *at = digits(text + sizeof text, v);

    pt_json_piece(j, at, (size_t)(text + sizeof text - at));
}

void pt_json_signed(struct pt_json *j, int64_t v)
{
    if (v < 0)
        pt_json_char(j, '-');
    pt_json_unsigned(j, v < 0 ? 0 - (uint64_t)v : (uint64_t)v);
}

void pt_json_hex(struct pt_json *j, uint64_t v)
{
    char text[20], *at = text + sizeof text;

    *--at = '"';
    do
        *--at = HEX[v & 15];
    while (v >>= 4);
    *--at = 'x';
    *--at = '0';
    pt_json_char(j, '"');
    pt_json_piece(j, at, (size_t)(text + sizeof text - at));
}

/* Whether reading the text would give d again, or as float the same float. */
static bool is_same(double back, double d, unsigned bits)
{
    float a = (float)back, b = (float)d;

    return bits == 32 ? !(a < b) && !(a > b) : !(back < d) && !(back > d);
}

/* Of up to six digits behind the point, which most values have: n / 10^6 is rounded as
 * reading the text is. */
static bool short_float(struct pt_json *j, double d, unsigned bits)
{
    double n = nearbyint(fabs(d) * 1e6);
    char part[7] = ".000000";
    size_t length = sizeof part;
    uint64_t v;

    if (!(n < 9e15) || !is_same(n / 1e6, fabs(d), bits))
        return false;
    v = (uint64_t)n;
    if (signbit(d))
        pt_json_char(j, '-');
    pt_json_unsigned(j, v / 1000000);
    digits(part + sizeof part, v % 1000000);
    while (length > 1 && part[length - 1] == '0')
        length--;
    if (length > 1)
        pt_json_piece(j, part, length);
    return true;
}

void pt_json_float(struct pt_json *j, double d, unsigned bits)
{
    char words[40], *point;

    if (!isfinite(d)) {
        if (isnan(d))
            PT_JSON_TEXT(j, "\"nan\"");
        else
            pt_json_text(j, d < 0 ? "\"-inf\"" : "\"inf\"", d < 0 ? 6 : 5);
        return;
    }
    if (short_float(j, d, bits))
        return;
    snprintf(words, sizeof words, "%.*g", bits == 32 ? 6 : 15, d);
    if (!is_same(strtod(words, NULL), d, bits))
        snprintf(words, sizeof words, "%.*g", bits == 32 ? 9 : 17, d);
    /* the locale's decimal point, whatever that is */
    point = words + strspn(words, "-0123456789");
    pt_json_text(j, words, (size_t)(point - words));
    if (*point && *point != 'e')
        pt_json_char(j, '.');
    point += strcspn(point, "0123456789e");
    pt_json_text(j, point, strlen(point));
}

void pt_json_microseconds(struct pt_json *j, int64_t ns)
{
    uint64_t v = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns, part = v % 1000;
    char tail[4] = { '.', (char)('0' + part / 100), (char)('0' + part / 10 % 10),
                     (char)('0' + part % 10) };

    if (ns < 0)
        pt_json_char(j, '-');
    pt_json_unsigned(j, v / 1000);
    pt_json_piece(j, tail, sizeof tail);
}

static void put_escaped(struct pt_json *j, uint8_t byte)
{
    char text[6] = { '\\', 'u', '0', '0', HEX[byte >> 4], HEX[byte & 15] };

    pt_json_piece(j, text, sizeof text);
}

void pt_json_string(struct pt_json *j, const void *bytes, size_t length)
{
    const uint8_t *p = bytes;

    pt_json_char(j, '"');
    for (size_t n; length > 0; p += n, length -= n) {
        n = pt_utf8_length(p, length);
        if (*p == '"' || *p == '\\') {
            pt_json_char(j, '\\');
            pt_json_char(j, (char)*p);
        } else if (n == 0 || *p < 0x20 || *p == 0x7f) {
            put_escaped(j, *p);
            n = 1;
        } else {
            pt_json_piece(j, (const char *)p, n);
        }
    }
    pt_json_char(j, '"');
}

void pt_json_bytes(struct pt_json *j, const void *bytes, size_t length)
{
    const uint8_t *p = bytes;

    pt_json_char(j, '"');
    for (size_t i = 0; i < length; i++)
        pt_json_piece(j, (char[]){ HEX[p[i] >> 4], HEX[p[i] & 15] }, 2);
    pt_json_char(j, '"');
}
