/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See folded_lines.h. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/format/folded/folded_lines.h"
#include "text/hash.h"

static void put(struct pt_folded_stack *s, char c)
{
    if (s->length < sizeof s->text - 1)
        s->text[s->length++] = c;
    s->text[s->length] = '\0';
}

static void put_frame(struct pt_folded_stack *s, const char *frame)
{
    for (; *frame; frame++)
        put(s, *frame == ';' || *frame < ' ' || *frame == 0x7f ? '_' : *frame);
}

void pt_folded_push(struct pt_folded_stack *s, const char *frame)
{
    if (s->length > 0)
        put(s, ';');
    put_frame(s, frame);
}

void pt_folded_push_state(struct pt_folded_stack *s, const char *state)
{
    pt_folded_push(s, "[");
    put_frame(s, state);
    put(s, ']');
}

static struct pt_folded_line *cell_of(struct pt_folded_line *cells, size_t room, const char *stack)
{
    size_t i = pt_hash_bytes(PT_HASH_START, stack, strlen(stack)) & (room - 1);

    while (cells[i].stack && strcmp(cells[i].stack, stack) != 0)
        i = (i + 1) & (room - 1);
    return &cells[i];
}

static bool grow(struct pt_folded_lines *l)
{
    size_t room = l->room ? l->room * 2 : 256;
    struct pt_folded_line *cells = calloc(room, sizeof *cells);

    if (!cells)
        return false;
    for (size_t i = 0; i < l->room; i++)
        if (l->cells[i].stack)
            *cell_of(cells, room, l->cells[i].stack) = l->cells[i];
    free(l->cells);
    l->cells = cells;
    l->room = room;
    return true;
}

bool pt_folded_add(struct pt_folded_lines *l, const struct pt_folded_stack *s, uint64_t value)
{
    struct pt_folded_line *cell;

    if (value == 0)
        return true;
    if (l->count * 2 >= l->room && !grow(l))
        return false;
    cell = cell_of(l->cells, l->room, s->text);
    if (!cell->stack) {
        cell->stack = strdup(s->text);
        l->count += cell->stack != NULL;
    }
    cell->value += value;
    return cell->stack != NULL;
}

static int by_stack(const void *a, const void *b)
{
    const struct pt_folded_line *x = a, *y = b;

    if (!x->stack || !y->stack)
        return !x->stack - !y->stack;
    return strcmp(x->stack, y->stack);
}

void pt_folded_write(struct pt_folded_lines *l, FILE *to)
{
    if (l->room)
        qsort(l->cells, l->room, sizeof *l->cells, by_stack);
    for (size_t i = 0; i < l->count; i++)
        fprintf(to, "%s %" PRIu64 "\n", l->cells[i].stack, l->cells[i].value);
}

void pt_folded_free(struct pt_folded_lines *l)
{
    for (size_t i = 0; i < l->room; i++)
        free(l->cells[i].stack);
    free(l->cells);
}
