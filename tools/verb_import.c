/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * posixtrace import: a log from lines of jsonl, or from a trace in a format of
 * lib/format, which does the work itself.
 *
 * Logs are in order of time, and most inputs are too: lines are added as they
 * are read, in constant memory.  At the first line that is older than the one
 * before it this is given up: all lines are read again, time and place of each
 * are noted (16 bytes a line), sorted by time with equal times in the order of
 * the input, and fetched in that order.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include <fcntl.h>
#include <posixtrace/attr.h>
#include <posixtrace/log.h>

#include "convert.h"
#include "jsonl.h"
#include "lines.h"
#include "log_file.h"
#include "metrics_cost.h"
#include "new_file.h"
#include "options.h"
#include "progress.h"
#include "tool.h"

enum { FROM = 1, COST, FORCE, LIST };
enum { PROGRESS_EVERY = 0xfff };

/* A pass that found a line out of order; not an exit status. */
enum { OUT_OF_ORDER = -1 };

static struct convert conversion;

static const struct option_spec own[] = {
    { "from", true, FROM }, { "event-cost", true, COST }, { "force", false, FORCE },
    { "list", false, LIST }, { NULL, false, 0 }
};

static const char help[] =
    "usage: posixtrace import --from=FORMAT [--force] [OPTION]... IN LOG\n"
    "\n"
    "Makes the trace log LOG from the events in IN (-: standard input).\n"
    "\n"
    "  --from=jsonl   IN is one JSON object a line, as 'print --format=jsonl' writes\n"
    "                 them\n"
    "  --from=FORMAT  IN is a trace of another tool\n"
    "  --list         those formats, and the options of each\n"
    "  --event-cost=NS\n"
    "                 what storing an event cost where they were made, for LOG to keep\n"
    "  --force        replace LOG if it exists\n"
    "  --help         print this\n"
    "\n"
    "Members of jsonl: ts (nanoseconds since 1970) and event (name) are needed; pid, tid,\n"
    "thread_id, thread, addr, trunc and data may be missing; others are ignored.\n"
    "Lines that are not in order of time are sorted; that takes 16 bytes of memory a\n"
    "line. If anything is wrong with IN, no LOG is made.\n"
    "Example: posixtrace import --from=jsonl events.jsonl events.ptl\n";

struct import {
    struct lines lines;
    const char *in_path;
    char *in;                       /* the input's name for messages */
    const char *log_path;
    struct new_file target;
    posixtrace_log_builder_t *builder;
    struct jsonl_event *event;
    const struct posixtrace_format *format;   /* NULL: jsonl */
    bool from_given, force;
    double cost_ns;
};

struct place {
    int64_t ns;
    off_t   offset;
};

static bool is_blank(const char *line, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if (line[i] != ' ' && line[i] != '\t' && line[i] != '\r')
            return false;
    }
    return true;
}

static int parse(struct import *im, const char *line, size_t length)
{
    struct jsonl_error e;

    if (jsonl_parse(line, length, im->event, &e))
        return EXIT_DONE;
    return tool_error("%s, line %" PRIu64 ", column %zu%s%s: expected %s, found %s", im->in,
                      im->lines.number, e.column, e.member[0] ? ", " : "", e.member, e.expected,
                      e.found);
}

/* The next line that is not blank, parsed.  EXIT_DONE with *end set at the end. */
static int next_event(struct import *im, off_t *offset, bool *end)
{
    const char *line;
    size_t length;
    int got;

    do {
        *offset = im->lines.next;
        got = lines_next(&im->lines, &line, &length);
    } while (got == 1 && is_blank(line, length));
    if ((im->lines.number & PROGRESS_EVERY) == 0)
        progress_at((uint64_t)(im->lines.next - im->lines.start));
    *end = got == 0;
    if (got == -E2BIG)
        return tool_error("%s, line %" PRIu64 ": longer than %d bytes, which no event needs",
                          im->in, im->lines.number, JSONL_LINE_MAX);
    if (got < 0)
        return tool_error("cannot read %s: %s", im->in, strerror(-got));
    return got == 0 ? EXIT_DONE : parse(im, line, length);
}

/* The builder has one error number for two things that run out. */
static bool disk_has_space(int fd)
{
    struct statvfs st;

    return fstatvfs(fd, &st) == 0 && st.f_bavail * st.f_frsize > 16 << 20;
}

static int add(struct import *im)
{
    int error = posixtrace_log_builder_add(im->builder, &im->event->event);

    if (error == 0)
        return EXIT_DONE;
    if (error == ENOSPC && disk_has_space(im->target.fd))
        return tool_error("%s: no more event types: a log holds %d, and %s would be one more",
                          im->in, TRACE_USER_EVENT_MAX - 1, quote(im->event->name));
    return tool_error("cannot write %s: %s", quote(im->log_path), strerror(error));
}

