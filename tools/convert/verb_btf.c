/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * posixtrace btf check: does a BTF file keep to its specification?  Says what does
 * not, line by line.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <posixtrace/format.h>

#include "common/utf8.h"
#include "input/log_file.h"
#include "common/options.h"
#include "common/stdout_buffer.h"
#include "common/progress.h"
#include "common/tool.h"

enum { VERSION = 1, FROM_START };
enum { FINDINGS_SHOWN = 1000, TEXT_MAX = 4096 };

static const struct option_spec options[] = { { "version", true, VERSION },
                                              { "from-start", false, FROM_START },
                                              { NULL, false, 0 } };

static const char help[] =
    "usage: posixtrace btf check [--version=VERSION] [--from-start] FILE\n"
    "\n"
    "Holds a trace in Best Trace Format (-: standard input) against the specification\n"
    "of its version: entity types, actions, who may cause them, notes, numbers of\n"
    "instances, and the states of processes, runnables and semaphores. Prints a line\n"
    "for each violation: file, line, entity, its state before, action, the fault.\n"
    "\n"
    "  --version=VERSION  the rules of 2.1.5, 2.2.1 or 2.3.0, whatever the file says\n"
    "  --from-start       the trace begins with the system: a process, runnable or\n"
    "                     semaphore is not in some state before its first line\n"
    "  --help             print this\n"
    "\n"
    "Exit status: 0 none found; 1 violations, or the file could not be read.\n"
    "Example: posixtrace btf check trace.btf\n";

struct check {
    const char *action, *path, *version;
    char *shown;
    unsigned flags;
    uint64_t count;
};

static int finding(void *context, const struct posixtrace_btf_finding *f)
{
    static char text[UTF8_MAX_ESCAPE * TEXT_MAX];
    struct check *check = context;

    if (check->count++ >= FINDINGS_SHOWN)
        return 0;
    out_format("%s:%" PRIu64 ": ", check->shown, f->line);
    if (*f->entity)
        out_format("%s%s%s%s, ", quote(f->entity), *f->state ? " (" : "", f->state,
                   *f->state ? ")" : "");
    if (*f->action)
        out_format("%s: ", quote(f->action));
    *utf8_show(text, f->text, UTF8_TERMINAL_ASCII) = '\0';
    out_text(text);
    out_text("\n");
    return 0;
}

static void print_report(const struct check *check, const struct posixtrace_btf_report *r)
{
    if (check->count > FINDINGS_SHOWN)
        out_format("%s: and %" PRIu64 " more violations\n", check->shown,
                   check->count - FINDINGS_SHOWN);
    out_format("%s: version %s, by the rules %s%s: %" PRIu64 " event%s, ", check->shown,
               *r->version ? quote(r->version) : "not named",
               strncmp(r->rules, "before", 6) == 0 ? "" : "of ", r->rules, r->events,
               r->events == 1 ? "" : "s");
    if (r->findings)
        out_format("%" PRIu64 " violation%s\n", r->findings, r->findings == 1 ? "" : "s");
    else
        out_text("no violation\n");
}

static int check_file(struct check *check)
{
    struct posixtrace_btf_report report;
    int fd = log_file_descriptor(check->path, O_RDONLY), error;

    if (fd < 0)
        return EXIT_FAILED;
    check->shown = log_file_call(check->path);
    progress_begin_blind("checking");
    error = posixtrace_btf_check(fd, check->version, check->flags, finding, check, &report,
                                 sizeof report);
    progress_end();
    if (error)
        tool_error("cannot read %s: %s", check->shown, strerror(error));
    else
        print_report(check, &report);
    if (fd != STDIN_FILENO)
        close(fd);
    free(check->shown);
    return error || report.findings ? EXIT_FAILED : EXIT_DONE;
}

static bool is_version(const char *text)
{
    static const char *const versions[] = { "2.1.5", "2.2.1", "2.3.0", NULL };

    return options_index(text, versions) >= 0;
}

static int take_operand(struct check *check, const char *value)
{
    static const char *const actions[] = { "check", NULL };

    if (!check->action && options_index(value, actions) < 0)
        return options_bad_word("action", value, actions);
    if (!check->action)
        check->action = value;
    else if (!check->path)
        check->path = value;
    else
        return tool_usage("one file at a time: %s and %s", quote(check->path), quote(value));
    return EXIT_DONE;
}

static int run(struct options *o)
{
    struct check check = { 0 };
    int code, status = EXIT_DONE;

    while (status == EXIT_DONE && (code = options_next(o)) != OPTION_END) {
        if (code == OPTION_STOP)
            return o->status;
        if (code == FROM_START)
            check.flags |= POSIXTRACE_BTF_FROM_START;
        else if (code == OPTION_OPERAND)
            status = take_operand(&check, o->value);
        else if (is_version(o->value))
            check.version = o->value;
        else
            status = tool_usage("version %s: the rules are those of 2.1.5, 2.2.1 or 2.3.0",
                                quote(o->value));
    }
    if (status == EXIT_DONE && !check.action)
        status = tool_usage("say what to do: check FILE");
    else if (status == EXIT_DONE && !check.path)
        status = tool_usage("no file named");
    return status == EXIT_DONE ? check_file(&check) : status;
}

const struct verb verb_btf = { "btf", help, options, run };
