/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * info --histogram: rows of events at random times, beside the times themselves.
 */
#include <check.h>
#include <stdlib.h>
#include "log/info_rate.h"
#include "support/run_suite.h"

enum { EVENTS = 3000, USER = 1100 };

static struct info_rate rate;
static int64_t times[EVENTS];
static unsigned short seed[3];

static int64_t some(int64_t most)
{
    return (int64_t)(((uint64_t)nrand48(seed) << 31 | (uint64_t)nrand48(seed)) %
                     ((uint64_t)most + 1));
}

static void add_mark(trace_event_id_t id, int64_t ns, bool counts)
{
    const struct posixtrace_event e = { .id = id, .ns = ns };

    info_rate_add(&rate, &e, counts);
}

static uint64_t between(size_t count, int64_t from, int64_t to)
{
    uint64_t events = 0;

    for (size_t i = 0; i < count; i++)
        events += times[i] >= from && times[i] < to;
    return events;
}

static bool is_round(int64_t length)
{
    while (length % 10 == 0)
        length /= 10;
    return length == 1 || length == 2 || length == 5;
}

/* Every row has the events of its time, the rows follow each other, and hold all events. */
static void check_rows(size_t count)
{
    struct info_rate_row row;
    size_t length = info_rate_row_length(&rate), rows = 0;
    uint64_t sum = 0;
    int64_t end = 0;

    for (size_t cell = 0; info_rate_next(&rate, length, &cell, &row); rows++) {
        ck_assert(rows == 0 || row.from == end);
        end = row.to;
        ck_assert_uint_eq(row.events, between(count, row.from, row.to));
        ck_assert(is_round(row.to - row.from));
        ck_assert(!row.lost);
        sum += row.events;
    }
    ck_assert_uint_eq(sum, count);
    ck_assert_uint_le(rows, INFO_RATE_ROWS);
    ck_assert(count < 2 || rows > 1 || times[0] == times[count - 1]);
}

/* Spans from 1 ns to 30 years; late events come after newer ones. */
START_TEST(rows_have_the_events_of_their_time)
{
    int64_t step = 1, ns;
    size_t late = 0;

    seed[0] = (unsigned short)_i;
    info_rate_init(&rate);
    for (int i = 0; i < _i % 18; i++)
        step *= 10;
    step = step / EVENTS + 1;
    ns = 1795255200000000000 - step * EVENTS;
    for (size_t i = 0; i < EVENTS; i++) {
        ns += some(2 * step);
        times[i] = ns;
        if (_i % 3 == 0 && some(9) == 0)
            times[i] -= some(300 * step), late++;
        add_mark(USER, times[i], true);
    }
    ck_assert(_i % 3 != 0 || late > 0);
    info_rate_end(&rate);
    check_rows(EVENTS);
}
END_TEST

START_TEST(none_and_one)
{
    struct info_rate_row row;
    size_t cell = 0;

    info_rate_init(&rate);
    add_mark(POSIX_TRACE_OVERFLOW, 5, false);
    info_rate_end(&rate);
    ck_assert(!info_rate_next(&rate, info_rate_row_length(&rate), &cell, &row));
    info_rate_init(&rate);
    add_mark(USER, times[0] = INT64_MAX, true);
    info_rate_end(&rate);
    ck_assert(info_rate_next(&rate, info_rate_row_length(&rate), &cell, &row));
    ck_assert_uint_eq(row.events, 1);
    ck_assert_int_eq(row.from, INT64_MAX);
}
END_TEST

/* The ends of time: no event is left out, whatever a log says. */
START_TEST(ends_of_time)
{
    static const int64_t ends[] = { 0, INT64_MIN, INT64_MAX, INT64_MIN + 1, -1, INT64_MAX };
    struct info_rate_row row;
    uint64_t sum = 0;

    info_rate_init(&rate);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        add_mark(USER, ends[i], true);
    info_rate_end(&rate);
    for (size_t cell = 0; info_rate_next(&rate, info_rate_row_length(&rate), &cell, &row);)
        sum += row.events;
    ck_assert_uint_eq(sum, sizeof ends / sizeof *ends);
}
END_TEST

/* A row is marked if a part of a gap lies in it, between the first event that counts and the last:
 * gaps before, between and after them, and one that does not end. */
START_TEST(gaps_are_marked)
{
    static const struct {
        int64_t from, to; /* -1: it does not end */
        int64_t first, last;
    } gaps[] = { { 0, 5, -1, -1 },       { 0, 1005, 100, 1005 },     { 300, 700, 300, 700 },
                 { 700, -1, 700, 1999 }, { 1990, 5000, 1990, 1999 }, { 2500, -1, -1, -1 } };
    struct info_rate_row row;

    info_rate_init(&rate);
    for (int64_t ns = 0; ns < 3000; ns++) {
        if (ns == gaps[_i].from)
            add_mark(POSIX_TRACE_OVERFLOW, ns, false);
        if (ns == gaps[_i].to)
            add_mark(POSIX_TRACE_RESUME, ns, false);
        add_mark(USER, ns, ns >= 100 && ns < 2000);
    }
    info_rate_end(&rate);
    for (size_t cell = 0; info_rate_next(&rate, info_rate_row_length(&rate), &cell, &row);)
        ck_assert_msg(row.lost == (row.from <= gaps[_i].last && row.to > gaps[_i].first),
                      "gap %d, row from %lld", _i, (long long)row.from);
}
END_TEST

static void add(TCase *t)
{
    tcase_add_loop_test(t, rows_have_the_events_of_their_time, 0, 54);
    tcase_add_test(t, none_and_one);
    tcase_add_test(t, ends_of_time);
    tcase_add_loop_test(t, gaps_are_marked, 0, 6);
}

int main(void)
{
    return run_suite("tools", "rate", NULL, add);
}
