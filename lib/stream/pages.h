/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The pages of all processes that a stream traces, for a controller that changes them.
 *
 * The page of another process is a file of the stream directory, opened by its name each time.
 * This can fail although the process lives: the caller has no descriptor left, has given up its
 * user id, or does not see the directory any more (chroot).  Then the caller cannot open a gate
 * there, and nothing else tells the process to record.  The same is true of a process that
 * changed its user id before its first event, except for root: its page is in the directory of
 * that user, or in none.  So:
 *
 *   to open gates     every page must be reached.  The controller checks this before it changes
 *                     anything (pt_pages_check), and undoes its change if a page of a process
 *                     that has joined since cannot be reached.
 *   to close gates    is right without it: the state word and the windows decide what belongs
 *                     to the stream.  Writers take no chunk of a stream that does not run, and
 *                     readers pass over events after a STOP.  The gates that stay open cost time.
 *   to release memory every page must be reached, since writers do not look at anything but
 *                     their gate as long as their chunk has room.
 *
 * A process that exits removes its page after its exit handlers and lives on for a while, in
 * destructors of other libraries; it notes that in the stream's table first (process/exit.c).  Its
 * gates are not changed any more.
 *
 * A program at its limit of descriptors does not fail: the rest is done in a thread that has a
 * descriptor table of its own.
 */
#ifndef PT_STREAM_PAGES_H
#define PT_STREAM_PAGES_H

#include "stream/stream.h"

typedef void pt_pages_visit(struct pt_stream *s, struct pt_page *page, unsigned bit, void *context);

/*
 * Calls visit for each page that can be reached, also after an error.  0, or the first error:
 * -EMFILE, -ENFILE, -ENOMEM, -EACCES.  Without error: a process that has ended, and one that has
 * no page and does not map the segment any more.
 */
int pt_pages_each(struct pt_stream *s, pt_pages_visit *visit, void *context);
/* Can each page be reached? */
int pt_pages_check(struct pt_stream *s);
/* The same as pt_pages_each(), but the page of a living process must exist. */
int pt_pages_each_of_all(struct pt_stream *s, pt_pages_visit *visit, void *context);

#endif
