/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Hazard pointers (Michael 2004) with an asymmetric fence (membarrier): a thread protects
 * an object while it uses it, without an atomic read-modify-write and without a fence
 * instruction.
 *
 *   user       stores the object's address in its own word (pt_hazard_name), compiler
 *              fence, then checks the mark of the object
 *   remover    marks the object as gone, pt_barrier_own(), a fence in all threads of the
 *              process, then reads all words (pt_hazard_named)
 *
 * Invariant: either the user sees the mark and does not use the object, or the remover
 * sees the word and waits until it is cleared.  Removal is rare and bears the whole cost.
 * pt_hazard_drop() releases the object: the remover's next look (acquire) sees the user's
 * accesses complete.
 *
 * A thread has one word, so it protects one object at a time; a nested use counts
 * references instead (stream/handle.c).  Words are in a list that only grows: a thread
 * that ends passes its word to a later thread and never frees it, so the remover can walk
 * the list without a lock.  A forked child has copies of the words of threads that do not
 * exist in it: each word carries the instance of its process, and words of other instances
 * are ignored.
 */
#ifndef PT_STREAM_HAZARD_POINTER_H
#define PT_STREAM_HAZARD_POINTER_H

#include <stdbool.h>
#include "base/annotate.h"
#include "base/assert.h"
#include "base/atomics.h"

struct pt_hazard {
    const void *named; /* in use, or NULL */
    pt_u64 instance;   /* of the process, see pt_self_instance() */
    uint32_t taken;
    struct pt_hazard *next;
} __attribute__((aligned(64)));

/* The calling thread's word, or NULL. */
extern _Thread_local struct pt_hazard *pt_hazard_own __attribute__((tls_model("initial-exec")))
PT_HIDDEN;

/* Gives the calling thread a word of this instance.  Without memory or a key it has none,
 * and counts references. */
void pt_hazard_join(uint64_t instance);

static inline void pt_hazard_name(struct pt_hazard *z, const void *object)
{
    pt_assert_call(!z->named && object);
    pt_store_relaxed(&z->named, object);
    pt_fence_compiler();
}

/* A load after it sees whether a remover has begun to wait meanwhile. */
static inline void pt_hazard_drop(struct pt_hazard *z)
{
    pt_store_release(&z->named, (const void *)NULL);
    pt_fence_compiler();
}

/* After the object was marked and pt_barrier_own(): true if a thread uses it, other than the one
 * whose word is but. */
bool pt_hazard_named(const void *object, uint64_t instance, const struct pt_hazard *but);

#endif
