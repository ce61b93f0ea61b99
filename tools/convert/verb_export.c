/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * posixtrace export: a log in the format of another tool.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "convert/convert.h"
#include "input/live_input.h"
#include "input/log_file.h"
#include "input/select.h"
#include "system/atomic_file.h"
#include "convert/packet_output.h"
#include "convert/several_traces.h"
#include "common/progress.h"
#include "common/sync_option.h"
#include "common/tool.h"

enum { CAUSES = 1, FORMAT, FORCE, HIVE, LIST, OUTPUT, STRICT };

static struct convert convert;

static const struct option_spec own[] = { { "format", true, FORMAT },  SELECT_OPTIONS,
                                          { "force", false, FORCE },   { "hive", false, HIVE },
                                          { "causes", false, CAUSES }, { "list", false, LIST },
                                          { "o", true, OUTPUT },       { "output", true, OUTPUT },
                                          { "strict", false, STRICT }, SITES_OPTIONS,
                                          { NULL, false, 0 } };

static const char help[] =
    "usage: posixtrace export --format=FORMAT [OPTION]... LOG|FOLDER... OUT|-o OUT\n"
    "\n"
    "Writes the events of LOG (-: standard input) to OUT, in the format of another\n"
    "tool. OUT is a file (-: standard output), or with ctf a folder; it appears when\n"
    "it is whole. With parquet OUT/ is a folder of tables, to which LOG's are added.\n"
    "With shark udp:HOST:PORT sends packets. Several logs can be jsonl, csv, chrome,\n"
    "perfetto or otlp, or parquet in OUT/; what comes from which log stays apart.\n"
    "\n"
    "  --format=FORMAT  what OUT is to be; also --to=FORMAT\n"
    "  --list           the formats, and the options of each\n"
    "  -o, --output=OUT\n"
    "                   the same as OUT by its place\n"
    "  --force          replace OUT if it exists\n"
    "  --hive, --causes  of parquet: partitions by host and date; what threads did\n"
    "  --strict         exit with 3 if LOG has lost events or is damaged\n" SELECT_HELP SITES_HELP
    "  --help           print this\n"
    "\n"
    "Marks of lost events and of stops are part of every selection.\n"
    "Example: posixtrace export --format=jsonl app.ptl app.jsonl\n";

struct export
{
    const struct posixtrace_format *format;
    const char *log_path, *out_path;
    struct logs_given logs; /* operands */
    struct select_given given;
    const char *placed; /* out_path that no option gave */
    struct log_file log;
    bool force, strict;
    struct selection select;
    struct sites sites; /* for --caller, and what the format shows */
};

static bool is_standard_output(const struct export *ex)
{
    return strcmp(ex->out_path, "-") == 0;
}

static int write_to(struct export *ex, int fd)
{
    int error = posixtrace_export(ex->log.trid, ex->format->name, fd, &convert.c, sizeof convert.c);

    /* Its reader went away, where SIGPIPE is ignored: as in every other verb. */
    if (error == EPIPE && is_standard_output(ex))
        return EXIT_PIPE;
    return convert_report(&convert, error, ex->log.shown);
}

static int write_file(struct export *ex)
{
    struct atomic_file target;
    int status = atomic_file_open(&target, ex->out_path, ex->force);

    if (status != EXIT_DONE)
        return status;
    status = write_to(ex, target.fd);
    if (status == EXIT_DONE)
        status = atomic_file_keep(&target);
    atomic_file_drop(&target);
    return status;
}

static int write_standard_output(struct export *ex)
{
    return write_to(ex, STDOUT_FILENO);
}

static int write_packets(struct export *ex)
{
    int fd = live_output_open(ex->out_path), status;

    if (fd < 0)
        return EXIT_FAILED;
    convert.c.write = packet_output_write;
    convert.c.context = packet_output_begin(fd);
    status = write_to(ex, -1);
    packet_output_end(convert.c.context);
    return status;
}

/* Of a format that can be both, by the slash at its end, or since it is there. */
static bool is_folder(const struct export *ex)
{
    size_t length = strlen(ex->out_path);
    struct stat st;

    if (!ex->format->also_directory || length == 0)
        return ex->format->is_directory;
    return ex->out_path[length - 1] == '/' || (stat(ex->out_path, &st) == 0 && S_ISDIR(st.st_mode));
}

static struct several_target target_of(const struct export *ex)
{
    return (struct several_target){ .convert = &convert,
                                    .format = ex->format,
                                    .path = ex->out_path,
                                    .force = ex->force,
                                    .is_folder = is_folder(ex) };
}

