/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * What killed programs left is settled without anybody's help, by a thread of a program that
 * makes a stream with a log.
 *
 *   - Logs that can be completed are, and their segments go.  A claim on the log keeps
 *     recoveries apart and gives way to a stream that wants the file (log/writer/claim.h),
 *     flock() on the stream directory keeps such threads of a user apart; a thread that is
 *     killed over it leaves what the next one can do again.
 *   - What remains (the log is in another mount namespace, cannot be written, ...) only ages,
 *     up to a limit for each user: a quarter of the file system or 1 GiB, whichever is less,
 *     or what POSIXTRACE_LEFT_LIMIT says.  Beyond it the oldest segments are completed or
 *     buried until three quarters of the limit are left: a tombstone keeps how many events
 *     were lost (consumer/tombstone.h).
 *
 * The thread has all signals blocked and a descriptor table of its own.  A create waits for it
 * only beyond the limit, ten seconds at most, so that programs that are killed before it has
 * done anything do not fill the memory; that is once for each quarter of the limit that they
 * leave.  A shutdown
 * ends it after the log on which it works; logs above 1 GiB are left until they are beyond the
 * limit, or to posixtrace recover.
 */
#ifndef PT_DIRECTORY_SETTLE_H
#define PT_DIRECTORY_SETTLE_H

#include <stdint.h>
#include "directory/log_fate.h"

/* Before a stream is made; left: bytes of dead segments (reap.h), own: its log. */
void pt_settle_start(uint64_t left, const struct pt_log_look *own);
/* Before a stream's end: no thread of ours is left behind. */
void pt_settle_stop(void);
/* The limit in bytes. */
uint64_t pt_settle_limit(void);

#endif
