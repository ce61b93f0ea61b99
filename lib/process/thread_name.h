/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The latest names of threads, which a log shows for all their events.
 *
 * A writer stores its thread's name when it comes, so that each packet has one, and once more
 * when its thread ends (pt_slot_name()).  In between, the flush thread reads what the kernel
 * has, /proc/PID/task/TID/comm, because a thread may rename itself or be renamed by another
 * at any time: of each thread at most once a second, in the rounds that are made anyway and
 * of at most PT_NAMES_A_ROUND threads in one, so that a round is not held up; of all of them
 * when the stream stops and when it is shut down.  A thread that records never reads /proc; the
 * one that ends the program by exit() does, since the flush thread may be in another process,
 * which cannot read the names of the others any more.
 *
 * A call that names a thread can say so, as libposixtrace-preload.so does of pthread_setname_np()
 * and prctl(PR_SET_NAME): then the thread that calls stores what the kernel has from then on
 * (pt_thread_renamed()).  A writer that is just coming is found in its slot, or asks for its name
 * itself after it has the slot (pt_thread_name_again()): the one stores to the kernel, then looks
 * at slots, the other the other way round.
 *
 * A name that has changed goes into the author lists of the log (log/totals.h).
 *
 * Without such a call that misses a name that a thread took within the last second before SIGKILL,
 * _exit() or exec, and the later names of a thread whose slot another one took over between two
 * rounds.  The records of context switches have these names (flush/switch_thread.c).
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
