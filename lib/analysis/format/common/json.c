/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See json.h. */
#include <inttypes.h>
#include <math.h>
#include "analysis/format/common/json.h"
#include "text/number.h"
#include "text/utf8.h"

#define HEX "0123456789abcdef"

void pt_json_flush(struct pt_json *j)
{
    if (!j->file) {
        j->failed = true;
        j->used = PT_JSON_BYTES - PT_JSON_PIECE;
        return;
    }
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

void pt_json_float(struct pt_json *j, double d, unsigned bits)
{
    char words[PT_NUMBER_MAX];

    if (isfinite(d))
        pt_json_piece(j, words, (size_t)(pt_number_float(words, d, bits) - words));
    else if (isnan(d))
        PT_JSON_TEXT(j, "\"nan\"");
    else
        pt_json_text(j, d < 0 ? "\"-inf\"" : "\"inf\"", d < 0 ? 6 : 5);
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
