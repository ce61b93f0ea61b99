/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The identity of this process, and whether another process still lives.
 *
 * Alive means that the process with this pid, start time, boot id and pid namespace exists and
 * still maps the segment (read from /proc/PID/maps, see maps.h).  exit, kill and exec end that,
 * closing descriptors does not, and a reused pid does not match.  File locks are not used: they
 * vanish when any descriptor of the file is closed.
 *
 * Writers call it inside an event: everything here is async-signal-safe and bounded, is not a
 * cancellation point, and does not change errno.  A handler that left by siglongjmp() while a file
 * is open would leave the descriptor: an event holds signals around pt_process_look().
 */
#ifndef PT_SHM_LIVENESS_H
#define PT_SHM_LIVENESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "shm/layout.h"

struct pt_identity {
    uint32_t pid;
    uint64_t start; /* 0: no /proc */
    uint8_t boot_id[16];
    uint64_t pid_ns;
};

struct pt_process {
    uint32_t parent;
    uint32_t threads;
    bool zombie;    /* of the first thread: with others left, the process lives */
    uint64_t start; /* ticks since boot, in the first time namespace */
    int64_t added;  /* ticks that the time namespace of the caller adds to them, */
    bool is_known;  /* if it was looked up: for the parents, too */
};

/* A process that its parent has not waited for: the kernel still knows its number and its first
 * thread. */
static inline bool pt_process_has_ended(const struct pt_process *process)
{
    return process->zombie && process->threads <= 1;
}

/* What the time namespace of the caller adds to a clock: "boottime", and so to the start times that
 * it reads in /proc, or "monotonic".  False: unknown, in a process that has made a namespace for
 * its children; then start times are unknown, too. */
bool pt_time_offset(const char *clock, int64_t *ns);
/* Sets pt_clock_offset.  Called before the process joins or attaches to a stream.  Where the offset
 * is unknown, it is the one that the process had before, or its parent.  True: the process is in
 * the first time namespace, which adds nothing to any clock. */
bool pt_time_learn(void);

/*
 * Is that the start time of the same process?  A process whose time namespace has an offset in
 * parts of a tick, as after a restore of its container, may see itself one tick later than others
 * do.  No two processes of one number start so close to each other.  A file that is named after the
 * start time (page/page.h) has the one that its maker saw.
 */
static inline bool pt_is_start(uint64_t seen, uint64_t noted)
{
    return seen != UINT64_MAX && seen + 1 - noted <= 2;
}

/* 0; -ESRCH: there is no such process; another error: unknown. */
int pt_process_look(uint32_t pid, struct pt_process *process);
/* Replaces a process by its parent.  -ESRCH: the process with the parent's pid is younger than the
 * child, so the parent has ended and its pid was reused. */
int pt_process_parent(uint32_t *pid, struct pt_process *process);
/* Is the /proc that is mounted here that of our pid namespace?  In another one's,
 * our numbers are those of other processes. */
bool pt_proc_is_ours(void);

/* Are the process and the caller in one time namespace, as of the last pt_process_look()?  False
 * also where that cannot be seen: of a process of another user. */
bool pt_time_is_shared(uint32_t pid);

/* The namespaces of the calling process; 0: no /proc. */
uint64_t pt_pid_namespace(void);
uint64_t pt_mount_namespace(void);
/*
 * The process whose memory the caller runs in.  A child that shares it (vfork, clone with
 * CLONE_VM) has a number of its own, which ends with the child while the memory stays in use.
 */
uint32_t pt_home_pid(void);
/* Notes the caller's number, at load and in a forked child.  word: in memory that fork wipes.
 * Where the word is wiped and no fork handler ran, the kernel compares the memories (kcmp). */
void pt_home_note(uint64_t *word);
/*
 * Does the kernel know no thread with these numbers, which are of the home process's pid namespace?
 * A child that shares its memory may be in another one, where every thread of its parent looks like
 * that: nothing is gone for it then.  Async-signal-safe.
 */
bool pt_thread_is_gone(int32_t pid, int32_t tid);
bool pt_tid_is_gone(int32_t tid);
/* Notes the pid namespace of the home process; without it, every caller is taken to be in it. */
void pt_home_note_namespace(uint64_t ns);
/* The identity of the process of pt_home_pid().  -EMFILE, -ENFILE, -ENOMEM: a part of it could not
 * be read now, with which the process would be taken for another one. */
int pt_identity_self(struct pt_identity *id);
/* Its number and start time only.  process: the same process in /proc, if *is_ours; the /proc is
 * that of our pid namespace then.  no_offset: as pt_time_learn() has said just now. */
int pt_identity_process(struct pt_identity *id, struct pt_process *process, bool no_offset,
                        bool *is_ours);
/* Start time of a process in ticks since boot, 0 if it does not exist, UINT64_MAX if unknown. */
uint64_t pt_process_start(uint32_t pid);

enum pt_liveness { PT_ALIVE, PT_DEAD, PT_UNKNOWN };
/* The liveness of the segment's owner.  dev and ino: the segment's file; ino 0: it has no file, and
 * an exec of the owner is not noticed. */
enum pt_liveness pt_owner_liveness(const struct pt_seg_header *h, dev_t dev, ino_t ino);
/* The same of another process that maps the segment, in the owner's pid namespace. */
enum pt_liveness pt_user_liveness(const struct pt_seg_header *h, uint32_t pid, uint64_t start,
                                  dev_t dev, ino_t ino);

#endif
