/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Makes the locks of a recovery (claim.h) belong to one call only.
 *
 * flock() and F_OFD_SETLK belong to an open file description, and others may have that of the
 * caller's descriptor: a forked child, a duplicate, another thread of the program.  Two recoveries
 * through it would both have every lock.  So:
 *
 *   threads     a table of files by device and inode excludes a second recovery in one process
 *   processes   the file is opened once more, through /proc/thread-self/fd, for all locks.
 *               Where it cannot be opened to write (no /proc, no permission any more) the
 *               locks are on the caller's descriptor, and that of the byte (lock.h) is the
 *               process's, F_SETLK: no child has it.  That lock ends when the program closes any
 *               descriptor of the file, so it is the second choice.  If the bytes are not used
 *               either (NFS), recoveries of two processes through one description do not exclude
 *               each other
 *   no descriptor left   -EMFILE or -ENFILE, and no recovery
 *
 * Calls of the program meanwhile:
 *
 *   fork()   the child closes the descriptor, so that no lock outlives a killed recovery.  In a
 *            child of _Fork() or of the bare system call it is open until exec.  If a handler forks
 *            inside a recovery, the child's recovery is over
 *   close    of a descriptor that is not its own: the recovery is over
 */
#ifndef PT_LOG_WRITER_OWN_H
#define PT_LOG_WRITER_OWN_H

#include <stdbool.h>
#include <sys/types.h>
#include "base/descriptor.h"

struct pt_log_own {
    struct pt_descriptor file; /* .fd negative: the caller's is all there is */
    int place;                 /* in the table */
    pid_t pid;
};

/* A descriptor for a new description of fd's file, to write if possible; to_write: else
 * -EACCES.  Or another negative errno. */
int pt_log_reopen(int fd, bool to_write);

/* 0; -EBUSY: another thread has the file; -EMFILE, -ENFILE, -ENOMEM; -EBADF: fd is closed. */
int pt_log_own_take(struct pt_log_own *own, int fd);
/* 0; -EBUSY: this is a forked child of the one that has it; -EBADF: it was closed. */
int pt_log_own_check(const struct pt_log_own *own);
/* In a forked child nothing is unlocked.  Else the caller has done so. */
void pt_log_own_release(struct pt_log_own *own);

#endif