static int open_builder(struct import *im)
{
    const char *name = strrchr(im->log_path, '/');
    trace_attr_t attr;
    int error = posix_trace_attr_init(&attr);

    if (error == 0) {
        posix_trace_attr_setname(&attr, name ? name + 1 : im->log_path);
        posix_trace_attr_setmaxdatasize(&attr, JSONL_DATA_MAX);
        posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_APPEND);
        posixtrace_attr_seteventcost(&attr, im->cost_ns);
        error = posixtrace_log_builder_open(im->target.fd, &attr, &im->builder);
        posix_trace_attr_destroy(&attr);
    }
    return error == 0 ? EXIT_DONE
                      : tool_error("cannot write %s: %s", quote(im->log_path), strerror(error));
}

static int close_builder(struct import *im)
{
    posixtrace_log_builder_t *builder = im->builder;
    int error;

    im->builder = NULL;
    error = builder ? posixtrace_log_builder_finish(builder) : 0;
    return error == 0 ? EXIT_DONE
                      : tool_error("cannot write %s: %s", quote(im->log_path), strerror(error));
}

static int add_in_order(struct import *im)
{
    int64_t last = INT64_MIN;
    off_t offset;

    for (;;) {
        bool end;
        int status = next_event(im, &offset, &end);

        if (status != EXIT_DONE || end)
            return status;
        if (im->event->event.ns < last)
            return OUT_OF_ORDER;
        last = im->event->event.ns;
        status = add(im);
        if (status != EXIT_DONE)
            return status;
    }
}

static int by_time(const void *a, const void *b)
{
    const struct place *x = a, *y = b;

    if (x->ns != y->ns)
        return x->ns < y->ns ? -1 : 1;
    return x->offset < y->offset ? -1 : 1;
}

/* Notes all lines; *late counts those older than one before them. */
static int note_places(struct import *im, struct place **list, size_t *count, uint64_t *late)
{
    size_t used = 0, room = 0;
    int64_t newest = INT64_MIN;
    off_t offset;

    for (;;) {
        bool end;
        int status = next_event(im, &offset, &end);
        int64_t ns = im->event->event.ns;

        *count = used;
        if (status != EXIT_DONE || end)
            return status;
        if (used == room) {
            room = room ? 2 * room : 4096;
            *list = tool_grow(*list, room, sizeof **list);
        }
        (*list)[used++] = (struct place){ ns, offset };
        *late += ns < newest;
        newest = ns > newest ? ns : newest;
    }
}

static int add_places(struct import *im, const struct place *list, size_t count)
{
    struct jsonl_error error;
    const char *line;
    size_t length;

    for (size_t i = 0; i < count; i++) {
        int got = lines_at(&im->lines, list[i].offset, &line, &length), status;

        if (got < 0)
            return tool_error("cannot read %s: %s", im->in, strerror(-got));
        if (got == 0 || !jsonl_parse(line, length, im->event, &error) ||
            im->event->event.ns != list[i].ns)
            return tool_error("%s changed while it was read", im->in);
        status = add(im);
        if (status != EXIT_DONE)
            return status;
    }
    return EXIT_DONE;
}

static int add_sorted(struct import *im)
{
    struct place *list = NULL;
    uint64_t late = 0;
    size_t count;
    int status, error = lines_rewind(&im->lines);

    if (error != 0)
        return tool_error("cannot read %s: %s", im->in, strerror(-error));
    status = note_places(im, &list, &count, &late);
    if (status == EXIT_DONE) {
        qsort(list, count, sizeof *list, by_time);
        status = add_places(im, list, count);
    }
    free(list);
    if (status == EXIT_DONE)
        tool_note("%" PRIu64 " line%s of %s %s out of order and %s sorted", late,
                  late == 1 ? "" : "s", im->in, late == 1 ? "was" : "were",
                  late == 1 ? "was" : "were");
    return status;
}

/* All lines into a builder on the new file. */
static int convert(struct import *im)
{
    int status = open_builder(im);

    if (status == EXIT_DONE)
        status = add_in_order(im);
    if (status == OUT_OF_ORDER) {
        status = close_builder(im);
        if (status == EXIT_DONE)
            status = new_file_restart(&im->target);
        if (status == EXIT_DONE)
            status = open_builder(im);
        if (status == EXIT_DONE)
            status = add_sorted(im);
    }
    if (status == EXIT_DONE)
        return close_builder(im);
    /* what is wrong was said already */
    if (im->builder)
        posixtrace_log_builder_finish(im->builder);
    return status;
}

static int open_lines(struct import *im, int fd)
{
    const char *folder = getenv("TMPDIR"), *slash = strrchr(im->log_path, '/');
    char *copy = NULL;
    int error;

    if (!folder || !*folder) {
        size_t length = slash ? (size_t)(slash - im->log_path) + 1 : 1;

        copy = strndup(slash ? im->log_path : ".", length);
        folder = copy ? copy : ".";
    }
    error = lines_open(&im->lines, fd, JSONL_LINE_MAX, folder);
    free(copy);
    return error == 0 ? EXIT_DONE : tool_error("cannot read %s: %s", im->in, strerror(-error));
}

