/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Tells ThreadSanitizer of orderings that it cannot see: RCU grace periods of
 * liburcu, which is not instrumented.  Nothing in other builds.
 */
#ifndef PT_BASE_ANNOTATE_H
#define PT_BASE_ANNOTATE_H

#include "base/atomics.h"

#if defined __SANITIZE_THREAD__
#include <sanitizer/tsan_interface.h>
#define pt_happens_before(address) __tsan_release((void *)(address))
#define pt_happens_after(address)  __tsan_acquire((void *)(address))
#else
#define pt_happens_before(address) ((void)0)
#define pt_happens_after(address)  ((void)0)
#endif

#endif
