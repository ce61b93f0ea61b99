/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * At its first call of the library a new process joins the INHERITED streams that were created
 * before it started, namely
 *
 *   - in a forked child (fork, _Fork, clone, daemon), those that its memory
 *     knows, which is exact, also of streams without a name;
 *   - those in the page of the parent process, if it has one, else of its
 *     parent, and so on up: this reaches the new image after posix_spawn or
 *     after vfork and exec, which has no memory of its parent, and streams of
 *     other controllers that no thread of the parent had used yet.  If only a controller has made
 *     such a page so far, the streams that its process would inherit count, too;
 *   - in a new image the stream that POSIXTRACE_FOLLOW names, with any parent.  Such an image does
 *     all of this when the library is loaded, not with its first call.
 *
 * The kernel has start times in ticks of 10 ms.  A stream that was created in the tick in which the
 * process started is inherited, unless its creator is a process that this one was forked from
 * without exec: then memory shows the order.  A process whose parent has ended before its first
 * call cannot follow its ancestors.
 *
 * Set-id programs (AT_SECURE) inherit no stream: they have no directory.
 */
#ifndef PT_PROCESS_INHERIT_H
#define PT_PROCESS_INHERIT_H

#include "process/self.h"
#include "shm/liveness.h"

#define PT_FOLLOW_VARIABLE "POSIXTRACE_FOLLOW"

/* In a new image: the name map of its page, if it has one; else that of the family
 * that it will belong to.  1; 0: it inherits nothing, and has names of its own; -EMFILE, -ENFILE,
 * -ENOMEM: it may inherit.  process: as it is in /proc, or NULL.  Sets self->names_file and
 * self->alone. */
int pt_inherit_names(struct pt_self *self, const struct pt_page_dir *dir,
                     const struct pt_process *process);

/* Joins child to the streams that it inherits.  parent: in a forked child, the parent's struct
 * pt_self; NULL: in a new image.  Errors as above: it may inherit more, and another attempt joins
 * it to all. */
int pt_inherit(struct pt_self *child, const struct pt_self *parent);
/* Of a child that has joined all; of one that is not used, unmaps what pt_inherit() has mapped. */
void pt_inherit_settle(struct pt_self *child);
void pt_inherit_close(struct pt_self *child);

/* When the library is loaded: notes the process that loads this image.  True: a stream is to be
 * followed. */
bool pt_inherit_at_load(void);

#endif
