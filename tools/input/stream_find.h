/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * A stream of a running process, by its name on a command line:
 *
 *   a number   the stream that traces this process; else one that it has created
 *   a name     the trace name of the stream, or its file in the stream directory
 *              ('posixtrace list'), or the first letters of the file
 *
 * A word that fits several living streams is refused, and they are listed.
 */
#ifndef STREAM_FIND_H
#define STREAM_FIND_H

#include <posixtrace/stream.h>

/* EXIT_DONE and *stream; or another status after an error message. */
int stream_find(const char *word, struct posixtrace_stream *stream);
/* The same, and attaches to it.  posixtrace_detach(trid) afterwards. */
int stream_attach(const char *word, struct posixtrace_stream *stream, trace_id_t *trid);

/* The process that word names, 0: none. */
pid_t stream_process(const char *word);

/* Reports the error of a call on an attached stream; EXIT_FAILED. */
int stream_error(const struct posixtrace_stream *stream, const char *what, int error);

/* How a stream is called in messages: its name, else its file, quoted. */
const char *stream_call(const struct posixtrace_stream *stream);

#endif
