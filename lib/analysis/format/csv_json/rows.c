/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Events as lines of jsonl and csv, the members in one order.
 *
 * jsonl: nothing is lost, and import followed by export gives the same bytes.  Members,
 * their order and spelling are fixed (posixtrace-print(1)).  csv: RFC 4180, lines end
 * with CR LF.  Names are always quoted; the RFC has no control characters in its text, so
 * they, the backslash and bytes that are not UTF-8 are escaped as in jsonl.
 *
 * Parts that do not change from event to event are rendered once: a cell for each event type and
 * one for each of the last threads.  A line then copies two cells and a few numbers, and checks
 * whether the type is described.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "text/escape.h"
#include "analysis/format/common/fields_text.h"
#include "analysis/format/common/format.h"
#include "text/number.h"

enum { TYPES = 4096, THREADS = 256, NAME = 64, BESIDE = 128, LINE_FIRST = 4096 };

struct name_cell {
    char *text;
    size_t length, room;
};

struct style {
    const char *name, *head;
    const char *begin, *pid, *tid, *thread_id, *thread, *behind_thread;
    const char *event, *behind_event, *behind_addr, *behind_trunc, *behind_data;
    enum pt_escape escape;
    bool json;
};

static const struct style styles[] = {
    { .name = "jsonl",
      .head = "",
      .begin = "{\"ts\":",
      .pid = ",\"pid\":",
      .tid = ",\"tid\":",
      .thread_id = ",\"thread_id\":\"",
      .thread = "\",\"thread\":\"",
      .behind_thread = "\",",
      .event = "\"event\":\"",
      .behind_event = "\",\"addr\":\"",
      .behind_addr = "\",\"trunc\":",
      .behind_trunc = ",\"data\":\"",
      .behind_data = "\"",
      .escape = PT_ESCAPE_JSON,
      .json = true },
    { .name = "csv",
      .head = "ts,pid,tid,thread_id,thread,event,addr,trunc,data,fields\r\n",
      .begin = "",
      .pid = ",",
      .tid = ",",
      .thread_id = ",",
      .thread = ",\"",
      .behind_thread = "\",",
      .event = "\"",
      .behind_event = "\",",
      .behind_addr = ",",
      .behind_trunc = ",",
      .behind_data = ",",
      .escape = PT_ESCAPE_CSV },
};

struct posixtrace_rows {
    trace_id_t trid;
    const struct style *style;
    bool ascii;
    posixtrace_fields_t *fields;
    char *line;
    size_t room;
    struct name_cell types[TYPES];
    bool described[TYPES]; /* jsonl: its description was written */
    struct thread {
        struct name_cell cell;
        uint64_t thread_id;
        pid_t pid, tid;
        bool used;
        char name[NAME];
    } threads[THREADS];
};

int posixtrace_rows_create(trace_id_t trid, const char *format, bool ascii,
                           posixtrace_rows_t **rows)
{
    posixtrace_rows_t *r;
    size_t i = 0;
    int error;

    while (format && i < sizeof styles / sizeof *styles && strcmp(styles[i].name, format) != 0)
        i++;
    if (!format || !rows || i == sizeof styles / sizeof *styles)
        return EINVAL;
    r = calloc(1, sizeof *r);
    if (!r)
        return ENOMEM;
    r->trid = trid;
    r->style = &styles[i];
    r->ascii = ascii;
    r->room = LINE_FIRST;
    r->line = malloc(r->room);
    error = r->line ? posixtrace_fields_create(trid, &r->fields) : ENOMEM;
    if (error) {
        posixtrace_rows_free(r);
        return error;
    }
    *rows = r;
    return 0;
}

void posixtrace_rows_free(posixtrace_rows_t *rows)
{
    if (!rows)
        return;
    for (size_t i = 0; i < TYPES; i++)
        free(rows->types[i].text);
    for (size_t i = 0; i < THREADS; i++)
        free(rows->threads[i].cell.text);
    posixtrace_fields_free(rows->fields);
    free(rows->line);
    free(rows);
}

const char *posixtrace_rows_head(const posixtrace_rows_t *rows)
{
    return rows->style->head;
}

static bool make_room(char **at, size_t *room, size_t need)
{
    char *more;

    if (need <= *room)
        return true;
    need += need / 2;
    more = realloc(*at, need);
    if (!more)
        return false;
    *at = more;
    *room = need;
    return true;
}

static bool cell_room(struct name_cell *cell, const char *name)
{
    return make_room(&cell->text, &cell->room, strlen(name) * PT_ESCAPE_MAX + BESIDE);
}

static const struct name_cell *type_cell(posixtrace_rows_t *r, const struct posixtrace_event *e)
{
    struct name_cell *cell = &r->types[e->id < TYPES ? e->id : 0];
    char *to;

    if (cell->length > 0 && cell != &r->types[0])
        return cell;
    if (!cell_room(cell, e->name))
        return NULL;
    to = stpcpy(cell->text, r->style->event);
    to = pt_escape_string(to, e->name, r->style->escape, r->ascii);
    to = stpcpy(to, r->style->behind_event);
    cell->length = (size_t)(to - cell->text);
    return cell;
}

