/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * posixtrace doctor: the features and faults of the environment, with consequence and remedy.
 * doctor.h has the structure.
 */
#include "doctor/doctor.h"

#include <stdbool.h>

#include "common/format_option.h"
#include "common/options.h"
#include "common/tool.h"

enum { FORMAT = 1 };

static const struct option_spec options[] = { { "format", true, FORMAT }, { NULL, false, 0 } };

static const char help[] =
    "usage: posixtrace doctor [--format=text|jsonl]\n"
    "\n"
    "Examines the surroundings that programs trace in here: the stream directory,\n"
    "limits, filters of system calls, the kernel, the clock, containers, streams of\n"
    "killed processes; and lets a trial program trace. Changes nothing, except that\n"
    "the stream directory is made, as any tracing program does.\n"
    "\n"
    "  --format=FORMAT  text (default), or jsonl: one line of JSON\n"
    "  --help           print this\n"
    "\n"
    "A finding is ok, a note (tracing works, but something is lost or slower) or BAD\n"
    "(tracing does not work). Run it as the user, and in the container, with the\n"
    "limits and the variables of the program that is to be traced.\n"
    "Exit status: 0 tracing works, 1 something is BAD.\n"
    "Example: posixtrace doctor\n";

static int run(struct options *o)
{
    enum output_format format = OUTPUT_TEXT;
    int code, status = EXIT_DONE;

    while (status == EXIT_DONE && (code = options_next(o)) != OPTION_END) {
        switch (code) {
        case OPTION_STOP: return o->status;
        case FORMAT: status = format_option(o->value, false, &format); break;
        default: return tool_usage("takes no operand, found %s", quote(o->value));
        }
    }
    if (status != EXIT_DONE)
        return status;
    doctor_versions();
    doctor_trial();
    doctor_directory();
    doctor_left_streams();
    doctor_record();
    doctor_limits();
    doctor_container();
    doctor_kernel();
    doctor_clock();
    return doctor_report(format);
}

const struct verb verb_doctor = { "doctor", help, options, run };
