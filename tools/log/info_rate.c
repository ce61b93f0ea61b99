/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See info_rate.h. */
#include "log/info_rate.h"

#include <string.h>

static const int64_t WIDTH_MAX = 1000000000000000000;

/* ---- cells ---- */

void info_rate_init(struct info_rate *r)
{
    memset(r, 0, sizeof *r);
    r->width = 1;
}

/* Ten cells become one. */
static void fold(struct info_rate *r)
{
    uint64_t counts[INFO_RATE_CELLS] = { 0 };
    bool lost[INFO_RATE_CELLS] = { false };

    for (size_t i = 0; i < INFO_RATE_CELLS; i++) {
        counts[i / 10] += r->counts[i];
        lost[i / 10] |= r->lost[i];
    }
    memcpy(r->counts, counts, sizeof counts);
    memcpy(r->lost, lost, sizeof lost);
    r->width *= 10;
}

/* The span of times is at most 2^64 - 1 ns. */
static uint64_t cell_of(const struct info_rate *r, int64_t ns)
{
    return ((uint64_t)ns - (uint64_t)r->base) / (uint64_t)r->width;
}

/* The last cell that is in use. */
static size_t top_of(const struct info_rate *r)
{
    size_t top = INFO_RATE_CELLS - 1;

    while (top > 0 && r->counts[top] == 0 && !r->lost[top])
        top--;
    return top;
}

/* An event before all others, as in a log that has late events: cells move up. */
static void make_room_before(struct info_rate *r, int64_t ns)
{
    uint64_t before;
    size_t count;

    for (;; fold(r)) {
        before = ((uint64_t)r->base - (uint64_t)ns - 1) / (uint64_t)r->width + 1;
        count = top_of(r) + 1;
        if (before <= INFO_RATE_CELLS - count &&
            (uint64_t)r->base - (uint64_t)INT64_MIN >= before * (uint64_t)r->width)
            break;
        if (r->width >= WIDTH_MAX)
            return; /* no time is that far: the event is counted in the first cell */
    }
    memmove(r->counts + before, r->counts, count * sizeof *r->counts);
    memmove(r->lost + before, r->lost, count * sizeof *r->lost);
    memset(r->counts, 0, before * sizeof *r->counts);
    memset(r->lost, 0, before * sizeof *r->lost);
    r->base -= (int64_t)(before * (uint64_t)r->width);
}

static size_t place_of(struct info_rate *r, int64_t ns)
{
    if (r->events == 0)
        r->base = ns;
    if (ns < r->base)
        make_room_before(r, ns);
    if (ns < r->base)
        return 0;
    while (cell_of(r, ns) >= INFO_RATE_CELLS)
        fold(r);
    return cell_of(r, ns);
}

/* ---- events ---- */

/* What of the gap lies between the first event that counts and that time; the rest of it begins
 * there. */
static void mark_gap(struct info_rate *r, int64_t ns)
{
    int64_t from = r->gap_from > r->first ? r->gap_from : r->first;
    int64_t to = r->gap == GAP_ENDED && r->gap_to < ns ? r->gap_to : ns;
    size_t end;

    if (from > to)
        return;
    end = place_of(r, to);
    for (size_t i = place_of(r, from); i <= end; i++)
        r->lost[i] = true;
    r->gap_from = to;
}

/* Two gaps without an event that counts between them are one; info_select.c counts them as two. */
static void look_for_gap(struct info_rate *r, const struct posixtrace_event *e)
{
    if (e->id == POSIX_TRACE_OVERFLOW) {
        r->gap_from = r->gap == GAP_NONE ? e->ns : r->gap_from;
        r->gap = GAP_OPEN;
    } else if (e->id == POSIX_TRACE_RESUME && r->gap == GAP_OPEN) {
        r->gap = GAP_ENDED;
        r->gap_to = e->ns;
    }
}

void info_rate_add(struct info_rate *r, const struct posixtrace_event *e, bool counts)
{
    if (counts) {
        r->counts[place_of(r, e->ns)]++;
        r->first = r->events && r->first < e->ns ? r->first : e->ns;
        r->last = r->events && r->last > e->ns ? r->last : e->ns;
        r->events++;
        if (r->gap != GAP_NONE)
            mark_gap(r, e->ns);
        if (r->gap == GAP_ENDED)
            r->gap = GAP_NONE;
    }
    look_for_gap(r, e);
}

void info_rate_end(struct info_rate *r)
{
    if (r->events > 0 && r->gap != GAP_NONE)
        mark_gap(r, r->last);
    r->gap = GAP_NONE;
}

/* ---- rows ---- */

size_t info_rate_row_length(const struct info_rate *r)
{
    uint64_t cells = r->events > 0 ? cell_of(r, r->last) + 1 : 0;
    size_t length = 1;

    for (unsigned i = 0; (cells + length - 1) / length > INFO_RATE_ROWS; i++)
        length = i % 3 == 1 ? length / 2 * 5 : length * 2;
    return length;
}

bool info_rate_next(const struct info_rate *r, size_t length, size_t *cell,
                    struct info_rate_row *row)
{
    size_t end = *cell + length;

    if (r->events == 0 || *cell > cell_of(r, r->last))
        return false;
    *row = (struct info_rate_row){ .from = (int64_t)((uint64_t)r->base +
                                                     *cell * (uint64_t)r->width) };
    if (__builtin_add_overflow(row->from, (int64_t)length * r->width, &row->to))
        row->to = INT64_MAX;
    for (; *cell < end && *cell < INFO_RATE_CELLS; ++*cell) {
        row->events += r->counts[*cell];
        row->lost |= r->lost[*cell];
    }
    *cell = end;
    return true;
}
