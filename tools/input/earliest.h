/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Merging by time: a binary heap of sources by the time of what they have next, and for equal times
 * by their places.
 */
#ifndef EARLIEST_H
#define EARLIEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct earliest {
    struct earliest_item {
        int64_t key;
        size_t place;
    } * at; /* the first one is the earliest */
    size_t count;
};

/* For so many sources. */
void earliest_init(struct earliest *e, size_t sources);
void earliest_free(struct earliest *e);
/* A source that has something. */
void earliest_add(struct earliest *e, size_t place, int64_t key);
/* The place of the first one; there is one. */
static inline size_t earliest_first(const struct earliest *e)
{
    return e->at[0].place;
}
/* That one has something later now; or nothing any more. */
void earliest_advance(struct earliest *e, int64_t key);
void earliest_drop(struct earliest *e);

#endif
