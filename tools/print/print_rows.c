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

static bool is_json(const struct print *p)
{
    return strcmp(p->rows_format, "jsonl") == 0;
}

/* A log that is followed is opened again when it has grown. */
static posixtrace_rows_t *rows_of(struct print *p)
{
    int error;

    if (p->from->rows && p->from->rows_trid == p->from->log->trid)
        return p->from->rows;
    posixtrace_rows_free(p->from->rows);
    p->from->rows = NULL;
    error = posixtrace_rows_create(p->from->log->trid, p->rows_format, !p->utf8, &p->from->rows);
    if (error) {
        out_flush();
        tool_error("cannot prepare lines: %s", strerror(error));
        exit(EXIT_FAILED);
    }
    p->from->rows_trid = p->from->log->trid;
    return p->from->rows;
}

/* "log":"a.ptl", of jsonl, which comes after the brace; "a.ptl", of csv, which comes first. */
static const struct cell *label_of(struct print *p)
{
    struct cell *cell = &p->from->label_cell;
    const char *label = p->from->label;
    char *to;

    if (cell->length > 0)
        return cell;
    cell->text = to = tool_grow(NULL, strlen(label) + 4, UTF8_MAX_ESCAPE);
    to = stpcpy(to, is_json(p) ? "\"log\":\"" : "\"");
    to = utf8_show(to, label,
                   is_json(p) ? p->utf8 ? UTF8_JSON : UTF8_JSON_ASCII
                   : p->utf8  ? UTF8_CSV
                              : UTF8_CSV_ASCII);
    cell->length = (uint32_t)(stpcpy(to, "\",") - cell->text);
    return cell;
}

static void begin(struct print *p)
{
    const char *head = posixtrace_rows_head(rows_of(p));

    if (p->source_count > 1 && *head)
        out_text("log,");
    out_text(head);
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
    if (p->source_count > 1) {
        const struct cell *label = label_of(p);
        bool brace = is_json(p);

        out_bytes(line, brace);
        out_bytes(label->text, label->length);
        line += brace;
        length -= brace;
    }
    out_bytes(line, length);
}

static void end(struct print *p)
{
    (void)p;
}

const struct printer printer_rows = { .begin = begin, .event = event, .end = end };
