/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Names of a target's objects, signals, user events and pools: a table of fixed size, because their
 * number depends on the input.  Also other code common to the readers of frames and of text.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "compat/rkh/rkh.h"

#define CELLS 8192u /* a power of 2 */
#define MOST  6000u

struct symbol {
    uint64_t value;
    uint8_t space; /* 0: a free cell */
    char name[PT_RKH_NAME_MAX + 1];
};

struct pt_rkh_symbols {
    unsigned count;
    struct symbol cell[CELLS];
};

struct pt_rkh_symbols *pt_rkh_symbols_new(void)
{
    return calloc(1, sizeof(struct pt_rkh_symbols));
}

void pt_rkh_symbols_free(struct pt_rkh_symbols *symbols)
{
    free(symbols);
}

static unsigned cell_of(const struct pt_rkh_symbols *symbols, enum pt_rkh_space space,
                        uint64_t value)
{
    uint64_t hash = (value ^ (uint64_t)space << 56) * 0x9e3779b97f4a7c15u;
    unsigned i = (unsigned)(hash >> 40) % CELLS;

    while (symbols->cell[i].space &&
           (symbols->cell[i].value != value || symbols->cell[i].space != space))
        i = (i + 1) % CELLS;
    return i;
}

bool pt_rkh_symbols_set(struct pt_rkh_symbols *symbols, enum pt_rkh_space space, uint64_t value,
                        const char *name, size_t len)
{
    struct symbol *s = &symbols->cell[cell_of(symbols, space, value)];

    if (!s->space && symbols->count == MOST)
        return false;
    symbols->count += !s->space;
    if (len && *name == '&') { /* of an object that was named by its address */
        name++;
        len--;
    }
    if (len > PT_RKH_NAME_MAX)
        len = PT_RKH_NAME_MAX;
    s->value = value;
    s->space = (uint8_t)space;
    memcpy(s->name, name, len);
    s->name[len] = '\0';
    return true;
}

const char *pt_rkh_symbols_get(const struct pt_rkh_symbols *symbols, enum pt_rkh_space space,
                               uint64_t value)
{
    return symbols->cell[cell_of(symbols, space, value)].name;
}

bool pt_rkh_symbols_find(const struct pt_rkh_symbols *symbols, enum pt_rkh_space space,
                         const char *name, size_t len, uint64_t *value)
{
    for (unsigned i = 0; i < CELLS; i++) {
        const struct symbol *s = &symbols->cell[i];

        if (s->space == space && strncmp(s->name, name, len) == 0 && !s->name[len]) {
            *value = s->value;
            return true;
        }
    }
    return false;
}

enum pt_rkh_space pt_rkh_space_of(char kind)
{
    switch (kind) {
    case 'S':
    case 'F':
    case 'x': return PT_RKH_OBJECTS;
    case 'G':
    case 'g': return PT_RKH_SIGNALS;
    case 'u': return PT_RKH_USERS;
    case 'p':
    case 'e': return PT_RKH_POOLS;
    default: return 0;
    }
}

pid_t pt_rkh_objects_tid(struct pt_rkh_objects *objects, uint64_t pointer)
{
    unsigned i = 0;

    while (i < objects->count && objects->pointer[i] != pointer)
        i++;
    if (i == sizeof objects->pointer / sizeof *objects->pointer)
        return 0;
    if (i == objects->count)
        objects->pointer[objects->count++] = pointer;
    return (pid_t)i + 1;
}

void pt_rkh_put(struct pt_rkh_bytes *b, const void *from, size_t len)
{
    if (len > b->room - b->used) {
        b->full = true;
    } else if (len) {
        memcpy(b->at + b->used, from, len);
        b->used += len;
    }
}

void pt_rkh_put_number(struct pt_rkh_bytes *b, unsigned bytes, uint64_t v)
{
    if (bytes > b->room - b->used) {
        b->full = true;
        return;
    }
    pt_rkh_store(b->at + b->used, bytes, v);
    b->used += bytes;
}

void pt_rkh_put_string(struct pt_rkh_bytes *b, const char *text, size_t len)
{
    pt_rkh_put(b, text, len);
    pt_rkh_put_number(b, 1, 0);
}
