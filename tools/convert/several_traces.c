/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See several_traces.h. */
#include "convert/several_traces.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/sync_option.h"
#include "common/tool.h"
#include "convert/several_export.h"
#include "system/atomic_file.h"
#include "system/new_folder.h"

enum kind { ONE_LOG, LINES, ONE_TRACE, JOINED, FOLDER };

static enum kind kind_of(const struct posixtrace_format *format)
{
    static const struct {
        const char *name;
        enum kind kind;
    } kinds[] = { { "jsonl", LINES },        { "csv", LINES },   { "chrome", ONE_TRACE },
                  { "perfetto", ONE_TRACE }, { "otlp", JOINED }, { "parquet", FOLDER } };

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(format->name, kinds[i].name) == 0)
            return kinds[i].kind;
    return ONE_LOG;
}

int several_traces_check(const struct several_target *t, bool from)
{
    enum kind kind = kind_of(t->format);

    if (kind == ONE_LOG)
        return tool_usage(
            "a trace in format %s is of one log, whose processes and losses are those of one "
            "host; several logs can be jsonl, csv, chrome, perfetto, otlp, or parquet in a folder",
            t->format->name);
    if (kind == FOLDER && !t->is_folder)
        return tool_usage("a table is of one log; several logs are %s in a folder, as 'OUT/'",
                          t->format->name);
    if (kind == LINES && from)
        return tool_usage("several logs are exported from their first events on: leave out "
                          "--from");
    return EXIT_DONE;
}

/* ---- selection ---- */

static bool wants(void *context, const struct posixtrace_event *e)
{
    struct input_log *in = context;

    return select_keeps(&in->select, in->log.trid, e);
}

static int position(const struct several_target *t, struct input_log *in)
{
    int error = 0;

    /* of tables the number of an event in the log is in the result: all before it must be read */
    if (in->select.from.kind != WHEN_NEVER && kind_of(t->format) != FOLDER)
        error = select_position(&in->select, &in->log);
    return error ? tool_error("cannot read on in %s: %s", in->log.shown, strerror(error))
                 : EXIT_DONE;
}

/* For one log. */
static int prepare(const struct several_target *t, struct input_log *in)
{
    struct posixtrace_conversion *c = &t->convert->c;
    char *path;
    int status = EXIT_DONE;

    c->context = in;
    c->wants = select_is_any(&in->select) ? wants : NULL;
    c->from_ns = in->select.from.kind != WHEN_NEVER ? &in->select.from_ns : NULL;
    if (convert_has_option(t->format, "log")) {
        path = realpath(in->log.path, NULL);
        if (path)
            status = convert_replace_option(t->convert, "log", path);
        free(path);
    }
    return status == EXIT_DONE ? position(t, in) : status;
}

static void say_selected(const struct logs *logs, uint64_t written)
{
    uint64_t events = 0;

    if (!select_is_any(&logs->at[0]->select))
        return;
    for (size_t i = 0; i < logs->count; i++) {
        log_file_refresh(&logs->at[i]->log);
        events += logs->at[i]->log.info.events;
    }
    tool_note("%" PRIu64 " of %" PRIu64 " events selected (%s)", written, events,
              select_text(&logs->at[0]->select));
}

/* ---- writing ---- */

static bool is_standard_output(const struct several_target *t)
{
    return strcmp(t->path, "-") == 0;
}

static int result(const struct several_target *t, int error, const char *input)
{
    /* Its reader went away, where SIGPIPE is ignored: as in every other verb. */
    if (error == EPIPE && is_standard_output(t))
        return EXIT_PIPE;
    return convert_report(t->convert, error, input);
}

