/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * How many events were recorded when: info --histogram.
 *
 * One pass over events whose span is not known before, in constant memory: cells of equal length,
 * a power of ten of ns, count the events; when an event lies beyond the last cell, ten cells become
 * one.  So between 200 and 2,000 cells are in use at the end of a long log, and rows of 1, 2 or 5
 * times a power of ten are whole cells: their counts are exact.
 */
#ifndef INFO_RATE_H
#define INFO_RATE_H

#include <stdbool.h>
#include <stdint.h>
#include <posixtrace/event.h>

enum { INFO_RATE_CELLS = 2048, INFO_RATE_ROWS = 20 };

struct info_rate {
    uint64_t events;
    int64_t base, width; /* of the first cell, in ns */
    uint64_t counts[INFO_RATE_CELLS];
    bool lost[INFO_RATE_CELLS]; /* an event may be missing there */
    int64_t first, last;        /* of the events */
    /* The last place where events were lost, which is not marked yet after the last event. */
    enum { GAP_NONE, GAP_OPEN, GAP_ENDED } gap;
    int64_t gap_from, gap_to;
};

/* Begins with no event. */
void info_rate_init(struct info_rate *r);
/* An event that was read, in the order of the log; counts: it is one of those asked for. */
void info_rate_add(struct info_rate *r, const struct posixtrace_event *e, bool counts);
/* After the last one. */
void info_rate_end(struct info_rate *r);

struct info_rate_row {
    int64_t from, to; /* times; to is not in it */
    uint64_t events;
    bool lost;
};

/* The length of a row in cells, so that there are at most INFO_RATE_ROWS. */
size_t info_rate_row_length(const struct info_rate *r);
/* The row that begins with the cell, which then is that of the next row; false after the last. */
bool info_rate_next(const struct info_rate *r, size_t length, size_t *cell,
                    struct info_rate_row *row);

/* ---- info_rate_print.c ---- */

/* The rows of text, with times after origin; has_losses: the log has some, wherever.  And the
 * member "rate" of the JSON object. */
void info_rate_print(const struct info_rate *r, int64_t origin, bool has_losses);
void info_rate_json(const struct info_rate *r);

#endif
