/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Log files beyond posix_trace_open(): checking, recovering, and building
 * one from events that come from elsewhere.
 *
 * Functions return 0 or an error number unless they say otherwise.  They are thread-safe, and
 * async-signal-safe only where they say so.
 * Descriptors stay the caller's and open.  A log builder belongs to one thread at a time, and to
 * the caller until posixtrace_log_builder_finish(), which frees it.
 */
#ifndef POSIXTRACE_LOG_H
#define POSIXTRACE_LOG_H

#include <stdbool.h>
#include <stdint.h>
#include <posixtrace/event.h>
#include <posixtrace/info.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * posix_trace_open() of a file by its name.  Thread-safe, not async-signal-safe.
 *
 * EINVAL   a NULL argument
 * EILSEQ   the file is not a log
 * ENOTSUP  it is compressed and this library was built without zstd, or it has a version or a
 *          feature that this library does not know
 * ENOMEM; ENOENT, EACCES, EMFILE, EIO and others of open(2) and read(2)
 */
int posixtrace_open_path(const char *path, trace_id_t *trid);

/* What the header of a log says of it as one of several pieces (posixtrace_log_rotate). */
struct posixtrace_piece {
    uint8_t id[16];  /* of the stream */
    uint32_t number; /* from 1; 0: the log has no pieces */
    bool complete;   /* nothing will be added */
};

/*
 * Reads only the header of the log on fd, from its start: fd is not consumed, not moved, and no
 * pipe.  Thread-safe, not async-signal-safe.
 *
 * EINVAL   piece is NULL, or size is 0
 * EILSEQ   not a log
 * EBADF, EIO, ESPIPE, ... from pread(2)
 */
int posixtrace_log_piece(int fd, struct posixtrace_piece *piece, size_t size);

/*
 * Opens the pieces of one stream as one pre-recorded stream, whatever the order of their names.  Of
 * several copies of a piece one is read; files that are not there, or are no logs, count as
 * missing. One file is open at a time, and is opened again by its name when its turn comes, also
 * after it has lost its ".part".
 *
 * Events, information and threads are those of all pieces.  Where events are missing between two
 * pieces, or before the first, there is a POSIX_TRACE_OVERFLOW at the last event before and a
 * POSIX_TRACE_RESUME at the first one after; if the pieces that are there say how many, they count
 * as lost by cause POSIXTRACE_LOST_LOG_OVERWRITTEN.  A last piece after which another one was
 * written has the end POSIXTRACE_END_CUT.  posixtrace_follow() returns ENOTSUP.
 * Thread-safe, not async-signal-safe.
 *
 * EINVAL   a NULL argument, or count is 0
 * EILSEQ   none of the files is a log
 * ENOTUNIQ they are of several streams
 * ENOTSUP, ENOMEM, EMFILE, ... as posixtrace_open_path()
 */
int posixtrace_open_pieces(const char *const *paths, size_t count, trace_id_t *trid);

/*
 * The meaning of an error number that a function of this library returns, as a lower-case phrase
 * without a full stop: "several streams fit" for ENOTUNIQ; else as strerror(3) in the C locale.
 * Never NULL.  Constant text.  Async-signal-safe, thread-safe.
 */
const char *posixtrace_error_text(int error);

struct posixtrace_log_finding {
    uint64_t offset;  /* in the file */
    uint64_t bytes;   /* that are affected */
    const char *text; /* the fault; good during the callback only */
};

struct posixtrace_log_report {
    uint64_t packets; /* that are whole */
    uint64_t events;  /* in them */
    uint64_t rounds;
    uint64_t salvaged_bytes; /* readable */
    uint64_t skipped_bytes;  /* not readable */
    bool complete;           /* has its end mark */
    bool damaged;            /* something was skipped, or the end mark is missing */
};

/*
 * Verifies every packet of the log open for reading on fd (not consumed, not
 * moved: pread is used).  finding may be NULL; it is called for each damaged
 * place in file order, and ends the check by another result than 0, which is returned.
 *
 * EINVAL  report is NULL, or size is 0
 * EILSEQ  not a log
 * ENOTSUP it is compressed and this library was built without zstd, or it has a
 *         version or a feature that this library does not know
 * EBADF, EIO, ... from read(2)
 */
int posixtrace_log_check(int fd,
                         int (*finding)(void *context, const struct posixtrace_log_finding *f),
                         void *context, struct posixtrace_log_report *report, size_t size);

struct posixtrace_recover_report {
    uint64_t events_before; /* in the log as it was */
    uint64_t events_added;  /* taken from the dead writer's segment, and in the log now */
    bool was_complete;      /* nothing had to be done */
    bool segment_found;     /* the writer's memory was still there */
};

/*
 * Completes the log of a dead writer; fd is open for reading and writing.  Appends the events of
 * the writer's segment, then index, status and end mark, and removes the segment.  Takes locks of
 * its own for each write, and gives way to a stream that wants the file; a flock(2) of the caller
 * on fd stays.  A second call does no harm.
 *
 * EBUSY   the writer is alive, another stream wants the file, or another recovery is under way
 * EINVAL  report is NULL, or size is 0
 * EILSEQ  not a log
 * ENOTSUP as posixtrace_log_check
 * EMFILE, ENFILE: no descriptor for the segment, or for a process that it still traces; nothing
 *         has changed
 * ENOSPC, EFBIG, EIO, ...: the log is unchanged, the segment is kept; a LOOP log on a damaged
 *         medium, where overwriting fails, may have fewer events, and counts them as lost
 */
int posixtrace_log_recover(int fd, struct posixtrace_recover_report *report, size_t size);

