/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See grow.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/grow.h"

int pt_grow_more(void *array, size_t *room, size_t size)
{
    size_t more = *room * 2 + 32;
    void *at;

    /* Not through a void **: the pointer is one to whatever the elements are. */
    memcpy(&at, array, sizeof at);
    at = realloc(at, more * size);
    if (!at)
        return -ENOMEM;
    memcpy(array, &at, sizeof at);
    *room = more;
    return 0;
}
