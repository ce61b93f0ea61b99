/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The pieces of a log (flush/pieces.h), read as one pre-recorded stream.  One piece is open at a
 * time: s->log is its reader.  Opening looks at all pieces once, for sums and names.
 *
 * Each piece counts the events of all pieces before it.  So where the pieces at hand have fewer,
 * the number of events that are missing is known: they count as lost, by cause
 * LOST_LOG_OVERWRITTEN, and the reader gets OVERFLOW and RESUME at the seam.  A piece that vanishes
 * between the opening and its turn becomes such a gap.
 *
 * Callers hold the reading lock, but for open and close.
 */
#ifndef PT_CONTROL_SEQUENCE_H
#define PT_CONTROL_SEQUENCE_H

#include "log/reader/block.h"
#include "stream/stream.h"

struct posix_trace_status_info;
struct posixtrace_thread_info;

/* -EINVAL: none of the files is a log; -ENOTUNIQ: they are of several streams; other errors as of
 * open(2) and pt_recorded_open(). */
int pt_sequence_open(struct pt_stream **stream, const char *const *paths, size_t count);
void pt_sequence_close(struct pt_stream *s);

/* As the functions of log/reader/reader.h with these names; gap NULL: pt_log_reader_next(). */
int pt_sequence_next(struct pt_stream *s, struct pt_event *e, bool *gap);
bool pt_sequence_near(struct pt_stream *s, struct pt_event *e);
int pt_sequence_next_block(struct pt_stream *s, unsigned wanted, struct pt_log_block *b);
int pt_sequence_rewind(struct pt_stream *s);
int pt_sequence_seek(struct pt_stream *s, int64_t ns);
int pt_sequence_count(struct pt_stream *s, uint32_t id, uint64_t *count);
const char *pt_sequence_text(const struct pt_stream *s, enum pt_text kind, uint32_t id);
uint32_t pt_sequence_text_end(const struct pt_stream *s, enum pt_text kind);

int pt_sequence_clock(const struct pt_stream *s, size_t i, struct pt_clock_reading *reading);
int pt_sequence_point(const struct pt_stream *s, size_t i, struct pt_sync *point);
/* Looks at all pieces again, and begins at the first event. */
int pt_sequence_set_map(struct pt_stream *s, const struct pt_knot *knots, size_t n);

/* Sums, with the losses of missing pieces. */
void pt_sequence_info(const struct pt_stream *s, struct posixtrace_info *info);
/* 1, 0: no more. */
int pt_sequence_thread(const struct pt_stream *s, size_t index,
                       struct posixtrace_thread_info *info);
/* Of the last piece. */
void pt_sequence_status(const struct pt_stream *s, struct posix_trace_status_info *status);
uint32_t pt_sequence_refused(const struct pt_stream *s);
bool pt_sequence_outlived(const struct pt_stream *s);

#endif
