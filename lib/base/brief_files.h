/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Counts the calls that open files for a moment, with PT_OPEN_BRIEFLY: while one is under way, a
 * child that another thread forks gets a copy of a descriptor (process/fork_files.h).
 *
 *   begun, ended   count these calls, in one page, so that a child has both as of one moment
 *
 * Calls may be within each other.
 */
#ifndef PT_BASE_BRIEF_FILES_H
#define PT_BASE_BRIEF_FILES_H

#include "base/atomics.h"

struct pt_brief_files {
    _Alignas(16) pt_u64 begun;
    pt_u64 ended;
};
extern struct pt_brief_files pt_brief_files PT_HIDDEN;
/* Those that the calling thread is in. */
extern _Thread_local unsigned pt_brief_files_own __attribute__((tls_model("initial-exec")))
PT_HIDDEN;

/* Async-signal-safe. */
static inline void pt_brief_files_enter(void)
{
    pt_brief_files_own++;
    pt_add_seqcst(&pt_brief_files.begun, 1u);
}

static inline void pt_brief_files_leave(void)
{
    pt_add_seqcst(&pt_brief_files.ended, 1u);
    pt_brief_files_own--;
}

#endif
