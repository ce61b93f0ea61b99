/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * One writer for a log file.
 *
 * Two streams that write one file at their own offsets destroy each other's log, and
 * neither sees it.  So the flush thread locks the file before it touches it, on an open file
 * description of its own: the descriptor of the application keeps its locks, and closing it
 * gives none away.
 *
 *   who opens   the flush thread, through /proc/thread-self/fd, once it has a descriptor
 *               table of its own.  No fork() copies that table, so no child holds the
 *               lock when its parent is dead: the lock goes with its process
 *   flock()     exclusive, on the whole file: for every process that asks, flock(1) too.  If the
 *               application's own descriptor holds it, that one keeps other writers away,
 *               and this process must not
 *   byte 2^62   F_OFD_SETLK, where no file is: only streams that write the file have it, and
 *               root's `record` for the stream of its worker.  Readers ask for it where they
 *               cannot find the stream (control/recorded.c)
 *   the same process   a table of files by device and inode, because the application's
 *               own lock, or a file system without locks, does not tell two streams apart
 *   not locked  what is no regular file; and where the file cannot be opened once more
 *               (no /proc, no right to) or locked, the table is all there is.  Where there is
 *               only no descriptor left, there is no stream
 *
 * A recovery (consumer/recover.h) of the same file gives way.  While it works it has the byte
 * 2^62 + 1, which keeps two recoveries apart (own.h), and the flock() during each write only:
 * a stream that comes waits for one write, and the recovery finds the lock taken, or another
 * log in the file, before its next one and ends.
 *
 * -EBUSY: another stream has the first byte; or somebody alive has the flock(), and no
 * recovery.  Is who took the flock() dead, a child has its descriptor still: the stream takes
 * the file over, and the byte keeps others away.
 *
 * NFS and SMB make byte locks of flock(), which would refuse each other: there are no bytes
 * there, and a recovery has the flock() all the time.
 */
#ifndef PT_LOG_WRITER_LOCK_H
#define PT_LOG_WRITER_LOCK_H

#include <stdbool.h>

struct pt_log_lock {
    int fd;    /* ours; -1: none */
    int place; /* in the table; -1: none */
};

/* By the flush thread, in a descriptor table of its own.  0, -EBUSY, -EMFILE, -ENFILE, -ENOMEM. */
int pt_log_lock_take(struct pt_log_lock *lock, int fd);
/* Before the thread ends: who joins it may create the next stream for the file. */
void pt_log_lock_release(struct pt_log_lock *lock);
/* The next stream for that descriptor takes its flock() away, and has it itself, so that no
 * child that was forked meanwhile has it; but not where there are no bytes.  -1: none does. */
void pt_log_lock_give(int fd);

enum pt_log_byte { PT_LOG_BYTE_STREAM, PT_LOG_BYTE_RECOVERY };

/* Whose the byte is: the open file description's, so every process's that has it, or the calling
 * process's, until that closes any descriptor of the file. */
enum pt_log_owner { PT_LOG_OF_DESCRIPTION, PT_LOG_OF_PROCESS };

/* 0; -EBUSY; or another negative errno: there are none here. */
int pt_log_byte_take(int fd, enum pt_log_byte byte, enum pt_log_owner owner);
void pt_log_byte_free(int fd, enum pt_log_byte byte, enum pt_log_owner owner);
/* Has another description it? */
bool pt_log_byte_is_taken(int fd, enum pt_log_byte byte);

#endif
