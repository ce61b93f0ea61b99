/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Ends a stream whose owner has died by SIGKILL, _exit or exec, where no code of this library could
 * run.  No thread watches an owner.  Its death is found in two ways:
 *
 *   - A writer in another process checks when it changes chunks or is refused, at most once a
 *     second (a compare-and-exchange of owner_look_ns elects one writer of all).  It removes the
 *     stream from its own process, whose events then cost as much as unwanted ones.  When it has
 *     found the owner dead, it resets the time, so that writers of other processes check with their
 *     next chunk, not up to a second later.
 *   - The next process that creates a stream in the directory, or lists with --reap
 *     (directory/reap.h), or opens the stream's log, removes it from all processes.
 *
 * Until then a process's events are part of the stream, read or counted as lost.  Later ones are
 * events without a stream, in no account.  Each process leaves for itself, so one of several
 * children may stop being recorded long before the others.
 *
 * pt_page_revoke_bit() removes it; of several concurrent calls one succeeds.  The mapping in the
 * process stays, because its threads may be inside an event; events that they still commit there
 * are not read any more.
 */
#ifndef PT_PROCESS_OWNER_H
#define PT_PROCESS_OWNER_H

#include "process/thread.h"

/* Called by the writer, inside an event.  True: the stream's owner is dead, or has shut the
 * stream down without reaching every process (PT_CLOSED_LEFT), and this process was removed from
 * it.  Async-signal-safe. */
bool pt_owner_gone(const struct pt_writer *writer);

/*
 * Called when the owner of the segment file is dead: removes the stream from every process that it
 * traces.  wait: until no living thread is in an event any more, for PT_STALL_NS at most.  After
 * that the contents are final, except for threads that are stopped inside an event, and one event
 * of each thread that had found its gate open and had not yet stored inside.  0; -EMFILE, -ENFILE:
 * some processes could not be reached, and may still write.
 */
int pt_owner_clear(const char *file, bool wait);

#endif
