/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See colour.h. */
#include "common/colour.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/options.h"
#include "common/tool.h"

static const char *const codes[] = { "\033[0m", "\033[2m",    "\033[36m",
                                     "\033[1m", "\033[1;34m", "\033[1;31m" };
static bool on;

int colour_option(const char *value, enum colour_when *when)
{
    static const char *const words[] = { "auto", "always", "never", NULL };
    int i = options_index(value, words);

    if (i < 0)
        return options_bad_word("colour setting", value, words);
    *when = (enum colour_when)i;
    return EXIT_DONE;
}

static bool is_set(const char *variable)
{
    const char *value = getenv(variable);

    return value && *value;
}

void colour_begin(enum colour_when when)
{
    const char *term = getenv("TERM");

    if (when != COLOUR_AUTO)
        on = when == COLOUR_ALWAYS;
    else if (is_set("NO_COLOR") || is_set("FORCE_COLOR"))
        on = !is_set("NO_COLOR");
    else
        on = isatty(STDOUT_FILENO) && term && strcmp(term, "dumb") != 0;
}

bool colour_is_on(void)
{
    return on;
}

const char *colour_code(enum colour colour)
{
    return on ? codes[colour] : "";
}
