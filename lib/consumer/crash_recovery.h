/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The tail of a dead writer's segment as packets: the committed events that its flush
 * thread had no time to write.  The segment is found by the 128-bit id that it shares
 * with the log; nothing is written.
 */
#ifndef PT_CONSUMER_CRASH_RECOVERY_H
#define PT_CONSUMER_CRASH_RECOVERY_H

#include <posixtrace/log.h>
#include "log/reader/reader.h"

struct pt_tail {
    struct pt_log_tail tail; /* for pt_log_reader_set_tail */
    char file[64];           /* of the segment */
    void *private_;
};

enum pt_tail_found { PT_TAIL_FOUND, PT_TAIL_NONE, PT_TAIL_WRITER_ALIVE };

/* PT_TAIL_*, or a negative errno. */
int pt_tail_open(struct pt_tail **tail, const uint8_t id[16]);
/* Is it the tail of that log?  Of the pieces of a log, that is the one which was written last:
 * those before it have all their events. */
bool pt_tail_fits(const struct pt_tail *tail, const struct pt_log_reader *r);
void pt_tail_close(struct pt_tail *tail);
/* How many events of the tail the log on that descriptor does not have (log < 0: all).  With a
 * log the numbers of the tail become those of both, and it is good for no other log.  0 or
 * -ENOMEM. */
int pt_tail_missing(struct pt_tail *tail, int log, uint64_t *events);
/* The log on fd has all of it: removes the segment, unless another file is the stream's log
 * and fd a copy of it. */
void pt_tail_unlink(const struct pt_tail *tail, int fd);

/* Completes the log of a writer that is gone (posixtrace_log_recover), in recover.c.  lost: events
 * that neither log nor segment knows of. */
int pt_stream_recover(int fd, uint64_t lost, struct posixtrace_recover_report *report);

#endif
