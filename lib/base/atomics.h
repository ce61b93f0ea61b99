/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The only file that touches C11 atomics.  Each helper carries its order in
 * its name, so that a reader of the protocol files sees the order at the call.
 *
 * Naming: pt_<op>_<order>, on plain uint32_t/uint64_t objects that live in
 * shared memory.  The types are plain because the same structures are also
 * read from files; the __atomic builtins do not need _Atomic.
 *
 * ThreadSanitizer: event payloads are copied first and validated afterwards
 * (the generation of the chunk is looked at again).  C11 calls the copy a
 * race.  pt_copy_unchecked() is the one place where that is done; it is
 * compiled without instrumentation and copies whole words with relaxed loads.
 */
#ifndef PT_BASE_ATOMICS_H
#define PT_BASE_ATOMICS_H

#include <stddef.h>
#include <stdint.h>

/* gcc defines it; for clang it is done here, before the first use. */
#if defined __has_feature && !defined __SANITIZE_THREAD__
#if __has_feature(thread_sanitizer)
#define __SANITIZE_THREAD__ 1
#endif
#endif

/*
 * An access of 8 bytes is one access only at an aligned address, and i386 aligns uint64_t in
 * structures to 4.  So members that are used here are declared pt_u64, or are at multiples of 8 in
 * structures that are aligned themselves.  -DPT_CHECK_ALIGNMENT checks every access (test/cross).
 */
typedef uint64_t pt_u64 __attribute__((aligned(8)));

#if defined PT_CHECK_ALIGNMENT
#define pt_at(p)                                \
    (__extension__({                            \
        __typeof__(p) pt_at_ = (p);             \
        if ((uintptr_t)pt_at_ % sizeof *pt_at_) \
            __builtin_trap();                   \
        pt_at_;                                 \
    }))
#else
#define pt_at(p) (p)
#endif

#define pt_load_relaxed(p) __atomic_load_n(pt_at(p), __ATOMIC_RELAXED)
#define pt_load_acquire(p) __atomic_load_n(pt_at(p), __ATOMIC_ACQUIRE)
/* Loads a pointer before loads through it.  Every supported processor orders a load after the one
 * that its address depends on; ThreadSanitizer does not know that. */
#if defined __SANITIZE_THREAD__
#define pt_load_pointer(p) pt_load_acquire(p)
#else
#define pt_load_pointer(p) pt_load_relaxed(p)
#endif
/* Loads a word that is only compared.  As a plain load it can be an operand of the comparison; an
 * atomic load would cost an instruction.  ThreadSanitizer and helgrind need an atomic one. */
#if defined __SANITIZE_THREAD__ || defined PT_HELGRIND
#define pt_load_plain(p) pt_load_relaxed(p)
#else
#define pt_load_plain(p) (*(p))
#endif
#define pt_store_relaxed(p, v) __atomic_store_n(pt_at(p), (v), __ATOMIC_RELAXED)
#define pt_store_release(p, v) __atomic_store_n(pt_at(p), (v), __ATOMIC_RELEASE)
#define pt_load_seqcst(p)      __atomic_load_n(pt_at(p), __ATOMIC_SEQ_CST)
#define pt_store_seqcst(p, v)  __atomic_store_n(pt_at(p), (v), __ATOMIC_SEQ_CST)
#define pt_add_seqcst(p, v)    __atomic_fetch_add(pt_at(p), (v), __ATOMIC_SEQ_CST)
#define pt_add_relaxed(p, v)   __atomic_fetch_add(pt_at(p), (v), __ATOMIC_RELAXED)
/* Adds 1 to a word that no other thread stores to.  One instruction, so a signal handler that adds
 * to it runs before or after it. */
#if defined __x86_64__ && !defined __SANITIZE_THREAD__
#define pt_count_own(p)  __asm__ volatile("incq %0" : "+m"(*(p)) : : "cc")
#define pt_add_own(p, v) __asm__ volatile("addq %1, %0" : "+m"(*(p)) : "er"((uint64_t)(v)) : "cc")
#else
#define pt_add_own(p, v) ((void)__atomic_fetch_add(pt_at(p), (v), __ATOMIC_RELAXED))
#define pt_count_own(p)  ((void)__atomic_fetch_add(pt_at(p), 1u, __ATOMIC_RELEASE))
#endif
/* Adds v to a word that no other thread stores to, with release order: a load of the sum (acquire)
 * sees earlier stores. */
#if defined __x86_64__ && !defined __SANITIZE_THREAD__ && !defined PT_HELGRIND
#define pt_publish_own(p, v) pt_add_own(p, v)
#else
#define pt_publish_own(p, v) pt_store_release((p), pt_load_relaxed(p) + (v))
#endif
#define pt_or_seqcst(p, v)       __atomic_fetch_or(pt_at(p), (v), __ATOMIC_SEQ_CST)
#define pt_and_seqcst(p, v)      __atomic_fetch_and(pt_at(p), (v), __ATOMIC_SEQ_CST)
#define pt_exchange_seqcst(p, v) __atomic_exchange_n(pt_at(p), (v), __ATOMIC_SEQ_CST)
/* on failure *e gets the present value; true if exchanged */
#define pt_cas_seqcst(p, e, v) \
    __atomic_compare_exchange_n(pt_at(p), (e), (v), 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)

/*
 * -DPT_HELGRIND, a build for valgrind's helgrind.  helgrind sees atomic loads and stores as plain
 * ones, without order.  So each release and acquire has an annotation, and a store is an exchange,
 * which helgrind takes for an atomic access.  It then checks the data that the atomics guard; no
 * report about our code is suppressed.
 */
