/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * posixtrace doctor: what the surroundings have and lack, what each lack means
 * and what to do about it.  doctor.h tells how that is put together.
 */
#include "doctor/doctor.h"

#include <stdbool.h>

#include "common/options.h"
#include "common/tool.h"

enum { JSON = 1 };

static const struct option_spec options[] = { { "json", false, JSON }, { NULL, false, 0 } };

static const char help[] =
    "usage: posixtrace doctor [--json]\n"
    "\n"
    "Examines the surroundings that programs trace in here: the stream directory,\n"
    "limits, filters of system calls, the kernel, the clock, containers, streams of\n"
    "killed processes; and lets a trial program trace. Changes nothing, except that\n"
    "the stream directory is made, as any tracing program does.\n"
    "\n"
    "  --json  the findings as JSON\n"
    "  --help  print this\n"
    "\n"
    "A finding is ok, a note (tracing works, but something is lost or slower) or BAD\n"
    "(tracing does not work). Run it as the user, and in the container, with the\n"
    "limits and the variables of the program that is to be traced.\n"
    "Exit status: 0 tracing works, 1 something is BAD.\n"
    "Example: posixtrace doctor\n";

static int run(struct options *o)
{
    bool json = false;
    int code;

    while ((code = options_next(o)) != OPTION_END) {
        switch (code) {
        case OPTION_STOP: return o->status;
        case JSON: json = true; break;
        default: return tool_usage("takes no operand, found %s", quote(o->value));
        }
    }
    doctor_versions();
    doctor_trial();
    doctor_directory();
    doctor_left_streams();
    doctor_record();
    doctor_limits();
    doctor_container();
    doctor_kernel();
    doctor_clock();
    return doctor_report(json);
}

const struct verb verb_doctor = { "doctor", help, options, run };
