/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Importing jsonl and csv.
 *
 * Logs are in order of time, and most inputs are too.  A first, quick reading looks at the
 * times alone.  Lines in order are added as they are read again, in constant memory; others
 * are sorted: time and place of each are noted (16 bytes a line), sorted by time with equal
 * times in the order of the input, and fetched in that order.
 *
 * A fault ends the reading: the lines before it are added, and the fault is reported.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/format/common/format.h"
#include "analysis/format/csv_json/lines.h"
#include "analysis/format/csv_json/rows_read.h"
#include "analysis/format/common/spool.h"

enum { NOTE_ORDER, NOTE_DESCRIPTION };

struct import {
    struct pt_job *job;
    const struct pt_row_reader *reader;
    struct pt_lines lines;
    struct pt_row *row;
    bool head; /* the next line is the first */
    /* How reading ended: 0, or a fault, reported by tell_fault(). */
    int fault;
    struct pt_scan_error error;
};

enum { NEXT_ERROR = -1, NEXT_END, NEXT_EVENT };

static bool is_blank(const char *line, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if (line[i] != ' ' && line[i] != '\t' && line[i] != '\r')
            return false;
    }
    return true;
}

static int tell_fault(struct import *im)
{
    const struct pt_scan_error *e = &im->error;
    unsigned long long line = im->lines.number;

    if (im->fault == EILSEQ)
        return pt_job_fail(im->job, EILSEQ, "line %llu, column %zu%s%s: expected %s, found %s",
                           line, e->column, e->member[0] ? ", " : "", e->member, e->expected,
                           e->found);
    if (im->fault == E2BIG)
        return pt_job_fail(im->job, EILSEQ, "line %llu: longer than %d bytes, which no event needs",
                           line, PT_LINE_MAX);
    errno = im->fault;
    return im->fault ? pt_job_fail_file(im->job) : 0;
}

static int end_with(struct import *im, int fault)
{
    im->fault = fault;
    return fault ? NEXT_ERROR : NEXT_END;
}

/* The next line that is not blank, parsed, or, if ns is not NULL, its time only. */
static int next_event(struct import *im, off_t *offset, int64_t *ns)
{
    const char *line;
    size_t length;

    for (;;) {
        int got;

        *offset = im->lines.next;
        got = pt_lines_next(&im->lines, &line, &length);
        if (got <= 0)
            return end_with(im, -got);
        if (im->head) {
            im->head = false;
            if (!im->reader->head(line, length, im->row, &im->error))
                return end_with(im, EILSEQ);
            continue;
        }
        if (ns && im->reader->time(line, length, im->row, ns))
            return NEXT_EVENT;
        if (is_blank(line, length))
            continue;
        if (!im->reader->parse(line, length, im->row, &im->error))
            return end_with(im, EILSEQ);
        if (ns)
            *ns = im->row->event.ns;
        return NEXT_EVENT;
    }
}

static int begin_again(struct import *im, bool ended)
{
    im->head = im->reader->head != NULL;
    return pt_lines_rewind(&im->lines, ended);
}

/* A foreign member of that name, or one of a later version, is no fault of the event. */
static void describe(struct import *im)
{
    const struct pt_row *row = im->row;
    int error = posixtrace_log_builder_describe(im->job->builder, row->name, row->description);

    if (error)
        pt_job_note(im->job, NOTE_DESCRIPTION, "the description of '%s' is passed over: %s",
                    row->name,
                    error == EINVAL   ? "it is not one (posixtrace-description(5))"
                    : error == EEXIST ? "another one came before"
                                      : strerror(error));
}

static bool add(struct import *im)
{
    if (im->row->description[0])
        describe(im);
    return pt_job_add(im->job, &im->row->event);
}

/* Whether all lines up to the end, or up to a fault, are in order.  *unreadable: the error of
 * reading that ended them, which the next pass does not meet again where the input is copied. */
static int look_at_order(struct import *im, bool *sorted, int *unreadable)
{
    int64_t last = INT64_MIN, ns;
    off_t offset;
    int got;

    *sorted = true;
    while ((got = next_event(im, &offset, &ns)) == NEXT_EVENT) {
        if (!pt_job_progress(im->job, im->lines.number))
            return im->job->error;
        *sorted = *sorted && ns >= last;
        last = ns;
        if (!*sorted && !im->lines.piped)
            break;
    }
    *unreadable = im->fault == EILSEQ || im->fault == E2BIG ? 0 : im->fault;
    return begin_again(im, got == NEXT_END);
}

static int add_in_order(struct import *im)
{
    off_t offset;

    while (next_event(im, &offset, NULL) == NEXT_EVENT)
        if (!add(im))
            return im->job->error;
    return tell_fault(im);
}

/* Notes all lines that are good. */
static int note_places(struct import *im, struct pt_places *places)
{
    off_t offset;

    while (next_event(im, &offset, NULL) == NEXT_EVENT)
        if (pt_places_add(places, im->row->event.ns, (uint64_t)offset) != 0)
            return pt_job_fail(im->job, ENOMEM,
                               "no memory to sort lines that are not in "
                               "the order of time");
    return 0;
}

static int add_places(struct import *im, const struct pt_places *places)
{
    struct pt_scan_error error;
    const char *line;
    size_t length;

    for (size_t i = 0; i < places->count; i++) {
        const struct pt_spool_place *place = &places->list[i];
        int got = pt_lines_at(&im->lines, (off_t)place->at, &line, &length);

        if (got < 0) {
            errno = -got;
            return pt_job_fail_file(im->job);
        }
        if (got == 0 || !im->reader->parse(line, length, im->row, &error) ||
            im->row->event.ns != place->ns)
            return pt_job_fail(im->job, EIO, "the input changed while it was read");
        if (!add(im))
            return im->job->error;
    }
    return 0;
}

static int add_sorted(struct import *im)
{
    struct pt_places places = { 0 };
    int error = note_places(im, &places);

    if (!error) {
        pt_places_sort(&places);
        error = add_places(im, &places);
    }
    if (!error)
        pt_places_report(&places, im->job, NOTE_ORDER);
    pt_places_free(&places);
    return error ? error : tell_fault(im);
}

static int import(struct import *im)
{
    bool sorted;
    int unreadable = 0, error = look_at_order(im, &sorted, &unreadable);

    errno = error;
    if (error)
        return im->job->error ? im->job->error : pt_job_fail_file(im->job);
    error = sorted ? add_in_order(im) : add_sorted(im);
    errno = unreadable;
    return !error && unreadable ? pt_job_fail_file(im->job) : error;
}

int pt_rows_import(struct pt_job *job, const struct pt_row_reader *reader)
{
    struct import im = {
        .job = job, .reader = reader, .row = malloc(sizeof *im.row), .head = reader->head != NULL
    };
    int error = im.row ? pt_lines_open(&im.lines, job->file, reader->quotes) : ENOMEM;

    if (error) {
        pt_job_fail(job, error, "%s",
                    error == ENOMEM
                        ? "no memory"
                        : "no temporary file can be made (TMPDIR): what cannot be positioned is "
                          "copied, to be sorted if need be");
    } else {
        error = import(&im);
        pt_lines_close(&im.lines);
    }
    free(im.row);
    return job->error;
}
