/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * posixtrace import --from=jsonl.
 *
 * Logs are in order of time, and most inputs are too: lines are added as they
 * are read, in constant memory.  At the first line that is older than the one
 * before it this is given up: all lines are read again, time and place of each
 * are noted (16 bytes a line), sorted by time with equal times in the order of
 * the input, and fetched in that order.
 */
#include "import.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "log_file.h"
#include "progress.h"
#include "tool.h"

enum { PROGRESS_EVERY = 0xfff };

/* A pass that found a line out of order; not an exit status. */
enum { OUT_OF_ORDER = -1 };

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

/* A foreign member of that name, or one of a later version, is no fault of the event. */
static void describe(struct import *im)
{
    const struct jsonl_event *e = im->event;
    int error = posixtrace_log_builder_describe(im->builder, e->name, e->description);

    if (error && im->not_described++ == 0)
        tool_note("%s: the description of %s is passed over: %s", im->in, quote(e->name),
                  error == EINVAL ? "it is not one (posixtrace-description(5))"
                  : error == EEXIST ? "another one came before" : strerror(error));
}

static int add(struct import *im)
{
    int error;

    if (im->event->description[0])
        describe(im);
    error = posixtrace_log_builder_add(im->builder, &im->event->event);

    if (error == 0)
        return EXIT_DONE;
    if (error == ENOSPC && disk_has_space(im->target.fd))
        return tool_error("%s: no more event types: a log holds %d, and %s would be one more",
                          im->in, TRACE_USER_EVENT_MAX - 1, quote(im->event->name));
    return tool_error("cannot write %s: %s", quote(im->log_path), strerror(error));
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
    int status = import_open_builder(im);

    if (status == EXIT_DONE)
        status = add_in_order(im);
    if (status == OUT_OF_ORDER) {
        status = import_close_builder(im);
        if (status == EXIT_DONE)
            status = new_file_restart(&im->target);
        if (status == EXIT_DONE)
            status = import_open_builder(im);
        if (status == EXIT_DONE)
            status = add_sorted(im);
    }
    if (status == EXIT_DONE)
        return import_close_builder(im);
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

int import_lines(struct import *im)
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
