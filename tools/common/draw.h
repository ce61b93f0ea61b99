/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Bars and histograms of characters: blocks of UTF-8, or ASCII where utf8 is false.
 */
#ifndef DRAW_H
#define DRAW_H

#include <posixtrace/metrics.h>

enum draw_fill { DRAW_RUN, DRAW_RUNNABLE, DRAW_WAIT, DRAW_UNKNOWN, DRAW_FILLS };

/* Can standard output show blocks? */
bool draw_is_utf8(void);
const char *draw_glyph(enum draw_fill fill, bool utf8);
/* Parts of a whole, in the order of the fills; blanks where whole is more.  width columns. */
void draw_shares(const int64_t parts[DRAW_FILLS], int64_t whole, unsigned width, bool utf8);
/* How large part is beside the largest. */
void draw_bar(int64_t part, int64_t largest, unsigned width, bool utf8);
/* Counts of values: width columns from the least value to the largest, each the same factor above
 * the one before. */
void draw_histogram(const posixtrace_statistics_t *statistics, unsigned width, bool utf8);
/* Lines for the values from 1 to 2, 2 to 5, 5 to 10 of each power of ten: counts, and bars.  Each
 * bar of the statistics, whose width is 1/256 of its value, is counted where its middle lies. */
void draw_steps(const posixtrace_statistics_t *statistics, bool utf8);

#endif
