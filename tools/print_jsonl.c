/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * print --format=jsonl: one JSON object a line, nothing lost.  Members, their
 * order and spelling are fixed (posixtrace-print(1)): import followed by print
 * gives the same bytes.
 */
#include "print.h"

#include "out.h"

#define PUT(to, literal) put_text(to, literal, sizeof literal - 1)

static enum chars_style style(const struct print *p)
{
    return p->utf8 ? CHARS_JSON : CHARS_JSON_ASCII;
}

static void nothing(struct print *p)
{
    (void)p;
}

static char *type_cell(struct print *p, char *to, const struct posixtrace_event *e,
                       uint32_t *columns)
{
    *columns = 0;
    to = PUT(to, "\"event\":\"");
    to = chars_show(to, e->name, style(p));
    return PUT(to, "\",\"addr\":\"");
}

static char *thread_cell(struct print *p, char *to, const struct posixtrace_event *e,
                         uint32_t *columns)
{
    *columns = 0;
    to = PUT(to, ",\"pid\":");
    to = put_i64(to, e->pid);
    to = PUT(to, ",\"tid\":");
    to = put_i64(to, e->tid);
    to = PUT(to, ",\"thread_id\":\"");
    to = put_hex(to, e->thread_id);
    to = PUT(to, "\",\"thread\":\"");
    to = chars_show(to, e->thread_name, style(p));
    return PUT(to, "\",");
}

static void event(struct print *p, const struct posixtrace_event *e)
{
    const struct cell *thread = print_thread_cell(p, e), *type = print_type_cell(p, e);
    char *to = out_room(thread->length + type->length + 128);

    to = PUT(to, "{\"ts\":");
    to = put_i64(to, e->ns);
    to = put_text(to, thread->text, thread->length);
    to = put_text(to, type->text, type->length);
    to = put_hex(to, e->prog_address);
    to = PUT(to, "\",\"trunc\":");
    *to++ = e->truncation ? '1' : '0';
    to = PUT(to, ",\"data\":\"");
    out_taken(to);
    out_hex(e->data, e->data_len);
    out_bytes("\"}\n", 3);
}

const struct printer printer_jsonl = { nothing, event, type_cell, thread_cell, nothing };
