/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * posixtrace import: a log from a trace in a format of lib/analysis/format, which does the work.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <fcntl.h>
#include <posixtrace/attr.h>
#include <posixtrace/format.h>
#include <posixtrace/log.h>

#include "convert/convert.h"
#include "input/live_input.h"
#include "input/log_file.h"
#include "measure/metrics_cost.h"
#include "system/atomic_file.h"
#include "common/options.h"
#include "convert/packet_input.h"
#include "common/progress.h"
#include "common/tool.h"

enum { FROM = 1, COST, FORCE, LIST, UNTIL, OUTPUT };
enum { DATA_MAX = 61440 }; /* the most that an event of a log has */

/* One import under way. */
struct import {
    const struct posixtrace_format *format;
    const char *in_path;
    char *in; /* the input's name for messages */
    const char *log_path;
    const char *placed; /* log_path that no option gave */
    struct atomic_file target;
    posixtrace_log_builder_t *builder;
    bool from_given, force, until_given;
    struct packet_until until; /* of packets */
    double cost_ns;
};

static struct convert conversion;

static const struct option_spec own[] = {
    { "format", true, FROM },  { "from", true, FROM },     { "event-cost", true, COST },
    { "force", false, FORCE }, { "list", false, LIST },    { "until", true, UNTIL },
    { "o", true, OUTPUT },     { "output", true, OUTPUT }, { NULL, false, 0 }
};

static const char help[] =
    "usage: posixtrace import --format=FORMAT [OPTION]... IN LOG|-o LOG\n"
    "\n"
    "Makes the trace log LOG from the events in IN (-: standard input;\n"
    "tcp:HOST:PORT, tcp-listen:PORT: a connection; udp:PORT: packets, for shark).\n"
    "\n"
    "  --format=FORMAT   IN is a trace of another tool; jsonl and csv: events as\n"
    "                    lines, as 'print --format' writes them; also --from=FORMAT\n"
    "  -o, --output=LOG  the same as LOG by its place\n"
    "  --list            the formats, and the options of each\n"
    "  --event-cost=NS   what storing an event cost at the source, for LOG to keep\n"
    "  --until=WHAT      end of packets: stop, events:N or idle:TIME; else Ctrl-C\n"
    "  --force           replace LOG if it exists\n"
    "  --help            print this\n"
    "\n"
    "Lines have ts (nanoseconds since 1970) and event (name); pid, tid, thread_id,\n"
    "thread, addr, trunc, data and description may be missing; others are ignored.\n"
    "Those that are not in order of time are sorted, with 32 bytes of memory a line.\n"
    "If something is wrong with IN, LOG holds what stands before it.\n"
    "Example: posixtrace import --format=jsonl events.jsonl events.ptl\n";

