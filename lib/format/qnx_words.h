/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Words that signal handlers and other threads read without a lock: what was written before a
 * word is stored is seen by who loads it.  lib/base, which has this for the layers below, is
 * out of reach above the public line.
 */
#ifndef PT_FORMAT_QNX_WORDS_H
#define PT_FORMAT_QNX_WORDS_H

#include <stdint.h>

static inline uint32_t pt_qnx_load_acquire(const uint32_t *word)
{
    return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

static inline void pt_qnx_store_release(uint32_t *word, uint32_t value)
{
    __atomic_store_n(word, value, __ATOMIC_RELEASE);
}

static inline uint64_t pt_qnx_load_acquire64(const uint64_t *word)
{
    return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

static inline void pt_qnx_store_release64(uint64_t *word, uint64_t value)
{
    __atomic_store_n(word, value, __ATOMIC_RELEASE);
}

#endif
