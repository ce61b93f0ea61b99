/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * JSON; see json_out.h.
 */
#include "common/json_out.h"

#include <stdlib.h>
#include <string.h>

#include "common/utf8.h"
#include "common/stdout_buffer.h"
#include "common/tool.h"

enum { DEPTH = 8 };

static char closing[DEPTH];
static bool has_items[DEPTH];
static unsigned depth;

static void put_string(const char *text)
{
    char *shown = tool_grow(NULL, strlen(text) + 1, UTF8_MAX_ESCAPE);
    char *end = utf8_show(shown, text, UTF8_JSON);

    out_text("\"");
    out_bytes(shown, (size_t)(end - shown));
    out_text("\"");
    free(shown);
}

static void begin_item(const char *key)
{
    if (depth > 0) {
        out_text(has_items[depth - 1] ? ",\n" : "\n");
        has_items[depth - 1] = true;
        out_spaces(2 * depth);
    }
    if (key) {
        put_string(key);
        out_text(": ");
    }
}

void json_open(const char *key, char bracket)
{
    begin_item(key);
    out_text(bracket == '{' ? "{" : "[");
    closing[depth] = bracket == '{' ? '}' : ']';
    has_items[depth++] = false;
}

void json_close(void)
{
    char text[2] = { closing[--depth], '\0' };

    if (has_items[depth]) {
        out_text("\n");
        out_spaces(2 * depth);
    }
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

void json_number(const char *key, double value, int decimals)
{
    begin_item(key);
    out_format("%.*f", decimals, value);
}
