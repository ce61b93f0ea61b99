/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See texts.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "log/texts.h"

int pt_texts_keep(struct pt_texts *t, enum pt_text kind, uint32_t id, const char *text,
                  size_t length)
{
    if (id == 0 || id >= PT_ID_MAX || length > pt_text_max(kind) || t->of[kind][id])
        return 0;
    t->of[kind][id] = strndup(text, length);
    return t->of[kind][id] ? 1 : -ENOMEM;
}

void pt_texts_drop(struct pt_texts *t, enum pt_text kind, uint32_t id)
{
    free(t->of[kind][id]);
    t->of[kind][id] = NULL;
}

int pt_texts_copy(struct pt_texts *to, const struct pt_texts *from)
{
    for (unsigned kind = 0; kind < PT_TEXTS; kind++)
        for (uint32_t id = 1; id < PT_ID_MAX; id++) {
            const char *text = from->of[kind][id];

            if (text && pt_texts_keep(to, (enum pt_text)kind, id, text, strlen(text)) < 0)
                return -ENOMEM;
        }
    return 0;
}

void pt_texts_deinit(struct pt_texts *t)
{
    for (unsigned kind = 0; kind < PT_TEXTS; kind++)
        for (uint32_t id = 0; id < PT_ID_MAX; id++)
            free(t->of[kind][id]);
}
