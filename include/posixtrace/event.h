/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Reads events with values for which posix_trace_event_info has no member: the kernel thread id,
 * the thread's name, a 64-bit time, the data in place.  Works with every trid that
 * posix_trace_getnext_event() accepts.  The functions here are thread-safe; they read a log or take
 * a lock, so none is async-signal-safe.
 *
 * Here and in the other headers, a function that fills a structure of the caller's has its size
 * as the argument after it: sizeof *event as the program was compiled, in arrays the distance
 * from one to the next.  Later versions add members at the end.  The function stores the
 * members that program and library both know, and zero in those that only the program knows.
 * In struct posixtrace_conversion, which has arguments, these stay as they are.
 * Size 0 is EINVAL, or nothing is stored where a function has no error.  A structure that the
 * library hands out by a pointer to const has the members of the library's version.  Without a
 * size are small structures that will not grow: posixtrace_*_fault and posixtrace_value.
 *
 * A function of the program's that the library calls gets its context first.  If it returns 0
 * the library continues; another result ends the call, which returns it unchanged.  Error numbers
 * are positive, so a negative result is the program's own.
 *
 * What a stream has comes one by one, as the standard's functions give it: *unavailable is not
 * 0 when there is no more, and the stream keeps the position, which a rewind resets.  Things in
 * memory have an index from 0; after the last, a pointer is NULL, or the error ENOENT.  Only
 * functions of the Ada package count from 1.
 */
#ifndef POSIXTRACE_EVENT_H
#define POSIXTRACE_EVENT_H

#include <stdbool.h>
#include <stdint.h>
#include "../trace.h"

