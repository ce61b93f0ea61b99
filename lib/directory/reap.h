/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Taking away what dead processes left in the stream directory: segments, process
 * pages, name maps.  A segment whose log is not complete is kept until its events
 * are in the log, or until the log is gone (log_fate.h).
 */
#ifndef PT_DIRECTORY_REAP_H
#define PT_DIRECTORY_REAP_H

#include <stdbool.h>
#include <stdint.h>
#include "directory/log_fate.h"

enum pt_reap_how {
    PT_REAP_QUICK,  /* touches no log: segments that need one completed stay */
    PT_REAP_SMALL,  /* completes logs that can be completed, of up to 1 GiB */
    PT_REAP_SETTLE, /* of any size */
    PT_REAP_BURY,   /* and what cannot is lost, and a tombstone keeps how much */
    PT_REAP_FORCE   /* the same, and what cannot be counted is removed, too, unless that is
                       * for want of descriptors or memory */
};
/* The whole directory. */
int pt_reap_dead(enum pt_reap_how how, unsigned *removed, unsigned *kept);

struct pt_left {
    uint64_t bytes;
    int64_t created; /* CLOCK_REALTIME, in ns */
};
/* One segment's file.  True: it is dead and has to stay. */
bool pt_reap_one(int dir, const char *file, enum pt_reap_how how, const struct pt_log_look *look,
                 struct pt_left *left);

/*
 * One step through the directory (page/dir_step.h), before a stream is made: its cost does not
 * depend on what is there.  A step meets up to four segments and 40 files; a killed program
 * leaves one and up to four.  So a program that is killed again and again finds about one
 * segment of its own kind in the directory.  Bytes of dead segments that have to stay, as far
 * as is known.  Of look its looks do not count: in large folders no log is searched for, nor on
 * other file systems than that of the stream's own log.
 */
uint64_t pt_reap_step(const struct pt_log_look *look);

#endif
