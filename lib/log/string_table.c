/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See string_table.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "log/string_table.h"

static int make_room(struct pt_string_table *t, enum pt_text kind, uint32_t id)
{
    uint32_t room = t->room[kind] ? t->room[kind] : 256;
    char **of;

    while (room <= id)
        room *= 2;
    if (room == t->room[kind])
        return 0;
    of = realloc(t->of[kind], room * sizeof *of);
    if (!of)
        return -ENOMEM;
    memset(of + t->room[kind], 0, (room - t->room[kind]) * sizeof *of);
    t->of[kind] = of;
    t->room[kind] = room;
    return 0;
}

int pt_string_table_keep(struct pt_string_table *t, enum pt_text kind, uint32_t id,
                         const char *text, size_t length)
{
    if (id == 0 || id >= pt_text_end(kind) || length > pt_text_max(kind) ||
        pt_string_table_get(t, kind, id))
        return 0;
    if (make_room(t, kind, id) < 0)
        return -ENOMEM;
    t->of[kind][id] = strndup(text, length);
    if (!t->of[kind][id])
        return -ENOMEM;
    if (t->end[kind] <= id)
        t->end[kind] = id + 1;
    return 1;
}

void pt_string_table_drop(struct pt_string_table *t, enum pt_text kind, uint32_t id)
{
    if (id >= t->room[kind])
        return;
    free(t->of[kind][id]);
    t->of[kind][id] = NULL;
}

int pt_string_table_copy(struct pt_string_table *to, const struct pt_string_table *from)
{
    for (unsigned kind = 0; kind < PT_TEXTS; kind++)
        for (uint32_t id = 1; id < from->end[kind]; id++) {
            const char *text = from->of[kind][id];

            if (text && pt_string_table_keep(to, (enum pt_text)kind, id, text, strlen(text)) < 0)
                return -ENOMEM;
        }
    return 0;
}

void pt_string_table_deinit(struct pt_string_table *t)
{
    for (unsigned kind = 0; kind < PT_TEXTS; kind++) {
        for (uint32_t id = 0; id < t->end[kind]; id++)
            free(t->of[kind][id]);
        free(t->of[kind]);
    }
}
