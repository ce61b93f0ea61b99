/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The place of a stream's log, stored in its segment: the file's device, inode and path, and its
 * folder's inode and time of birth.
 *
 * A path alone proves nothing: later, or in another root directory or mount namespace (whose
 * number the kernel uses again), it may lead to another folder.  So a process that does not
 * find the log in a folder must know that the folder is the one that had it.  An inode number
 * identifies a folder as long as it exists, within a file system that stays mounted.  The time
 * of birth, where the file system has it, distinguishes two file systems that were mounted one
 * after the other with the same device number: their root folders have the same inode number.
 *
 * A log over whose name another file is mounted, or that is mounted itself, is in no folder.
 */
#ifndef PT_PAGE_LOG_FOLDER_H
#define PT_PAGE_LOG_FOLDER_H

#include <stdbool.h>
#include "shm/layout.h"

/* Fills log_dev to log_path, log_folder and log_folder_born.  A path that does not fit is "";
 * log_folder is 0 where it is unknown.  A pipe, socket or terminal has only a path. */
void pt_log_folder_note(struct pt_seg_header *h, int fd);
#define PT_LOG_PATH sizeof((struct pt_seg_header *)0)->log_path
/* Opens (O_PATH) the folder that log_path leads to, which is absolute and ends in a NUL; *name, in
 * path, is the log's in it.  -1: errno. */
int pt_log_folder_open(const struct pt_seg_header *h, char path[PT_LOG_PATH], const char **name);
/* Is the directory on that descriptor (O_PATH is enough) the folder of the log? */
bool pt_log_folder_is(const struct pt_seg_header *h, int dir);

#endif
