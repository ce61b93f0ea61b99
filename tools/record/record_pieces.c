/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * A log in pieces (posixtrace_log_rotate()): the stream's flush thread makes, names and removes
 * them.  Here are the options, the name of the first piece, and what earlier recordings have left.
 *
 * A piece is called NAME-TIME.PID-NUMBER.ptl: the program, when its recording began, its process.
 * The pieces of one NAME are what --keep counts, so that a service that is started again and again
 * has no more.
 */
#include "record/record.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <posixtrace/log.h>

#include "common/options.h"
#include "common/time_parse.h"
#include "common/tool.h"
#include "input/folder.h"

enum { NAME_MOST = 100 };

static bool is_size(const char *text)
{
    size_t digits = strspn(text, "0123456789");

    return digits > 0 &&
           (text[digits] == '\0' || (strchr("KMG", text[digits]) && !text[digits + 1]));
}

int record_pieces_parse(struct record_request *q, const char *value)
{
    struct when when;
    char text[64];

    q->rotates = true;
    if (is_size(value))
        return options_size("rotate", value, &q->rotation.bytes);
    snprintf(text, sizeof text, "+%s", value);
    if (strlen(value) >= sizeof text - 1 || !when_parse(text, &when) ||
        when.kind != WHEN_RELATIVE || when.ns <= 0)
        return tool_usage("--rotate takes bytes, as 64M, or a time with a unit, as 30s or 10min, "
                          "not %s",
                          quote(value));
    q->rotation.ns = (uint64_t)when.ns;
    return EXIT_DONE;
}

int record_pieces_keep(struct record_request *q, const char *value)
{
    char *end;
    unsigned long number = strtoul(value, &end, 10);

    if (value[0] < '0' || value[0] > '9' || *end || number == 0 || number > UINT32_MAX)
        return tool_usage("--keep takes a number of pieces from 1 on, not %s", quote(value));
    q->rotation.keep = (uint32_t)number;
    return EXIT_DONE;
}

int record_pieces_check(const struct record_request *q)
{
    if (!q->rotates && (q->outdir || q->rotation.keep))
        return tool_usage("--outdir and --keep are for a log in pieces, which --rotate makes");
    if (!q->rotates)
        return EXIT_DONE;
    if (!q->outdir || !*q->outdir)
        return tool_usage("--rotate needs a folder for the pieces: --outdir=DIR");
    if (q->log)
        return tool_usage("a log in pieces is a folder: --outdir, and not --output");
    if (q->policy != RECORD_FLUSH || q->log_size)
        return tool_usage("--rotate is for --policy=flush without --log-size; --keep limits how "
                          "much stays");
    if (q->print)
        return tool_usage("--print prints one log; 'posixtrace print %s' prints the pieces",
                          unquoted(q->outdir));
    return EXIT_DONE;
}

int record_pieces_prepare(const struct record_request *q)
{
    size_t count;

    if (!q->rotates)
        return EXIT_DONE;
    if (mkdir(q->outdir, 0777) < 0 && errno != EEXIST)
        return tool_error("cannot make folder %s: %s", quote(q->outdir), strerror(errno));
    /* Files that cannot be completed do not hinder the recording, which does not need them. */
    pieces_settle(q->outdir, &count);
    if (count > 0 && !q->quiet)
        tool_note("%zu piece%s of killed recordings in %s %s complete now", count,
                  count == 1 ? "" : "s", quote(q->outdir), count == 1 ? "is" : "are");
    return EXIT_DONE;
}

char *record_pieces_name(const struct record_request *q, const char *program, pid_t pid)
{
    char name[NAME_MOST + 1], at[32];
    const char *slash = program ? strrchr(program, '/') : NULL;
    time_t now = time(NULL);
    struct tm utc;
    char *path = NULL;

    if (program)
        snprintf(name, sizeof name, "%s", slash ? slash + 1 : program);
    else
        record_process_name(pid, name, sizeof name);
    for (char *c = name; *c; c++)
        if (*c == '/')
            *c = '_';
    gmtime_r(&now, &utc);
    strftime(at, sizeof at, "%Y%m%dT%H%M%SZ", &utc);
    if (asprintf(&path, "%s/%s-%s.%d-000001.ptl" PIECES_PART, q->outdir, name, at, (int)pid) < 0)
        path = NULL;
    return path ? path : tool_grow(NULL, SIZE_MAX, 1); /* reports that there is no memory */
}

int record_pieces_begin(struct recording *r, const struct record_request *q)
{
    int error = q->rotates ? posixtrace_log_rotate(r->trid, &q->rotation, sizeof q->rotation) : 0;
    struct posixtrace_info info;

    if (error == EINVAL)
        tool_error("the pieces cannot be in %s: its absolute path is too long, or it is not a "
                   "folder on a disk",
                   quote(q->outdir));
    else if (error)
        tool_error("cannot write pieces into %s: %s", quote(q->outdir), strerror(error));
    if (error || !q->rotates)
        return error;
    /* The flush thread has one of its own: this one would keep a piece that was removed on the
     * disk. */
    close(r->fd);
    r->fd = -1;
    if (posixtrace_get_info(r->trid, &info, sizeof info) == 0)
        r->pieces = folder_path_of(q->outdir, info.id);
    return 0;
}
