/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The texts of a log, by id: names and descriptions of event types, mappings of processes.  The
 * first text for an id stays; later ones are ignored.
 */
#ifndef PT_LOG_TEXTS_H
#define PT_LOG_TEXTS_H

#include <stddef.h>
#include <string.h>
#include "model/event.h"

/* Zeroed: there are none. */
struct pt_string_table {
    char **of[PT_TEXTS];
    uint32_t room[PT_TEXTS];
    uint32_t end[PT_TEXTS]; /* one past the highest id that was kept */
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
    return id < t->room[kind] ? t->of[kind][id] : NULL;
}

#endif
