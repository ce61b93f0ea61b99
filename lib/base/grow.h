/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* Arrays and buffers from malloc() that become longer. */
#ifndef PT_BASE_GROW_H
#define PT_BASE_GROW_H

#include <stddef.h>

/* Where room is missing.  0 or -ENOMEM, and all is as it was; here and below. */
int pt_grow_more(void *array, size_t *room, size_t size);
int pt_grow_twice(void *buffer, size_t *room, size_t bytes, size_t first);

/* Room for one element more, of that size, behind count of them.  array points at the
 * pointer to the first, which is NULL while *room is 0. */
static inline int pt_grow(void *array, size_t *room, size_t count, size_t size)
{
    return count < *room ? 0 : pt_grow_more(array, room, size);
}

/* Room for so many bytes in all: what there is, or first, doubled as often as it takes. */
static inline int pt_grow_to(void *buffer, size_t *room, size_t bytes, size_t first)
{
    return bytes <= *room ? 0 : pt_grow_twice(buffer, room, bytes, first);
}

#endif
