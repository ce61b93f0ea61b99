/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See draw.h. */
#include "common/draw.h"

#include <langinfo.h>
#include <locale.h>
#include <math.h>
#include <strings.h>

#include "common/stdout_buffer.h"

enum { COLUMNS_MAX = 64, LEVELS = 8 };

static const char *const blocks[DRAW_FILLS] = { "█", "▓", "░", "?" };
static const char *const letters[DRAW_FILLS] = { "#", "+", ".", "?" };
static const char *const high[LEVELS] = { "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
static const char *const dense[LEVELS] = { ".", ":", "-", "=", "+", "*", "#", "@" };

bool draw_is_utf8(void)
{
    locale_t locale = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
    bool utf8;

    if (locale == (locale_t)0)
        return false;
    utf8 = strcasecmp(nl_langinfo_l(CODESET, locale), "UTF-8") == 0;
    freelocale(locale);
    return utf8;
}

const char *draw_glyph(enum draw_fill fill, bool utf8)
{
    return (utf8 ? blocks : letters)[fill];
}

static unsigned cells(double part, double whole, unsigned width)
{
    double value = whole > 0 ? part / whole * width + 0.5 : 0;

    return value >= width ? width : value > 0 ? (unsigned)value : 0;
}

void draw_shares(const int64_t parts[DRAW_FILLS], int64_t whole, unsigned width, bool utf8)
{
    unsigned drawn = 0;
    double sum = 0;

    for (unsigned i = 0; i < DRAW_FILLS; i++) {
        sum += (double)parts[i];
        for (unsigned end = cells(sum, (double)whole, width); drawn < end; drawn++)
            out_text(draw_glyph((enum draw_fill)i, utf8));
    }
    out_spaces(width - drawn);
}

void draw_bar(int64_t part, int64_t largest, unsigned width, bool utf8)
{
    unsigned end = cells((double)part, (double)largest, width);

    if (end == 0 && part > 0)
        end = 1;
    for (unsigned i = 0; i < end; i++)
        out_text(draw_glyph(DRAW_RUN, utf8));
}

static unsigned column_of(int64_t ns, double least, double span, unsigned width)
{
    double at = span > 0 ? (log((double)ns + 1) - least) / span * width : 0;

    return at >= width ? width - 1 : at > 0 ? (unsigned)at : 0;
}

void draw_histogram(const posixtrace_statistics_t *statistics, unsigned width, bool utf8)
{
    uint64_t counts[COLUMNS_MAX] = { 0 }, count, most = 0;
    struct posixtrace_summary s;
    int64_t from, to;
    double least, span;

    width = width < COLUMNS_MAX ? width : COLUMNS_MAX;
    posixtrace_statistics_summary(statistics, &s, sizeof s);
    least = log((double)s.min_ns + 1);
    span = log((double)s.max_ns + 1) - least;
    for (size_t i = 0; posixtrace_statistics_bar(statistics, i, &from, &to, &count) == 0; i++) {
        if (count > 0)
            counts[column_of(from + (to - from) / 2, least, span, width)] += count;
    }
    for (unsigned i = 0; i < width; i++)
        most = counts[i] > most ? counts[i] : most;
    for (unsigned i = 0; i < width; i++) {
        unsigned level = cells((double)counts[i], (double)most, LEVELS);

        level += level == 0 && counts[i] > 0;
        out_text(level > 0 ? (utf8 ? high : dense)[level - 1] : " ");
    }
}
