/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Reading a log file (docs/log-format.md), with or without the rest that a
 * dead writer's segment still holds.  One caller at a time.
 *
 * The reader trusts nothing in the file: it checks lengths and offsets, accepts a packet
 * only with the right CRC, skips and counts unreadable bytes, and bounds its memory by
 * one round.  It reads with pread into windows and never maps the file.
 */
#ifndef PT_LOG_READER_READER_H
#define PT_LOG_READER_READER_H

#include "model/clock_text.h"
#include "log/contents.h"
#include <posixtrace/info.h>
#include <posixtrace/log.h>

struct pt_log_reader;

/* The rest of a dead writer's segment, in memory; see pt_log_reader_set_tail.
 * Packets are those of pt_log_packet, ascending by (chunk_seq, chunk_off). */
struct pt_log_tail {
    const struct pt_log_packet *packets;
    size_t packet_count;
    const struct pt_sync *syncs; /* all of them, the log's own included */
    size_t sync_count;
    /* Of each kind, NULL where none; by ids below the end. */
    const char **text[PT_TEXTS];
    uint32_t text_end[PT_TEXTS];
    /* Cumulative: the log's events up to the packet booked.lsn, and those of the tail's
     * packets.  pt_log_reader_set_tail corrects LOST_OVERWRITTEN, which may be below 0
     * until then. */
    struct pt_log_books booked;
    uint64_t watermark;          /* these accounts have every older event */
    uint64_t lost_told;          /* the end of the newest loss of LOOP with marks in them */
    bool overflowing;            /* they have an OVERFLOW whose RESUME was not due yet */
    struct pt_log_status status; /* its sums are of writers not in authors */
    struct pt_log_author_totals *authors; /* of any order */
    size_t author_count;
    uint64_t given_unnamed; /* to the log in these accounts, of writers not in authors */
};

/* fd is not consumed and must stay open; it may be a pipe.  -EINVAL: not a log;
 * -ENOTSUP: it needs a build with zstd, or a newer library. */
int pt_log_reader_new(struct pt_log_reader **reader, int fd);
void pt_log_reader_free(struct pt_log_reader *r);

const struct pt_log_params *pt_log_reader_params(const struct pt_log_reader *r);
bool pt_log_reader_complete(const struct pt_log_reader *r); /* has its end mark */

/* Before the first event is read: the tail's packets, less the events that the log has,
 * become the last round.  The tail must live as long as the reader.  Its numbers become
 * those of log and tail together, for a recovery that completes the log. */
int pt_log_reader_set_tail(struct pt_log_reader *r, struct pt_log_tail *tail);

/* 1: *event stored, pointers good until the next call; 0: end; negative errno. */
int pt_log_reader_next(struct pt_log_reader *r, struct pt_event *event);
/* The same, but skips the rest of a round as soon as packets of it turn out to be missing
 * in the file.  *gap: events are missing between the event before and this one, or the end. */
int pt_log_reader_next_whole(struct pt_log_reader *r, struct pt_event *event, bool *gap);
/* True: *event is the next event, and the pointers of the events before it stay valid.
 * False: call pt_log_reader_next(). */
bool pt_log_reader_near(struct pt_log_reader *r, struct pt_event *event);
int pt_log_reader_rewind(struct pt_log_reader *r); /* -ESPIPE for a pipe */
int pt_log_reader_seek(struct pt_log_reader *r, int64_t ns);

/*
 * Follows a log that is being written: reads the file again.  The first call rewinds;
 * after each later call the next event is the oldest one that was not delivered since the
 * first.  held: the writer lives, so the reader delivers complete rounds only.  Otherwise,
 * and from a complete log, it delivers all the rest, and does not read the file again.
 * The call does nothing while events are left.  1: events are missing before the next
 * one; 0; negative errno, as pt_log_reader_new; -ESPIPE; -ESTALE: the file now holds
 * another log.
 */
int pt_log_reader_follow(struct pt_log_reader *r, bool held);

/* Opens the file again, before the first event is read: for a log that a writer was still
 * writing when the reader was made; not for a pipe.  As pt_log_reader_new; -ESTALE: the
 * file now holds another log. */
int pt_log_reader_again(struct pt_log_reader *r);

/* Complete, by a recovery that did not find the dead writer's segment, which may have events
 * that the log lacks. */
bool pt_log_reader_lacks_tail(const struct pt_log_reader *r);

/* Called for such a log before the first event is read: it is then read as if the recovery had not
 * written its end, so that it can have a tail.  *size: of the file without that end.  Errors as of
 * pt_log_reader_new; -EINVAL also if END has no place for that. */
int pt_log_reader_leave_out_end(struct pt_log_reader *r, uint64_t *size);