/*
 * The same for a process that has received the log, and knows the number of recorded events that
 * have not arrived: they are counted as lost, by cause POSIXTRACE_LOST_LOG_ERROR.  A complete
 * log is not changed.  If a call repeats one that did not finish, it counts only events above
 * the number already counted.  If the segment is found, it has the losses, and events has no
 * effect.  Errors as posixtrace_log_recover().
 */
int posixtrace_log_recover_lost(int fd, uint64_t events, struct posixtrace_recover_report *report,
                                size_t size);

/* When the flush thread begins the next file of a log; 0: not for that reason. */
struct posixtrace_rotation {
    uint64_t bytes; /* the file is so long, or longer */
    uint64_t ns;    /* its first event was written so long ago */
    uint32_t keep;  /* so many finished files stay at most, the youngest ones; 0: all */
    uint32_t zero;
};

/*
 * Makes the log of a stream of this process one in pieces: files that are whole logs, which the
 * flush thread writes one after the other into the same folder.  Each event, and each loss, is in
 * one of them.  trid was created with a regular file as its log, called GROUP-TIME-1.ptl.part (or
 * -01, -001, ...), of a folder and a name that have not changed since; TIME consists of digits,
 * "T", "Z" and ".".  A file that is complete loses the ".part", in one step; the next one has the
 * next number. keep counts the finished pieces of all logs of that GROUP in the folder.
 *
 * A piece ends with a flush.  So it is longer than bytes by what one flush writes, and by names,
 * accounts and index at its end.  Where the next file cannot be written, the piece continues,
 * and there is another try each second.  A later call sets other limits.  posix_trace_clear() of a
 * log in pieces returns ENOTSUP.  Thread-safe, not async-signal-safe.
 *
 * EINVAL  rotation is NULL, size is 0, or trid is no such stream: its stream full policy is not
 *         POSIX_TRACE_FLUSH, its log full policy not POSIX_TRACE_APPEND, or the log's name is
 * another ENOENT, EACCES, EMFILE, ...: the folder cannot be opened
 */
int posixtrace_log_rotate(trace_id_t trid, const struct posixtrace_rotation *rotation, size_t size);

struct posixtrace_snapshot_report {
    uint64_t events; /* of the stream that are in the log */
    /* By cause: the losses of the stream before the call, and while it was read.  The log counts
     * both. */
    uint64_t lost_before[POSIXTRACE_LOSS_CAUSES];
    uint64_t lost_during[POSIXTRACE_LOSS_CAUSES];
};

/*
 * Makes a log on fd (as posixtrace_log_builder_create()) of the events that the stream holds at
 * this moment.  trid: an active stream of this process, or an attached one.  The stream runs on,
 * nothing is taken out of it, and trid reads on where it was: with the policy LOOP that is a
 * flight recorder.  The log has columns, compressed if the stream's attributes say so.  report may
 * be NULL, with any size.  Thread-safe, not async-signal-safe.
 *
 * EINVAL   trid is no such stream, or size is 0 and report is not NULL
 * ENXIO    the creator of an attached stream has shut it down or has died
 * ENOTSUP  the stream has no file in the stream directory
 * EACCES, EMFILE, ENOMEM; EBADF, ENOSPC, ... as posixtrace_log_builder_create() and _add(): what
 *          fd has then is no complete log
 */
int posixtrace_snapshot(trace_id_t trid, int fd, struct posixtrace_snapshot_report *report,
                        size_t size);

/* A log under construction. */
typedef struct posixtrace_log_builder posixtrace_log_builder_t;

/*
 * Starts a log on fd (write access, regular file or pipe; not consumed, must
 * stay open until finish).  attr as for posix_trace_create_withlog; NULL means
 * defaults with log policy APPEND, and columns (POSIXTRACE_COMPRESSION_COLUMNS).
 * Only name, sizes, compression and the cost of an event of it matter.
 *
 * EBADF, EINVAL, ENOMEM, ENOSPC, ...
 */
int posixtrace_log_builder_create(int fd, const trace_attr_t *attr,
                                  posixtrace_log_builder_t **builder);

/*
 * Adds one event; event->name decides its type (event->id is ignored; the
 * predefined names give the predefined types), data is copied.  Events with
 * equal times keep the order in which they were added.  An event older than
 * the one added before is refused.
 *
 * EINVAL        out of order, NULL or empty name, data longer than 61440 bytes, or size is 0
 * ENAMETOOLONG  name longer than TRACE_EVENT_NAME_MAX
 * ENOSPC        more than TRACE_USER_EVENT_MAX - 1 user event types; or disk full
 * ENOMEM, EFBIG, EIO, ...
 */
int posixtrace_log_builder_add(posixtrace_log_builder_t *builder,
                               const struct posixtrace_event *event, size_t size);

/*
 * Describes the data of an event type (posixtrace/typed.h), which need not have had
 * an event yet.  The first description counts; the same again is no error.
 *
 * EINVAL  a NULL argument, an empty name, a name of the system, or not a description
 * EEXIST  it is described in other words; others as posixtrace_log_builder_add()
 */
int posixtrace_log_builder_describe(posixtrace_log_builder_t *builder, const char *event_name,
                                    const char *description);

/*
 * Counts more events as lost, by cause, without a thread, beside the added ones: the log reports
 * them like losses of a stream.  May be called several times.  Added events "posix_trace_overflow"
 * and "posix_trace_resume" mark the place of the loss; without them, metrics treat all measurements
 * as known.
 *
 * EINVAL  a NULL argument
 */
int posixtrace_log_builder_lost(posixtrace_log_builder_t *builder,
                                const uint64_t lost[POSIXTRACE_LOSS_CAUSES]);

/* Writes index and end mark; frees the builder in every case.  NULL: EINVAL. */
int posixtrace_log_builder_finish(posixtrace_log_builder_t *builder);

#ifdef __cplusplus
}
#endif
#endif
