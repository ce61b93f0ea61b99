/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Text on terminals; see utf8.h.  lib/text has the decoder and the escapes.
 */
#include "common/utf8.h"

#include <langinfo.h>
#include <locale.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>
#include <wchar.h>

#include "text/escape.h"
#include "text/utf8.h"

static const struct style {
    enum pt_escape escape;
    bool ascii;
} styles[] = {
    [UTF8_TERMINAL] = { PT_ESCAPE_TERMINAL, false },
    [UTF8_TERMINAL_ASCII] = { PT_ESCAPE_TERMINAL, true },
    [UTF8_JSON] = { PT_ESCAPE_JSON, false },
    [UTF8_JSON_ASCII] = { PT_ESCAPE_JSON, true },
    [UTF8_CSV] = { PT_ESCAPE_CSV, false },
    [UTF8_CSV_ASCII] = { PT_ESCAPE_CSV, true },
};

size_t utf8_show_one(char **to, const uint8_t *at, size_t length, enum utf8_style style)
{
    size_t taken;

    *to = pt_escape_one(*to, at, length, styles[style].escape, styles[style].ascii, &taken);
    return taken;
}

char *utf8_show(char *to, const char *text, enum utf8_style style)
{
    return pt_escape_string(to, text, styles[style].escape, styles[style].ascii);
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
    size_t took = pt_utf8_decode((const uint8_t *)at, length, &value);
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
        size_t took;

        if (*at < 0x20)
            return false;
        if (*at < 0x7f && *at != '"') { /* as below, but fast */
            at++;
            length--;
            continue;
        }
        took = pt_utf8_decode(at, length, &v);

        if (took == 0 ||
            !(pt_escape_passes(v, styles[style].escape, styles[style].ascii) || v == '\\'))
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
