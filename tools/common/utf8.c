/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * UTF-8 and escapes; see utf8.h.  The decoder is the strict one of RFC 3629:
 * no overlong forms, no surrogates, nothing above U+10FFFF.
 */
#include "common/utf8.h"

#include <langinfo.h>
#include <locale.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>
#include <wchar.h>

/* Length of the valid UTF-8 character at the front of length > 0 bytes, with
 * its value stored; 0 if the first byte begins none. */
static size_t utf8_decode(const uint8_t *at, size_t length, uint32_t *value)
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

/* Is the character written unchanged? */
static bool passes(uint32_t v, enum utf8_style style)
{
    if (is_control(v) || v == '\\')
        return false;
    switch (style) {
    case UTF8_TERMINAL: return !deceives(v);
    case UTF8_JSON: return v != '"';
    case UTF8_JSON_ASCII: return v != '"' && v < 0x80;
    case UTF8_CSV: return v != '"';
    case UTF8_CSV_ASCII: return v != '"' && v < 0x80;
    case UTF8_TERMINAL_ASCII: break;
    }
    return v < 0x80;
}

size_t utf8_show_one(char **to, const uint8_t *at, size_t length, enum utf8_style style)
{
    uint32_t v = at[0];
    size_t took = utf8_decode(at, length, &v);

    if (took > 0 && passes(v, style)) {
        memcpy(*to, at, took);
        *to += took;
        return took;
    }
    if (style == UTF8_TERMINAL || style == UTF8_TERMINAL_ASCII) {
        *to = escape_for_people(*to, v, took);
    } else if (v == '"' && (style == UTF8_CSV || style == UTF8_CSV_ASCII)) {
        *(*to)++ = '"';
        *(*to)++ = '"';
    } else {
        *to = escape_for_json(*to, v, took);
    }
    return took > 0 ? took : 1;
}

char *utf8_show(char *to, const char *text, enum utf8_style style)
{
    const uint8_t *at = (const uint8_t *)text;
    size_t left = strlen(text);

    while (left > 0) {
        size_t took = utf8_show_one(&to, at, left, style);

        at += took;
        left -= took;
    }
    return to;
}

/* wcwidth() knows characters beyond ASCII in a UTF-8 locale only, and the program's own is "C".
 * Where the system has none each character counts as one column. */
static locale_t utf8_locale(void)
{
    static locale_t locale;
    static bool tried;

    if (!tried)
        locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
    if (!tried && locale == (locale_t)0)
        locale = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
    tried = true;
    return locale;
}

/* The length of the character at the front of length > 0 bytes, and its columns. */
static size_t measure(const char *at, size_t length, size_t *columns)
{
    uint32_t value;
    size_t took = utf8_decode((const uint8_t *)at, length, &value);
    int width = took > 1 ? wcwidth((wchar_t)value) : 1;

    *columns = width < 0 ? 1 : (size_t)width;
    return took > 0 ? took : 1;
}

/* The part that takes at most so many columns, and those it takes. */
static size_t fit(const char *text, size_t length, size_t most, size_t *columns)
{
    locale_t utf8, before = (locale_t)0;
    size_t at = 0, sum = 0, width;

    while (at < length && (uint8_t)text[at] < 0x80 && sum < most) {
        at++;
        sum++;
    }
    utf8 = at < length && (uint8_t)text[at] >= 0x80 ? utf8_locale() : (locale_t)0;
    if (utf8 != (locale_t)0)
        before = uselocale(utf8);
    while (at < length) {
        size_t took = measure(text + at, length - at, &width);

        if (sum + width > most)
            break;
        at += took;
        sum += width;
    }
    if (utf8 != (locale_t)0)
        uselocale(before);
    *columns = sum;
    return at;
}

size_t utf8_columns(const char *text, size_t length)
{
    size_t columns;

    fit(text, length, SIZE_MAX, &columns);
    return columns;
}

size_t utf8_fit(const char *text, size_t length, size_t columns)
{
    size_t taken;

    return fit(text, length, columns, &taken);
}

size_t utf8_cut(const char *text, size_t length, size_t width, size_t *head, size_t *tail)
{
    size_t columns = utf8_columns(text, length), last, at, taken;

    *head = *tail = length;
    if (columns <= width)
        return columns;
    if (width < 2) {
        *head = *tail = fit(text, length, width, &columns);
        return columns;
    }
    last = (width - 2) / 2;
    *head = fit(text, length, width - 2 - last, &taken);
    /* The shortest front without which at most 'last' columns are left, with the combining
     * characters of its last one. */
    at = fit(text, length, columns - last, &columns);
    last = utf8_columns(text + at, length - at);
    while (last > (width - 2) / 2) {
        at += fit(text + at, length - at, 2, &columns);
        last -= columns;
    }
    *tail = at;
    return taken + 2 + last;
}

char *utf8_cut_here(char *begin, char *end, size_t width, size_t *columns)
{
    size_t length = (size_t)(end - begin), head, tail;

    *columns = utf8_cut(begin, length, width, &head, &tail);
    if (head == length)
        return end;
    if (width < 2)
        return begin + head;
    memcpy(begin + head, "..", 2);
    memmove(begin + head + 2, begin + tail, length - tail);
    return begin + head + 2 + (length - tail);
}

bool utf8_are_plain(const uint8_t *at, size_t length, enum utf8_style style)
{
    while (length > 0) {
        uint32_t v;
        size_t took = utf8_decode(at, length, &v);

        if (took == 0 || !(passes(v, style) || v == '\\'))
            return false;
        at += took;
        length -= took;
    }
    return true;
}

bool utf8_is_safe(int fd)
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
