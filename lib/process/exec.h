/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * A process whose page exists when it first calls the library.  A controller may have made the page
 * for it, or this process used it before it called exec: pid and start time stay the same.
 *
 * exec.  Streams of other controllers continue: their gates are open, and the name map is the
 * page's, so that names keep their ids.  Streams that the old image had created ended with it;
 * their bits are freed here.  The owner in the segment distinguishes them.  A stream of the old
 * image whose file has no name cannot be opened, but its gates are open, while a stream that is
 * just being created has none open.
 *
 * Threads of the new image may come here at the same time, and one may have created streams of its
 * own while another still checks.  So each thread first notes the bits in use, then puts the new
 * image's number into the page by compare-and-exchange.  The thread that succeeds cleans up, and
 * only the bits it has noted.
 *
 * Names.  A forked child has its parent's map and may know ids from it.  A
 * controller gives the page that it makes for the child the same map, unless the
 * parent is gone.  If the child can have its ids in the controller's map, too, it moves there.
 * Otherwise it keeps its own ids and leaves the controller's streams: events under wrong names are
 * worse than none.
 *
 * A map that has no file, because there was no room for one, is lost with the image that has it.
 * The next image leaves all streams of the page, whose ids are of that map, and looks for names as
 * if it had no page yet.  Several threads may do so, with a map each.  The page gets the names of
 * the one whose struct pt_self is published; by page->namer all are of one copy of the library.
 *
 * The file of the parent's map is removed with the last page that names it.  A child is not counted
 * before its first call, and its parent may have ended by then, as with a daemon.  The map is still
 * mapped in the child.  It gets a name again if a stream that traces both has a link to it; else
 * the child makes a copy with the same ids.
 */
#ifndef PT_PROCESS_EXEC_H
#define PT_PROCESS_EXEC_H

#include "process/self.h"

/* Called when s has found or made its page, and before it is published.  Async-signal-safe. */
void pt_exec_enter(struct pt_self *s);
/* Does the page of an earlier image name a map that has no file? */
bool pt_exec_lost_names(const struct pt_page *page, int dir);
/* The same of the page that s has found, which is to get the names of s: a map for which s is
 * counted, in place of the page, from then on.  Sets s->renames. */
bool pt_exec_begin_names(struct pt_self *s, int dir);
/* Called when s is published, or is discarded. */
void pt_exec_give_names(struct pt_self *s);
void pt_exec_drop_names(struct pt_self *s);
/* Takes the parent's names for a forked child that has no page yet, as one more user; false: they
 * have no file. */
bool pt_exec_take_names(struct pt_self *s, const struct pt_self *parent);
/* Called in a forked child whose page names another map than the parent's. */
void pt_exec_settle_names(struct pt_self *s, const struct pt_self *parent);

#endif
