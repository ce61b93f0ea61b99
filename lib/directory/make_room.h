/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Before a stream is created: removes what killed programs have left.
 *
 * A process makes a step through the directory (reap.h) for each stream by which it has more than
 * ever before: one that creates and ends a stream again and again makes one step.  What no step has
 * come to yet counts for the limit of settle.h, too: beyond it, and where the directory has no room
 * for the stream, all that can go at once is removed, wherever it lies.
 */
#ifndef PT_DIRECTORY_MAKE_ROOM_H
#define PT_DIRECTORY_MAKE_ROOM_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "directory/log_fate.h"

/* Before a stream of so many bytes in the user's directory; own: its log.  If it is the caller's
 * directory, completes the logs of killed programs in the background (settle.h). */
void pt_make_room(uid_t uid, uint64_t bytes, bool step, const struct pt_log_look *own);
/* Where there was no memory.  Has something been removed? */
bool pt_make_room_at_once(uid_t uid, const struct pt_log_look *own);

#endif
