/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Permission to trace.  A process may be traced by root, and by its own user if the kernel lets
 * that user read its memory.  A program that was started with more rights than its caller has
 * (AT_SECURE) is never traced.
 *
 * All checks read /proc, to refuse a process that could never find its page: in another pid
 * namespace it has another pid, and with another root or another /dev/shm it does not see our
 * directory.  Of a process whose first thread has ended, a thread that lives has what they read.
 */
#ifndef PT_PAGE_TARGET_H
#define PT_PAGE_TARGET_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct pt_target {
    uint32_t pid;
    uint64_t start;
    uid_t uid; /* whose directory it uses */
};

/*
 * Looks at another process than the caller.  -ESRCH: there is none, or it has
 * ended and waits to be reaped.  -EPERM.  -ENOTSUP: no /proc, or not one that
 * shows our pids; another pid namespace.  -EMFILE, -ENFILE, -ENOMEM.
 */
int pt_target_look(struct pt_target *t, pid_t pid);

/*
 * Gives the calling process the ids of that process for good, and nothing else: one group, no
 * capabilities, not dumpable, no new privileges.  The process may then be traced even if /proc
 * hides it from its user, because root has checked it.  For a process of root nothing changes.
 * -EBUSY: the caller has several threads; -EPERM: is not root; else as pt_target_look(), and the
 * errors of setgroups() and setresuid().
 */
int pt_target_take_ids(pid_t pid);

/* The effective user id of a process.  False: it cannot be read. */
bool pt_target_uid(uint32_t pid, uid_t *uid);

/* Does the target see the directory of dir under the same path?  True if that cannot be found
 * out. */
bool pt_target_sees(const struct pt_target *t, int dir);

#endif
