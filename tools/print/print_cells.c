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

void print_init(struct print *p, const char *format, struct log_file *log)
{
    memset(p, 0, sizeof *p);
    p->rows_format = format;
    p->printer = strcmp(format, "text") == 0 ? &printer_text : &printer_rows;
    p->log = log;
    p->utf8 = utf8_is_safe(STDOUT_FILENO);
}

void print_free(struct print *p)
{
    for (size_t i = 0; i < PRINT_TYPES; i++) {
        free(p->types[i].text);
        free(p->alone[i].text);
    }
    for (size_t i = 0; i < PRINT_THREADS; i++)
        free(p->threads[i].cell.text);
    layouts_free(&p->layouts);
    posixtrace_rows_free(p->rows);
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

const struct cell *print_type_cell(struct print *p, const struct posixtrace_event *e, bool has_data)
{
    bool alone = p->width > 0 && !has_data;
    struct cell *cells = alone ? p->alone : p->types;
    struct cell *cell = &cells[e->id < PRINT_TYPES ? e->id : 0];
    size_t width = p->width == 0 ? SIZE_MAX : alone ? p->alone_width : p->event_width;

    if (cell->length > 0 && cell != &cells[0])
        return cell;
    make_room(cell, e->name);
    cell->length = (uint32_t)(p->printer->type_cell(p, cell->text, e, width, &cell->columns) -
                              cell->text);
    return cell;
}

const struct cell *print_thread_cell(struct print *p, const struct posixtrace_event *e)
{
    uint32_t hash = (uint32_t)e->tid * 0x9e3779b1u ^ (uint32_t)e->pid * 0x85ebca6bu;
    struct thread_slot *slot = &p->threads[hash >> 24];
    struct cell *cell = &slot->cell;

    if (slot->used && slot->tid == e->tid && slot->pid == e->pid &&
        slot->thread_id == e->thread_id && strcmp(slot->name, e->thread_name) == 0)
        return cell;
    make_room(cell, e->thread_name);
    cell->length = (uint32_t)(p->printer->thread_cell(p, cell->text, e, &cell->columns) -
                              cell->text);
    slot->tid = e->tid;
    slot->pid = e->pid;
    slot->thread_id = e->thread_id;
    slot->used = strlen(e->thread_name) < sizeof slot->name;
    if (slot->used)
        strcpy(slot->name, e->thread_name);
    return cell;
}
