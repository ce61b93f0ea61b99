/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * A process that finds a page when it first calls the library.  The page may be
 * one that a controller has made for it, or the one that this same process used
 * before it called exec: pid and start time stay.
 *
 * exec.  Streams of other controllers go on: their gates are open, and the name
 * map is the page's, so that names have the ids they had.  Streams that the old
 * image had created ended with it; their bits are given back here.  What tells
 * one from the other is the owner in the segment.  The old image's streams
 * without a name cannot be asked, but their gates are open: a stream that is
 * just being made has none.
 *
 * Threads of the new image may come here at once, and one may have created
 * streams of its own while another still looks: which bits there were is noted
 * before the new image's number is put into the page, by one compare-and-exchange.
 * Who succeeds cleans up, and only what he has noted.
 *
 * Names.  A forked child has its parent's map and may know ids from it.  A
 * controller gives the page that it makes for the child the same map, unless the
 * parent is gone.  If the child can have its ids in the controller's map, too, it
 * moves there; else its own ids count, and it leaves the controller's streams:
 * events under wrong names are worse than none.
 *
 * The file of the parent's map goes with the last page that names it.  A child is not counted
 * before its first call, and its parent may have ended by then, as a daemon's has.  The map is
 * still mapped in the child; it gets a name again if a stream that both are traced by has a
 * link to it, and else the child has a copy with the same ids.
 */
#ifndef PT_PROCESS_EXEC_H
#define PT_PROCESS_EXEC_H

#include "process/self.h"

/* s has found or made its page; nobody else knows s.  Async-signal-safe. */
void pt_image_enter(struct pt_self *s);
/* The names of a forked child that has no page yet, one user more; false: they have no file. */
bool pt_image_take_names(struct pt_self *s, const struct pt_self *parent);
/* In a forked child whose page names another map than the parent's. */
void pt_image_settle_names(struct pt_self *s, const struct pt_self *parent);

#endif
