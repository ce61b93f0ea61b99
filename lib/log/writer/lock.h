/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * One writer for a log file.
 *
 * Two streams that write one file at their own offsets destroy each other's log, and neither
 * notices.  So the flush thread locks the file before it writes, on an open file description of its
 * own: the application's descriptor keeps its locks, and closing it releases none of ours.
 *
 *   opener      the flush thread, through /proc/thread-self/fd, once it has a descriptor
 *               table of its own.  fork() does not copy that table, so no child holds the
 *               lock when its parent is dead: the lock ends with its process
 *   flock()     exclusive, on the whole file: it excludes every process that takes it,
 *               flock(1) too.  If the application's own descriptor holds it, that lock
 *               excludes other writers, and this stream continues without it
 *   byte 2^62   F_OFD_SETLK, beyond the end of any file: only streams that write the file
 *               have it, and root's `record` for the stream of its worker.  Readers test it
 *               if they cannot find the stream (control/recorded.c)
 *   the same process   a table of files by device and inode, because the application's own
 *               lock, or a file system without locks, does not exclude a second stream
 *   not locked  files that are not regular.  If the file cannot be opened again (no /proc,
 *               no permission) or locked, only the table protects it.  If only descriptors
 *               are missing, the stream is not created
 *
 * A recovery (consumer/recover.c) of the same file gives way.  While it works it holds the byte
 * 2^62 + 1, which excludes a second recovery (own.h), and the flock() only during each write.  A
 * new stream waits for one write; before its next write the recovery finds the lock taken, or
 * another log in the file, and ends.
 *
 * -EBUSY: another stream holds the first byte; or a live process that is not a recovery holds the
 * flock().  If the process that took the flock() is dead, a child still has its descriptor: then
 * the stream takes the file over, and the byte excludes others.
 *
 * NFS and SMB implement flock() by byte locks, so flock() and our bytes would conflict.  There the
 * bytes are not used, and a recovery holds the flock() all the time.
 */
#ifndef PT_LOG_WRITER_LOCK_H
#define PT_LOG_WRITER_LOCK_H

#include <stdbool.h>

struct pt_log_lock {
    int fd;    /* ours; -1: none */
    int place; /* in the table; -1: none */
};

/* Called by the flush thread, in a descriptor table of its own.  0, -EBUSY, -EMFILE, -ENFILE,
 * -ENOMEM. */
int pt_log_lock_take(struct pt_log_lock *lock, int fd);
/* Called before the thread ends: a thread that has joined it may create the next stream for the
 * file. */
void pt_log_lock_release(struct pt_log_lock *lock);
/* The next stream for that descriptor takes its flock() over, so that a child that was forked
 * meanwhile does not hold it; not where the bytes are not used.  -1: no descriptor. */
void pt_log_lock_give(int fd);

enum pt_log_byte { PT_LOG_BYTE_STREAM, PT_LOG_BYTE_RECOVERY };

/* The owner of the byte: the open file description, so every process that has it; or the calling
 * process, until it closes any descriptor of the file. */
enum pt_log_owner { PT_LOG_OF_DESCRIPTION, PT_LOG_OF_PROCESS };

/* 0; -EBUSY; or another negative errno: there are none here. */
int pt_log_byte_take(int fd, enum pt_log_byte byte, enum pt_log_owner owner);
void pt_log_byte_free(int fd, enum pt_log_byte byte, enum pt_log_owner owner);
/* Has another description it? */
bool pt_log_byte_is_taken(int fd, enum pt_log_byte byte);

#endif
