/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * print --format=csv: RFC 4180, lines end with CR LF, a header row, the columns
 * of jsonl.  Names are always quoted.  The RFC has no control characters in
 * its text, so they, the backslash and bytes that are not UTF-8 are escaped as
 * in jsonl: nothing is lost, and nothing acts on a terminal.
 */
#include "print.h"

#include "out.h"

#define PUT(to, literal) put_text(to, literal, sizeof literal - 1)

static enum chars_style style(const struct print *p)
{
    return p->utf8 ? CHARS_CSV : CHARS_CSV_ASCII;
}

static void begin(struct print *p)
{
    (void)p;
    out_text("ts,pid,tid,thread_id,thread,event,addr,trunc,data\r\n");
}

static void end(struct print *p)
{
    (void)p;
}

static char *type_cell(struct print *p, char *to, const struct posixtrace_event *e,
                       uint32_t *columns)
{
    *columns = 0;
    *to++ = '"';
    to = chars_show(to, e->name, style(p));
    return PUT(to, "\",");
}

static char *thread_cell(struct print *p, char *to, const struct posixtrace_event *e,
                         uint32_t *columns)
{
    *columns = 0;
    *to++ = ',';
    to = put_i64(to, e->pid);
    *to++ = ',';
    to = put_i64(to, e->tid);
    *to++ = ',';
    to = put_hex(to, e->thread_id);
    to = PUT(to, ",\"");
    to = chars_show(to, e->thread_name, style(p));
    return PUT(to, "\",");
}

static void event(struct print *p, const struct posixtrace_event *e)
{
    const struct cell *thread = print_thread_cell(p, e), *type = print_type_cell(p, e);
    char *to = out_room(thread->length + type->length + 64);

    to = put_i64(to, e->ns);
    to = put_text(to, thread->text, thread->length);
    to = put_text(to, type->text, type->length);
    to = put_hex(to, e->prog_address);
    *to++ = ',';
    *to++ = e->truncation ? '1' : '0';
    *to++ = ',';
    out_taken(to);
    out_hex(e->data, e->data_len);
    out_bytes("\r\n", 2);
}

const struct printer printer_csv = { begin, event, type_cell, thread_cell, end };
