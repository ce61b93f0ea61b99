/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* Reading events from a stream of any kind. */
#ifndef PT_CONTROL_READ_H
#define PT_CONTROL_READ_H

#include <posixtrace/event.h>
#include "stream/stream.h"

enum pt_read_mode { PT_READ_TRY, PT_READ_REST, PT_READ_WAIT, PT_READ_UNTIL };
enum pt_read { PT_READ_NONE, PT_READ_EVENT };

/* Where events go. */
struct pt_taker {
    void (*take)(void *context, const struct pt_event *e);
    void *context;
    size_t most; /* events, from 1 */
    bool *gap;   /* of a log: not those that pt_log_reader_next_whole() leaves out; NULL: all.
                  * Of an active stream: pt_consumer_hides_gap() */
};

/*
 * Passes the next event to take() under the reading lock.  Its pointers are valid during that call
 * and, if no other thread reads, until the next one.  A log may pass several events, whose pointers
 * are valid together.  REST waits only while a writer that is inside holds events back.  NONE: no
 * event (TRY), none that is held back either (REST), or the end of a log.  -EINTR, -ETIMEDOUT,
 * -EINVAL (shut down meanwhile, or no event and *until is not a time), -ENOMEM, -EIO.  cancel: the
 * cancellation state to sleep with.
 */
int pt_stream_read(struct pt_stream *s, enum pt_read_mode mode, const struct timespec *until,
                   int cancel, const struct pt_taker *taker);

/* Of an attached stream, under the reading lock: skips its events before that time.  0, -ENOMEM or
 * -EINVAL. */
int pt_read_skip(struct pt_stream *s, int64_t ns);

/* An event as users see it; name: of its type, or NULL. */
static inline void pt_read_public(struct posixtrace_event *to, const struct pt_event *e,
                                  const char *name)
{
    *to = (struct posixtrace_event){
        .ns = e->ns,
        .prog_address = e->addr,
        .thread_id = e->author->thread_id,
        .data = e->data,
        .thread_name = e->author->name,
        .name = name ? name : "",
        .data_len = e->len,
        .id = e->id,
        .pid = e->author->pid,
        .tid = e->author->tid,
        .truncation = e->truncated ? POSIX_TRACE_TRUNCATED_RECORD : POSIX_TRACE_NOT_TRUNCATED,
    };
}

#endif
