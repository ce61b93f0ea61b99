/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See string_table.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "log/string_table.h"

int pt_string_table_keep(struct pt_string_table *t, enum pt_text kind, uint32_t id,
                         const char *text, size_t length)
{
    if (id == 0 || id >= PT_ID_MAX || length > pt_text_max(kind) || t->of[kind][id])
        return 0;
    t->of[kind][id] = strndup(text, length);
    return t->of[kind][id] ? 1 : -ENOMEM;
}

void pt_string_table_drop(struct pt_string_table *t, enum pt_text kind, uint32_t id)
{
    free(t->of[kind][id]);
    t->of[kind][id] = NULL;
}

int pt_string_table_copy(struct pt_string_table *to, const struct pt_string_table *from)
{
    for (unsigned kind = 0; kind < PT_TEXTS; kind++)
        for (uint32_t id = 1; id < PT_ID_MAX; id++) {
            const char *text = from->of[kind][id];

            if (text && pt_string_table_keep(to, (enum pt_text)kind, id, text, strlen(text)) < 0)
                return -ENOMEM;
        }
    return 0;
}

void pt_string_table_deinit(struct pt_string_table *t)
{
    for (unsigned kind = 0; kind < PT_TEXTS; kind++)
        for (uint32_t id = 0; id < PT_ID_MAX; id++)
            free(t->of[kind][id]);
}
