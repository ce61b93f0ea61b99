/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * libposixtrace-preload.so: wraps functions of the C library in which threads wait for one another,
 * and records their calls as system events (posixtrace/system.h).
 *
 * Each function here has the name of a function of the C library, calls it, and has this form:
 *
 *   if (PRELOAD_OFF(object, before, after))
 *       return real_...;           one test when no stream wants these two types
 *   event; real_...; event
 *
 * Calls by posixtrace itself and by the liburcu that it uses are not traced.  They are recognised
 * by the return address; if the call is a tail call, by the address of the object.  Threads that
 * these libraries create are not traced at all.
 *
 * There is no state "inside an event" here.  A signal handler, whether signals.c knows it or not,
 * may interrupt an event, make wrapped calls, and leave by siglongjmp(): the library records its
 * events at a level of their own, and recognises a frame that was left (writer/event.c).  An event
 * makes no wrapped call: it is async-signal-safe, without locks and allocation.  The one exception
 * is a filter function of the program (posixtrace_set_handler()); the library does not call it for
 * events that it records itself (process/filter_callback.c).
 *
 * A wrapped call keeps its errno, and stays a cancellation point if it is one: a thread that is
 * cancelled in it runs the cleanup handler that is pushed here, and the program's own ones.  So
 * this folder is compiled with -fexceptions.
 */
#ifndef PRELOAD_PRELOAD_H
#define PRELOAD_PRELOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/select.h>
#include <posixtrace/system.h>

#define PRELOAD_PUBLIC __attribute__((visibility("default")))

/*
 * Flags of a thread, found without a call.  Aligned, so that none is the last byte before
 * the thread pointer: valgrind takes that one for lying outside, on 32-bit x86.
 */
#define PRELOAD_THREAD __thread __attribute__((tls_model("initial-exec"), aligned(sizeof(int))))

/* Macros, because the return address is taken in the function that contains it.  before, after:
 * the types of the call's events. */
#define PRELOAD_OFF(object, before, after)                           \
    (__builtin_expect(!posixtrace_system_wants(before, after), 1) || \
     preload_leaves_out(PRELOAD_CALLER, (object)))
#define PRELOAD_CALLER __builtin_return_address(0)
/* (A, B): A, B */
#define PRELOAD_LIST(...) __VA_ARGS__
/* The function of the program, and its part that records, with the caller before the arguments: out
 * of line, so that the code before a call that is not traced saves only one register. */
#define PRELOAD_WRAPPER(type, object, before, after, name, parameters, arguments) \
    PRELOAD_PUBLIC type name parameters                                           \
    {                                                                             \
        return PRELOAD_OFF(object, before, after)                                 \
                   ? real_##name arguments                                        \
                   : traced_##name(PRELOAD_CALLER, PRELOAD_LIST arguments);       \
    }
#define PRELOAD_TRACED(type, name, parameters) \
    static __attribute__((noinline)) type traced_##name(const void *caller, PRELOAD_LIST parameters)

/*
 * A call with its two events, of types begin and begin + 1, that returns -1 and sets errno where it
 * fails; which: its descriptor, or what it has in that place.  _MORE: before records the first.
 */
#define PRELOAD_CALL_MORE(type, begin, number, name, parameters, arguments, which, before) \
    PRELOAD_CALL_BOTH(type, begin, number, name, parameters, arguments, which, before, (void)0)
