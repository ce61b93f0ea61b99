/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * JSON; see json_out.h.
 */
#include "common/json_out.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <posixtrace/metrics.h>

#include "common/utf8.h"
#include "common/stdout_buffer.h"
#include "common/tool.h"

enum { DEPTH = 8 };

static char closing[DEPTH];
static bool has_items[DEPTH];
static unsigned depth;

static void put_string(const char *text)
{
    enum utf8_style style = utf8_is_safe(STDOUT_FILENO) ? UTF8_JSON : UTF8_JSON_ASCII;
    char *shown = tool_grow(NULL, strlen(text) + 1, UTF8_MAX_ESCAPE);
    char *end = utf8_show(shown, text, style);

    out_text("\"");
    out_bytes(shown, (size_t)(end - shown));
    out_text("\"");
    free(shown);
}

static void begin_item(const char *key)
{
    if (depth > 0 && has_items[depth - 1])
        out_text(",");
    if (depth > 0)
        has_items[depth - 1] = true;
    if (key) {
        put_string(key);
        out_text(":");
    }
}

void json_open(const char *key, char bracket)
{
    assert(depth < DEPTH);
    begin_item(key);
    out_text(bracket == '{' ? "{" : "[");
    closing[depth] = bracket == '{' ? '}' : ']';
    has_items[depth++] = false;
}

void json_close(void)
{
    char text[2] = { closing[--depth], '\0' };

    out_text(text);
    if (depth == 0)
        out_text("\n");
}

void json_text(const char *key, const char *text)
{
    begin_item(key);
    put_string(text);
}

void json_truth(const char *key, bool value)
{
    begin_item(key);
    out_text(value ? "true" : "false");
}

void json_none(const char *key)
{
    begin_item(key);
    out_text("null");
}

void json_count(const char *key, uint64_t value)
{
    begin_item(key);
    out_format("%" PRIu64, value);
}

void json_integer(const char *key, int64_t value)
{
    begin_item(key);
    out_format("%" PRId64, value);
}

void json_number(const char *key, double value, int decimals)
{
    if (!isfinite(value)) {
        json_none(key);
        return;
    }
    begin_item(key);
    out_format("%.*f", decimals, value);
}

void json_bars(const char *key, const posixtrace_statistics_t *statistics)
{
    int64_t from, to;
    uint64_t count;

    json_open(key, '[');
    for (size_t i = 0; posixtrace_statistics_bar(statistics, i, &from, &to, &count) == 0; i++) {
        if (count == 0)
            continue;
        json_open(NULL, '{');
        json_integer("from_ns", from);
        json_integer("to_ns", to);
        json_count("count", count);
        json_close();
    }
    json_close();
}
