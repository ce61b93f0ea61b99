/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Writes a log file (docs/log-format.md).  Used by the flush thread of a
 * stream, by recovery and by the builder; depends on none of them.
 *
 * One caller at a time.  Every call returns 0 or a negative errno; after an
 * error of write(2) the writer stays usable: the packet that failed is not in
 * the log, and a later call tries again at the same place.  The caller has
 * SIGXFSZ and SIGPIPE blocked.
 *
 * Order of calls: new; then names and sync points before the first packet
 * that needs them; packets; end_round; ...; complete; free.
 *
 * Packets wait in a buffer until it is full or the round ends.  If the disk is full,
 * the status of the log counts the events of those still in it as LOST_LOG_ERROR,
 * until they can be written after all.
 */
#ifndef PT_LOG_WRITER_WRITER_H
#define PT_LOG_WRITER_WRITER_H

#include <stdbool.h>
#include <stdint.h>
#include "log/contents.h"

struct pt_log_writer;

/*
 * fd is not consumed.  A regular file is truncated and written from offset 0 by
 * pwrite: it must not be O_APPEND.  Writes the header: -ENOSPC etc. leave
 * nothing allocated.  -EINVAL: LOOP and UNTIL_FULL logs need seekable.
 */
int pt_log_writer_new(struct pt_log_writer **writer, int fd, const struct pt_log_params *params);
/* Frees without completing the log. */
void pt_log_writer_free(struct pt_log_writer *w);

struct pt_piece_base;

/* The log becomes the first of several pieces: its header says so. */
int pt_log_first_piece(struct pt_log_writer *w, uint64_t ino);
/* For another piece, before anything else: writes its base, which lives as long as the writer.
 * -E2BIG: it has too many authors. */
int pt_log_put_base(struct pt_log_writer *w, const struct pt_piece_base *base);
/* The next piece has begun, so that nothing will be added to this one: completes it. */
int pt_log_complete_piece(struct pt_log_writer *w);
/* No reader will ever find the file: its events count as LOST_LOG_ERROR, its space is given back,
 * and each later write fails with this error. */
void pt_log_abandon(struct pt_log_writer *w, int error);
/* Adds the numbers of this piece to those of the pieces before it. */
void pt_log_add_sums(struct pt_log_writer *w, struct pt_piece_base *to);
/* How long the file is, the buffer included. */
uint64_t pt_log_bytes(const struct pt_log_writer *w);
/* How many events it has. */
uint64_t pt_log_events(const struct pt_log_writer *w);

/* The first text of a kind and id counts; later ones are ignored. */
int pt_log_put_text(struct pt_log_writer *w, enum pt_text kind, uint32_t id, const char *text);
const char *pt_log_text(const struct pt_log_writer *w, enum pt_text kind, uint32_t id);
/* A point that is not later than the last one is ignored. */
int pt_log_put_sync(struct pt_log_writer *w, const struct pt_sync *point);
#define PT_SYNCS_AT_ONCE 64u
/* Later ones, up to so many. */
int pt_log_put_syncs(struct pt_log_writer *w, const struct pt_sync *points, unsigned n);

/*
 * Stores the events of a packet.  The log-full policies may split it, and discard older
 * events or the rest of these, which they count as lost.
 *
 * PT_LOG_STORED, or PT_LOG_DISCARDED: an UNTIL_FULL log is full, all or the last
 * events of the packet were not stored and are counted as LOST_LOG_FULL; the
 * writer has made STOP the last event.  -EBADMSG: the records are invalid (checked if types is
 * NULL).  After an error nothing of the packet is stored.
 */
enum pt_log_put { PT_LOG_STORED, PT_LOG_DISCARDED };
int pt_log_put_packet(struct pt_log_writer *w, const struct pt_log_packet *packet);

/* The same, but joins packets of one author: the log has got them after pt_log_join_end(), which
 * comes before the end of the round.  After an error, of these or of earlier packets, their events
 * are counted as LOST_LOG_ERROR. */
int pt_log_join_packet(struct pt_log_writer *w, const struct pt_log_packet *packet);
int pt_log_join_end(struct pt_log_writer *w);

/* To be called instead of put_packet for a packet that could not be written
 * (after an error): counts its events as LOST_LOG_ERROR. */
void pt_log_drop_packet(struct pt_log_writer *w, const struct pt_log_packet *packet);

/* Another descriptor of the same file, which is read where the writer's may not be. */
void pt_log_read_by(struct pt_log_writer *w, int fd);

/* The latest name of the thread of a packet's author: written by the next end_round or complete. */
void pt_log_name_author(struct pt_log_writer *w, uint64_t wid, const char name[16]);

/* authors: those whose totals, or names, changed since the last round. */
int pt_log_end_round(struct pt_log_writer *w, const struct pt_log_status *status,
                     const struct pt_log_author_totals *authors, size_t count);

/* Has it numbers of authors?  Else it is new or was emptied. */
bool pt_log_has_authors(const struct pt_log_writer *w);
/* Forgets every packet (posix_trace_clear); names and sync points stay. */
int pt_log_clear(struct pt_log_writer *w);

bool pt_log_full(const struct pt_log_writer *w); /* log_full_status */
bool pt_log_overrun(struct pt_log_writer *w, bool reset);
uint64_t pt_log_lost(const struct pt_log_writer *w, unsigned cause);

void pt_log_books(const struct pt_log_writer *w, struct pt_log_books *books);

/* Does RLIMIT_FSIZE forbid writing even the emergency status?  Then nothing tells how much is
 * missing. */
bool pt_log_is_barred(const struct pt_log_writer *w);
/* Index, final status, end mark.  end: enum posixtrace_end (SHUTDOWN or
 * RECOVERED).  Ends the last round itself if packets follow the last one.
 * status NULL: the last one. */
int pt_log_complete(struct pt_log_writer *w, int end, const struct pt_log_status *status,
                    const struct pt_log_author_totals *authors, size_t count);

#endif
