/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The texts of event types in a log: names and descriptions, by id.  The first text
 * for an id stays; later ones are ignored.
 */
#ifndef PT_LOG_TEXTS_H
#define PT_LOG_TEXTS_H

#include <stddef.h>
#include <string.h>
#include "model/event.h"

struct pt_string_table {
    char *of[PT_TEXTS][PT_ID_MAX];
};

/* Lengths in bytes without NUL.  1: kept; 0: passed over, as the id or the length can
 * not be, or there is one already; -ENOMEM. */
int pt_string_table_keep(struct pt_string_table *t, enum pt_text kind, uint32_t id,
                         const char *text, size_t length);
void pt_string_table_drop(struct pt_string_table *t, enum pt_text kind, uint32_t id);
int pt_string_table_copy(struct pt_string_table *to, const struct pt_string_table *from);
void pt_string_table_deinit(struct pt_string_table *t);

/* Up to most bytes and a NUL; text may be changing. */
static inline void pt_string_table_copy_out(char *to, const char *text, size_t most)
{
    if (!memccpy(to, text, '\0', most))
        to[most] = '\0';
}

static inline const char *pt_string_table_get(const struct pt_string_table *t, enum pt_text kind,
                                              uint32_t id)
{
    return id < PT_ID_MAX ? t->of[kind][id] : NULL;
}

#endif
