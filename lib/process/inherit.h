/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * What a new process takes over when it first calls the library: INHERITED
 * streams that were made before it was started, namely
 *
 *   - in a forked child (fork, _Fork, clone, daemon), those that its memory
 *     knows, which is exact, also of streams without a name;
 *   - those in the page of the parent process, if it has one, else of its
 *     parent, and so on up: this reaches the new image after posix_spawn or
 *     after vfork and exec, which has no memory of its parent, and streams of
 *     other controllers that no thread of the parent had used yet.  A page that
 *     only a controller has made so far is not the last word: what its process
 *     would inherit counts, too;
 *   - in a new image the stream that POSIXTRACE_FOLLOW names, whoever the
 *     parent is.  Such an image does all of this when the library is loaded, not
 *     with its first call.
 *
 * The kernel says start times in ticks of 10 ms: a stream that was made in the
 * very tick in which the process was started is taken over, unless its creator is a
 * process that this one was forked from without exec: then memory says which came
 * first.  A process whose parent has ended before its first call finds no way up.
 *
 * Set-id programs (AT_SECURE) take nothing over: they have no directory.
 */
#ifndef PT_PROCESS_INHERIT_H
#define PT_PROCESS_INHERIT_H

#include "process/self.h"

#define PT_FOLLOW_VARIABLE "POSIXTRACE_FOLLOW"

/* In a new image: the name map of its page, if it has one; else that of the family
 * that it will belong to.  False: it inherits nothing, and has names of its own.
 * alone: no ancestor had a page. */
bool pt_inherit_names(uint32_t pid, uint64_t start, char names_file[64], bool *alone);

/* Takes over what child inherits; parent: in a forked child, what its parent
 * was; NULL: in a new image. */
void pt_inherit(struct pt_self *child, const struct pt_self *parent);

#endif
