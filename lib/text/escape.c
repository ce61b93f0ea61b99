/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Escapes; see escape.h.
 */
#include <string.h>
#include "text/escape.h"
#include "text/utf8.h"

/* Characters without a look of their own that change how others are shown:
 * bidirectional controls, zero-width ones, separators, tags, byte order mark. */
static bool deceives(uint32_t v)
{
    return v == 0xad || v == 0x61c || v == 0x180e || (v >= 0x200b && v <= 0x200f) ||
           (v >= 0x2028 && v <= 0x202e) || (v >= 0x2060 && v <= 0x206f) || v == 0xfeff ||
           (v >= 0xfff9 && v <= 0xfffb) || (v >= 0xe0000 && v <= 0xe007f);
}

static bool is_for_people(enum pt_escape style)
{
    return style == PT_ESCAPE_TERMINAL || style == PT_ESCAPE_TEXT;
}

bool pt_escape_passes(uint32_t v, enum pt_escape style, bool ascii)
{
    if (v < 0x20 || v == '\\' || (v >= 0x7f && v < 0xa0))
        return false;
    if (v < 0x80)
        return v != '"' || style == PT_ESCAPE_TERMINAL;
    return !ascii && (!is_for_people(style) || !deceives(v));
}

static char *put_hex(char *to, uint32_t value, unsigned digits)
{
    while (digits-- > 0)
        *to++ = "0123456789abcdef"[value >> (4 * digits) & 15];
    return to;
}

static char *put_unit(char *to, uint32_t value)
{
    *to++ = '\\';
    *to++ = 'u';
    return put_hex(to, value, 4);
}

static char *put_numbered(char *to, uint32_t v, bool is_byte)
{
    *to++ = '\\';
    if (is_byte || v < 0x80) {
        *to++ = 'x';
        return put_hex(to, v, 2);
    }
    *to++ = 'u';
    *to++ = '{';
    to = put_hex(to, v, v < 0x10000 ? 4 : 6);
    *to++ = '}';
    return to;
}

static char *put_code_point(char *to, uint32_t v)
{
    if (v < 0x10000)
        return put_unit(to, v);
    v -= 0x10000;
    to = put_unit(to, 0xd800 + (v >> 10));
    return put_unit(to, 0xdc00 + (v & 0x3ff));
}

/* Is there an escape with a letter for the character with that index in from[]? */
static bool has_letter(enum pt_escape style, size_t index)
{
    return index < 5 || (index == 7 ? style == PT_ESCAPE_TERMINAL : !is_for_people(style));
}

char *pt_escape_one(char *to, const uint8_t *at, size_t length, enum pt_escape style, bool ascii,
                    size_t *taken)
{
    /* ESC for terminals, \b and \f for programs. */
    static const char from[] = "\n\t\r\\\"\b\f\033", into[] = "ntr\\\"bfe";
    uint32_t v;
    size_t took = pt_utf8_decode(at, length, &v);
    const char *known;

    *taken = took ? took : 1;
    if (took && pt_escape_passes(v, style, ascii)) {
        memcpy(to, at, took);
        return to + took;
    }
    known = took && v && v < 0x80 ? strchr(from, (int)v) : NULL;
    if (v == '"' && style == PT_ESCAPE_CSV) {
        *to++ = '"';
        *to++ = '"';
    } else if (known && has_letter(style, (size_t)(known - from))) {
        *to++ = '\\';
        *to++ = into[known - from];
    } else if (is_for_people(style)) {
        to = put_numbered(to, v, took == 0);
    } else {
        to = took ? put_code_point(to, v) : put_unit(to, 0xdc00 + v);
    }
    return to;
}

char *pt_escape_string(char *to, const char *text, enum pt_escape style, bool ascii)
{
    const uint8_t *at = (const uint8_t *)text;
    size_t left = strlen(text), taken;

    for (; left > 0; at += taken, left -= taken)
        to = pt_escape_one(to, at, left, style, ascii, &taken);
    return to;
}
