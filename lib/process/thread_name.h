/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The latest names of threads, which a log shows for all their events.
 *
 * A writer stores its thread's name when it attaches, so that each packet has one, and again when
 * its thread ends (pt_slot_name()).  In between, the flush thread reads the kernel's name,
 * /proc/PID/task/TID/comm, because a thread may rename itself or be renamed by another at any time.
 * It reads the name of each thread at most once a second, as part of its rounds, and of at most
 * PT_NAMES_A_ROUND threads in one, so that a round is not delayed; and all names when the stream
 * stops and when it is shut down.  A thread that records never reads /proc.  The thread that ends
 * the program by exit() does, because the flush thread may be in another process, which cannot read
 * the names of the others any more.
 *
 * A call that names a thread can report it, as libposixtrace-preload.so does for
 * pthread_setname_np() and prctl(PR_SET_NAME): then the calling thread stores the kernel's new name
 * (pt_thread_renamed()).  A writer that attaches at the same time is found in its slot, or reads
 * its name itself after it has the slot (pt_thread_name_again()): one thread stores to the kernel,
 * then loads the slots; the other stores the slot, then reads from the kernel.
 *
 * A changed name is written into the author lists of the log (log/author_stats.h).
 *
 * Without such a report two kinds of names are missed: one that a thread took within the last
 * second before SIGKILL, _exit() or exec, and later names of a thread whose slot another one reused
 * between two rounds.  The records of context switches have these names (flush/switch_thread.c).
 */
#ifndef PT_PROCESS_THREAD_NAME_H
#define PT_PROCESS_THREAD_NAME_H

#include <stdbool.h>
#include <stdint.h>
#include "shm/segment.h"

struct pt_self;
struct pt_thread;

/* Reads the name from the kernel; false: the thread has ended, or /proc does not show it. */
bool pt_thread_name_read(int32_t pid, int32_t tid, char name[16]);

/* Called by exit(): stores the names of the process's threads, also of those that still run, in the
 * streams of other processes.  Not for events. */
void pt_thread_names_publish(struct pt_self *self);
/* Stores the new name of a thread of this process.  Async-signal-safe; a handler inside an event
 * stores nothing. */
void pt_thread_renamed(uint64_t thread_id);
/* Stores the calling thread's name, which was read before, in a slot that it has just taken. */
void pt_thread_name_again(struct pt_thread *t, struct pt_seg *seg, uint32_t index);

#endif
