/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * posixtrace selftest: does the library keep its promises on this machine, and
 * how fast is it here?  selftest.h tells how it is put together.
 */
#include "selftest/selftest.h"

#include <signal.h>
#include <stdlib.h>

#include "common/format_option.h"
#include "common/options.h"
#include "common/progress.h"
#include "common/tool.h"

enum { LOG = 1, SECONDS, FORMAT, SECONDS_DEFAULT = 30, SECONDS_MOST = 600 };

static const struct option_spec options[] = { { "log", true, LOG },
                                              { "seconds", true, SECONDS },
                                              { "format", true, FORMAT },
                                              { NULL, false, 0 } };

static const char help[] =
    "usage: posixtrace selftest [--log DIR] [--seconds N] [--format=text|jsonl]\n"
    "\n"
    "Tests on this machine, in about half a minute, that the library keeps its\n"
    "promises: events of processes killed at random instants come back, handlers\n"
    "of signals may trace, times are in order on all processors, losses are counted\n"
    "exactly. Measures what an event costs, the rate into a log in DIR without loss,\n"
    "and reading. The table at the end is for bug reports.\n"
    "\n"
    "  --log DIR        where to write logs (512 MiB at most); default: here\n"
    "  --seconds N      how long to measure, 1 to 600; default 30\n"
    "  --format=FORMAT  text (default), or jsonl: one line of JSON\n"
    "  --help           print this\n"
    "\n"
    "Exit status: 0 all checks passed, 1 a check failed (speed never does). All\n"
    "files it makes are removed, also when it is interrupted.\n"
    "Example: posixtrace selftest --log /var/tmp\n";

static const struct part {
    void (*run)(const struct selftest *t);
} parts[] = { { selftest_facts }, { selftest_kill }, { selftest_signals },
              { selftest_clock }, { selftest_cost }, { selftest_rate } };

static int run_parts(struct selftest *t, enum output_format format)
{
    int64_t begin = selftest_now();
    int status = selftest_enter(t);

    if (status != EXIT_DONE)
        return status;
    progress_begin("parts", 0);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0] && !selftest_interrupted(); i++)
        parts[i].run(t);
    progress_end();
    selftest_leave(t);
    if (!selftest_interrupted())
        return report_print(format, (double)(selftest_now() - begin) / 1e9);
    tool_note("selftest: interrupted; all its files are removed");
    signal(selftest_interrupted(), SIG_DFL);
    raise(selftest_interrupted());
    return EXIT_FAILED;
}

/* A whole number from 1 to the most; 0: it is none. */
static long parse_seconds(const char *text)
{
    char *end;
    long n = strtol(text, &end, 10);

    return end != text && *end == '\0' && n >= 1 && n <= SECONDS_MOST ? n : 0;
}

static int run(struct options *o)
{
    struct selftest t = { .seconds = SECONDS_DEFAULT, .log_dir = "." };
    enum output_format format = OUTPUT_TEXT;
    int code;

    while ((code = options_next(o)) != OPTION_END) {
        switch (code) {
        case OPTION_STOP: return o->status;
        case LOG: t.log_dir = o->value; break;
        case FORMAT:
            if (format_option(o->value, false, &format) != EXIT_DONE)
                return EXIT_USAGE;
            break;
        case SECONDS:
            t.seconds = (double)parse_seconds(o->value);
            if (t.seconds == 0)
                return tool_usage("--seconds takes a number from 1 to %d, found %s", SECONDS_MOST,
                                  quote(o->value));
            break;
        default: return tool_usage("takes no operand, found %s", quote(o->value));
        }
    }
    return run_parts(&t, format);
}

const struct verb verb_selftest = { "selftest", help, options, run };
