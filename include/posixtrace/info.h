/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Information about a stream beyond posix_trace_get_status(): clock, fill, losses by cause,
 * threads.  For active and for pre-recorded streams.
 *
 * Loss is exact: the events that a thread's posix_trace_event calls generate
 * while the stream runs and does not filter them are
 *     generated = read + still unread + lost, by the causes below,
 * and those that found room are
 *     recorded = generated - lost (stream full, no memory, nested).
 * So it is at any moment, for every caller, while threads record: an event is counted as
 * lost only when nothing will deliver it, and the sum lies between what was generated
 * before the call and after it.
 *
 * Functions return 0 or an error number unless they say otherwise.  They are thread-safe, and
 * async-signal-safe only where they say so.
 * Sizes are in bytes, times in ns since 1970.  No result has to be freed.
 */
#ifndef POSIXTRACE_INFO_H
#define POSIXTRACE_INFO_H

#include <stdbool.h>
#include <stdint.h>
#include "../trace.h"

#ifdef __cplusplus
extern "C" {
#endif

enum posixtrace_loss_cause {
    POSIXTRACE_LOST_FULL,            /* stream full (UNTIL_FULL, FLUSH) */
    POSIXTRACE_LOST_OVERWRITTEN,     /* overwritten in the stream (LOOP) before it was read */
    POSIXTRACE_LOST_NO_MEMORY,       /* no buffer could be had for the thread */
    POSIXTRACE_LOST_NESTED,          /* more than four signal handlers deep */
    POSIXTRACE_LOST_LOG_FULL,        /* log full (UNTIL_FULL log) */
    POSIXTRACE_LOST_LOG_OVERWRITTEN, /* overwritten in the log (LOOP log) */
    POSIXTRACE_LOST_LOG_ERROR,       /* the log could not be written; see flush_error */
    POSIXTRACE_LOST_SWITCHES,        /* context switches (posixtrace/attr.h) for which the kernel's
                                      * ring had no room; of no thread */
    /* Room of the arrays by cause: a later cause takes an element that is 0 now, and moves
     * no member.  Sums over all elements have it already. */
    POSIXTRACE_LOSS_CAUSES = 16
};

/* A short lower-case phrase for a cause ("stream full"), never NULL.  Constant text.
 * Async-signal-safe. */
const char *posixtrace_loss_cause_text(unsigned cause);

enum posixtrace_end {
    POSIXTRACE_END_ACTIVE,    /* an active stream, or a log whose writer is alive */
    POSIXTRACE_END_SHUTDOWN,  /* completed by shutdown or by exit() */
    POSIXTRACE_END_RECOVERED, /* completed later by posixtrace_log_recover() */
    POSIXTRACE_END_TAIL,      /* writer died; read together with its segment, nothing missing */
    /* Writer died or file cut; opens to its last complete part.  Also after a recovery that did not
     * find the writer's memory. */
    POSIXTRACE_END_CUT
};

enum posixtrace_clock {
    POSIXTRACE_CLOCK_TSC,       /* processor time stamp counter */
    POSIXTRACE_CLOCK_MONOTONIC, /* CLOCK_MONOTONIC through the vDSO */
    POSIXTRACE_CLOCK_REALTIME   /* imported: times as given */
};

struct posixtrace_info {
    uint8_t id[16];   /* the stream's 128-bit identity */
    int clock;        /* enum posixtrace_clock */
    int end;          /* enum posixtrace_end */
    int64_t first_ns; /* time of the first and last event; both 0 if none */
    int64_t last_ns;
    /* Logs: events present; active: events recorded so far.  One whose thread had not seen a stop
     * yet is no part of the stream, and counts until it is read. */
    uint64_t events;
    /* By cause.  The losses of the log (POSIXTRACE_LOST_LOG_...) include system events, such as a
     * START that was overwritten; the numbers of the threads do not. */
    uint64_t lost[POSIXTRACE_LOSS_CAUSES];
    uint64_t late;           /* events delivered late because their thread was stalled > 1 s */
    uint64_t bytes;          /* bytes of event memory in use (active) or of packets (log) */
    uint64_t peak_bytes;     /* most event memory ever in use */
    uint64_t reserved_bytes; /* event memory reserved */
    uint64_t advised_size;   /* stream-min-size that would have had room for the events that a full
                              * stream refused, not for overwritten ones; 0: it refused none */
    uint64_t skipped_bytes;  /* logs: bytes that were not readable */
    int flush_error;         /* first error number of a failed flush, or 0: of a log, since it was
                              * cleared; of an active stream, since it was reported */
    bool barrier;            /* membarrier is in use; else it is refused, writers use full fences */
    uint64_t set_back;       /* logs: how often CLOCK_REALTIME was set back, so that times repeat */
    char host[64];           /* name of the machine that recorded (nodename); "" if unknown */
    uint8_t boot_id[16];     /* of that machine then, as in /proc/sys/kernel/random/boot_id; zeros
                              * if unknown */
    uint32_t piece; /* logs: which file of a stream that was recorded to several, from 1; 0:
                              * there is one, or the pieces were opened together */
};

/*
 * EINVAL  trid is not a stream, info is NULL, or size is 0 (posixtrace/event.h).
 * Thread-safe, not async-signal-safe.  Does not wait for the log of an active stream,
 * however long its pipe is full.
 * For a pre-recorded stream events, first_ns and last_ns come from the log's
 * index; where it has none (cut log) the log is read through once.
 */
int posixtrace_get_info(trace_id_t trid, struct posixtrace_info *info, size_t size);

/*
 * How many events a stream has lost for a cause.  A program that asks for 0, 1, 2, ... until
 * the result is ENOENT has all causes that there are, also later ones.  For an active stream, the
 * number is that of the moment of the call; POSIXTRACE_LOST_SWITCHES is that of the last flush.
 * An attached stream, which has no switches to read, counts those since it was attached.
 *
 * EINVAL  trid is not a stream, or events is NULL.  Thread-safe; not for signal handlers.
 * ENOENT  there is no such cause
 */
int posixtrace_lost(trace_id_t trid, unsigned cause, uint64_t *events);

struct posixtrace_thread_info {
    pid_t pid;
    pid_t tid;
    uint64_t thread_id;
    char name[16];
    uint64_t recorded; /* events stored in the stream by this thread */
    uint64_t lost[POSIXTRACE_LOSS_CAUSES];
    /* Active streams: the call that the thread is in now, as posixtrace/system.h has it.  It began
     * at wait_since_ns, by the present setting of CLOCK_REALTIME; 0: unknown.  wait_type 0: the
     * thread is in none that the stream wants. */
    uint32_t wait_type, wait_call;
    uint64_t wait_object, wait_caller;
    int64_t wait_since_ns;
};

/*
 * The threads that recorded or lost something, one by one, as
 * posix_trace_eventtypelist_getnext_id() gives event types: *unavailable is non-zero at the end,
 * and *thread untouched.  Rewinding starts with the first one again; of an active stream the list
 * is that of the first call after it.  Threads that use one trid share the position in its list.
 * Threads that ended long ago may be folded into one entry with pid and tid 0 and the name
 * "(ended)", so that memory stays bounded.  In a log that was made by
 * posixtrace_log_builder_create() that entry has the losses that belong to no thread.  In a log of
 * posixtrace_snapshot() it has all losses, and each thread has recorded the events that are there.
 *
 * EINVAL  trid is not a stream, an argument is NULL, or size is 0
 */
int posixtrace_threadlist_getnext(trace_id_t trid, struct posixtrace_thread_info *thread,
                                  size_t size, int *unavailable);
int posixtrace_threadlist_rewind(trace_id_t trid);

/* The limits of a stream, and what it refused beyond them.  The events of refused threads and
 * processes count as lost for lack of memory. */
struct posixtrace_limits {
    uint32_t threads;           /* threads, and nested signal handlers, that record */
    uint32_t processes;         /* processes that are traced */
    uint32_t refused_threads;   /* came when all places were in use; at most 65535 */
    uint32_t refused_processes; /* the same, and those of another pid namespace */
    /* Active streams: 1: times are or were off CLOCK_REALTIME by more than 10 ms, and the clock
     * table had no room to correct that.  Of a log posixtrace_clock_quality() says it. */
    uint32_t clock_left;
};

/*
 * EINVAL  trid is not a stream, limits is NULL, or size is 0.  Thread-safe; not for signal
 * handlers.
 * Of a log limits are those that its stream had where nothing limited the size of files; all
 * are 0 in one that was imported.
 */
int posixtrace_get_limits(trace_id_t trid, struct posixtrace_limits *limits, size_t size);

/*
 * Of a log: true in *outlived if processes that its stream traced were still running when the
 * stream was shut down, as after daemon(3): what they did later is not recorded.  false where none
 * was, and where nothing says so: in a log that was not completed by shutdown or exit(3), that was
 * imported, or that an earlier version wrote.
 *
 * EINVAL  trid is not a pre-recorded stream, or outlived is NULL.  Thread-safe; not for signal
 * handlers.
 */
int posixtrace_outlived(trace_id_t trid, bool *outlived);

/*
 * How many events of one type a pre-recorded stream has.
 *
 * EINVAL  trid is not a pre-recorded stream, event has no name in it, or count is NULL
 * ENOMEM; EIO and others from read(2)
 */
int posixtrace_event_count(trace_id_t trid, trace_event_id_t event, uint64_t *count);

#ifdef __cplusplus
}
#endif
#endif
