/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * A child made by fork() or _Fork() inside an event: by a signal handler that has interrupted it,
 * or by a filter function.  Parent and child both return into the event.  The parent's continues as
 * if nothing had happened.  The child's must not store to the memory that the parent writes: at any
 * instruction its registers may hold addresses of the parent's slot and chunk.
 *
 *   before fork   in the forking thread, if it is inside an event: its record and writers are
 *                 copied to the child like other memory (MADV_KEEPONFORK), so that the child's half
 *                 of the event finds the same values
 *   in the child  every mapped segment is replaced, at the same address, by a private copy of the
 *                 parts that this thread's events use; the shared memory is mapped a second time,
 *                 for the child's own events.  The thread gets a new record; only the half event
 *                 uses the old one, which attaches to no further stream.
 *
 * So the child's half of the event runs to its end in memory that no reader maps.  The same is done
 * where the fork comes while the thread takes events out of a stream: the child would give chunks
 * back that its parent has not read to the end.
 *
 * In the child a signal handler, or a fork handler of another library that was registered before
 * ours, may trace or call this library first.  So the first call, which makes the child's struct
 * pt_self, does the work of our fork handler; the handler then finds it done.
 *
 * Fork handlers are run by the C library's fork().  _Fork() runs none, so the shared library wraps
 * it (fork_call.c).  A library that is loaded by dlopen() is not asked for the name.  In a program
 * that links the static library, and the C library's static one or not, the linker wraps it
 * (fork_static.c): pkg-config --static says the options.  Where fork() is linked statically it
 * calls the wrapper, too, between its handlers.  If the first of them found the thread inside an
 * event it holds signals, by which the wrapper knows fork(), and leaves all to the handlers.  If
 * not, no event can be parted, and the calls nest.
 *
 * clone() with a function of the program does not return into the event, so nothing is parted: the
 * child's record is wiped.  vfork() needs nothing either: the child has the parent's memory, record
 * and writers, and the parent waits, so the event is one event whose handler took longer.
 *
 * For the bare system call no code of ours runs.  A child made by it inside an event finds its
 * record wiped; posix_trace_event(3) says what it may do.  Where it returns into an event all the
 * same, it ends by SIGSEGV or not, and at some instructions does harm to its parent (proof/
 * child_inside bare, on x86-64):
 *
 *                    instructions   SIGSEGV   harm
 *   8 bytes                    65        38     12   in one piece, up to the commit
 *   more bytes                112        83     39
 *   two streams               131        41      6
 *   another chunk           1,834     1,631    143
 *
 * The harm: the child commits at its parent's old position.  The events that the parent has
 * committed since are overwritten by its next ones, which get their numbers: they count neither as
 * recorded nor as lost.  Where the event takes a chunk, the child may also store into words of it
 * that the parent has set meanwhile.
 * Its half event cannot be stopped without a cost for each event:
 *
 *   wiped memory   The event loads chunk, limit and slot from its record, which fork wipes, so a
 *                  child finds out at its next load.  But the address of the chunk can be in a
 *                  register when the handler runs, and the next instruction stores there.  Loading
 *                  it again before each store would still leave that one instruction: none stores
 *                  through an address in memory.  MADV_WIPEONFORK for the chunk itself is refused,
 *                  as the chunk is shared
 *   rseq           A restartable sequence from the load of the chunk to the commit would be exact:
 *                  before the handler runs, the kernel moves the interrupted address to the abort
 *                  code, and parent and child both begin again, the child with a wiped record.  But
 *                  each event stores the sequence's address for the kernel (two more to its 59,
 *                  proof/instructions); the stores of the record have to be one block of assembler
 *                  for each processor; and only glibc from 2.35 on registers threads, unless its
 *                  tunable says no, so other programs would be as now
 *   MADV_DONTFORK  for infos, slots and chunks was tried.  No store reaches the parent then, but
 *                  each child, however it was made, has holes there: its mappings, and those that
 *                  fork handlers of other libraries make, come to lie in them and are overwritten
 *                  when the half event gets its private memory; and the first event of a child
 *                  costs 10 to 36 % more
 *   protection     keys are switched by WRPKRU, at the cost of the event
 *   interception   of the call by seccomp, ptrace or userfaultfd needs a thread or changes what the
 *                  program's calls do
 */
#ifndef PT_PROCESS_FORK_H
#define PT_PROCESS_FORK_H

#include "process/thread.h"

/* Inside an event: is this the half of it that belongs to a forked child? */
bool pt_fork_has_cut(const struct pt_thread *t);
/* In a forked child before its first call: is its pid namespace that of pt_self_latest()?  Known
 * without /proc, over any number of generations that recorded nothing, where fork handlers ran and
 * no parent ended at once.  Else false. */
bool pt_fork_keeps_namespace(void);
/* What the fork handlers and the wrapper of _Fork() call.  Inside an event signals are held from
 * the first call to the second. */
void pt_fork_before(void);
void pt_fork_in_parent(void);
void pt_fork_in_child(void);
/* What a wrapper of _Fork() does, around the original. */
pid_t pt_fork_call(pid_t (*original)(void));
/* From now on the calling thread takes events out of seg, as its one consumer; NULL: it does not.
 * A child that is forked meanwhile may return into that, and takes them out of a private copy. */
void pt_fork_guard(struct pt_seg *seg);
/* Called in a forked child, with signals held, before its struct pt_self is published: parts a half
 * event of the calling thread, if there is one that was not parted yet. */
void pt_fork_part(void);

#endif