#if defined PT_HELGRIND
#include <valgrind/helgrind.h>
#define pt_tell_release(p) (__extension__({ ANNOTATE_HAPPENS_BEFORE((uintptr_t)(p)); }))
#define pt_tell_acquire(p) (__extension__({ ANNOTATE_HAPPENS_AFTER((uintptr_t)(p)); }))
#define pt_ordered(p, access)              \
    (__extension__({                       \
        pt_tell_release(p);                \
        __auto_type pt_result_ = (access); \
        pt_tell_acquire(p);                \
        pt_result_;                        \
    }))
#undef pt_load_acquire
#undef pt_load_seqcst
#undef pt_store_relaxed
#undef pt_store_release
#undef pt_store_seqcst
#undef pt_add_seqcst
#undef pt_count_own
#undef pt_add_own
#undef pt_or_seqcst
#undef pt_and_seqcst
#undef pt_exchange_seqcst
#undef pt_cas_seqcst
#define pt_load_acquire(p)                                               \
    (__extension__({                                                     \
        __auto_type pt_loaded_ = __atomic_load_n((p), __ATOMIC_SEQ_CST); \
        pt_tell_acquire(p);                                              \
        pt_loaded_;                                                      \
    }))
#define pt_load_seqcst(p)        pt_load_acquire(p)
#define pt_store_relaxed(p, v)   ((void)__atomic_exchange_n((p), (v), __ATOMIC_SEQ_CST))
#define pt_store_release(p, v)   (pt_tell_release(p), pt_store_relaxed(p, v))
#define pt_store_seqcst(p, v)    pt_store_release(p, v)
#define pt_add_seqcst(p, v)      pt_ordered(p, __atomic_fetch_add((p), (v), __ATOMIC_SEQ_CST))
#define pt_count_own(p)          ((void)pt_add_seqcst(p, 1u))
#define pt_add_own(p, v)         ((void)pt_add_seqcst(p, (v)))
#define pt_or_seqcst(p, v)       pt_ordered(p, __atomic_fetch_or((p), (v), __ATOMIC_SEQ_CST))
#define pt_and_seqcst(p, v)      pt_ordered(p, __atomic_fetch_and((p), (v), __ATOMIC_SEQ_CST))
#define pt_exchange_seqcst(p, v) pt_ordered(p, __atomic_exchange_n((p), (v), __ATOMIC_SEQ_CST))
#define pt_cas_seqcst(p, e, v) \
    pt_ordered(p, __atomic_compare_exchange_n((p), (e), (v), 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
#endif

#define pt_fence_acquire() __atomic_thread_fence(__ATOMIC_ACQUIRE)
#define pt_fence_seqcst()  __atomic_thread_fence(__ATOMIC_SEQ_CST)
/* Stops the compiler only.  Orders this thread's accesses against signal
 * handlers of the same thread, and against other processors when those issue
 * membarrier(2), which makes it a full fence at the moment it is needed. */
#define pt_fence_compiler() __atomic_signal_fence(__ATOMIC_SEQ_CST)
/* The compiler forgets how the variable was computed: it does not compute it again, nor merge the
 * computation with another. */
#if defined __SANITIZE_THREAD__
#define pt_settle(variable) ((void)(variable))
#else
#define pt_settle(variable) __asm__("" : "+r"(variable))
#endif

#define pt_likely(x)     __builtin_expect(!!(x), 1)
#define pt_unlikely(x)   __builtin_expect(!!(x), 0)
#define PT_HIDDEN        __attribute__((visibility("hidden")))
#define PT_PUBLIC        __attribute__((visibility("default")))
#define PT_COLD          __attribute__((noinline, cold))
#define PT_NOINLINE      __attribute__((noinline)) /* out of line, but not rare */
#define PT_ALWAYS_INLINE __attribute__((always_inline))

/* *p = max(*p, v) and min; both lock-free */
static inline void pt_max_seqcst(uint64_t *p, uint64_t v)
{
    uint64_t old = pt_load_relaxed(p);

    while (old < v && !pt_cas_seqcst(p, &old, v))
        ;
}

static inline void pt_min_seqcst(uint64_t *p, uint64_t v)
{
    uint64_t old = pt_load_relaxed(p);

    while (old > v && !pt_cas_seqcst(p, &old, v))
        ;
}

/* Copies bytes that another thread may be overwriting; the caller validates
 * afterwards and throws the copy away if it must.  8-byte aligned source,
 * length rounded up to 8 by the caller's layout. */
#if defined __SANITIZE_THREAD__
__attribute__((no_sanitize("thread"), noinline, unused))
#else
__attribute__((unused))
#endif
static void
pt_copy_unchecked(void *restrict to, const void *restrict from, size_t bytes)
{
#if defined __SANITIZE_THREAD__
    volatile const uint64_t *f = from;
    uint64_t *t = to;

    for (size_t i = 0; i < (bytes + 7) / 8; i++)
        t[i] = f[i];
#else
    __builtin_memcpy(to, from, (bytes + 7) & ~(size_t)7);
#endif
}

/* The writer's side: stores bytes that a reader may copy at the same time.  Multiples of 8 bytes,
 * aligned. */
static inline void pt_copy_watched(void *restrict to, const void *restrict from, size_t bytes)
{
#if defined PT_HELGRIND
    for (size_t i = 0; i < bytes / 8; i++)
        pt_store_relaxed((uint64_t *)to + i, ((const uint64_t *)from)[i]);
#else
    __builtin_memcpy(to, from, bytes);
#endif
}

#endif
