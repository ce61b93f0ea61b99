/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The hash of a number that a file, or another process, may choose.  Multiply-shift with a
 * random odd factor (Dietzfelbinger 1997), so all bits of the number take part, and numbers
 * that share a cell in one run of a program do not in the next.  A second multiplication after a
 * shift spreads numbers at equal distances, whose hashes would be at equal distances, too.
 */
#ifndef PT_BASE_HASH_H
#define PT_BASE_HASH_H

#include <stdint.h>

/* A random odd factor for pt_hash(): one for each table. */
uint64_t pt_hash_factor(void);

/* The low bits are as good as the high ones. */
static inline uint32_t pt_hash(uint64_t number, uint64_t factor)
{
    uint64_t h = number * factor;

    h ^= h >> 32;
    h *= 0x9e3779b97f4a7c15u;
    h ^= h >> 29;
    return (uint32_t)(h * 0xbf58476d1ce4e5b9u >> 32);
}

#endif
