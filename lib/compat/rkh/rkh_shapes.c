/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See rkh_shapes.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "compat/rkh/rkh_shapes.h"

struct pt_rkh_users *pt_rkh_users_new(void)
{
    struct pt_rkh_users *u = calloc(1, sizeof *u);

    for (unsigned i = 0; u && i < PT_RKH_USER_IDS; i++)
        u->first[i] = PT_RKH_NO_SHAPE;
    return u;
}

void pt_rkh_users_free(struct pt_rkh_users *u)
{
    for (unsigned i = 0; u && i < PT_RKH_TYPES; i++)
        free(u->type[i].name);
    free(u);
}

void pt_rkh_describe_shape(const struct pt_rkh_shape *s, char *to)
{
    static const char *const types[] = { "i8",  "u8",  "i16",      "u16", "i32", "u32",
                                         "x32", "str", "bytes:u8", "x64", "x64", "u32" };
    char *at = to, *end = to + POSIXTRACE_DESCRIPTION_MAX + 1;

    *at = '\0';
    for (unsigned i = 0; i < s->count; i++) {
        unsigned format = s->formats[i] & 15, shown = s->formats[i] >> 4;
        const char *kind = format == PT_RKH_OBJ   ? "obj"
                           : format == PT_RKH_FUN ? "fun"
                           : format == PT_RKH_SIG ? "sig"
                                                  : "a";

        at += snprintf(at, (size_t)(end - at), "%s%s %s%u", i ? "; " : "", types[format], kind,
                       i + 1);
        if (shown)
            at += snprintf(at, (size_t)(end - at), "_w%u", shown);
        if (format >= PT_RKH_OBJ)
            at += snprintf(at, (size_t)(end - at), "; str %s%u_name", kind, i + 1);
    }
}

static bool same_shape(const struct pt_rkh_shape *s, const uint8_t *formats, unsigned count,
                       const char *base)
{
    return s->count == count && memcmp(s->formats, formats, count) == 0 &&
           strncmp(s->name, base, s->base) == 0 && !base[s->base];
}

/* A shape of that name and form, new if need be; NULL: there are too many. */
static struct pt_rkh_shape *find_shape(struct pt_rkh_users *u, unsigned id, const char *base,
                                       const uint8_t *formats, unsigned count)
{
    unsigned others = 0;
    struct pt_rkh_shape *s;

    for (unsigned i = u->first[id]; i != PT_RKH_NO_SHAPE; i = u->shape[i].next)
        if (same_shape(&u->shape[i], formats, count, base))
            return &u->shape[i];
    for (unsigned i = 0; i < u->shape_count; i++) {
        if (same_shape(&u->shape[i], formats, count, base))
            return &u->shape[i];
        others += strncmp(u->shape[i].name, base, u->shape[i].base) == 0 && !base[u->shape[i].base];
    }
    if (u->shape_count == PT_RKH_SHAPES)
        return NULL;
    s = &u->shape[u->shape_count];
    s->base = (uint8_t)snprintf(s->name, sizeof s->name, "%s", base);
    if (others)
        snprintf(s->name + s->base, sizeof s->name - s->base, "#%u", others + 1);
    s->count = (uint8_t)count;
    memcpy(s->formats, formats, count);
    s->next = u->first[id];
    u->first[id] = (uint16_t)u->shape_count++;
    return s;
}

struct pt_rkh_shape *pt_rkh_find_shape(struct pt_rkh_users *u, const struct pt_rkh_symbols *symbols,
                                       unsigned id, const uint8_t *formats, unsigned count)
{
    const char *symbol = pt_rkh_symbols_get(symbols, PT_RKH_USERS, id);
    char base[PT_RKH_NAME_MAX + 10];

    if (*symbol)
        snprintf(base, sizeof base, "rkh:USR:%s", symbol);
    else
        snprintf(base, sizeof base, "rkh:USR:%u", id);
    return find_shape(u, id, base, formats, count);
}
