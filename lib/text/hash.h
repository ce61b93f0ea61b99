/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* FNV-1a (Fowler, Noll and Vo), of 64 bits: of texts and bytes, for tables. */
#ifndef PT_TEXT_HASH_H
#define PT_TEXT_HASH_H

#include <stddef.h>
#include <stdint.h>

#define PT_HASH_START UINT64_C(0xcbf29ce484222325)

/* Continues a hash, the first time PT_HASH_START or a number that tells tables apart. */
static inline uint64_t pt_hash_bytes(uint64_t hash, const void *at, size_t length)
{
    const uint8_t *byte = at;

    for (size_t i = 0; i < length; i++)
        hash = (hash ^ byte[i]) * UINT64_C(0x100000001b3);
    return hash;
}

#endif
