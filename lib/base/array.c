/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See array.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/array.h"

/* Does not use a void **, because the pointer has the type of the elements. */
static int resize(void *array, size_t bytes)
{
    void *at;

    memcpy(&at, array, sizeof at);
    at = realloc(at, bytes);
    if (!at)
        return -ENOMEM;
    memcpy(array, &at, sizeof at);
    return 0;
}

int pt_array_grow_more(void *array, size_t *room, size_t size)
{
    size_t more = *room * 2 + 32;
    int error = resize(array, more * size);

    if (!error)
        *room = more;
    return error;
}

int pt_array_renew(void *buffer, size_t *room, size_t bytes)
{
    void *at;

    if (bytes <= *room)
        return 0;
    memcpy(&at, buffer, sizeof at);
    free(at);
    at = malloc(bytes);
    memcpy(buffer, &at, sizeof at);
    *room = at ? bytes : 0;
    return at ? 0 : -ENOMEM;
}

int pt_array_grow_twice(void *buffer, size_t *room, size_t bytes, size_t first)
{
    size_t more = *room ? *room : first;
    int error;

    while (more < bytes)
        more *= 2;
    error = resize(buffer, more);
    if (!error)
        *room = more;
    return error;
}
