/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Files that the library writes have no number below 3, also where the program has closed
 * descriptors 0 to 2: another thread that writes to one of these numbers, as to a standard error
 * that is closed, must not write into a log or a segment.
 *
 * The kernel gives a new file the lowest free number.  So numbers below 3 that are free are taken
 * first, by descriptors that are open for reading, for as long as the file is opened: write() to
 * these numbers fails with EBADF then as before.  What remains is a program whose other thread
 * closes a number below 3 between the two: the file is moved above at once.
 *
 * A child that is forked meanwhile closes its copies of these descriptors (process/fork_files.h).
 */
#ifndef PT_BASE_OPEN_ABOVE_H
#define PT_BASE_OPEN_ABOVE_H

#include <sys/types.h>

/* As openat().  dir was opened just now, or is AT_FDCWD: if it is 3 or more, all numbers below are
 * in use.  A descriptor, or -1 with errno.  Async-signal-safe. */
int pt_open_above(int dir, const char *path, int flags, mode_t mode);
/* As memfd_create(). */
int pt_memory_above(const char *name, unsigned flags);

/* What takes a free number: this directory, with the mark of PT_OPEN_BRIEFLY. */
#define PT_ABOVE_PLACE "/"

#endif
