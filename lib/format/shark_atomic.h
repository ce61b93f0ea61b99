/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The atomic accesses of shark_log.c and of who changes what it reads: the tracer of
 * S.Ha.R.K. has interrupts off for them, and no lock would do in a signal handler.
 * base/atomics.h is on the other side of the public line; as there, the names say the
 * order.  Words of 32 bits only: those are lock-free everywhere.
 */
#ifndef PT_FORMAT_SHARK_ATOMIC_H
#define PT_FORMAT_SHARK_ATOMIC_H

#include <stdbool.h>
#include <stdint.h>

static inline uint32_t pt_shark_load_relaxed(const uint32_t *at)
{
    return __atomic_load_n(at, __ATOMIC_RELAXED);
}

static inline uint32_t pt_shark_load_acquire(const uint32_t *at)
{
    return __atomic_load_n(at, __ATOMIC_ACQUIRE);
}

static inline void pt_shark_store_relaxed(uint32_t *at, uint32_t value)
{
    __atomic_store_n(at, value, __ATOMIC_RELAXED);
}

static inline void pt_shark_store_release(uint32_t *at, uint32_t value)
{
    __atomic_store_n(at, value, __ATOMIC_RELEASE);
}

static inline void pt_shark_set_seqcst(uint32_t *at, uint32_t bits)
{
    __atomic_fetch_or(at, bits, __ATOMIC_SEQ_CST);
}

static inline void pt_shark_clear_seqcst(uint32_t *at, uint32_t bits)
{
    __atomic_fetch_and(at, ~bits, __ATOMIC_SEQ_CST);
}

/* *expected is what was found, where it was another. */
static inline bool pt_shark_cas_seqcst(uint32_t *at, uint32_t *expected, uint32_t value)
{
    return __atomic_compare_exchange_n(at, expected, value, false, __ATOMIC_SEQ_CST,
                                       __ATOMIC_SEQ_CST);
}

#endif
