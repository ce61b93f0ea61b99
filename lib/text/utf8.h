/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* Which bytes are UTF-8: strings come from traced programs and hold anything. */
#ifndef PT_TEXT_UTF8_H
#define PT_TEXT_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* Bytes of the character at the front of length bytes, at least 1; 0: there is no valid one.
 * Strictly as RFC 3629 has it: no overlong forms, no surrogates, nothing above U+10FFFF. */
static inline size_t pt_utf8_decode(const uint8_t *at, size_t length, uint32_t *value)
{
    static const uint32_t least[5] = { 0, 0, 0x80, 0x800, 0x10000 };
    uint32_t v = at[0];
    size_t need = v < 0x80 ? 1 : v < 0xc2 ? 0 : v < 0xe0 ? 2 : v < 0xf0 ? 3 : v < 0xf5 ? 4 : 0;

    *value = v;
    if (need < 2 || length < need)
        return need < 2 ? need : 0;
    v &= 0x7fu >> need;
    for (size_t i = 1; i < need; i++) {
        if ((at[i] & 0xc0) != 0x80)
            return 0;
        v = v << 6 | (at[i] & 0x3fu);
    }
    if (v < least[need] || v > 0x10ffff || (v >= 0xd800 && v < 0xe000))
        return 0;
    *value = v;
    return need;
}

static inline size_t pt_utf8_length(const uint8_t *at, size_t length)
{
    uint32_t value;

    return pt_utf8_decode(at, length, &value);
}

/* Writes a code point below 0x110000; how many bytes, 1 to 4. */
static inline size_t pt_utf8_encode(char *to, uint32_t value)
{
    static const uint8_t first[5] = { 0, 0, 0xc0, 0xe0, 0xf0 };
    size_t length = value < 0x80 ? 1 : value < 0x800 ? 2 : value < 0x10000 ? 3 : 4;

    for (size_t i = length; --i > 0; value >>= 6)
        to[i] = (char)(0x80 | (value & 0x3f));
    to[0] = (char)(length > 1 ? first[length] | value : value);
    return length;
}

#endif
