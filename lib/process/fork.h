/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * A child made by fork() inside an event: by a signal handler that has interrupted it, or by
 * a filter function.  Parent and child both return into the event.  The parent's continues
 * as if nothing had happened.  The child's must not store to the memory that the parent writes: at
 * any instruction its registers may hold addresses of the parent's slot and chunk.
 *
 *   before fork   in the forking thread, if it is inside an event: its record and writers are
 *                 copied to the child like other memory (MADV_KEEPONFORK), so that the child's half
 *                 of the event finds the same values
 *   in the child  every mapped segment is replaced, at the same address, by a private copy of the
 *                 parts that this thread's events use; the shared memory is mapped a second time,
 *                 for the child's own events.  The thread gets a new record; only the half event
 *                 uses the old one, which attaches to no further stream.
 *
 * So the child's half of the event runs to its end in memory that no reader maps.
 *
 * In the child a signal handler, or a fork handler of another library that was registered before
 * ours, may trace or call this library first.  So the first call, which makes the child's struct
 * pt_self, does the work of our fork handler; the handler then finds it done.
 *
 * Fork handlers are run by the C library's fork(); _Fork(), clone() and the bare system call run
 * none.  A child made by them inside an event finds its record wiped; posix_trace_event(3) says
 * what it may do.  Its half event cannot be stopped: the address of the parent's chunk can be in a
 * register when the handler runs, and the next instruction stores there.  Loading the address again
 * from wiped memory before each store would still leave that one instruction.  MADV_WIPEONFORK is
 * for private memory only; with MADV_DONTFORK the store ends in SIGSEGV; a restartable sequence
 * (rseq), which the signal would abort, costs two stores an event.  vfork() is not such a case: the
 * child has the parent's memory, record and writers, and the parent waits, so the event is one
 * event whose handler took longer.
 *
 * A wrapper of _Fork() in this library was considered.  In a library that is loaded by dlopen() it
 * would not be called; in a static program fork() itself would call it, and the original would be
 * missing; and the bare system call would still bypass it.
 */
#ifndef PT_PROCESS_FORK_H
#define PT_PROCESS_FORK_H

#include "process/thread.h"

/* Inside an event: is this the half of it that belongs to a forked child? */
bool pt_fork_has_cut(const struct pt_thread *t);
/* Called in a forked child, with signals held, before its struct pt_self is published: parts a half
 * event of the calling thread, if there is one that was not parted yet. */
void pt_fork_part(void);

#endif
