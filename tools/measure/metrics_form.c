/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See metrics_form.h. */
#include "measure/metrics_form.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/options.h"
#include "common/tool.h"

int metrics_form_rows(struct metrics_form *f, enum metrics_rows rows)
{
    if (f->chosen && f->rows != rows)
        return tool_usage("--stats, --each and --by: one at a time");
    f->chosen = true;
    f->rows = rows;
    return EXIT_DONE;
}

int metrics_form_by(struct metrics_form *f, const char *value)
{
    static const char *const words[] = { "metric", "thread", "object", NULL };
    int index = options_index(value, words);

    if (index < 0)
        return options_bad_word("rows", value, words);
    return metrics_form_rows(f, (enum metrics_rows)index);
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* A percentage from 0 to 100, of up to three digits and six decimals; false: it is none. */
static bool take_percent(const char **at, double *percent)
{
    double scale = 1, value = 0;
    const char *p = *at;

    if (!is_digit(*p))
        return false;
    for (; is_digit(*p) && p - *at < 3; p++)
        value = 10 * value + (*p - '0');
    if (*p == '.' && is_digit(p[1]))
        for (p++; is_digit(*p) && scale < 1e6; p++, scale *= 10)
            value = 10 * value + (*p - '0');
    *at = p;
    *percent = value / scale;
    return *percent <= 100;
}

int metrics_form_percentiles(struct metrics_form *f, const char *value)
{
    const char *at = value;

    f->percent_count = 0;
    for (;;) {
        if (f->percent_count == METRICS_PERCENTILES)
            return tool_usage("option '--percentiles' takes %d numbers at most, found %s",
                              METRICS_PERCENTILES, quote(value));
        if (!take_percent(&at, &f->percents[f->percent_count++]) || (*at && *at != ','))
            return tool_usage("option '--percentiles' needs numbers from 0 to 100, such as "
                              "50,90,99.9, found %s",
                              quote(value));
        if (*at++ == '\0')
            return EXIT_DONE;
    }
}

int metrics_form_worst(struct metrics_form *f, const char *value)
{
    char *end;
    long count = strtol(value, &end, 10);

    if (!is_digit(value[0]) || *end != '\0' || count < 1 || count > METRICS_WORST_MAX)
        return tool_usage("option '--worst' needs a number from 1 to %d, found %s",
                          METRICS_WORST_MAX, quote(value));
    f->worst = (size_t)count;
    return EXIT_DONE;
}

int metrics_form_format(struct metrics_form *f, const char *value)
{
    static const char *const known[] = { "text", "jsonl", "csv", "json", NULL };
    int index = options_index(value, known);

    if (index < 0)
        return options_bad_word("format", value, known);
    f->json = index == 3;
    f->format = f->json ? OUTPUT_JSONL : (enum output_format)index;
    return EXIT_DONE;
}

static void set_percents(struct metrics_form *f)
{
    static const double of_summary[] = { 50, 99 }, of_statistics[] = { 50, 90, 99, 99.9 };
    bool few = f->rows != METRICS_STATS && f->format == OUTPUT_TEXT;

    if (f->percent_count > 0)
        return;
    f->percent_count = few ? 2 : 4;
    memcpy(f->percents, few ? of_summary : of_statistics, f->percent_count * sizeof(double));
}

int metrics_form_make(struct metrics_form *f)
{
    bool each = f->chosen && f->rows == METRICS_EACH;

    if (each && (f->percent_count > 0 || f->histogram || f->worst > 0 || f->json))
        return tool_usage("--each has neither --percentiles, --histogram, --worst nor the format "
                          "'json'");
    if (!f->chosen && f->format != OUTPUT_TEXT && !f->json) {
        if (f->percent_count > 0)
            return tool_usage("--percentiles with the format '%s' needs --by",
                              format_option_name(f->format));
        f->rows = METRICS_EACH;
    }
    if (f->histogram && f->format != OUTPUT_TEXT && !f->json)
        return tool_usage("--histogram is for the formats 'text' and 'json'");
    if (f->chosen && f->worst > 0 && f->format != OUTPUT_TEXT && !f->json)
        return tool_usage("--worst with the format '%s' shows these measurements, without --by and "
                          "--stats",
                          format_option_name(f->format));
    set_percents(f);
    return EXIT_DONE;
}

const char *metrics_form_percent(double percent, char mark)
{
    static char buffers[8][32];
    static unsigned next;
    char *buffer = buffers[next++ % 8], *point;

    snprintf(buffer, sizeof buffers[0], "%.9g", percent);
    point = strchr(buffer, '.');
    if (point)
        *point = mark;
    return buffer;
}

static bool is_plain(const char *path)
{
    return path[strspn(path, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
                             "_./+:,@%-")] == '\0';
}

const char *metrics_form_log(const struct log_file *log)
{
    if (!log->seekable || strcmp(log->path, "-") == 0)
        return "LOG";
    return is_plain(log->path) ? log->path : quote_word(log->path);
}
