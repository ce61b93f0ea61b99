/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The streams of this user on this machine, those of dead processes included, and what a
 * program can do ahead of time for its real-time threads.
 *
 * Functions return 0 or an error number unless they say otherwise.  They are thread-safe, and
 * async-signal-safe only where they say so.
 */
#ifndef POSIXTRACE_STREAM_H
#define POSIXTRACE_STREAM_H

#include <stdbool.h>
#include <stdint.h>
#include "../trace.h"

#ifdef __cplusplus
extern "C" {
#endif

enum posixtrace_liveness {
    POSIXTRACE_LIVENESS_ALIVE,  /* the creator exists and maps the stream */
    POSIXTRACE_LIVENESS_DEAD,   /* it does not */
    POSIXTRACE_LIVENESS_UNKNOWN /* cannot be known (no /proc, other pid namespace) */
};

struct posixtrace_stream {
    char file[128]; /* name in the stream directory */
    char name[64];  /* trace name */
    uint8_t id[16];
    pid_t owner;
    int liveness; /* enum posixtrace_liveness */
    bool running; /* else suspended */
    bool has_log;
    char log_path[256]; /* "" if unknown */
    uint64_t bytes;     /* memory that the segment occupies */
    /* Events that no log has (dead streams with a log).  Those of the last flush are among them
     * where the log has more than 1 GiB. */
    uint64_t unsaved;
    struct timespec created;
};

/*
 * Calls each() for every stream in the directory; a non-zero result of each() ends the walk and is
 * returned unchanged; error numbers are positive.  A file that is not a valid segment is reported
 * with liveness UNKNOWN and an empty name.
 *
 * ENOENT  the directory does not exist: no program has traced yet
 * EACCES  the directory is not a private one of this user
 */
int posixtrace_stream_list(int (*each)(void *context, const struct posixtrace_stream *stream),
                           void *context);

/*
 * Calls each() for every living process that the stream in that file of the
 * directory traces; a non-zero result of each() ends the walk and is returned unchanged.
 *
 * EINVAL  a null pointer, not the name of a stream's file, or not a stream of
 *         this version of the library
 * ENOENT  there is no such stream (any more)
 * EACCES  as posixtrace_stream_list()
 */
int posixtrace_stream_traced(const char *file, int (*each)(void *context, pid_t pid),
                             void *context);

/* The directory that posixtrace_stream_list() looks into; never NULL.  The text belongs to the
 * calling thread until its next call. */
const char *posixtrace_stream_directory(void);

/*
 * Removes what dead processes left: their process pages, segments without log
 * and segments whose log is complete.  A segment that holds events no log has
 * is completed into its log where that can be opened, else kept, unless the log is
 * gone (posixtrace(7)) or force is greater than 0: such events are lost then, and the stream
 * directory keeps how many, which the log counts.  force less than 0: touches no log, so
 * that a segment stays whose log would have to be completed.  *removed and *kept count
 * files; either may be NULL.
 *
 * What cannot be counted because of an error of the file that has the numbers is kept, and
 * the call returns that error after all else is done.
 *
 * EACCES  the directory is not a private one of this user
 * EBUSY   another process has had the lock on the directory for ten seconds, so that no number
 *         could be stored
 * ENOSPC, EDQUOT, EFBIG, ENOMEM, EMFILE
 */
int posixtrace_stream_reap(int force, unsigned *removed, unsigned *kept);

/*
 * How many streams that killed programs left were removed, beyond the limit for such streams
 * (posixtrace(7)) or by force, before a log could take their events, since the stream
 * directory was made, and how many events that were.  Either may be NULL.  Thread-safe, not
 * async-signal-safe.
 */
void posixtrace_stream_lost(uint64_t *streams, uint64_t *events);

/*
 * Notifies fd, an eventfd(2), of the fill level of a stream of the caller: adds 1 to it
 * each time that the unread part rises above percent (1 to 100) of the stream's size, so that
 * poll(2) finds fd readable.  At once, if it is as full now.  percent 0: no more
 * notifications.  The stream keeps a descriptor of its own: fd may be closed.  A stream has
 * one; another call replaces it.  The level is counted in chunks (posixtrace(7)), so a stream
 * that fits in few is coarse.  A LOOP stream without a reader notifies once.  Costs one
 * thread, which sleeps; not inherited.  Thread-safe, not async-signal-safe.
 *
 * EINVAL  trid is no stream that the caller has created, or percent is above 100
 * EBADF   fd is no descriptor
 * EMFILE, ENOMEM
 */
int posixtrace_watch_fill(trace_id_t trid, unsigned percent, int fd);

/*
 * Makes next the successor of trid: events that find no room in trid, whose full policy is
 * POSIX_TRACE_UNTIL_FULL, are recorded in next, if that runs and does not filter their type.
 * No event is lost between the two, whichever thread or process records it.  Until trid is
 * full next, which has to be started like any other, records nothing.  next may have a
 * successor itself.  A last stream whose filter lets only some types pass is a reserve: there
 * is room for them when the others are full.  Only the event set of next counts for an event that
 * is passed on, not its expression and not its functions (posixtrace_set_expression(),
 * posixtrace_set_handler()): those of the first stream have let it pass.
 *
 * trid stops as a full stream does; it may get events later than its posix_trace_stop, of
 * threads that were recording then, and when it has been read it records again.  An event
 * that no stream takes is counted as lost once.  next == trid: trid has no successor any more,
 * and the former one records its own events again, as it does when trid is shut down.
 *
 * Both are the caller's, of the same process.  Thread-safe, not async-signal-safe.
 *
 * EINVAL   no such streams, or not of one process; trid has another policy, or is itself
 *          a successor of next
 * EBUSY    next is the successor of another stream already
 * ENOTSUP  next has no file in the stream directory, by which it would be found
 * EACCES, EMFILE, ENFILE, ENOMEM: a process that the running stream next traces cannot be
 *          reached (posix_trace_start(3)); nothing has changed
 * ENOMEM
 */
int posixtrace_chain(trace_id_t trid, trace_id_t next);

/*
 * Makes the preparations of the calling thread's first event now: finds the process page, and takes
 * a writer slot and a chunk, with its memory, in every stream that traces the process.  Afterwards
 * an event of this thread causes no page fault, but of its stack, and no system call until its
 * first chunk is full, or a stream is created or a filter set.
 *
 * Events inside another one of the thread, of a signal handler or a function of
 * posixtrace_set_handler(), are not prepared: the first at each depth calls mmap() and others, and
 * each calls sigaltstack(), to ask on which stack it is.
 *
 * Where a stream has an expression or a handler, that is so for the event types that there are at
 * the call, with or without a description.  The first event of a type that is opened later, or of
 * one that gets its description later, also by another process, calls mmap(), munmap() or
 * madvise(), if the stream asks its expression or handler about it; another call of
 * posixtrace_prepare() does that before.  Inside an event, in such a function, it does nothing.
 * Not async-signal-safe.  0, or ENOMEM: in at least one stream there was no memory for the thread;
 * EMFILE, ENFILE: the process's first call, without a free descriptor.
 * In a LOOP stream that does not run it overwrites no event that is still to be read.
 */
int posixtrace_prepare(void);

#ifdef __cplusplus
}
#endif
#endif
