/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * How long waits for single locks, descriptors and others took, as JSON for the histograms of a
 * page: [{"section":"locks","row":0,"count":9,"bars":[[from,to,count]],"quantiles":[[50,ns]]}],
 * row being that of the report's JSON.
 */
#include <stdlib.h>

#include "common/json_out.h"
#include "common/stdout_buffer.h"
#include "report/report.h"

enum { OBJECTS_MOST = 6, PART = 12 }; /* bars are at least 1/12 of their length wide */

static void put_bar(int64_t from, int64_t to, uint64_t count)
{
    json_open(NULL, '[');
    json_integer(NULL, from);
    json_integer(NULL, to);
    json_count(NULL, count);
    json_close();
}

/* Neighbours that are narrow become one. */
static void put_bars(const posixtrace_statistics_t *statistics)
{
    int64_t from, to, first = 0, last = 0;
    uint64_t count, sum = 0;

    json_open("bars", '[');
    for (size_t i = 0; posixtrace_statistics_bar(statistics, i, &from, &to, &count) == 0; i++) {
        if (count == 0)
            continue;
        if (sum > 0 && to - first > first / PART) {
            put_bar(first, last, sum);
            sum = 0;
        }
        first = sum > 0 ? first : from;
        last = to;
        sum += count;
    }
    if (sum > 0)
        put_bar(first, last, sum);
    json_close();
}

static void put_object(const char *section, size_t row, const struct posixtrace_report_object *o)
{
    json_open(NULL, '{');
    json_text("section", section);
    json_count("row", row);
    json_count("count", o->waits);
    put_bars(o->statistics);
    json_open("quantiles", '[');
    for (int percent = 50; percent < 100; percent += 49) {
        json_open(NULL, '[');
        json_integer(NULL, percent);
        json_integer(NULL, posixtrace_statistics_percentile(o->statistics, percent));
        json_close();
    }
    json_close();
    json_close();
}

char *report_distributions(const struct report_view *v)
{
    static const struct {
        const char *name;
        enum report_section section;
    } sections[] = { { "locks", REPORT_LOCKS },
                     { "waits", REPORT_WAITS },
                     { "descriptors", REPORT_DESCRIPTORS },
                     { "work", REPORT_WORK } };

    out_capture();
    json_open(NULL, '[');
    for (size_t k = 0; k < sizeof sections / sizeof *sections; k++)
        for (size_t i = 0; i < report_shown(v, sections[k].section) && i < OBJECTS_MOST; i++) {
            const struct posixtrace_report_object *o = report_object(v, sections[k].section, i);

            if (o->statistics && o->waits > 1)
                put_object(sections[k].name, i, o);
        }
    json_close();
    return out_captured();
}
