/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Keeping an object while it is used, without an atomic instruction.
 *
 * A thread names the object in a word of its own, then looks whether it is
 * still there.  Who takes the object away marks it gone, then makes all threads
 * of the process pass a fence, then looks at their words.  So either the thread
 * sees the mark, or it is seen; who sees it waits for it.  Taking away is rare
 * and pays for both.
 *
 * One object a thread at a time; who finds the word in use counts references as
 * ever.  A forked child has copies of the words of threads that it does not have:
 * they carry the instance of their process, and others are not looked at.
 */
#ifndef PT_STREAM_HAZARD_H
#define PT_STREAM_HAZARD_H

#include <stdbool.h>
#include "base/annotate.h"
#include "base/atomics.h"

struct pt_hazard {
    const void *named;          /* in use, or NULL */
    pt_u64 instance;            /* of the process, see pt_self_instance() */
    uint32_t taken;
    struct pt_hazard *next;
} __attribute__((aligned(64)));

/* The calling thread's, or NULL. */
extern _Thread_local struct pt_hazard *pt_hazard_own
    __attribute__((tls_model("initial-exec"))) PT_HIDDEN;

/* Gives the calling thread one, of this instance, if that can be had. */
void pt_hazard_join(uint64_t instance);

static inline void pt_hazard_name(struct pt_hazard *z, const void *object)
{
    pt_store_relaxed(&z->named, object);
    pt_fence_compiler();
}

/* What comes after it sees whether somebody has begun to wait meanwhile. */
static inline void pt_hazard_drop(struct pt_hazard *z)
{
    pt_store_release(&z->named, (const void *)NULL);
    pt_fence_compiler();
}

/* After the object was marked and pt_barrier_own(): does anybody use it? */
bool pt_hazard_named(const void *object, uint64_t instance);

#endif