static const struct name_cell *thread_cell(posixtrace_rows_t *r, const struct posixtrace_event *e)
{
    uint32_t hash = (uint32_t)e->tid * 0x9e3779b1u ^ (uint32_t)e->pid * 0x85ebca6bu;
    struct thread *t = &r->threads[hash >> 24];
    const struct style *s = r->style;
    char *to;

    if (t->used && t->tid == e->tid && t->pid == e->pid && t->thread_id == e->thread_id &&
        strcmp(t->name, e->thread_name) == 0)
        return &t->cell;
    if (!cell_room(&t->cell, e->thread_name))
        return NULL;
    to = pt_number_i64(stpcpy(t->cell.text, s->pid), e->pid);
    to = pt_number_i64(stpcpy(to, s->tid), e->tid);
    to = pt_number_hex(stpcpy(to, s->thread_id), e->thread_id);
    to = pt_escape_string(stpcpy(to, s->thread), e->thread_name, s->escape, r->ascii);
    t->cell.length = (size_t)(stpcpy(to, s->behind_thread) - t->cell.text);
    t->tid = e->tid;
    t->pid = e->pid;
    t->thread_id = e->thread_id;
    t->used = strlen(e->thread_name) < sizeof t->name;
    if (t->used)
        strcpy(t->name, e->thread_name);
    return &t->cell;
}

/* The fields at r->line + used, and *used after them. */
static bool put_fields(posixtrace_rows_t *r, const posixtrace_layout_t *layout,
                       const struct posixtrace_event *e, size_t *used)
{
    size_t length = pt_fields_write(layout, e->data, e->data_len, r->style->json, r->ascii,
                                    r->line + *used, r->room - *used);

    if (length >= r->room - *used) {
        if (!make_room(&r->line, &r->room, *used + length + 1))
            return false;
        pt_fields_write(layout, e->data, e->data_len, r->style->json, r->ascii, r->line + *used,
                        r->room - *used);
    }
    *used += length;
    return true;
}

/* ,"fields":{...}, null where the data does not fit; once ,"description":"...", if it is
 * not one that every reader knows */
static bool end_json(posixtrace_rows_t *r, const posixtrace_layout_t *layout,
                     const struct posixtrace_event *e, size_t used)
{
    char text[POSIXTRACE_DESCRIPTION_MAX + 1], *to;
    size_t begin;

    used = (size_t)(stpcpy(r->line + used, ",\"fields\":") - r->line);
    begin = used;
    if (!put_fields(r, layout, e, &used) ||
        !make_room(&r->line, &r->room, used + PT_ESCAPE_MAX * sizeof text + BESIDE))
        return false;
    to = r->line + used;
    if (used == begin)
        to = stpcpy(to, "null");
    if (e->id > POSIX_TRACE_UNNAMED_USEREVENT && !r->described[e->id] &&
        posixtrace_event_description(r->trid, e->id, text, sizeof text) == 0) {
        r->described[e->id] = true;
        to = stpcpy(to, ",\"description\":\"");
        to = pt_escape_string(to, text, PT_ESCAPE_JSON, r->ascii);
        to = stpcpy(to, "\"");
    }
    strcpy(to, "}\n");
    return true;
}

/* The text of the fields in quotes, its own doubled; ? where the data does not fit. */
static bool end_csv(posixtrace_rows_t *r, const posixtrace_layout_t *layout,
                    const struct posixtrace_event *e, size_t used)
{
    size_t begin = used + 1, end = begin, quotes = 0;
    char *from, *to;

    r->line[used] = '"';
    if (!put_fields(r, layout, e, &end))
        return false;
    if (end == begin) {
        strcpy(r->line + used, "?\r\n");
        return true;
    }
    for (size_t i = begin; i < end; i++)
        quotes += r->line[i] == '"';
    if (!make_room(&r->line, &r->room, end + quotes + BESIDE))
        return false;
    from = r->line + end;
    to = from + quotes;
    strcpy(to, "\"\r\n");
    while (from > r->line + begin) {
        *--to = *--from;
        if (*from == '"')
            *--to = '"';
    }
    return true;
}

const char *posixtrace_rows_line(posixtrace_rows_t *r, const struct posixtrace_event *e,
                                 size_t *length)
{
    const posixtrace_layout_t *layout = posixtrace_fields_layout(r->fields, e->id);
    const struct name_cell *type = type_cell(r, e), *thread = thread_cell(r, e);
    const struct style *s = r->style;
    size_t used;
    char *to;

    if (!type || !thread ||
        !make_room(&r->line, &r->room,
                   thread->length + type->length + 2 * e->data_len + 2 * BESIDE))
        return NULL;
    to = pt_number_i64(stpcpy(r->line, s->begin), e->ns);
    to = mempcpy(to, thread->text, thread->length);
    to = mempcpy(to, type->text, type->length);
    to = stpcpy(pt_number_hex(to, e->prog_address), s->behind_addr);
    *to++ = e->truncation ? '1' : '0';
    to = pt_number_bytes(stpcpy(to, s->behind_trunc), e->data, e->data_len);
    to = stpcpy(to, s->behind_data);
    used = (size_t)(to - r->line);
    if (!layout)
        to = stpcpy(to, s->json ? "}\n" : "\r\n");
    else if (!(s->json ? end_json(r, layout, e, used) : end_csv(r, layout, e, used)))
        return NULL;
    *length = layout ? used + strlen(r->line + used) : (size_t)(to - r->line);
    return r->line;
}