/* NULL where the log has none.  For a pipe: as far as read. */
const char *pt_log_reader_text(const struct pt_log_reader *r, enum pt_text kind, uint32_t id);
/* One past the last id with a text. */
uint32_t pt_log_reader_text_end(const struct pt_log_reader *r, enum pt_text kind);
/* Status as of the log's end (POSIX meanings); fills all members. */
void pt_log_reader_status(struct pt_log_reader *r, struct posix_trace_status_info *status);
int pt_log_reader_info(struct pt_log_reader *r, struct posixtrace_info *info);
/* Reading i of the host's clock; or point i of the log's table.  1; 0: there is none. */
int pt_log_reader_clock(const struct pt_log_reader *r, size_t i, struct pt_clock_reading *reading);
int pt_log_reader_point(const struct pt_log_reader *r, size_t i, struct pt_sync *point);
/*
 * From the next event on times are those of another clock: on the line through the knots, and
 * beyond them on its first and last piece.  Of an imported log the ticks of knots are its times.
 * n 0: the log's own again.  -EINVAL: the knots do not ascend, fewer than two, or a slope that no
 * clock has; -EFBIG: too many points; -ESPIPE: an imported log in a pipe; -ENOMEM.
 */
struct pt_knot {
    uint64_t ts;
    int64_t ns;
};
int pt_log_reader_set_map(struct pt_log_reader *r, const struct pt_knot *knots, size_t n);
/* Of a piece: what those before it have; number 0: it is not known, or it is the first. */
struct pt_piece_base;
const struct pt_piece_base *pt_log_reader_base(const struct pt_log_reader *r);
/* Of a piece that is complete: another one follows. */
bool pt_log_reader_is_continued(const struct pt_log_reader *r);
/* Events recorded, by its last state. */
uint64_t pt_log_reader_recorded(const struct pt_log_reader *r);
/* As pt_log_status.refused. */
uint32_t pt_log_reader_refused(const struct pt_log_reader *r);
/* As pt_log_status.outlived. */
bool pt_log_reader_outlived(const struct pt_log_reader *r);
/* By index from 0 on: 1, 0: no more, negative errno.  The writers of one thread are one
 * entry.  Control writers have none, nor has a thread that recorded and lost nothing, unless
 * the log has context switches of it. */
int pt_log_reader_thread(struct pt_log_reader *r, size_t index,
                         struct posixtrace_thread_info *info);
/* -ESPIPE for a pipe that was not read to its end */
int pt_log_reader_count(struct pt_log_reader *r, uint32_t id, uint64_t *count);

/* For recovery: calls back for every whole packet, oldest first, until each()
 * returns other than 0, which is then returned.  Records of compressed packets
 * are NULL. */
int pt_log_reader_each_packet(struct pt_log_reader *r,
                              int (*each)(void *context, const struct pt_log_packet *packet),
                              void *context);
/* Verification of the whole file, as posixtrace_log_check; 0 or -errno. */
int pt_log_check(int fd, int (*finding)(void *, const struct posixtrace_log_finding *),
                 void *context, struct posixtrace_log_report *report);

/*
 * Adds losses that neither log nor tail contains, without a thread: events that the log did not
 * get, as counted by a tombstone, or as reported by the caller of a recovery.  An unfinished
 * recovery may have stored a part of them in the log, with their number in the state: only the rest
 * is added, so that the same report again changes nothing.
 */
enum pt_log_reporter { PT_LOG_BURIED, PT_LOG_REPORTED };
void pt_log_reader_add_lost(struct pt_log_reader *r, unsigned cause, uint64_t events);
/* Context switches that the kernel lost: beside the losses in pt_log_reader_info(). */
uint64_t pt_log_reader_lost_switches(const struct pt_log_reader *r);
/* Raises their number to all, from a source that may know more than the log. */
void pt_log_reader_raise_lost_switches(struct pt_log_reader *r, uint64_t all);
void pt_log_reader_report_lost(struct pt_log_reader *r, enum pt_log_reporter by, uint64_t events);

/* For recovery, to find what to add: the tail's packets without the events of the log; whether the
 * log has a text; how many sync points the log has. */
const struct pt_log_packet *pt_log_reader_tail(const struct pt_log_reader *r, size_t *count);
bool pt_log_reader_has_text(const struct pt_log_reader *r, enum pt_text kind, uint32_t id);
size_t pt_log_reader_sync_count(const struct pt_log_reader *r);

/*
 * Re-opens an incomplete log for writing at its end, to append to it: the
 * writer continues lsn, rounds, names and totals where the reader saw them.  fd
 * is a descriptor of the same file, for writing; the reader may have its tail
 * already, and may be freed afterwards.  If anything fails later, the log is not marked complete,
 * so that a recovery can be repeated.  gate: called before each change (output.h), or NULL.
 * -EINVAL: it is complete.
 */

#endif