static int write_folder(struct export *ex)
{
    struct several_target target = target_of(ex);

    return several_traces_folder(&target, &ex->log);
}

static bool wants(void *context, const struct posixtrace_event *e)
{
    struct export *ex = context;

    return select_keeps(&ex->select, ex->log.trid, e);
}

/* The number of an event in the log is in the result: all before it must be read. */
static bool counts_events(const struct export *ex)
{
    return strcmp(ex->format->name, "parquet") == 0;
}

/* The selection, of the log that is open. */
static int prepare(struct export *ex)
{
    struct selection *s = &ex->select;
    int status, error = 0;

    if (!select_is_any(s))
        return EXIT_DONE;
    status = ex->log.seekable ? select_resolve(s, ex->log.info.first_ns)
                              : select_resolve_absolute(s);
    if (status != EXIT_DONE)
        return status;
    if (ex->log.seekable) {
        select_warn(s, &ex->log);
        if (s->from.kind != WHEN_NEVER && !counts_events(ex))
            error = select_position(s, &ex->log);
    }
    convert.c.wants = wants;
    convert.c.from_ns = s->from.kind != WHEN_NEVER ? &s->from_ns : NULL;
    convert.c.context = ex;
    return error ? tool_error("cannot read on in %s: %s", ex->log.shown, strerror(error))
                 : EXIT_DONE;
}

static void say_selected(struct export *ex)
{
    if (!select_is_any(&ex->select))
        return;
    if (!ex->log.seekable)
        select_warn(&ex->select, &ex->log);
    select_warn_callers(&ex->select, &ex->log);
    log_file_refresh(&ex->log);
    tool_note("%" PRIu64 " of %" PRIu64 " events selected (%s)", convert.c.events,
              ex->log.info.events, select_text(&ex->select));
}

static int write_out(struct export *ex)
{
    if (is_folder(ex))
        return write_folder(ex);
    if (live_input_is_udp(ex->out_path))
        return write_packets(ex);
    return is_standard_output(ex) ? write_standard_output(ex) : write_file(ex);
}

static int export_log(struct export *ex)
{
    char *shown;
    int status = log_file_open(&ex->log, ex->log_path);

    if (status != EXIT_DONE)
        return status;
    shown = is_standard_output(ex) ? NULL : quote_copy(ex->out_path);
    convert.c.name = shown ? shown : "standard output";
    convert.c.clocks = sync_option_clocks();
    progress_begin("events", ex->log.info.events);
    status = prepare(ex);
    if (status == EXIT_DONE)
        status = write_out(ex);
    progress_end();
    if (status == EXIT_DONE)
        say_selected(ex);
    if (status == EXIT_DONE)
        status = log_file_report_loss(&ex->log, ex->strict, status);
    log_file_close(&ex->log);
    free(shown);
    return status;
}

/* ---- several logs ---- */

static int export_logs(struct export *ex)
{
    struct several_target target = target_of(ex);
    struct logs logs;
    char *shown = quote_copy(ex->out_path);
    int status = several_traces_check(&target, ex->select.from.kind != WHEN_NEVER);

    target.shown = is_standard_output(ex) ? "standard output" : shown;
    convert.c.name = target.shown;
    if (status != EXIT_DONE) {
        free(shown);
        return status;
    }
    status = logs_open_selected(&logs, &ex->logs, &ex->given);
    if (status == EXIT_DONE) {
        uint64_t events = 0;

        for (size_t i = 0; i < logs.count; i++)
            events += logs.at[i]->log.info.events;
        logs_warn(&logs);
        progress_begin("events", events);
        status = several_traces_write(&target, &logs);
        progress_end();
    }
    if (status == EXIT_DONE)
        status = logs_report(&logs, ex->strict, status);
    logs_close(&logs);
    free(shown);
    return status;
}

/* Operands are logs; the last one is OUT where no option gave it. */
static void take_operands(struct export *ex)
{
    if (!ex->out_path && ex->logs.count > 1)
        ex->out_path = ex->placed = ex->logs.paths[--ex->logs.count];
    if (ex->logs.count > 0)
        ex->log_path = ex->logs.paths[0];
}

/* Of a format that is not named here, bytes that no terminal should get. */
static bool is_text(const char *format)
{
    static const char *const text[] = { "btf",  "chrome",       "csv",    "jsonl", "kiwi",
                                        "otlp", "traceprinter", "trazer", "tree",  NULL };

    return options_index(format, text) >= 0;
}

