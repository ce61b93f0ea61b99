/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Inputs that are changes to a valid file: random bytes never make a structured file of megabytes,
 * but they do make a few bad words in one.
 *
 * A change is 8 bytes.  The target defines `where' and `at'; the value depends on the old one.
 */
#ifndef TEST_FUZZ_CHANGE_H
#define TEST_FUZZ_CHANGE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct fuzz_change {
    uint8_t where;
    uint8_t how; /* bits 0-1: log of the width; bits 2-4: kind of value */
    uint16_t at;
    uint32_t value;
};
_Static_assert(sizeof(struct fuzz_change) == 8, "inputs are made of these");

static inline size_t fuzz_change_width(const struct fuzz_change *c)
{
    return (size_t)1 << c->how % 4;
}

/* The value for the word at image[at]; at + 8 <= size. */
static inline uint64_t fuzz_change_value(const struct fuzz_change *c, const uint8_t *image,
                                         size_t size, size_t at)
{
    static const uint64_t values[] = { 0,          1,          2,         3,          7,
                                       15,         16,         127,       128,        1023,
                                       1024,       1025,       0xffff,    0x10000,    0x7fffffff,
                                       0x80000000, 0xffffffff, INT64_MAX, 1ull << 63, UINT64_MAX,
                                       4096 };
    uint64_t word, other;

    memcpy(&word, image + at, sizeof word);
    switch (c->how / 4 % 8) {
    case 0: return c->value;
    case 1: return word + (uint64_t)(int64_t)(int32_t)c->value;
    case 2: return word ^ 1ull << c->value % 64;
    case 3: memcpy(&other, image + c->value % (size / 8) * 8, sizeof other); return other;
    case 4: return (uint64_t)c->value << 32 | (uint32_t)word;
    default: return values[c->value % (sizeof values / sizeof *values)];
    }
}

#endif
