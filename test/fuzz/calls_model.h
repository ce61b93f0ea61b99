/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * What fuzz_calls expects of the library: a plain model of streams, and the
 * books of each.
 *
 * Events have numbers; number, length and thread are noted when an event is
 * made, and its data follow from its number.  So each event that is read can be
 * compared with what was made: type, length, truncation, every byte, and that
 * numbers of one thread rise.
 *
 * Books: an event belongs to a stream if that was running and did not filter
 * the type when the event was made.  At the end
 *
 *   made for the stream = read + lost by any cause + cleared
 *
 * exactly, in the stream or, where it has one, in its log.
 */
#ifndef TEST_FUZZ_CALLS_MODEL_H
#define TEST_FUZZ_CALLS_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace.h>

#define MODEL_STREAMS 4u
#define MODEL_IDS     1216u  /* 0 .. largest event type */
#define MODEL_EVENTS  60000u /* of one input */
#define MODEL_LANES   64u    /* threads of one input, the main one included */

struct model_stream {
    bool used, with_log;
    trace_id_t trid; /* stays when the stream is gone: a stale one */
    int fd;          /* of the log */
    bool broken;     /* the log cannot be written to its end */
    bool unreadable; /* nor be opened */
    int policy, log_policy;
    size_t max_data;
    bool stopped; /* by a call; full or not, it ignores events until it is started */
    bool running; /* or stopped by itself: then events are lost, not ignored */
    bool filter[MODEL_IDS];
    uint64_t made, cleared;
    /* the reader's */
    uint64_t read;
    uint32_t next[MODEL_LANES];
};

extern struct model_stream model_streams[MODEL_STREAMS];

void model_reset(void);
void model_stream_init(struct model_stream *s, trace_id_t trid, int fd);

/* Makes n events: in this thread, or in as many threads at once as there are
 * lanes to be had, each with n. */
void model_put(trace_event_id_t id, size_t len, unsigned n);
void model_put_in_threads(trace_event_id_t id, size_t len, unsigned n, unsigned threads);

/* What was read into data, room bytes, from stream s (or its log). */
void model_take(struct model_stream *s, const struct posix_trace_event_info *e, const void *data,
                size_t len, size_t room);

/* Reads an active stream without log, or an opened log, to its end; closes nothing. */
void model_read_all(struct model_stream *s, trace_id_t trid);
/* After clear: is the stream running now? */
void model_look(struct model_stream *s);
/* After clear: events that were neither lost nor read count as cleared. */
void model_clear(struct model_stream *s);
/* What info says of a live stream agrees with what was made. */
void model_check_recorded(const struct model_stream *s);
/* Ends the stream, reads the rest, and holds the books against it. */
void model_finish(struct model_stream *s);

#endif
