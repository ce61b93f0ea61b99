/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * One writer for a log file.
 *
 * Two streams that write one file at their own offsets destroy each other's log, and
 * neither sees it.  So the flush thread takes an exclusive flock() before it touches the
 * file, on an open file description of its own: the descriptor of the application keeps
 * its locks, and closing it gives none away.
 *
 *   who opens   the flush thread, through /proc/thread-self/fd, once it has a descriptor
 *               table of its own.  No fork() copies that table, so no child holds the
 *               lock when its parent is dead: the lock goes with its process
 *   refused     -EBUSY, if another description holds a lock.  But if the application's
 *               own descriptor holds one, that one keeps other writers away, and this
 *               process must not
 *   the same process   a table of files by device and inode, because the application's
 *               own lock, or a file system without locks, does not tell two streams apart
 *   not locked  what is no regular file; and where the file cannot be opened once more
 *               (no /proc, no right to) or locked, the table is all there is
 */
#ifndef PT_STREAM_LOG_LOCK_H
#define PT_STREAM_LOG_LOCK_H

struct pt_log_lock {
    int fd;       /* ours; -1: none */
    int place;    /* in the table; -1: none */
};

/* By the flush thread, in a descriptor table of its own. 0 or -EBUSY. */
int pt_log_lock_take(struct pt_log_lock *lock, int fd);
/* Before the thread ends: who joins it may create the next stream for the file. */
void pt_log_lock_release(struct pt_log_lock *lock);

#endif
