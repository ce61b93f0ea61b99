/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* Operations on a stream as a whole: making it, steering it, ending it, opening a log. */
#ifndef PT_CONTROL_CONTROL_H
#define PT_CONTROL_CONTROL_H

#include "stream/stream.h"

struct posixtrace_layout;
struct pt_target;

/* All return 0 or a negative errno. */
/* target: the other process to be traced; NULL: this one. */
int pt_stream_create(struct pt_stream **stream, const struct pt_attr *attr, int log_fd,
                     const struct pt_target *target);
/* Counts a stream, from before it is made (s->held) until its segment has gone: what this process
 * leaves in the directory when it is killed.  end() takes what begin() has returned. */
uint32_t pt_held_begin(void);
void pt_held_end(uint32_t held);
uint32_t pt_held_count(void);
int pt_stream_start(struct pt_stream *s, uint64_t addr);
int pt_stream_stop(struct pt_stream *s, uint64_t addr);
int pt_stream_set_filter(struct pt_stream *s, const struct pt_set *set, int how, uint64_t addr);
/* A good one, shorter than PT_FILTER_TEXT; "": none.  -EAGAIN: no gate bit for it is
 * free in a process that the stream traces.  As start, set_filter and clear, the errors of
 * pt_pages_each(); then nothing has changed. */
int pt_stream_set_expression(struct pt_stream *s, const char *expression, uint64_t addr);
int pt_stream_clear(struct pt_stream *s);
int pt_stream_flush(struct pt_stream *s, uint64_t addr);
void pt_stream_status(struct pt_stream *s, struct posix_trace_status_info *status);
/* Called when the handle is gone and no thread uses s any more: stops the stream, completes the
 * log, frees s.  Returns the error of the final flush. */
int pt_stream_destroy(struct pt_stream *s, uint64_t addr);
/* Of one that this process has created: takes its handle away, waits until no other thread uses it,
 * and does that.  -EINVAL: there is none (any more). */
int pt_stream_shut_down(trace_id_t trid, uint64_t addr);
/* Other processes' writers: those that are inside an event now, or all events until none is
 * there.  False: one has been inside for a second. */
bool pt_stream_wait_for_writers(struct pt_stream *s, bool all);
int pt_recorded_open(struct pt_stream **stream, int fd);
void pt_recorded_close(struct pt_stream *s);
/* As posixtrace_follow(). */
int pt_recorded_follow(struct pt_stream *s, bool *gap);
/* Name of an event id in s, or NULL.  Reading lock. */
const char *pt_stream_name(struct pt_stream *s, uint32_t id);
/* The description of its data, or NULL. */
const char *pt_stream_description(struct pt_stream *s, uint32_t id);
/* The text of a mapping, or NULL, and one past the last number; it may be in shared memory. */
const char *pt_stream_mapping(struct pt_stream *s, uint32_t number);
uint32_t pt_stream_mapping_end(struct pt_stream *s);
/* The layout of its data, or NULL, good until the stream is closed.  -ENOMEM.  Takes the reading
 * lock. */
int pt_stream_layout(struct pt_stream *s, uint32_t id, const struct posixtrace_layout **layout);
/* Is it in the list of the stream's types?  Of the system types of ours only where
 * they are in use: in a log those that it names. */
bool pt_stream_lists(struct pt_stream *s, uint32_t id);

#endif