static int open_builder(struct import *im)
{
    const char *name = strrchr(im->log_path, '/');
    trace_attr_t attr;
    int error = posix_trace_attr_init(&attr);

    if (error == 0) {
        posix_trace_attr_setname(&attr, name ? name + 1 : im->log_path);
        posix_trace_attr_setmaxdatasize(&attr, DATA_MAX);
        posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_APPEND);
        posixtrace_attr_seteventcost(&attr, im->cost_ns);
        posixtrace_attr_setcompression(&attr, POSIXTRACE_COMPRESSION_COLUMNS);
        error = posixtrace_log_builder_create(im->target.fd, &attr, &im->builder);
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

static ssize_t read_input(void *fd, void *to, size_t size)
{
    return read(*(const int *)fd, to, size);
}

/* Returns an error number.  A pipe or socket is read through copy: live_input_watch() puts another
 * descriptor in its place to end the input. */
static int convert_stream(struct import *im, int fd)
{
    struct packet_input *input = NULL;
    int copy = fcntl(fd, F_DUPFD_CLOEXEC, 3), error;
    struct stat st;

    if (copy < 0)
        return errno;
    live_input_watch(copy);
    if (live_input_is_udp(im->in_path)) {
        input = packet_input_begin(copy, fd, &im->until);
        conversion.c.read = packet_input_read;
        conversion.c.context = input;
    } else if (fstat(copy, &st) == 0 && !S_ISREG(st.st_mode)) {
        conversion.c.read = read_input;
        conversion.c.context = &copy;
    }
    error = posixtrace_import(im->format->name, copy, im->builder, &conversion.c,
                              sizeof conversion.c);
    close(copy);
    if (input)
        packet_input_end(input);
    return error;
}

/* What was good before a fault in the input makes a log all the same, and *keep. */
static int convert_input(struct import *im, int fd, bool *keep)
{
    int status = open_builder(im), error;

    *keep = false;
    if (status != EXIT_DONE)
        return status;
    conversion.c.name = im->in;
    progress_begin("events", 0);
    if (im->format->is_directory)
        error = posixtrace_import_directory(im->format->name, im->in_path, im->builder,
                                            &conversion.c, sizeof conversion.c);
    else
        error = convert_stream(im, fd);
    progress_end();
    status = convert_report(&conversion, error, im->in);
    if (error && error != EILSEQ) {
        posixtrace_log_builder_finish(im->builder);
        return status;
    }
    *keep = close_builder(im) == EXIT_DONE;
    if (error && *keep)
        tool_note("%s holds the %" PRIu64 " event%s before that", quote(im->log_path),
                  conversion.c.events, conversion.c.events == 1 ? "" : "s");
    return *keep ? status : EXIT_FAILED;
}

static int import_log(struct import *im)
{
    int fd = live_input_open(im->in_path), status;
    bool keep;

    if (fd < 0)
        return EXIT_FAILED;
    im->in = log_file_call(im->in_path);
    status = atomic_file_open(&im->target, im->log_path, im->force);
    if (status == EXIT_DONE) {
        status = convert_input(im, fd, &keep);
        if (keep && atomic_file_keep(&im->target) != EXIT_DONE)
            status = EXIT_FAILED;
        atomic_file_drop(&im->target);
    }
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
        im->log_path = im->placed = value;
    else
        return tool_usage("one IN and one LOG, and then %s", quote(value));
    return EXIT_DONE;
}

static int complete(const struct import *im)
{
    bool packets = im->in_path && live_input_is_udp(im->in_path);

    if (!im->from_given)
        return tool_usage("say what the input is: --format=FORMAT; --list names them");
    if (!im->in_path)
        return tool_usage("no input named");
    if (!im->log_path)
        return tool_usage("no log named to make of %s", quote(im->in_path));
    if (strcmp(im->log_path, "-") == 0)
        return tool_usage("LOG must be a file, not '-'");
    if (packets && strcmp(im->format->name, "shark") != 0)
        return tool_usage("packets (udp:) are for --from=shark");
    if (im->until_given && !packets)
        return tool_usage("--until is for packets, udp:[HOST:]PORT, not %s", quote(im->in_path));
    return EXIT_DONE;
}

static int take(struct import *im, int code, const char *value)
{
    int status = EXIT_DONE;

    if (code == FROM) {
        im->from_given = true;
        im->format = convert_format(value, false, &status);
    } else if (code == COST) {
        if (!metrics_cost_number(value, &im->cost_ns))
            status = tool_usage("option '--event-cost' needs nanoseconds from 0 to 1000000, "
                                "found %s",
                                quote(value));
    } else if (code == UNTIL) {
        im->until_given = true;
        if (!packet_until_parse(value, &im->until))
            status = tool_usage("option '--until' needs stop, events:N or idle:TIME, found %s",
                                quote(value));
    } else if (code == FORCE) {
        im->force = true;
    } else if (code == OUTPUT) {
        status = convert_set_output(&im->log_path, im->placed, "one IN and one LOG", value);
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
    int code, status = convert_init(&conversion, own);

    while (status == EXIT_DONE && (code = options_next(o)) != OPTION_END) {
        if (code == LIST)
            convert_list(false);
        if (code == LIST || code == OPTION_STOP) {
            convert_deinit(&conversion);
            return code == LIST ? EXIT_DONE : o->status;
        }
        status = take(&im, code, o->value);
    }
    if (status == EXIT_DONE)
        status = complete(&im);
    if (status == EXIT_DONE)
        status = convert_check_options(&conversion, im.format);
    if (status == EXIT_DONE)
        status = import_log(&im);
    convert_deinit(&conversion);
    return status;
}

const struct verb verb_import = { "import", help, conversion.specs, run };
