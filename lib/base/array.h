/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* Arrays and buffers from malloc() that become longer. */
#ifndef PT_BASE_GROW_H
#define PT_BASE_GROW_H

#include <stddef.h>

/* Allocates when there is no room.  Here and below: 0, or -ENOMEM with everything unchanged. */
int pt_array_grow_more(void *array, size_t *room, size_t size);
int pt_array_grow_twice(void *buffer, size_t *room, size_t bytes, size_t first);

/* Makes room for one more element of that size after count elements.  array points to the pointer
 * to the first one, which is NULL while *room is 0. */
static inline int pt_array_grow(void *array, size_t *room, size_t count, size_t size)
{
    return count < *room ? 0 : pt_array_grow_more(array, room, size);
}

/* Makes room for so many bytes in all: the present room, or first, is doubled as often as
 * necessary. */
static inline int pt_array_grow_to(void *buffer, size_t *room, size_t bytes, size_t first)
{
    return bytes <= *room ? 0 : pt_array_grow_twice(buffer, room, bytes, first);
}

/* Room for exactly so many bytes, unless there is more; what was there is lost.  0; or -ENOMEM
 * without any room. */
int pt_array_renew(void *buffer, size_t *room, size_t bytes);

#endif
