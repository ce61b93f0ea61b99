/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Follows events while they are recorded: a live stream, by attaching to it, or a log that is being
 * written, as far as it is on the disk.  Both give the same events.  It ends with the writer, or
 * with a signal.
 */
#ifndef FOLLOW_H
#define FOLLOW_H

#include <stdbool.h>
#include <stdint.h>
#include <posixtrace/event.h>
#include <posixtrace/stream.h>

#include "input/log_file.h"

struct follow {
    struct log_file log; /* of a stream: trid only, with a name for messages */
    bool is_stream;
    struct posixtrace_stream stream;
    /* A log, which is looked at again when it has grown. */
    int watch;  /* inotify; -1: none, look from time to time */
    bool alive; /* it had a writer when it was looked at last */
};

/* word: a file that is there, else a stream (stream_find.h).  EXIT_DONE, or another status after an
 * error message.  From now on SIGINT and SIGTERM end the following. */
int follow_open(struct follow *f, const char *word);
void follow_close(struct follow *f);

enum follow_next { FOLLOW_EVENT, FOLLOW_NOTHING, FOLLOW_END, FOLLOW_FAILED };

/* The next event.  NOTHING: there is none now; wait: for about a second, or until
 * a signal came.  FAILED: after an error message; missing events of a log are also reported. */
enum follow_next follow_next(struct follow *f, struct posixtrace_event *e, bool wait);

/*
 * Waits, for a caller that reads f->log.trid in another way and has no event left.  EVENT: there
 * may be one now.  *gap: events are missing before it, which was reported.
 */
enum follow_next follow_wait(struct follow *f, bool *gap);

/* Did a signal ask for the end? */
bool follow_is_over(void);

#endif
