/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Whether the log of a stream with a dead process still exists.
 *
 * THERE: the file has its old name, or another one in the same folder.  GONE: the folder is the one
 * that had the log (page/log_folder.h), it can be read, and no file in it is the log; or the file
 * now has another log or other contents.  Then the stream's events cannot be saved any more.
 * UNKNOWN: all other cases, such as a path in another mount namespace, another folder under the
 * path of the first, a folder that cannot be read, a file system that is not mounted, a copy of the
 * log under its name, a pipe, a file that never had a name, and one that is shorter than a log's
 * header (its next writer may be about to start) or was (its writer may have written after a cut).
 */
#ifndef PT_DIRECTORY_LOG_FATE_H
#define PT_DIRECTORY_LOG_FATE_H

#include <stdbool.h>
#include <sys/types.h>
#include "shm/layout.h"

enum pt_log_fate { PT_LOG_THERE, PT_LOG_GONE, PT_LOG_UNKNOWN };

#define PT_LOG_LOOKS_ALL 100000u
#define PT_LOG_SMALL     ((off_t)1 << 30) /* a longer log is read only where it must be */

struct pt_log_look {
    unsigned looks; /* how many files of the folder are examined; with more it is UNKNOWN */
    /* The log of the stream that the caller is about to create.  If it is empty, its old contents
     * are gone.  If not, they will be replaced, and are not completed before: UNKNOWN. */
    bool has_own;
    dev_t own_dev;
    ino_t own_ino;
    /* By the caller of create: only logs on the file system of its own, which answers.  Looking
     * for one on a network that has gone would not come back. */
    bool near;
};

/* fd not NULL: of a log that is THERE, open for reading and writing (O_RDWR) or reading only
 * (O_RDONLY), else a negative errno: -EMFILE, -ENFILE, -ENOMEM if UNKNOWN is for want of that. */
enum pt_log_fate pt_log_find(const struct pt_seg_header *h, const struct pt_log_look *look,
                             int flags, int *fd);

#endif
