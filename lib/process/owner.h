/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The end of a stream whose owner has died: by SIGKILL, _exit or exec, where
 * nothing of ours could run.  Nobody watches an owner.  Two find out:
 *
 *   - A writer in another process, when it changes chunks or is refused, looks
 *     at most once a second (one compare-and-exchange on owner_look_ns lets one
 *     look for all).  It takes the stream out of its own process, whose events
 *     cost from then on what disabled ones cost.  When it has found the owner
 *     dead it resets the time, so that the writers of the other processes look
 *     with their next chunk instead of a second later each.
 *   - Whoever uses the library next in the directory, see directory/reap.h, or
 *     opens the stream's log, takes it out of all processes.
 *
 * Taking it out is pt_page_revoke_bit: of several who do so at once, one does.
 * The mapping in the process stays: its threads may be in the middle of an
 * event, and what they still commit there is nobody's any more.
 */
#ifndef PT_PROCESS_OWNER_H
#define PT_PROCESS_OWNER_H

#include "process/thread.h"

/* By the writer of lane, inside an event.  True: the stream's owner is dead, or has shut the
 * stream down without reaching every process (PT_CLOSED_LEFT), and the stream does not trace
 * this process any more.  Async-signal-safe. */
bool pt_owner_gone(const struct pt_lane *lane);

/*
 * The owner of the segment file is known to be dead: takes the stream out of
 * every process that it traces.  wait: until no living thread is in an event any
 * more, for PT_STALL_NS at most.  What is read afterwards is final but for threads
 * that stand still, and one event a thread that had found its gate open and had
 * not yet said that it was inside.  0; -EMFILE, -ENFILE: some processes could not be reached,
 * and may still write.
 */
int pt_owner_clear(const char *file, bool wait);

#endif