static int complete(const struct export *ex)
{
    if (!ex->format)
        return tool_usage("say what to write: --format=FORMAT; --list names them");
    if (!ex->log_path)
        return tool_usage("no log named");
    if (!ex->out_path)
        return tool_usage("no file named to write %s to", quote(ex->log_path));
    if (ex->format->is_directory && is_standard_output(ex))
        return tool_usage("a trace in format %s is a folder, which '-' is not", ex->format->name);
    if (is_standard_output(ex) && isatty(STDOUT_FILENO) && !is_text(ex->format->name))
        return tool_usage("%s is binary, and standard output is a terminal; name a file, or "
                          "redirect it",
                          ex->format->name);
    if (!live_input_is_udp(ex->out_path))
        return EXIT_DONE;
    if (strcmp(ex->format->name, "shark") != 0)
        return tool_usage("packets (udp:) are for --format=shark");
    return convert_set_option(&convert, "packets", "yes");
}

/* The format's, or those of --caller. */
static int pass_sites(struct export *ex)
{
    bool none = ex->select.caller.count == 0;
    int status = EXIT_DONE;

    if (ex->sites.off && (none || convert_has_option(ex->format, "no-symbols")))
        status = convert_set_option(&convert, "no-symbols", "yes");
    if (status == EXIT_DONE && ex->sites.debug_dir &&
        (none || convert_has_option(ex->format, "debug-dir")))
        status = convert_set_option(&convert, "debug-dir", ex->sites.debug_dir);
    return status;
}

/* For links from what the format shows back to the log. */
static int pass_log(const struct export *ex)
{
    char *path;
    int status;

    if (!convert_has_option(ex->format, "log") || logs_are_several(&ex->logs))
        return EXIT_DONE; /* of several each gives its own */
    path = realpath(ex->log_path, NULL);
    status = path ? convert_default_option(&convert, "log", path) : EXIT_DONE;
    free(path);
    return status;
}

static int take(struct export *ex, int code, const char *value)
{
    bool is_format = code == FORMAT || (code == SELECT_TO && isalpha((unsigned char)value[0]));
    int status = EXIT_DONE;

    if (!is_format && (select_is_option(code) || sites_is_option(code)))
        select_given_add(&ex->given, code, value);
    /* --to is a time, or a format: their names begin with a letter, and no time does */
    if (is_format)
        ex->format = convert_format(value, true, &status);
    else if (select_is_option(code))
        status = select_take_option(&ex->select, code, value);
    else if (sites_is_option(code))
        status = sites_take_option(&ex->sites, code, value);
    else if (code == FORCE)
        ex->force = true;
    else if (code == CAUSES)
        status = convert_set_option(&convert, "causes", "yes");
    else if (code == HIVE)
        status = convert_set_option(&convert, "hive", "yes");
    else if (code == STRICT)
        ex->strict = true;
    else if (code == OUTPUT)
        status = convert_set_output(&ex->out_path, ex->placed, "one LOG and one OUT", value);
    else if (code == OPTION_OPERAND)
        logs_given_add(&ex->logs, value);
    else
        status = convert_take_option(&convert, code, value);
    return status;
}

static int run(struct options *o)
{
    struct export ex = { 0 };
    int code, status = convert_init(&convert, own);

    select_init(&ex.select, &ex.sites);
    while (status == EXIT_DONE && (code = options_next(o)) != OPTION_END) {
        if (code == LIST)
            convert_list(true);
        if (code == LIST || code == OPTION_STOP) {
            convert_deinit(&convert);
            select_free(&ex.select);
            select_given_free(&ex.given);
            logs_given_free(&ex.logs);
            return code == LIST ? EXIT_DONE : o->status;
        }
        status = take(&ex, code, o->value);
    }
    take_operands(&ex);
    if (status == EXIT_DONE)
        status = complete(&ex);
    if (status == EXIT_DONE)
        status = pass_sites(&ex);
    if (status == EXIT_DONE)
        status = pass_log(&ex);
    if (status == EXIT_DONE)
        status = convert_check_options(&convert, ex.format);
    if (status == EXIT_DONE)
        status = select_make(&ex.select);
    if (status == EXIT_DONE)
        status = logs_are_several(&ex.logs) ? export_logs(&ex) : export_log(&ex);
    convert_deinit(&convert);
    select_free(&ex.select);
    select_given_free(&ex.given);
    logs_given_free(&ex.logs);
    return status;
}

const struct verb verb_export = { "export", help, convert.specs, run };
