/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Stream attributes that the standard does not have.
 *
 * Functions return 0 or an error number unless they say otherwise.  They are thread-safe, and
 * async-signal-safe only where they say so.
 */
#ifndef POSIXTRACE_ATTR_H
#define POSIXTRACE_ATTR_H

#include <stdbool.h>
#include "../trace.h"

#ifdef __cplusplus
extern "C" {
#endif

enum posixtrace_compression {
    POSIXTRACE_COMPRESSION_NONE,   /* rows, as in memory: the default */
    POSIXTRACE_COMPRESSION_ZSTD,   /* columns, and each packet compressed by zstd */
    POSIXTRACE_COMPRESSION_COLUMNS /* by column, which is shorter: of 'posixtrace record' */
};

/*
 * The form of the events of a log.  The thread that writes the log does
 * it; tracing threads pay nothing.  A stream without a log ignores it.  The
 * log-max-size counts compressed bytes, as the file has them.  Older versions of this
 * library refuse such a log, as do builds without zstd.
 *
 * EINVAL   attr is no attributes object, compression is no value of the enum,
 *          or the result pointer is NULL
 * ENOTSUP  (set) the library was built without zstd
 */
int posixtrace_attr_setcompression(trace_attr_t *attr, int compression);
int posixtrace_attr_getcompression(const trace_attr_t *attr, int *compression);

/*
 * Whether a stream with log records the context switches of the traced threads
 * (posixtrace/system.h): true, or false, the default.  They come from the kernel, so the
 * traced threads pay for them with a microsecond or less a switch and no more: an
 * event of theirs costs what it costs in a stream without switches.
 * POSIXTRACE_SYSTEM_SWITCHES=1 in the environment of the process that creates a stream
 * with log is as if 1 was set (set-id programs ignore it).
 *
 * A stream without log cannot have them: posix_trace_create() returns EINVAL.  If the system
 * refuses them, the stream is created and works without them, see posixtrace_stream_switches().
 * Then it records from time to time the CPU time of each thread that records in it
 * (POSIXTRACE_CPU_TIME), which bounds the time off the processor.  The attributes of a pre-recorded
 * stream have 0; its events show whether it has switches.
 *
 * EINVAL   attr is no attributes object, or the result pointer is NULL
 *
 * Thread-safe, not async-signal-safe.
 */
int posixtrace_attr_setswitches(trace_attr_t *attr, bool switches);
int posixtrace_attr_getswitches(const trace_attr_t *attr, bool *switches);

/*
 * The size of the kernel's ring for context switches, for each processor, in bytes: a power of two
 * from 4096 to 1 GiB (a switch takes 40 bytes); or 0, the default: 4 MiB if the effective user is
 * root, else 256 KiB.  Switches for which it has no room are lost (POSIXTRACE_LOST_SWITCHES).  If
 * the limit on locked memory (sysctl kernel.perf_event_mlock_kb, RLIMIT_MEMLOCK) does not allow
 * that size, it is halved until the limit does; posixtrace_stream_switchbuffer() returns the
 * result.  Without switches it has no effect; the attributes of a pre-recorded stream have 0.
 *
 * EINVAL   attr is no attributes object, bytes is not such a number, or the result
 *          pointer is NULL
 *
 * Thread-safe, not async-signal-safe.
 */
int posixtrace_attr_setswitchbuffer(trace_attr_t *attr, size_t bytes);
int posixtrace_attr_getswitchbuffer(const trace_attr_t *attr, size_t *bytes);

/*
 * The bytes of each of the kernel's rings of an active stream that this process has created; 0 if
 * it records no context switches.
 *
 * EINVAL   trid is no active stream of this process, or bytes is NULL
 *
 * Thread-safe, not async-signal-safe.
 */
int posixtrace_stream_switchbuffer(trace_id_t trid, size_t *bytes);

/*
 * The time that a thread takes to store one event, in ns.  The stream and its log keep it, so that
 * a program that measures times in them elsewhere, or later, can subtract the cost of the tracing.
 * 0, the default: not known.  The library never measures it by itself; posixtrace_event_cost_like()
 * in posixtrace/metrics.h does, and 'posixtrace record' uses that.  It is rounded to picoseconds.
 * posix_trace_get_attr() returns it for active, attached and pre-recorded streams.
 *
 * EINVAL   attr is no attributes object, ns is not a number from 0 to 1000000 (a
 *          millisecond), or the result pointer is NULL
 *
 * Thread-safe, not async-signal-safe.
 */
int posixtrace_attr_seteventcost(trace_attr_t *attr, double ns);
int posixtrace_attr_geteventcost(const trace_attr_t *attr, double *ns);

/*
 * Does an active stream, created by this process, record context switches?
 * *refusal is 0 if it does; ENODATA if it was not requested; else the error number of the refused
 * system call:
 *   EACCES, EPERM   perf_event_open(2): sysctl kernel.perf_event_paranoid is above 2,
 *                   a filter of system calls, or too little lockable memory
 *   EMFILE          threads x processors descriptors are more than RLIMIT_NOFILE
 *   ENOSYS, EINVAL  the kernel has no such events
 *   and others of perf_event_open(2) and mmap(2)
 *
 * EINVAL   trid is no active stream of this process, or refusal is NULL
 *
 * Thread-safe, not async-signal-safe.
 */
int posixtrace_stream_switches(trace_id_t trid, int *refusal);

#ifdef __cplusplus
}
#endif
#endif