/* after: before the second, where r is what it returns. */
#define PRELOAD_CALL_BOTH(type, begin, number, name, parameters, arguments, which, before, after) \
    PRELOAD_TRACED(type, name, parameters)                                                        \
    {                                                                                             \
        struct preload_io call = { begin + 1, POSIXTRACE_CALL_##number, which };                  \
        type r;                                                                                   \
                                                                                                  \
        before;                                                                                   \
        pthread_cleanup_push(preload_io_cancelled, &call);                                        \
        r = real_##name arguments;                                                                \
        pthread_cleanup_pop(0);                                                                   \
        after;                                                                                    \
        preload_io_ended(&call, r < 0 ? -errno : r);                                              \
        return r;                                                                                 \
    }                                                                                             \
    PRELOAD_WRAPPER(type, NULL, begin, begin + 1, name, parameters, arguments)
#define PRELOAD_CALL(type, begin, number, name, parameters, arguments, which)  \
    PRELOAD_CALL_MORE(type, begin, number, name, parameters, arguments, which, \
                      preload_io_began(&call, caller))

#pragma GCC visibility push(hidden)
/* Is a call from there, about that object, not to be traced? */
bool preload_is_quiet(const void *caller, const void *object);
/* The same of a call that will be recorded if not; then also notes the mapping of the caller. */
bool preload_leaves_out(const void *caller, const void *object);
/* Does the address belong to posixtrace, or to a library that works for it? */
bool preload_is_ours(const void *address);
/* Finds the libraries; before any other call from here is meant. */
void preload_callers_begin(void);
/* The constructors of libposixtrace, on which we depend, have run before ours. */
extern bool preload_ready;

/* The thread was made by posixtrace. */
extern PRELOAD_THREAD bool preload_quiet_thread;

void preload_event(trace_event_id_t id, const void *data, size_t length);

/* The start of a call, or a call that has no end. */
void preload_object(trace_event_id_t id, const void *object, const void *caller);
/* second: an error number or a time. */
void preload_pair(trace_event_id_t id, const void *object, int64_t second);

/* For how long the thread has run, where a stream wants to know: before a call that may
 * wait and after it. */
void preload_cpu_time(void);

/* After a call that may wait: records its stack, if stacks are wanted (stacks.c). */
extern unsigned preload_frames; /* addresses at most; 0: none are */
void preload_stacks_begin(void);
void preload_stack_now(void);
static inline void preload_stack(void)
{
    if (__builtin_expect(preload_frames > 0, 0))
        preload_stack_now();
}

/* Only long calls are recorded (calls.c). */
extern bool preload_longer;
void preload_longer_begin(void);
/* Calls of functions are recorded (functions.c). */
void preload_functions_begin(void);
/* The thread is in a call that may wait, and is not any more. */
#define PRELOAD_NO_CALL UINT32_MAX /* the type has none */
void preload_call_begins(trace_event_id_t id, uint32_t call, uint64_t object, const void *caller);
void preload_call_ends(trace_event_id_t id, uint32_t call, uint64_t object, int64_t result);

/* The argument for pthread_cleanup_push(), for the end of a call when the thread is cancelled. */
struct preload_call {
    trace_event_id_t id; /* event type of the end */
    const void *object;
    int64_t second; /* when the thread is cancelled */
};
void preload_cancelled(void *call);

/* A call on a descriptor, or with another number. */
struct preload_io {
    trace_event_id_t id; /* event type of the end */
    uint32_t call;
    int32_t descriptor;
};
/* Records what the descriptor is, if that was not done yet. */
void preload_descriptor(int fd);
void preload_descriptor_now(int fd); /* also where only long calls are recorded */
/* It is closed, or another one has its number: called before and after that. */
void preload_descriptor_ends(int fd);
void preload_descriptors_end(unsigned first, unsigned last);
/* Both ends of a socketpair(). */
void preload_descriptor_pair(const int ends[2]);
/* The ends of the connection of a socket, with its inode; peer_inode: of its other end, 0: not
 * known.  False: it is not connected yet.  May set errno. */
bool preload_connection(int fd, uint64_t inode, uint64_t peer_inode);
/* A wait for work ends with that result. */
struct pollfd;
struct epoll_event;
void preload_ready_poll(const struct pollfd *fds, unsigned long count, int result);
void preload_ready_epoll(int epoll, const struct epoll_event *events, int result);
void preload_ready_select(int count, const fd_set *in, const fd_set *out, const fd_set *more,
                          int result);
void preload_io_began(const struct preload_io *call, const void *caller);
/* The same where another event says so. */
void preload_io_waits(const struct preload_io *call, const void *caller);
void preload_io_ended(const struct preload_io *call, int64_t result);
void preload_io_cancelled(void *call);
#pragma GCC visibility pop

#endif
