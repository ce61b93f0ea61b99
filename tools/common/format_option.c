/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See format_option.h. */
#include "common/format_option.h"

#include <stddef.h>

#include "common/options.h"
#include "common/tool.h"

static const char *const all[] = { "text", "jsonl", "csv", NULL };
static const char *const without_csv[] = { "text", "jsonl", NULL };

int format_option(const char *value, bool has_csv, enum output_format *format)
{
    const char *const *known = has_csv ? all : without_csv;
    int i = options_index(value, known);

    if (i < 0)
        return options_bad_word("format", value, known);
    *format = (enum output_format)i;
    return EXIT_DONE;
}

const char *format_option_name(enum output_format format)
{
    return all[format];
}
