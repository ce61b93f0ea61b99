/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See draw.h. */
#include "common/draw.h"

#include <langinfo.h>
#include <locale.h>
#include <math.h>
#include <strings.h>

#include "common/stdout_buffer.h"
#include "common/units.h"

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

/* ---- steps of 1, 2 and 5 ---- */

enum { STEPS = 58, STEP_BAR = 40 }; /* 0, then three for each power of ten that an int64_t has */

static int64_t step_ns(unsigned step)
{
    static const int64_t within[] = { 1, 2, 5 };
    int64_t power = 1;

    if (step == 0)
        return 0;
    for (unsigned i = 0; i < (step - 1) / 3; i++)
        power *= 10;
    return within[(step - 1) % 3] > INT64_MAX / power ? INT64_MAX : within[(step - 1) % 3] * power;
}

static unsigned step_of(int64_t ns)
{
    unsigned step = 0;

    while (step + 1 < STEPS && ns >= step_ns(step + 1))
        step++;
    return step;
}

static void print_steps(const uint64_t counts[STEPS], bool utf8)
{
    unsigned first = 0, last = STEPS - 1;
    uint64_t most = 0;

    while (counts[first] == 0)
        first++;
    while (counts[last] == 0)
        last--;
    for (unsigned i = first; i <= last; i++)
        most = counts[i] > most ? counts[i] : most;
    for (unsigned i = first; i <= last; i++) {
        unsigned end = i;

        while (counts[end] == 0)
            end++;
        if (end - i > 2) {
            out_text("      ...\n");
            i = end;
        }
        out_format("%9s to %6s %12s", units_time(step_ns(i)),
                   i + 1 < STEPS ? units_time(step_ns(i + 1)) : "", units_count(counts[i]));
        out_text(counts[i] > 0 ? "  " : "");
        draw_bar((int64_t)counts[i], (int64_t)most, STEP_BAR, utf8);
        out_text("\n");
    }
}

void draw_steps(const posixtrace_statistics_t *statistics, bool utf8)
{
    uint64_t counts[STEPS] = { 0 }, count, sum = 0;
    int64_t from, to;

    for (size_t i = 0; posixtrace_statistics_bar(statistics, i, &from, &to, &count) == 0; i++) {
        if (count > 0)
            counts[step_of(from + (to - from) / 2)] += count;
        sum += count;
    }
    if (sum > 0)
        print_steps(counts, utf8);
}
