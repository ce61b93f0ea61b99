/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * How times, threads and names of measurements are written; see metrics_text.h.
 */
#include "measure/metrics_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/stdout_buffer.h"
#include "common/time_parse.h"
#include "common/tool.h"
#include "common/units.h"
#include "common/utf8.h"

static char *next_buffer(void)
{
    static char buffers[8][64];
    static unsigned next;

    return buffers[next++ % 8];
}

/* NUL-terminated; the end. */
static char *put_us(char *to, int64_t ns)
{
    uint64_t size_ns = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;

    if (ns < 0)
        *to++ = '-';
    to = pt_number_u64(to, size_ns / 1000);
    *to++ = '.';
    for (unsigned unit = 100, left = (unsigned)(size_ns % 1000); unit > 0; unit /= 10)
        *to++ = (char)('0' + left / unit % 10);
    *to = '\0';
    return to;
}

static const char unlimited[] = "unlimited";

static void put_at_most(char *to, int64_t ns)
{
    if (ns >= POSIXTRACE_NO_BOUND)
        strcpy(to, unlimited);
    else
        put_us(to, ns);
}

const char *metrics_us_or_unlimited(int64_t ns)
{
    char *buffer = next_buffer();

    if (ns >= POSIXTRACE_NO_BOUND)
        return unlimited;
    strcpy(put_us(buffer, ns), " us");
    return buffer;
}

const char *metrics_up_to(int64_t ns)
{
    char *buffer = next_buffer();

    if (ns >= POSIXTRACE_NO_BOUND)
        strcpy(buffer, "any length");
    else
        strcpy(put_us(put_text(buffer, "up to ", 6), ns), " us");
    return buffer;
}

const char *metrics_time_at_most(int64_t ns)
{
    return ns >= POSIXTRACE_NO_BOUND ? unlimited : units_time(ns);
}

int64_t metrics_rounded(double ns)
{
    if (ns >= 0x1p63)
        return INT64_MAX;
    return ns <= -0x1p63 ? INT64_MIN : (int64_t)llround(ns);
}

const char *metrics_us(int64_t ns)
{
    char *buffer = next_buffer();

    put_us(buffer, ns);
    return buffer;
}

const char *metrics_us_at_most(int64_t ns)
{
    char *buffer = next_buffer();

    put_at_most(buffer, ns);
    return buffer;
}

const char *metrics_us_range(int64_t ns, int64_t at_most_ns)
{
    char *buffer = next_buffer(), *end = put_us(buffer, ns);

    if (at_most_ns > ns)
        put_at_most(put_text(end, "..", 2), at_most_ns);
    return buffer;
}

const char *metrics_thread(pid_t tid, uint64_t thread_id)
{
    char *buffer = next_buffer();

    if (tid != 0)
        snprintf(buffer, 64, "%d", (int)tid);
    else if (thread_id != 0)
        snprintf(buffer, 64, "0x%" PRIx64, thread_id);
    else
        strcpy(buffer, "-");
    return buffer;
}

char *metrics_shown(enum output_format format, const char *name)
{
    static int utf8 = -1;
    char *shown = tool_grow(NULL, strlen(name) + 1, UTF8_MAX_ESCAPE);
    enum utf8_style style;

    if (utf8 < 0)
        utf8 = utf8_is_safe(STDOUT_FILENO);
    if (format == OUTPUT_TEXT)
        style = utf8 ? UTF8_TERMINAL : UTF8_TERMINAL_ASCII;
    else if (format == OUTPUT_CSV)
        style = utf8 ? UTF8_CSV : UTF8_CSV_ASCII;
    else
        style = utf8 ? UTF8_JSON : UTF8_JSON_ASCII;
    *utf8_show(shown, name, style) = '\0';
    return shown;
}

char *metrics_caption(const posixtrace_metric_t *metric)
{
    const char *about = posixtrace_metric_about(metric);
    char *name = metrics_shown(OUTPUT_TEXT, posixtrace_metric_name(metric));
    char *shown = metrics_shown(OUTPUT_TEXT, about);
    size_t size = strlen(name) + strlen(shown) + 5;
    char *text = tool_grow(NULL, size, 1);

    snprintf(text, size, "# %s%s%s", name, *about ? ": " : "", shown);
    free(name);
    free(shown);
    return text;
}

void metrics_put_name(enum output_format format, const char *name)
{
    char *shown = metrics_shown(format, name);

    if (format != OUTPUT_TEXT)
        out_text("\"");
    out_text(shown);
    if (format != OUTPUT_TEXT)
        out_text("\"");
    free(shown);
}
