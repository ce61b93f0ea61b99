/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Rendered cells, kept for each event type and for the threads seen last.  A
 * type's name never changes within a stream, so its id is the whole key; for
 * threads everything that is shown is compared.
 */
#include "print/print.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/tool.h"

enum { ROOM_BESIDE = 128 };

void print_init(struct print *p, const char *format)
{
    memset(p, 0, sizeof *p);
    p->rows_format = format;
    p->printer = strcmp(format, "text") == 0 ? &printer_text : &printer_rows;
    p->utf8 = utf8_is_safe(STDOUT_FILENO);
}

struct print_source *print_add(struct print *p, struct log_file *log, struct sites *sites,
                               const char *label)
{
    struct print_source *s = tool_zeroed(sizeof *s);

    s->log = log;
    s->sites = sites;
    s->label = label;
    p->sources = tool_grow(p->sources, p->source_count + 1, sizeof(struct print_source *));
    p->sources[p->source_count++] = s;
    p->from = p->sources[0];
    return s;
}

static void free_source(struct print_source *s)
{
    for (size_t i = 0; i < PRINT_TYPES; i++) {
        free(s->types[i].text);
        free(s->alone[i].text);
    }
    for (size_t i = 0; i < PRINT_THREADS; i++)
        free(s->threads[i].cell.text);
    free(s->label_cell.text);
    layouts_free(&s->layouts);
    posixtrace_rows_free(s->rows);
    free(s);
}

void print_free(struct print *p)
{
    for (size_t i = 0; i < p->source_count; i++)
        free_source(p->sources[i]);
    free(p->sources);
    free(p->text);
}

static void make_room(struct cell *cell, const char *name)
{
    size_t need = strlen(name) * UTF8_MAX_ESCAPE + ROOM_BESIDE;

    if (cell->room >= need)
        return;
    cell->text = tool_grow(cell->text, need, 1);
    cell->room = (uint32_t)need;
}

/* The spaces up to the next column, which the one of the cell has so many columns before. */
static void pad(struct cell *cell, size_t wide)
{
    size_t spaces = (cell->columns < wide ? wide - cell->columns : 0) + PRINT_GAP;
    size_t need = cell->length + spaces + OUT_SHORT;

    if (cell->room < need) {
        cell->text = tool_grow(cell->text, need, 1);
        cell->room = (uint32_t)need;
    }
    cell->padded = (uint32_t)(put_spaces(cell->text + cell->length, spaces) - cell->text);
}

const struct cell *print_type_cell(struct print *p, const struct posixtrace_event *e, bool has_data)
{
    bool alone = p->width > 0 && !has_data;
    struct cell *cells = alone ? p->from->alone : p->from->types;
    struct cell *cell = &cells[e->id < PRINT_TYPES ? e->id : 0];
    size_t width = p->width == 0 ? SIZE_MAX : alone ? p->alone_width : p->event_width;

    if (cell->length > 0 && cell != &cells[0])
        return cell;
    make_room(cell, e->name);
    cell->length = (uint32_t)(p->printer->type_cell(p, cell->text, e, width, &cell->columns) -
                              cell->text);
    pad(cell, p->event_width);
    return cell;
}

static bool is_of(const struct thread_slot *slot, const struct posixtrace_event *e)
{
    return slot->used && slot->tid == e->tid && slot->pid == e->pid &&
           slot->thread_id == e->thread_id;
}

/* The thread's slot; else a free one of those that it may have, or the first of them. */
static struct thread_slot *find_slot(struct print *p, const struct posixtrace_event *e)
{
    uint32_t hash = ((uint32_t)e->tid ^ (uint32_t)e->pid * 0x85ebca6bu) * 0x9e3779b1u;
    struct thread_slot *first = &p->from->threads[(hash >> 16) % (PRINT_THREADS - PRINT_PROBES)];

    for (struct thread_slot *slot = first; slot < first + PRINT_PROBES; slot++) {
        if (!slot->used || is_of(slot, e))
            return slot;
    }
    return first;
}

const struct cell *print_thread_cell(struct print *p, const struct posixtrace_event *e)
{
    struct thread_slot *slot = find_slot(p, e);
    struct cell *cell = &slot->cell;

    if (is_of(slot, e) && ((slot->batch == p->from->batch && slot->shared == e->thread_name) ||
                           strcmp(slot->name, e->thread_name) == 0)) {
        slot->batch = p->from->batch;
        slot->shared = e->thread_name;
        return cell;
    }
    make_room(cell, e->thread_name);
    cell->length = (uint32_t)(p->printer->thread_cell(p, cell->text, e, &cell->columns) -
                              cell->text);
    pad(cell, p->thread_width + (p->pid_width > 0 ? p->pid_width + PRINT_GAP : 0));
    slot->batch = p->from->batch;
    slot->shared = e->thread_name;
    slot->tid = e->tid;
    slot->pid = e->pid;
    slot->thread_id = e->thread_id;
    slot->used = strlen(e->thread_name) < sizeof slot->name;
    if (slot->used)
        strcpy(slot->name, e->thread_name);
    return cell;
}

const struct cell *print_label_cell(struct print *p)
{
    struct cell *cell = &p->from->label_cell;
    size_t columns;
    char *to;

    if (cell->length > 0)
        return cell;
    make_room(cell, p->from->label);
    to = utf8_show(cell->text, p->from->label, print_style(p));
    to = utf8_cut_here(cell->text, to, p->log_width, &columns);
    cell->length = (uint32_t)(to - cell->text);
    cell->columns = (uint32_t)columns;
    pad(cell, p->log_width);
    return cell;
}