static int write_one_trace(const struct several_target *t, struct logs *logs, int fd,
                           uint64_t *written)
{
    struct posixtrace_export_log *list = tool_zeroed(logs->count * sizeof *list);
    int status = EXIT_DONE, error;

    if (logs->count > POSIXTRACE_EXPORT_LOGS)
        status = tool_usage("a trace in format %s has room for %d logs", t->format->name,
                            POSIXTRACE_EXPORT_LOGS);
    for (size_t i = 0; status == EXIT_DONE && i < logs->count; i++) {
        struct input_log *in = logs->at[i];
        bool any = select_is_any(&in->select);

        list[i] = (struct posixtrace_export_log){ .trid = in->log.trid,
                                                  .label = in->label,
                                                  .wants = any ? wants : NULL,
                                                  .context = in,
                                                  .from_ns = in->select.from.kind != WHEN_NEVER
                                                                 ? &in->select.from_ns
                                                                 : NULL };
        status = position(t, in);
    }
    if (status == EXIT_DONE) {
        error = posixtrace_export_logs(list, sizeof *list, logs->count, t->format->name, fd,
                                       &t->convert->c, sizeof t->convert->c);
        status = result(t, error, logs_shown(logs));
        *written = t->convert->c.events;
    }
    free(list);
    return status;
}

static int write_joined(const struct several_target *t, struct logs *logs, int fd,
                        uint64_t *written)
{
    int status = EXIT_DONE;

    for (size_t i = 0; status == EXIT_DONE && i < logs->count; i++) {
        struct input_log *in = logs->at[i];
        int error;

        status = prepare(t, in);
        if (status != EXIT_DONE)
            break;
        error = posixtrace_export(in->log.trid, t->format->name, fd, &t->convert->c,
                                  sizeof t->convert->c);
        status = result(t, error, in->log.shown);
        *written += t->convert->c.events;
    }
    return status;
}

static int write_fd(const struct several_target *t, struct logs *logs, int fd, uint64_t *written)
{
    switch (kind_of(t->format)) {
    case LINES: return several_export(logs, t->format->name, fd, t->shown, written);
    case ONE_TRACE: return write_one_trace(t, logs, fd, written);
    default: return write_joined(t, logs, fd, written);
    }
}

static int write_file(const struct several_target *t, struct logs *logs, uint64_t *written)
{
    struct atomic_file target;
    int status = atomic_file_open(&target, t->path, t->force);

    if (status != EXIT_DONE)
        return status;
    status = write_fd(t, logs, target.fd, written);
    if (status == EXIT_DONE)
        status = atomic_file_keep(&target);
    atomic_file_drop(&target);
    return status;
}

int several_traces_folder(const struct several_target *t, const struct log_file *log)
{
    bool adds = t->format->also_directory;
    struct new_folder target;
    int status = (adds ? new_folder_open_to_add : new_folder_open)(&target, t->path, t->force);
    int error;

    if (status != EXIT_DONE)
        return status;
    error = posixtrace_export_directory(log->trid, t->format->name, target.temporary,
                                        &t->convert->c, sizeof t->convert->c);
    status = convert_report(t->convert, error, log->shown);
    if (status == EXIT_DONE)
        status = adds ? new_folder_add(&target) : new_folder_keep(&target);
    new_folder_drop(&target);
    return status;
}

/* The files of a log are there when they are whole, before those of the next one. */
static int write_folders(const struct several_target *t, struct logs *logs, uint64_t *written)
{
    int status = EXIT_DONE;

    for (size_t i = 0; status == EXIT_DONE && i < logs->count; i++) {
        struct input_log *in = logs->at[i];

        status = prepare(t, in);
        if (status == EXIT_DONE)
            status = several_traces_folder(t, &in->log);
        *written += t->convert->c.events;
    }
    return status;
}

/* In lines each time is one of its log. */
static void say_clocks(const struct several_target *t, const struct logs *logs)
{
    struct host_clocks *clocks;

    if (kind_of(t->format) == LINES || kind_of(t->format) == FOLDER || sync_option_clocks())
        return;
    clocks = logs_clocks(logs);
    if (host_clocks_several(clocks))
        tool_note("the clocks of the hosts are not aligned: each log's times are those of its own; "
                  "'posixtrace sync' aligns them, for --sync");
    host_clocks_free(clocks);
}

int several_traces_write(const struct several_target *t, struct logs *logs)
{
    uint64_t written = 0;
    int status;

    logs_label(logs, false);
    say_clocks(t, logs);
    if (kind_of(t->format) == FOLDER)
        status = write_folders(t, logs, &written);
    else if (is_standard_output(t))
        status = write_fd(t, logs, STDOUT_FILENO, &written);
    else
        status = write_file(t, logs, &written);
    if (status == EXIT_DONE && kind_of(t->format) != LINES)
        say_selected(logs, written);
    return status;
}
