/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Public structures in the caller's size: later versions add members at the end, so the
 * caller and the library may know different ones.  The caller gets, and gives, the members
 * that both know; the others are zero.
 */
#ifndef PT_API_SIZED_H
#define PT_API_SIZED_H

#include <errno.h>
#include <string.h>

static inline void pt_sized_copy(void *to, size_t to_size, const void *from, size_t from_size)
{
    if (to_size > from_size) {
        memset((char *)to + from_size, 0, to_size - from_size);
        to_size = from_size;
    }
    memcpy(to, from, to_size);
}

/* A text into size bytes of the caller's: 0, or -ERANGE and nothing is stored. */
static inline int pt_sized_text(char *to, size_t size, const char *text)
{
    size_t length = strlen(text);

    if (length >= size)
        return -ERANGE;
    memcpy(to, text, length + 1);
    return 0;
}

#endif
