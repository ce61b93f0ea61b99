/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Streams of other processes.  In the standard only the creator of a stream can use its trace id.
 * Here any process of the same user gets a trace id of its own for an existing stream.  It reads
 * the events without taking them away from the creator, and starts, stops and filters the stream.
 *
 * Functions for the trace id of an attached stream:
 *
 *   posix_trace_start, _stop, _set_filter, _get_filter, _get_attr
 *   posix_trace_get_status      without the resets, which are the creator's
 *   posix_trace_flush           of a stream with log: asks the process that writes
 *                               the log; POSIX_TRACE_FLUSHING until it has done so
 *   posix_trace_getnext_event, _timedgetnext_event, _trygetnext_event,
 *   posixtrace_next_event, _next_events, _timednext_event
 *                               also of a stream with log
 *   posixtrace_event_field, _event_match, posixtrace_snapshot, posixtrace_seek
 *   posixtrace_set_expression, _get_expression, _set_handler
 *   posix_trace_eventid_get_name, _trid_eventid_open, _eventtypelist_*
 *   posixtrace_get_info, _lost, _get_limits, posixtrace_threadlist_*
 *
 * posix_trace_shutdown and posix_trace_clear are the creator's: EINVAL.
 *
 * Reading starts with the oldest event in the stream at the call of posixtrace_attach(), and
 * removes no event.  So a reader can miss events: a LOOP stream overwrites them, and the creator or
 * the flush thread empties the stream.  Events missed since posixtrace_attach() are counted as
 * POSIXTRACE_LOST_OVERWRITTEN and show as OVERFLOW and RESUME before the next event, or, if the
 * creator or the flush thread has taken them, before the next event of their thread; if none comes
 * any more, its last ones are only counted.  posixtrace_get_info() and
 * posixtrace_threadlist_getnext() count everything from posixtrace_attach() on.  The counts of a
 * thread that has ended are those of the last such call.  OVERFLOW and RESUME are also around the
 * time in which the stream was full, if it ran again before the reader looked; OVERFLOW is before
 * the STOP of the next such time.  START, STOP and FILTER can be missed, too, without a mark: then
 * STOP may follow STOP, and START may follow START.  After a clear by the creator, START and RESUME
 * of the time before it do not come any more.
 *
 * When the creator has shut the stream down, or has died, the reader still gets the
 * remaining events; after the last one, calls that read or control return ENXIO.  A
 * reader that waits learns of a death within about a second.  The events of a stream
 * with log are in the log then, after a death once the log is recovered.
 *
 * Several processes may steer a stream at once.  One that dies in the middle of it
 * harms nothing; one that is stopped holds the others up for about a second.
 * posix_trace_set_filter returns EBUSY when four threads at once have been stopped
 * in the middle of setting one.
 *
 * Functions return 0 or an error number unless they say otherwise.  They are thread-safe, and
 * async-signal-safe only where they say so.
 * A trace id that posixtrace_attach() gives belongs to the caller until posixtrace_detach().
 */
#ifndef POSIXTRACE_ATTACH_H
#define POSIXTRACE_ATTACH_H

#include <sys/types.h>
#include <posixtrace/info.h>
#include "../trace.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A trace id for the stream in that file of the stream directory: the member
 * file of a struct posixtrace_stream (posixtrace_stream_list()).
 *
 * EINVAL  a null pointer, not the name of a stream's file, or a file that is not
 *         a stream of this version of the library
 * ENOENT  there is no such stream (any more)
 * ENXIO   its creator is dead or has shut it down; a log is completed by
 *         posixtrace_log_recover()
 * EACCES  the directory is not a private one of this user
 * ENOMEM, EMFILE
 *
 * From another pid namespace a stream can be read but not steered:
 * posix_trace_start, _stop, _set_filter and _flush then return ENOTSUP.
 */
int posixtrace_attach(const char *file, trace_id_t *trid);

/*
 * The same for the stream that traces the living process pid, else for the one that it has
 * created.
 *
 * EINVAL    pid is not positive, or trid is NULL
 * ESRCH     there is no such stream of a living process
 * ENOTUNIQ  there are several: posixtrace_stream_list() has their files
 * others    as posixtrace_attach()
 */
int posixtrace_attach_pid(pid_t pid, trace_id_t *trid);

/*
 * How many events the stream had lost, by cause, when posixtrace_attach() was called:
 * posixtrace_get_info() counts from then on.  A stream that has overwritten events counts all
 * that it holds no more as POSIXTRACE_LOST_OVERWRITTEN, also those that a reader or the log
 * took before; one that has overwritten none since it was last cleared counts none of them.
 * Thread-safe, not async-signal-safe.
 *
 * EINVAL  trid is not an attached stream, or lost is NULL
 */
int posixtrace_attach_lost(trace_id_t trid, uint64_t lost[POSIXTRACE_LOSS_CAUSES]);

/*
 * For programs of root that trace processes of other users.  A traced process can write and
 * truncate the memory that it maps, so its tracer should not have more rights than the process.
 * This function gives the calling process, for good, the user and group id of the process pid and
 * no other group.  It drops the capabilities, and makes the process not dumpable and without new
 * privileges.  Afterwards posix_trace_create() and posix_trace_create_withlog() may trace that
 * process, even if the kernel hides it from its own user.  If pid is a process of root, nothing
 * changes.
 *
 * It is for a child that root has forked for the purpose.  The child calls it before any other
 * function of the library, and closes descriptors that it does not need; root must not trust the
 * data that the child sends more than the traced process.  posixtrace-record(1) works like this.
 * The directory of the streams is that of the new user.  Not async-signal-safe; no other thread may
 * exist.
 *
 * EINVAL  pid is not positive
 * EPERM   the caller is not root; the process may not be traced; or the kernel does not let
 *         root take other ids, as in some containers: some may have been taken already
 * ESRCH   there is no such process, or it has ended or changed its ids meanwhile
 * EBUSY   the caller has more than one thread
 * ENOTSUP there is no /proc, or the process is in another pid namespace
 * ENOMEM, EMFILE
 */
int posixtrace_take_ids_of(pid_t pid);

/* Gives the trace id back; nothing else happens to the stream.  EINVAL: not attached. */
int posixtrace_detach(trace_id_t trid);

#ifdef __cplusplus
}
#endif
#endif
