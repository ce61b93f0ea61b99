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
#include <sys/types.h>
#include "directory/log_fate.h"

enum pt_reap_how {
    PT_REAP_EASY,   /* only segments without a log, or whose log is complete: looks at no log */
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

/* What killed programs have left. */
struct pt_left_bytes {
    uint64_t stay;   /* of segments that have to stay, as far as known */
    uint64_t unseen; /* there may be so much more, which no step has come to */
};

/*
 * One step through the user's directory (page/dir_step.h), before a stream of so many bytes is
 * created there.
 * Its cost does not depend on the size of the directory: a step checks up to 40 files, and ends
 * after four segments that stay or 16 that it has removed.  A process makes a step for each stream
 * by which it has more than ever before (make_room.h), so it checks more than it leaves when it is
 * killed, and what others left gets less.  look->looks is ignored: a step searches no large folder
 * for a log, and no other file system than that of the stream's own log.
 *
 * Root creates streams in the directory of the user whose process they trace.  Of another user's
 * directory only segments go that PT_REAP_EASY removes: root maps no file of it, and looks at no
 * log that a header there names.  A process that was traced leaves such a stream by itself
 * (process/owner.h).
 */
struct pt_left_bytes pt_reap_step(uid_t uid, const struct pt_log_look *look, uint64_t bytes);
/* The whole directory, with the look of a step: of PT_REAP_EASY the segments, of PT_REAP_QUICK all
 * kinds of files.  How many it has removed; *stay: the bytes of segments that have to stay. */
unsigned pt_reap_near(uid_t uid, enum pt_reap_how how, const struct pt_log_look *look,
                      uint64_t *stay);

#endif
