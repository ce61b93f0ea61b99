/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * UTF-8 and escapes; see chars.h.  The decoder is the strict one of RFC 3629:
 * no overlong forms, no surrogates, nothing above U+10FFFF.
 */
#include "chars.h"

#include <langinfo.h>
#include <locale.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

/* Length of the valid UTF-8 character at the front of length > 0 bytes, with
 * its value stored; 0 if the first byte begins none. */
static size_t chars_decode(const uint8_t *at, size_t length, uint32_t *value)
{
    static const uint32_t least[5] = { 0, 0, 0x80, 0x800, 0x10000 };
    uint32_t v = at[0];
    size_t need;

    if (v < 0x80) {
        *value = v;
        return 1;
    }
    need = v >= 0xc2 && v < 0xe0 ? 2 : (v & 0xf0) == 0xe0 ? 3 : v >= 0xf0 && v < 0xf5 ? 4 : 0;
    if (need == 0 || length < need)
        return 0;
    v &= 0x7fu >> need;
    for (size_t i = 1; i < need; i++) {
        if ((at[i] & 0xc0) != 0x80)
            return 0;
        v = v << 6 | (at[i] & 0x3fu);
    }
    if (v < least[need] || v > 0x10ffff || (v >= 0xd800 && v < 0xe000))
        return 0;
    *value = v;
    return need;
}

/* Characters without a look of their own that change how others are shown:
 * bidirectional controls, zero-width ones, separators, tags, byte order mark. */
static bool deceives(uint32_t v)
{
    return v == 0xad || v == 0x61c || v == 0x180e || (v >= 0x200b && v <= 0x200f) ||
           (v >= 0x2028 && v <= 0x202e) || (v >= 0x2060 && v <= 0x206f) || v == 0xfeff ||
           (v >= 0xfff9 && v <= 0xfffb) || (v >= 0xe0000 && v <= 0xe007f);
}

static bool is_control(uint32_t v)
{
    return v < 0x20 || (v >= 0x7f && v < 0xa0);
}

static char *hex_digits(char *to, uint32_t value, unsigned digits)
{
    while (digits-- > 0)
        *to++ = "0123456789abcdef"[value >> (4 * digits) & 15];
    return to;
}

static char *unit(char *to, uint32_t value)
{
    *to++ = '\\';
    *to++ = 'u';
    return hex_digits(to, value, 4);
}

static char *escape_for_people(char *to, uint32_t v, size_t took)
{
    static const char short_from[] = "\n\t\r\033\\", short_to[] = "ntre\\";
    const char *known = v < 0x80 && v != 0 ? strchr(short_from, (int)v) : NULL;

    *to++ = '\\';
    if (known) {
        *to++ = short_to[known - short_from];
    } else if (took == 0 || v < 0x80) {
        *to++ = 'x';
        to = hex_digits(to, v, 2);
    } else {
        *to++ = 'u';
        *to++ = '{';
        to = hex_digits(to, v, v < 0x10000 ? 4 : 6);
        *to++ = '}';
    }
    return to;
}

static char *escape_for_json(char *to, uint32_t v, size_t took)
{
    static const char short_from[] = "\n\t\r\b\f\\\"", short_to[] = "ntrbf\\\"";
    const char *known = v < 0x80 && v != 0 ? strchr(short_from, (int)v) : NULL;

    if (took == 0)
        return unit(to, 0xdc00 + v);
    if (known) {
        *to++ = '\\';
        *to++ = short_to[known - short_from];
        return to;
    }
    if (v < 0x10000)
        return unit(to, v);
    v -= 0x10000;
    to = unit(to, 0xd800 + (v >> 10));
    return unit(to, 0xdc00 + (v & 0x3ff));
}

/* Does the character go out as it is? */
static bool passes(uint32_t v, enum chars_style style)
{
    if (is_control(v) || v == '\\')
        return false;
    switch (style) {
    case CHARS_TERMINAL: return !deceives(v);
    case CHARS_JSON: return v != '"';
    case CHARS_JSON_ASCII: return v != '"' && v < 0x80;
    case CHARS_CSV: return v != '"';
    case CHARS_CSV_ASCII: return v != '"' && v < 0x80;
    case CHARS_TERMINAL_ASCII: break;
    }
    return v < 0x80;
}

size_t chars_show_one(char **to, const uint8_t *at, size_t length, enum chars_style style)
{
    uint32_t v = at[0];
    size_t took = chars_decode(at, length, &v);

    if (took > 0 && passes(v, style)) {
        memcpy(*to, at, took);
        *to += took;
        return took;
    }
    if (style == CHARS_TERMINAL || style == CHARS_TERMINAL_ASCII) {
        *to = escape_for_people(*to, v, took);
    } else if (v == '"' && (style == CHARS_CSV || style == CHARS_CSV_ASCII)) {
        *(*to)++ = '"';
        *(*to)++ = '"';
    } else {
        *to = escape_for_json(*to, v, took);
    }
    return took > 0 ? took : 1;
}

char *chars_show(char *to, const char *text, enum chars_style style)
{
    const uint8_t *at = (const uint8_t *)text;
    size_t left = strlen(text);

    while (left > 0) {
        size_t took = chars_show_one(&to, at, left, style);

        at += took;
        left -= took;
    }
    return to;
}

size_t chars_columns(const char *text, size_t length)
{
    size_t columns = 0;

    for (size_t i = 0; i < length; i++)
        columns += ((uint8_t)text[i] & 0xc0) != 0x80;
    return columns;
}

bool chars_are_plain(const uint8_t *at, size_t length, enum chars_style style)
{
    while (length > 0) {
        uint32_t v;
        size_t took = chars_decode(at, length, &v);

        if (took == 0 || !(passes(v, style) || v == '\\'))
            return false;
        at += took;
        length -= took;
    }
    return true;
}

bool chars_utf8_is_safe(int fd)
{
    locale_t locale;
    bool safe;

    if (!isatty(fd))
        return true;
    /* Not setlocale(): the program's own locale stays "C", so that patterns
     * match bytes and names that are not UTF-8 can be matched at all. */
    locale = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
    if (locale == (locale_t)0)
        return false;
    safe = strcasecmp(nl_langinfo_l(CODESET, locale), "UTF-8") == 0;
    freelocale(locale);
    return safe;
}
