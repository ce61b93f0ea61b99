/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Events as they are made: a live stream, to which we attach, or a log that is
 * being written, as far as it is on the disk.  What comes is the same; it ends
 * when who writes has ended, or when a signal asks for it.
 */
#ifndef FOLLOW_H
#define FOLLOW_H

#include <stdbool.h>
#include <stdint.h>
#include <posixtrace/event.h>
#include <posixtrace/stream.h>

#include "log_file.h"

struct follow {
    struct log_file log;      /* of a stream: trid only, with a name for messages */
    bool     is_stream;
    struct posixtrace_stream stream;
    /* A log, which is opened again when it has grown. */
    int      watch;           /* inotify; -1: none, look from time to time */
    uint8_t  id[16];
    bool     alive;           /* somebody writes it */
    int64_t  last_ns;         /* of the event given last; INT64_MIN: none yet */
    uint64_t at_last;         /* how many with that time were given */
    uint64_t to_skip;         /* of those, after it was opened again */
    int      error;           /* of opening it again */
};

/* word: a file that is there, else a stream (stream_find.h).  EXIT_DONE, or it was said.
 * SIGINT and SIGTERM end the following from now on. */
int follow_open(struct follow *f, const char *word);
void follow_close(struct follow *f);

enum follow_next { FOLLOW_EVENT, FOLLOW_NOTHING, FOLLOW_END, FOLLOW_FAILED };

/* The next event.  NOTHING: there is none now; wait: for about a second, or until
 * a signal came.  FAILED: it was said. */
enum follow_next follow_next(struct follow *f, struct posixtrace_event *e, bool wait);

#endif
