/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The common part of start, stop and flush: one operand that names a stream (stream_find.h), and
 * one call.
 */
#ifndef STEER_H
#define STEER_H

#include <posixtrace/stream.h>

struct options;

#define STEER_WHICH                                                                     \
    "PID: a process that a stream traces, or that has created one. STREAM: its trace\n" \
    "name, its file, or the first letters of that ('posixtrace list').\n"

/* Reads the command line, attaches to the stream and calls act; word: the name of the stream on
 * the command line.  Returns act's exit status, or that of the failure before. */
int steer(struct options *o,
          int (*act)(const struct posixtrace_stream *stream, trace_id_t trid, const char *word));

#endif
