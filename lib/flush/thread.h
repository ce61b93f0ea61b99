/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The flush thread: the only one that writes a stream's log, and the stream's
 * consumer.
 *
 * It has all signals blocked and a descriptor table of its own that contains only the log.  So
 * close, dup2 and close_range of the application cannot affect the log, and SIGXFSZ and SIGPIPE
 * never reach the application.  It refuses a file that another stream writes (log/writer/lock.h).
 *
 * Rounds.  A round writes the committed events of every chunk that are older than the watermark,
 * then a ROUND record.  So rounds partition time: all events older than a round's watermark are in
 * that round or an earlier one.  Chunks are freed after the round is in the file.  So a SIGKILL at
 * any moment leaves each event in the file, in the segment, or in both, with the same name
 * (generation and offset of its chunk).
 *
 * A round is made by posix_trace_flush; with stream policy FLUSH also when a quarter of the chunks
 * is full, when the stream has stopped itself, and a second after the first event that is not
 * flushed.  While no thread records, the flush thread sleeps without timeout.
 */
#ifndef PT_FLUSH_THREAD_H
#define PT_FLUSH_THREAD_H

#include "flush/pieces.h"
#include "stream/stream.h"

/* Starts the thread and has it write the log's header. fd is not consumed. */
int pt_flusher_start(struct pt_stream *s, int fd);
/* Asks for a round; does not wait. */
void pt_flusher_ask(struct pt_flusher *f);
/* Until the end no other thread clears, or asks for pieces.  -ENOTSUP: the log is in pieces. */
int pt_flusher_clear_begin(struct pt_flusher *f);
/* Between the two: removes all events from the log, and those before ts from the stream; waits. */
int pt_flusher_clear(struct pt_flusher *f, uint64_t ts);
void pt_flusher_clear_end(struct pt_flusher *f);
/* Makes the log one of several pieces (pieces.h); waits.  -EINVAL: it cannot be. */
int pt_flusher_set_pieces(struct pt_flusher *f, const struct pt_piece_limits *limits);
/* Writes the remaining events and the end mark, ends the thread, frees f. */
int pt_flusher_finish(struct pt_flusher *f);

struct pt_flush_status {
    int flushing, error, log_overrun, log_full;
};
/* reset: as posix_trace_get_status does. */
void pt_flusher_status(struct pt_flusher *f, struct pt_flush_status *st, bool reset);
/* Is it in the middle of a round or a clear, waiting for the log?  The caller holds reading. */
bool pt_flusher_is_writing(const struct pt_flusher *f);
uint64_t pt_flusher_log_lost(struct pt_flusher *f, unsigned cause);
/* 0: context switches are recorded; ENODATA: they were not requested; or the error. */
int pt_flusher_switches(const struct pt_flusher *f);
/* Bytes of each of the kernel's rings for them; 0: it has none. */
uint64_t pt_flusher_switch_buffer(const struct pt_flusher *f);

#endif
