/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Words that signal handlers and other threads use without a lock, of 4 bytes, or of 8 that
 * are declared aligned to 8.  base/atomics.h is on the other side of the public line; as there, the
 * names contain the order.
 */
#ifndef PT_FORMAT_WORD_H
#define PT_FORMAT_WORD_H

#define pt_word_load_relaxed(at)         __atomic_load_n((at), __ATOMIC_RELAXED)
#define pt_word_load_acquire(at)         __atomic_load_n((at), __ATOMIC_ACQUIRE)
#define pt_word_store_relaxed(at, value) __atomic_store_n((at), (value), __ATOMIC_RELAXED)
#define pt_word_store_release(at, value) __atomic_store_n((at), (value), __ATOMIC_RELEASE)
#define pt_word_set_seqcst(at, bits)     ((void)__atomic_fetch_or((at), (bits), __ATOMIC_SEQ_CST))
#define pt_word_clear_seqcst(at, bits)   ((void)__atomic_fetch_and((at), ~(bits), __ATOMIC_SEQ_CST))
#define pt_word_fence_seqcst()           __atomic_thread_fence(__ATOMIC_SEQ_CST)
/* On failure *expected gets the present value. */
#define pt_word_cas_seqcst(at, expected, value) \
    __atomic_compare_exchange_n((at), (expected), (value), 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)

#endif
