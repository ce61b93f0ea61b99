/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* Arrays from malloc() that become longer. */
#ifndef PT_BASE_GROW_H
#define PT_BASE_GROW_H

#include <stddef.h>

/* Twice the room and some; array as below.  0 or -ENOMEM, and all is as it was. */
int pt_grow_more(void *array, size_t *room, size_t size);

/* Room for one element more, of that size, behind count of them.  array points at the
 * pointer to the first, which is NULL while *room is 0. */
static inline int pt_grow(void *array, size_t *room, size_t count, size_t size)
{
    return count < *room ? 0 : pt_grow_more(array, room, size);
}

#endif
