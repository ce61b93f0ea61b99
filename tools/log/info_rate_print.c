/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* The output of info --histogram; see info_rate.h. */
#include "log/info_rate.h"

#include <inttypes.h>
#include <stdio.h>

#include "common/colour.h"
#include "common/draw.h"
#include "common/json_out.h"
#include "common/stdout_buffer.h"
#include "common/units.h"

enum { BAR = 28 };

static const int64_t SECOND = 1000000000;

static void print_row(const struct info_rate_row *row, int64_t origin, uint64_t most)
{
    uint64_t since = row->from < origin ? (uint64_t)origin - (uint64_t)row->from
                                        : (uint64_t)row->from - (uint64_t)origin;
    double rate = (double)row->events * (double)SECOND / (double)(row->to - row->from);
    char time[40], small[24];

    snprintf(time, sizeof time, "%c%" PRIu64 ".%09" PRIu64 "s", row->from < origin ? '-' : '+',
             since / (uint64_t)SECOND, since % (uint64_t)SECOND);
    snprintf(small, sizeof small, "%.3g", rate);
    out_format("%16s %12s %13s", time, units_count(row->events),
               rate < 999.5 ? small : units_count((uint64_t)(rate + 0.5)));
    out_text(row->events > 0 ? "  " : "");
    draw_bar((int64_t)row->events, (int64_t)most, BAR, draw_is_utf8());
    if (row->lost)
        out_format("  %slost%s", colour_code(COLOUR_ALARM), colour_code(COLOUR_PLAIN));
    out_text("\n");
}

void info_rate_print(const struct info_rate *r, int64_t origin, bool has_losses)
{
    size_t length = info_rate_row_length(r);
    struct info_rate_row row;
    uint64_t most = 0;
    bool marked = false;

    if (r->events == 0)
        return;
    for (size_t cell = 0; info_rate_next(r, length, &cell, &row);) {
        most = row.events > most ? row.events : most;
        marked |= row.lost;
    }
    out_format("\n%s%16s %12s %13s%s\n", colour_code(COLOUR_FAINT), "FROM", "EVENTS", "A SECOND",
               colour_code(COLOUR_PLAIN));
    for (size_t cell = 0; info_rate_next(r, length, &cell, &row);)
        print_row(&row, origin, most);
    if (has_losses && !marked)
        out_text("Events were lost; no place of them is marked in this time.\n");
}

void info_rate_json(const struct info_rate *r)
{
    size_t length = info_rate_row_length(r);
    struct info_rate_row row;

    json_open("rate", '[');
    for (size_t cell = 0; info_rate_next(r, length, &cell, &row);) {
        json_open(NULL, '{');
        json_integer("from", row.from);
        json_integer("to", row.to);
        json_count("events", row.events);
        json_truth("lost", row.lost);
        json_close();
    }
    json_close();
}
