/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Completes the logs of killed programs in the background: a thread does it in a program that
 * creates a stream with a log.
 *
 *   - Logs that can be completed are completed, and their segments removed.  A claim on the log
 *     excludes other recoveries and gives way to a stream that wants the file
 *     (log/writer/claim.h).  flock() on the stream directory excludes other such threads of the
 *     user.  If the thread is killed, the next one repeats its work.
 *   - Other segments (the log is in another mount namespace, cannot be written, ...) stay, up to a
 *     limit for each user: a quarter of the file system or 1 GiB, whichever is less, or
 *     POSIXTRACE_LEFT_LIMIT.  Beyond it the oldest segments are completed or buried, until three
 *     quarters of the limit are left.  A tombstone keeps the number of events lost
 *     (consumer/tombstone.h).
 *
 * The thread has all signals blocked and a descriptor table of its own.  A create waits for it only
 * beyond the limit, ten seconds at most, so that programs that are killed before the thread has
 * done anything do not fill the memory; that happens once for each quarter of the limit.  A
 * shutdown ends the thread after the log on which it works.  Logs above 1 GiB are completed only
 * beyond the limit, or by posixtrace recover.
 */
#ifndef PT_DIRECTORY_SETTLE_H
#define PT_DIRECTORY_SETTLE_H

#include <stdint.h>
#include "directory/log_fate.h"

/* Called before a stream is created; left: bytes of dead segments (reap.h), own: the stream's
 * log. */
void pt_settle_start(uint64_t left, const struct pt_log_look *own);
/* Called before a stream's end: ends the thread. */
void pt_settle_stop(void);
/* The limit in bytes. */
uint64_t pt_settle_limit(void);

#endif