#ifdef __cplusplus
extern "C" {
#endif

struct posixtrace_event {
    int64_t ns; /* time of generation, ns since 1970 (CLOCK_REALTIME) */
    uint64_t prog_address;
    uint64_t thread_id;      /* pthread_t of the generating thread, widened */
    const void *data;        /* data_len bytes, not aligned */
    const char *thread_name; /* never NULL; "" where unknown */
    const char *name;        /* event type name; never NULL */
    size_t data_len;
    trace_event_id_t id;
    int truncation; /* POSIX_TRACE_NOT_TRUNCATED or _TRUNCATED_RECORD */
    pid_t pid;
    pid_t tid; /* kernel thread id; 0 for events bound to no thread */
};

/*
 * The next event in time order; never blocks, neither on an active nor on a
 * pre-recorded stream.  *unavailable is 0 if an event was stored, else
 * non-zero and *event is untouched.  The pointers in *event belong to the
 * stream and are good until the next reading call on trid (rewind, seek and
 * close included).  Thread-safe, not async-signal-safe; two threads that read
 * one trid this way see each other's calls end the life of their pointers.
 *
 * EINVAL  trid is not a readable stream (see posix_trace_getnext_event), or an
 *         argument is NULL, or size is 0
 * EIO and others from read(2): the log could not be read
 */
int posixtrace_next_event(trace_id_t trid, struct posixtrace_event *event, size_t size,
                          int *unavailable);

/*
 * The same, but waits for an event until abstime (CLOCK_REALTIME), as
 * posix_trace_timedgetnext_event() does; for NULL, without limit.  Of a
 * pre-recorded stream *unavailable is non-zero at its end, at once.  A cancellation
 * point where it waits.
 *
 * EINVAL    as above; or the stream was shut down meanwhile, or *abstime is not a time
 * ETIMEDOUT no event until then
 * EINTR     a signal handler ran
 * ENXIO     an attached stream (posixtrace/attach.h) has ended
 */
int posixtrace_timednext_event(trace_id_t trid, struct posixtrace_event *event, size_t size,
                               int *unavailable, const struct timespec *abstime);

/*
 * Stores the next events, at most most of them, in order; never blocks.  *count: how many were
 * stored, 0: there is none now, or no more in a pre-recorded stream.  All stored pointers are valid
 * until the next reading call on trid.  A pre-recorded stream gives dozens or hundreds at a time,
 * an attached one dozens, at about half the cost of an event read alone; others give one.
 *
 * EINVAL  as posixtrace_next_event(), or most is 0
 * others  as posixtrace_next_event(); *count is unchanged, and no event was skipped
 */
int posixtrace_next_events(trace_id_t trid, struct posixtrace_event *events, size_t size,
                           size_t most, size_t *count);

/*
 * The same, for programs that draw conclusions from the absence of events.  In a log that is
 * damaged, that could not be written at times (POSIXTRACE_LOST_LOG_ERROR), or that has no end and
 * whose last flush round was not finished, the call skips the flush rounds that are not whole and
 * readable: they have events of some threads and not of others.  In a log that keeps the oldest
 * events and was full, it skips those after the last event of the first thread whose events did not
 * fit.  *gap is true if events were skipped, or are missing, between the last event that was
 * returned and the first of these, or the end; and if CLOCK_REALTIME was set between them by more
 * than 10 ms, so that their times cannot be compared.  Else it is false.  A recovery of a LOOP log
 * overwrites events that a program that has it open has not read yet: these are missing, too.
 * Events that the stream itself lost or left out are reported by its own events
 * (POSIX_TRACE_OVERFLOW, STOP, FILTER), in every kind of stream.  Where a filter keeps these out,
 * or an active stream was cleared, *gap reports the loss; in a log before each event of the flush
 * round that has it, and before the next one.  (Of a round with more than 1,048,576 packets, or in
 * a pipe with more than 1 GiB, not before those that come first: they are returned before the end
 * of the round has been read.)
 *
 * EINVAL  as posixtrace_next_events(), or gap is NULL
 */
int posixtrace_next_whole_events(trace_id_t trid, struct posixtrace_event *events, size_t size,
                                 size_t most, size_t *count, bool *gap);

/*
 * The next event read from a pre-recorded or an attached stream (posixtrace/attach.h) is the
 * oldest one whose time is ns or later.  Cost of a pre-recorded stream: grows with the logarithm of
 * the number of flush rounds for a regular file, and with the bytes skipped for a pipe.
 *
 * An attached stream is read forward only: an ns before the position changes nothing, and one after
 * the present is the present.  The skipped events count as read, not as lost.  Events of the
 * stream itself (POSIX_TRACE_START, STOP, FILTER) are not skipped.  Cost: some 5 ns for each
 * skipped event.
 *
 * EINVAL  trid is no such stream
 * ENOMEM
 * ESPIPE  the log is read from a pipe, and the position is before the one already reached
 */
int posixtrace_seek(trace_id_t trid, int64_t ns);

/*
 * Pre-recorded streams only: reading on in a log that is still being written.  The
 * first call starts again at the oldest event.  Each call looks at the file again, and
 * posixtrace_next_event() and the like return the new events until there are none;
 * while events are left to be read, a call does nothing.
 *
 * As long as posixtrace_get_info() reports POSIXTRACE_END_ACTIVE, the reader gets only
 * flush rounds that are completely in the file.  After that it gets the rest, also events
 * that a writer that died had not written yet, and then nothing any more.  Together these
 * are the events of the complete log, one by one, unless a call says that some are missing.
 *
 * *gap is true if events are missing between those that were returned and the next one:
 * overwritten in a log of the policy LOOP before they were read, cleared, or damaged.  A
 * round that is not whole, or not known to be, is skipped, the last one, too: a reader that
 * opens the log again gets the rest of a round that is larger than its LOOP log.  Never waits.
 * Each call reads all of an incomplete log through.  Thread-safe, not async-signal-safe.
 *
 * EINVAL  trid is not a pre-recorded stream, gap is NULL, or the file is no log any more
 * ESPIPE  the log is read from a pipe, which is followed by reading
 * ESTALE  another log is in the file now
 * ENOMEM; EIO and others from read(2)
 */
int posixtrace_follow(trace_id_t trid, bool *gap);

#ifdef __cplusplus
}
#endif
#endif
