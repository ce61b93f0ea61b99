/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Whose the flock() on a log is, as /proc says.  flock() belongs to an open file description,
 * so that a child has its parent's, and has it still when the parent is dead.
 */
#ifndef PT_LOG_WRITER_HOLDER_H
#define PT_LOG_WRITER_HOLDER_H

#include <stdbool.h>

/* Has the description of fd the lock?  1, 0, or negative: /proc does not say. */
int pt_log_holder_is(int fd);
/* own has a lock of bytes on the file: as long as that is so, is the process that took the
 * flock() on the file dead?  False where /proc/locks does not show the flock(): the kernel leaves
 * out processes outside the pid namespace of /proc, living ones also, and in all but the first
 * pid namespace dead ones. */
bool pt_log_holder_is_dead(int own);

#endif
