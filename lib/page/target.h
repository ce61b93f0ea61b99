/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Who may trace whom.  A process may be traced by the same user, when the kernel
 * would let that user read its memory, and by root.  Not by anybody: a program
 * that was started with more rights than its caller has (AT_SECURE).
 *
 * Everything is asked of /proc, so that a process is not traced that will never
 * know: one in another pid namespace has another pid there, one with another root
 * or another /dev/shm does not see our directory.
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
 * capabilities, not dumpable, no new privileges.  The process may then be traced, whatever
 * /proc shows to its user: root has looked at it.  A process of root: nothing changes.
 * -EBUSY: the caller has several threads; -EPERM: is not root; else as pt_target_look(), and
 * what setgroups() and setresuid() say.
 */
int pt_target_take_ids(pid_t pid);

/* The effective user id of a process.  False: it cannot be read. */
bool pt_target_uid(uint32_t pid, uid_t *uid);

/* Does the target see the directory behind dir under the same path?  True when
 * that cannot be told. */
bool pt_target_sees(const struct pt_target *t, int dir);

#endif
