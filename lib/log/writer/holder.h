/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Finds the holder of the flock() on a log, from /proc.  flock() belongs to an open file
 * description, so a child has its parent's lock, and keeps it when the parent is dead.
 */
#ifndef PT_LOG_WRITER_HOLDER_H
#define PT_LOG_WRITER_HOLDER_H

#include <stdbool.h>

/* Does the description of fd have the lock?  1, 0, or negative: unknown. */
int pt_log_holder_is(int fd);
/* own has a lock of bytes on the file: as long as that is so, is the process that took the
 * flock() on the file dead?  False where /proc/locks does not show the flock(): the kernel leaves
 * out processes outside the pid namespace of /proc, living ones also, and in all but the first
 * pid namespace dead ones. */
bool pt_log_holder_is_dead(int own);

#endif
