/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * posixtrace start: see steer.h.
 */
#include <stddef.h>
#include <trace.h>

#include "common/options.h"
#include "control/steer.h"
#include "common/tool.h"

static const struct option_spec options[] = { { NULL, false, 0 } };

static const char help[] =
    "usage: posixtrace start PID|STREAM\n"
    "\n"
    "Starts a stream of a running process, as posix_trace_start() in it does. One\n"
    "that runs already is left as it is.\n"
    "\n"
    "  --help  print this\n"
    "\n" STEER_WHICH "Example: posixtrace start 1234\n";

static int run(struct options *o)
{
    return steer(o, posix_trace_start);
}

const struct verb verb_start = { "start", help, options, run };
