/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * posixtrace check: is a log whole?  Reports its faults, place by place.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <posixtrace/log.h>

#include "input/further_types.h"
#include "input/log_file.h"
#include "common/format_option.h"
#include "common/json_out.h"
#include "common/options.h"
#include "common/stdout_buffer.h"
#include "common/progress.h"
#include "common/tool.h"
#include "common/utf8.h"

enum { FORMAT = 1, FINDINGS_SHOWN = 1000 };

static const struct option_spec options[] = { { "format", true, FORMAT }, { NULL, false, 0 } };

static const char help[] =
    "usage: posixtrace check [--format=text|jsonl] LOG\n"
    "\n"
    "Verifies every packet of a trace log, prints damaged places, with their offsets\n"
    "in bytes, what can be read, and which event types are described in several\n"
    "ways. Changes nothing.\n"
    "\n"
    "  --format=FORMAT  text (default), or jsonl: a line for each place, and one of\n"
    "                   kind 'log' at the end\n"
    "  --help           print this\n"
    "\n"
    "Exit status: 0 the log is whole; 1 it is not, but opens to what was printed as\n"
    "readable; 2 it is not a log, or cannot be read.\n"
    "Example: posixtrace check app.ptl\n";

struct findings {
    const char *path;
    enum output_format format;
    char *shown;
    uint64_t count;
};

static void put_finding(const struct findings *found, const struct posixtrace_log_finding *f)
{
    json_open(NULL, '{');
    json_text("kind", "damage");
    json_text("log", found->path);
    json_count("offset", f->offset);
    json_count("bytes", f->bytes);
    json_text("text", f->text);
    json_close();
}

/* A line about the log, wrapped where standard output is a terminal. */
__attribute__((format(printf, 2, 3))) static void say(const char *shown, const char *format, ...)
{
    char text[300];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    out_format("%s: ", shown);
    out_wrapped_if_given(text, utf8_columns(shown, strlen(shown)) + 2, 2);
}

static int finding(void *context, const struct posixtrace_log_finding *f)
{
    struct findings *found = context;

    if (found->count++ >= FINDINGS_SHOWN)
        return 0;
    if (found->format == OUTPUT_JSONL)
        put_finding(found, f);
    else
        say(found->shown, "at byte %" PRIu64 ", %" PRIu64 " bytes: %s", f->offset, f->bytes,
            f->text);
    return 0;
}

static void print_report(const struct findings *found, const struct posixtrace_log_report *r)
{
    char cut[60] = "";

    if (found->count > FINDINGS_SHOWN)
        out_format("%s: and %" PRIu64 " more places\n", found->shown,
                   found->count - FINDINGS_SHOWN);
    if (r->skipped_bytes > 0)
        snprintf(cut, sizeof cut, "; cut: %" PRIu64 " bytes not readable", r->skipped_bytes);
    say(found->shown,
        "%s: %" PRIu64 " packets, %" PRIu64 " events, %" PRIu64 " rounds, %" PRIu64
        " bytes readable%s%s",
        r->damaged ? "salvaged" : "whole", r->packets, r->events, r->rounds, r->salvaged_bytes, cut,
        r->complete ? ""
                    : "; no end mark: the log is still being written, or its writer died "
                      "(posixtrace recover)");
}

static void put_report(const struct findings *found, const struct posixtrace_log_report *r)
{
    json_open(NULL, '{');
    json_text("kind", "log");
    json_text("log", found->path);
    json_truth("whole", !r->damaged);
    json_truth("complete", r->complete);
    json_count("places", found->count);
    json_count("packets", r->packets);
    json_count("events", r->events);
    json_count("rounds", r->rounds);
    json_count("readable_bytes", r->salvaged_bytes);
    json_count("unreadable_bytes", r->skipped_bytes);
    json_close();
}

/* For a log that can be opened, undamaged or not. */
static void print_further_types(const struct findings *found, int fd)
{
    struct log_file log = { .shown = found->shown, .fd = fd };
    char in_front[1024];

    if (posix_trace_open(fd, &log.trid) != 0)
        return;
    snprintf(in_front, sizeof in_front, "%s: describes ", found->shown);
    further_types_print(&log, in_front, 2);
    posix_trace_close(log.trid);
}

static void report_on(const struct findings *found, const struct posixtrace_log_report *r, int fd)
{
    if (found->format == OUTPUT_JSONL) {
        put_report(found, r);
        return;
    }
    print_report(found, r);
    print_further_types(found, fd);
}

static int check_file(const char *path, enum output_format format)
{
    struct posixtrace_log_report report;
    struct findings found = { .path = path, .format = format };
    int fd = log_file_descriptor(path, O_RDONLY), error, status;

    if (fd < 0)
        return EXIT_NOT_A_LOG;
    found.shown = log_file_call(path);
    progress_begin_blind("checking");
    error = posixtrace_log_check(fd, finding, &found, &report, sizeof report);
    progress_end();
    if (error == 0) {
        report_on(&found, &report, fd);
        status = report.damaged ? EXIT_FAILED : EXIT_DONE;
    } else {
        out_flush();
        if (error == EILSEQ)
            tool_error("%s is not a trace log: %s", found.shown, log_file_why_not(fd));
        else if (error == ENOTSUP)
            tool_error("cannot read %s: %s", found.shown, log_file_why_unsupported(fd));
        else if (error == ESPIPE)
            tool_error("%s cannot be checked: it is a pipe; check a file", found.shown);
        else
            tool_error("cannot read %s: %s", found.shown, strerror(error));
        status = EXIT_NOT_A_LOG;
    }
    free(found.shown);
    if (fd != STDIN_FILENO)
        close(fd);
    return status;
}

static int run(struct options *o)
{
    enum output_format format = OUTPUT_TEXT;
    const char *path = NULL;
    int code, status = EXIT_DONE;

    while (status == EXIT_DONE && (code = options_next(o)) != OPTION_END) {
        if (code == OPTION_STOP)
            return o->status;
        status = code == FORMAT ? format_option(o->value, false, &format)
                                : options_set_log(&path, o->value);
    }
    if (status != EXIT_DONE)
        return status;
    return path ? check_file(path, format) : tool_usage("no log named");
}

const struct verb verb_check = { "check", help, options, run };
