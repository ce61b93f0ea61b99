/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * posixtrace stop: see steer.h.
 */
#include <stddef.h>
#include <trace.h>

#include "common/options.h"
#include "control/steer.h"
#include "common/tool.h"

static const struct option_spec options[] = { { NULL, false, 0 } };

static const char help[] =
    "usage: posixtrace stop PID|STREAM\n"
    "\n"
    "Stops a stream of a running process, as posix_trace_stop() in it does: events\n"
    "are not recorded until it is started again. What it holds stays there.\n"
    "\n"
    "  --help  print this\n"
    "\n" STEER_WHICH "Example: posixtrace stop 1234\n";

static int run(struct options *o)
{
    return steer(o, posix_trace_stop);
}

const struct verb verb_stop = { "stop", help, options, run };
