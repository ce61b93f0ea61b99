/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Descriptors that a thread has for a moment, in an event: to find its process's page, to map a
 * stream, to read the mappings; and while it creates, ends or lists streams.  A child that another
 * thread forks meanwhile has copies, which are of no use there, and no number of them is known that
 * is good at the moment of the fork.  So the child finds them by what they are: they have flags
 * that no other descriptor has together, unless the program has opened one with them
 * (PT_OPEN_BRIEFLY), and are files of the stream directory, or some of /proc or /sys; memory in
 * place of a file, for which the directory has no room, has its name; what takes numbers below 3 is
 * the directory PT_ABOVE_PLACE (base/open_above.h).  It looks for them only if a
 * thread was in such a call, and where it has /proc.
 *
 * base/brief_files.h counts these calls.  The kernel copies the descriptors, then the memory.  If
 * the child's copy of begun is what ended was before the fork, no thread was in such a call from
 * then to the copy of the memory.
 *
 * If a handler forks in such a call, the child returns into it, and it closes its files there;
 * copies of other threads' stay.
 * For the bare system call no handler runs: a child made by it keeps the copies until exec.
 */
#ifndef PT_PROCESS_FORK_FILES_H
#define PT_PROCESS_FORK_FILES_H

/* For fork handlers. */
void pt_fork_files_before(void);
void pt_fork_files_in_parent(void);
void pt_fork_files_in_child(void);

#endif
