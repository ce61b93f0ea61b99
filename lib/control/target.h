/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The process that a stream was created for: this one, or another.  Another
 * one's page is mapped here, and its name map, which is the stream's: names
 * opened by controller and target have the same ids.
 *
 * A process that has not called the library yet has no page.  Then one is made
 * for it, which it finds with its first call; when both make one at once, one
 * of the two is published and both use it.  Which name map goes into it:
 *
 *   - that of its nearest ancestor that has a page.  A forked child has its
 *     parent's map in its memory and may know ids from it.
 *   - else a new one.  Not the controller's: the target's first call would find
 *     its ids taken by names it does not know, and of an orphan, whose parent
 *     cannot be found any more, the names would differ from those it knows.
 */
#ifndef PT_CONTROL_TARGET_H
#define PT_CONTROL_TARGET_H

#include "page/target.h"
#include "stream/stream.h"

/* NULL: this process.  Sets page, names, pid and start of the stream.
 * -EACCES: no directory that both can use, as when the process has changed its user
 * id since its first call; -ENOTSUP: another version of the
 * library; -ENOMEM. */
int pt_traced_open(struct pt_stream *s, const struct pt_target *target);
/* Undoes it; the stream's bit has been given back. */
void pt_traced_close(struct pt_stream *s);

#endif
