/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* posixtrace load in a build without libcurl. */
#include "common/options.h"
#include "common/tool.h"

static const struct option_spec options[] = { { NULL, false, 0 } };

static const char help[] =
    "usage: posixtrace load\n"
    "\n"
    "Loads logs into a ClickHouse server; not here: this posixtrace was built\n"
    "without libcurl.\n";

static int run(struct options *o)
{
    if (o->words[0] && options_next(o) == OPTION_STOP)
        return o->status;
    return tool_error("this posixtrace was built without libcurl; build it with -Dload=enabled");
}

const struct verb verb_load = { "load", help, options, run };
