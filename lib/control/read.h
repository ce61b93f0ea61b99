/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* Reading events from a stream of any kind. */
#ifndef PT_CONTROL_READ_H
#define PT_CONTROL_READ_H

#include "stream/stream.h"

enum pt_read_mode { PT_READ_TRY, PT_READ_WAIT, PT_READ_UNTIL };
enum pt_read { PT_READ_NONE, PT_READ_EVENT };

/* Where events go. */
struct pt_taker {
    void (*take)(void *context, const struct pt_event *e);
    void *context;
    size_t most; /* events, from 1 */
    bool *gap;   /* of a log: not those that pt_log_reader_next_whole() leaves
                              * out; NULL: all.  Of an active stream: pt_live_hides_gap() */
};

/*
 * The next event, handed to take() under the reading lock, its pointers good
 * for that call (and, if nobody else reads, until the next).  Of a log more than one,
 * where they are good together.  NONE: nothing there (TRY), or the end of a log.
 * -EINTR, -ETIMEDOUT, -EINVAL (shut down meanwhile, or nothing there and *until is
 * not a time), -ENOMEM, -EIO.  cancel: the cancellation state to sleep with.
 */
int pt_stream_read(struct pt_stream *s, enum pt_read_mode mode, const struct timespec *until,
                   int cancel, const struct pt_taker *taker);

#endif
