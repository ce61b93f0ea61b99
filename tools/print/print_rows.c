/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * print --format=jsonl and csv, by the analysis library (posixtrace/format.h), as
 * `posixtrace export` writes them.
 */
#include "print/print.h"

#include <stdlib.h>

#include "common/stdout_buffer.h"
#include "common/tool.h"

/* A log that is followed is opened again when it has grown. */
static posixtrace_rows_t *rows_of(struct print *p)
{
    int error;

    if (p->rows && p->rows_trid == p->log->trid)
        return p->rows;
    posixtrace_rows_free(p->rows);
    p->rows = NULL;
    error = posixtrace_rows_create(p->log->trid, p->rows_format, !p->utf8, &p->rows);
    if (error) {
        out_flush();
        tool_error("cannot prepare lines: %s", strerror(error));
        exit(EXIT_FAILED);
    }
    p->rows_trid = p->log->trid;
    return p->rows;
}

static void begin(struct print *p)
{
    out_text(posixtrace_rows_head(rows_of(p)));
}

static void event(struct print *p, const struct posixtrace_event *e)
{
    size_t length;
    const char *line = posixtrace_rows_line(rows_of(p), e, &length);

    if (!line) {
        out_flush();
        tool_error("no memory for a line");
        exit(EXIT_FAILED);
    }
    out_bytes(line, length);
}

static void end(struct print *p)
{
    (void)p;
}

const struct printer printer_rows = { .begin = begin, .event = event, .end = end };
