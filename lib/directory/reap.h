/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Removes the files of dead processes from the stream directory: segments, process pages, name
 * maps.  A segment whose log is not complete is kept until its events are in the log, or until the
 * log is gone (log_fate.h).
 */
#ifndef PT_DIRECTORY_REAP_H
#define PT_DIRECTORY_REAP_H

#include <stdbool.h>
#include <stdint.h>
#include "directory/log_fate.h"

enum pt_reap_how {
    PT_REAP_QUICK,  /* changes no log: a segment whose log is incomplete stays */
    PT_REAP_SMALL,  /* completes logs of up to 1 GiB */
    PT_REAP_SETTLE, /* completes logs of any size */
    PT_REAP_BURY,   /* and removes a segment whose log cannot be completed; a tombstone keeps the
                     * number of lost events */
    PT_REAP_FORCE   /* and removes a segment whose events cannot be counted, unless only descriptors
                     * or memory are missing, or their number could not be stored */
};
/* The whole directory.  An error of PT_REAP_BURY and PT_REAP_FORCE may be the first reason why a
 * number could not be stored and a segment was kept; -EBUSY: the directory's lock was busy. */
int pt_reap_dead(enum pt_reap_how how, unsigned *removed, unsigned *kept);

struct pt_left {
    uint64_t bytes;
    int64_t created; /* CLOCK_REALTIME, in ns */
};
/* Reaps one segment.  True: it is dead and has to stay. */
bool pt_reap_one(int dir, const char *file, enum pt_reap_how how, const struct pt_log_look *look,
                 struct pt_left *left);

/*
 * One step through the directory (page/dir_step.h), before a stream is created.  Its cost does not
 * depend on the size of the directory: a step checks up to four segments and 40 files.  A killed
 * program leaves one segment and up to four files, so a program that is killed again and again
 * finds about one old segment of its own.  Returns the bytes of dead segments that have to stay, as
 * far as known.  look->looks is ignored: a step searches no large folder for a log, and no other
 * file system than that of the stream's own log.
 */
uint64_t pt_reap_step(const struct pt_log_look *look);

#endif
