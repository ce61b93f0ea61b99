/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* Which bytes are UTF-8: strings come from traced programs and hold anything. */
#ifndef PT_FORMAT_UTF8_H
#define PT_FORMAT_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* Bytes of the UTF-8 character at p, of which left, at least 1, are there; 0: none. */
static inline size_t pt_utf8_length(const uint8_t *p, size_t left)
{
    size_t n = *p < 0x80 ? 1 : *p >= 0xc2 && *p < 0xe0 ? 2 : *p >= 0xe0 && *p < 0xf0 ? 3
               : *p >= 0xf0 && *p < 0xf5 ? 4 : 0;

    if (n == 0 || n > left)
        return 0;
    for (size_t i = 1; i < n; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    /* overlong forms, surrogates, beyond U+10FFFF */
    if ((*p == 0xe0 && p[1] < 0xa0) || (*p == 0xed && p[1] > 0x9f) || (*p == 0xf0 && p[1] < 0x90) ||
        (*p == 0xf4 && p[1] > 0x8f))
        return 0;
    return n;
}

#endif
