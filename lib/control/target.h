/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The target of a stream: this process, or another one.  The other one's page is mapped, and its
 * name map, which becomes the stream's, so names that controller and target open have the same ids.
 *
 * A process that has not called the library yet has no page.  The controller makes one, which the
 * process finds with its first call; if both make one at the same time, one of them is published
 * and both use it.  The page gets the name map
 *
 *   - of its nearest ancestor that has a page, since a forked child has its parent's map in its
 *     memory and may know ids from it;
 *   - else a new one.  With the controller's map, the target's first call would find its ids used
 *     by names that it does not know, and an orphan, whose parent cannot be found any more, would
 *     get other names than it knows.
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
