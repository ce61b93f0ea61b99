/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * libposixtrace-preload.so: stands between a program and the C library, and traces the
 * calls in which threads wait for one another as system events (posixtrace/system.h).
 *
 * Each function here has the name of one of the C library, calls that one, and is
 * of this form:
 *
 *   if (PRELOAD_OFF(object, before, after))
 *       return real_...;           one test when no stream wants these two types
 *   event; real_...; event
 *
 * Not traced are calls of posixtrace itself and of the liburcu that it uses, which are
 * recognised by where the call comes from, or by the object's place, where a call is the
 * last thing that a function does; and all that a thread does that those have made.
 *
 * There is no state "inside an event" here.  A signal handler may interrupt an event and
 * call what is traced, whether it is one that signals.c knows or not, and it may leave by
 * siglongjmp(): the library records the events of such a handler at a level of their own,
 * and knows a frame that has been left (writer/event.c).  An event calls nothing that
 * comes here: it is async-signal-safe, without locks and allocation.  The one exception is
 * a function of the program's that decides about events (posixtrace_set_handler()), which
 * the library does not call for what that function itself does (process/filter_callback.c).
 *
 * A call keeps its errno, and remains a cancellation point if it is one: a thread that
 * is cancelled in it runs the cleanup handler that is pushed here, as the program's
 * own.  This is why this folder is compiled with -fexceptions.
 */
#ifndef PRELOAD_PRELOAD_H
#define PRELOAD_PRELOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <posixtrace/system.h>

#define PRELOAD_PUBLIC __attribute__((visibility("default")))

/*
 * Flags of a thread, found without a call.  Aligned, so that none is the last byte before
 * the thread pointer: valgrind takes that one for lying outside, on 32-bit x86.
 */
#define PRELOAD_THREAD __thread __attribute__((tls_model("initial-exec"), aligned(sizeof(int))))

/* Not a function: the return address is that of the function it stands in.  before, after:
 * the types of the call's events. */
#define PRELOAD_OFF(object, before, after)                           \
    (__builtin_expect(!posixtrace_system_wants(before, after), 1) || \
     preload_is_quiet(__builtin_return_address(0), (object)))

#pragma GCC visibility push(hidden)
/* Is a call from there, about that object, not to be traced? */
bool preload_is_quiet(const void *caller, const void *object);
/* Does the address belong to posixtrace or to liburcu? */
bool preload_is_ours(const void *address);

/* The thread was made by posixtrace. */
extern PRELOAD_THREAD bool preload_quiet_thread;

void preload_event(trace_event_id_t id, const void *data, size_t length);

void preload_object(trace_event_id_t id, const void *object);
/* second: an error number or a time. */
void preload_pair(trace_event_id_t id, const void *object, int64_t second);

/* For how long the thread has run, where a stream wants to know: before a call that may
 * wait and after it. */
void preload_cpu_time(void);

/* What pthread_cleanup_push() takes: the call that the thread is in has ended. */
struct preload_call {
    trace_event_id_t id; /* that says so */
    const void *object;
    int64_t second; /* when the thread is cancelled */
};
void preload_cancelled(void *call);
#pragma GCC visibility pop

#endif