/* What was good before a fault in the input makes a log all the same, and *keep. */
static int convert_foreign(struct import *im, int fd, bool *keep)
{
    int status = open_builder(im), error, copy;
    FILE *from = NULL;

    *keep = false;
    if (status != EXIT_DONE)
        return status;
    conversion.c.name = im->in;
    progress_begin("events", 0);
    if (im->format->is_directory) {
        error = posixtrace_import_directory(im->format->name, im->in_path, im->builder, &conversion.c);
    } else {
        copy = fcntl(fd, F_DUPFD_CLOEXEC, 3);
        from = copy >= 0 ? fdopen(copy, "r") : NULL;
        error = from ? posixtrace_import(im->format->name, from, im->builder, &conversion.c) : errno;
    }
    progress_end();
    if (from)
        fclose(from);
    status = convert_report(&conversion, error, im->in);
    if (error && error != EILSEQ) {
        posixtrace_log_builder_finish(im->builder);
        return status;
    }
    *keep = close_builder(im) == EXIT_DONE;
    if (error && *keep)
        tool_note("%s holds the %" PRIu64 " events before that", quote(im->log_path),
                  conversion.c.events);
    return *keep ? status : EXIT_FAILED;
}

static int import_foreign(struct import *im)
{
    int fd = log_file_descriptor(im->in_path, O_RDONLY), status;
    bool keep;

    if (fd < 0)
        return EXIT_FAILED;
    im->in = log_file_call(im->in_path);
    status = new_file_open(&im->target, im->log_path, im->force);
    if (status == EXIT_DONE) {
        status = convert_foreign(im, fd, &keep);
        if (keep && new_file_keep(&im->target) != EXIT_DONE)
            status = EXIT_FAILED;
        new_file_drop(&im->target);
    }
    free(im->in);
    if (fd != STDIN_FILENO)
        close(fd);
    return status;
}

static int import_lines(struct import *im)
{
    int fd = log_file_descriptor(im->in_path, O_RDONLY), status;

    if (fd < 0)
        return EXIT_FAILED;
    im->in = log_file_call(im->in_path);
    status = open_lines(im, fd);
    if (status == EXIT_DONE)
        status = new_file_open(&im->target, im->log_path, im->force);
    if (status == EXIT_DONE) {
        im->event = tool_grow(NULL, 1, sizeof *im->event);
        progress_begin("bytes", im->lines.size);
        status = convert(im);
        progress_end();
        free(im->event);
        if (status == EXIT_DONE)
            status = new_file_keep(&im->target);
        new_file_drop(&im->target);
    }
    lines_close(&im->lines);
    free(im->in);
    if (fd != STDIN_FILENO)
        close(fd);
    return status;
}

static int take_operand(struct import *im, const char *value)
{
    if (!im->in_path)
        im->in_path = value;
    else if (!im->log_path)
        im->log_path = value;
    else
        return tool_usage("one IN and one LOG, and then %s", quote(value));
    return EXIT_DONE;
}

static int complete(const struct import *im)
{
    if (!im->from_given)
        return tool_usage("say what the input is: --from=FORMAT; --list names them");
    if (!im->in_path)
        return tool_usage("no input named");
    if (!im->log_path)
        return tool_usage("no log named to make of %s", quote(im->in_path));
    if (strcmp(im->log_path, "-") == 0)
        return tool_usage("LOG must be a file, not '-'");
    return EXIT_DONE;
}

static int take(struct import *im, int code, const char *value)
{
    int status = EXIT_DONE;

    if (code == FROM) {
        im->from_given = true;
        im->format = strcmp(value, "jsonl") ? convert_format(value, false, &status) : NULL;
    } else if (code == COST) {
        if (!metrics_cost_number(value, &im->cost_ns))
            status = tool_usage("option '--event-cost' needs nanoseconds from 0 to 1000000, "
                                "found %s", quote(value));
    } else if (code == FORCE) {
        im->force = true;
    } else if (code == OPTION_OPERAND) {
        status = take_operand(im, value);
    } else {
        status = convert_take_option(&conversion, code, value);
    }
    return status;
}

static int run(struct options *o)
{
    struct import im = { 0 };
    int code, status = EXIT_DONE;

    convert_init(&conversion, own);
    while (status == EXIT_DONE && (code = options_next(o)) != OPTION_END) {
        if (code == OPTION_STOP)
            return o->status;
        if (code == LIST) {
            convert_list(false);
            return EXIT_DONE;
        }
        status = take(&im, code, o->value);
    }
    if (status == EXIT_DONE)
        status = complete(&im);
    if (status == EXIT_DONE)
        status = im.format ? import_foreign(&im) : import_lines(&im);
    convert_deinit(&conversion);
    return status;
}

const struct verb verb_import = { "import", help, conversion.specs, run };
