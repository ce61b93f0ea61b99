/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Annotations for ThreadSanitizer and helgrind (-DPT_HELGRIND), about orderings that they cannot
 * see: within the hash table of liburcu, by the end of a thread that the kernel reports
 * (shm/slot.h), for helgrind also pthread_once().  helgrind ignores memory that is mapped without
 * rights and gets them later; an annotation makes it check that memory.  In other builds all of
 * them are empty.
 */
#ifndef PT_BASE_ANNOTATE_H
#define PT_BASE_ANNOTATE_H

#include "base/atomics.h"

#if defined __SANITIZE_THREAD__
#include <sanitizer/tsan_interface.h>
#define pt_happens_before(address) __tsan_release((void *)(address))
#define pt_happens_after(address)  __tsan_acquire((void *)(address))
#elif defined PT_HELGRIND
#define pt_happens_before(address)   pt_tell_release(address)
#define pt_happens_after(address)    pt_tell_acquire(address)
#define pt_now_accessible(at, bytes) VALGRIND_HG_ENABLE_CHECKING((at), (bytes))
#else
#define pt_happens_before(address) ((void)0)
#define pt_happens_after(address)  ((void)0)
#endif

#ifndef pt_now_accessible
#define pt_now_accessible(at, bytes) ((void)0)
#endif

#endif
