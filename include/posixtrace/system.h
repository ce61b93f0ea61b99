/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * System events beyond the standard's: context switches of the traced threads, and the calls in
 * which they wait for one another.  They are system event types, known by these names to every
 * stream, obey filters, and are recorded only on request: 'posixtrace record --system',
 * POSIXTRACE_RECORD_SYSTEM, libposixtrace-preload.so.
 *
 * The types have these numbers and names always and everywhere.  A stream has all of
 * them in its type list (posix_trace_eventtypelist_getnext_id) from the moment when one
 * was recorded in a process that it traces, or a program opened the name of one; a log
 * has those in its list whose names it contains, which are all as soon as it has an
 * event of one of them.  A program that does not request them does not see them.
 *
 * Data is in the byte order of the machine, without padding; types without an entry in the table
 * have none.  object: address of the mutex, semaphore, ...; error: the error number of the call, 0
 * for success, ECANCELED if the thread was cancelled in it; due: ns since 1970 (CLOCK_REALTIME), 0:
 * none; caller: the address to which the call returns, in the program or a library of it; call:
 * enum posixtrace_call; result: what the call returned, or its error number, negative.
 *
 *   switch_in                          u32 cpu
 *   switch_out, switch_preempted       u32 cpu    it waits; it could still run
 *   cpu_time                           u64 run, u64 more   ns, see below
 *   mutex_lock                         u64 object, u64 caller
 *   mutex_locked                       u64 object, i64 error
 *   mutex_unlock                       u64 object, u64 caller
 *   rwlock_lock, _locked, _unlock      the same
 *   cond_wait, cond_woken              u64 object, u64 caller; u64 object, i64 error
 *   cond_signal                        u64 object, u64 caller
 *   sem_wait, sem_taken                u64 object, u64 caller; u64 object, i64 error
 *   sem_post                           u64 object, u64 caller
 *   barrier_wait, barrier_passed       u64 object, u64 caller; u64 object, i64 error
 *   sleep                              u64 object (0), i64 due, u64 caller   clock_nanosleep ...
 *   sleep_done                         u64 object (0), i64 due   of the sleep that ends
 *   timer_set                          u64 timer, i64 due, u64 caller
 *   thread_create                      u64 pthread_t, u64 caller
 *   thread_begin, thread_end           u64 pthread_t
 *   signal_begin, signal_end           u32 number                around a handler
 *   io                                 u32 call, i32 descriptor, u64 caller
 *   io_done                            u32 call, i32 descriptor, i64 result
 *   poll                               u32 call, i32 descriptor, u64 count, i64 timeout,
 *                                      u64 caller
 *   poll_done                          u32 call, i32 descriptor, i64 result
 *   file_lock                          u32 call, i32 descriptor, u32 mode, u32 waits, u64 caller
 *   file_locked                        u32 call, i32 descriptor, i64 result
 *   futex_wait, futex_woken            u64 object, u64 caller; u64 object, i64 error
 *   thread_join, thread_joined         u64 pthread_t, u64 caller; u64 pthread_t, i64 error
 *   child_wait                         u32 call, i32 pid, u64 caller
 *   child_waited                       u32 call, i32 pid, i64 result
 *   signal_wait                        u32 call, i32 0, u64 caller
 *   signal_taken                       u32 call, i32 0, i64 result
 *
 * poll is a wait for work: descriptor is that of the epoll, else -1; count: how many descriptors
 * the call names, or events it takes; timeout: in ns, -1: none.
 *   descriptor                         i32 descriptor, u32 kind, path or address with a NUL
 *
 *   long_call                          u32 type, u32 call, u64 object, i64 result, i64 duration,
 *                                      u64 caller
 *   waiting                            u32 type, u32 call, u64 object, i64 duration, u64 caller
 *   stack                              u16 count, so many u64 addresses
 *   function_enter, function_exit      u64 function, u64 caller; u64 function
 *   connection                         i32 descriptor, u32 kind, u64 space, names of this end and
 *                                      of the other, each with a NUL
 *   epoll_set                          i32 epoll, i32 descriptor, u32 operation, u32 events,
 *                                      u64 data
 *   ready                              i32 epoll, u32 result, u16 count, so many u64, u16 count, so
 *                                      many u16 events
 *   context                            32 characters, 16 characters, u8 flags
 *
 * context: of posixtrace/context.h.  It belongs to no group, and is recorded without a request.
 * connection: kind is one of enum posixtrace_connection_kind; a name is unique in its space, and
 * empty where it is not known.  epoll_set: the arguments of an epoll_ctl() that succeeded, or takes
 * a descriptor away.  ready: the descriptors that ended a wait for work, or the data that the epoll
 * was given for them, POSIXTRACE_READY_MAX at most, and their events; result: how many there were.
 * waiting: the thread was still in that call when the stream was stopped or shut down, a snapshot
 * was made, or it was killed; what else the data is, as of long_call.  The library makes it.
 * stack: of the call that the thread's event before it ends, where stacks are recorded; the
 * addresses to which its functions return, the innermost first, without those of libposixtrace.
 * long_call: a call whole, where only long ones are recorded.  type: that of the event that would
 * start it; call UINT32_MAX: the type has none; object: its object, or descriptor or pid; result:
 * its error or result; duration: ns until the time of the event.
 * descriptor: kind is one of enum posixtrace_descriptor_kind; the path of a file, "..." in the
 * place of its beginning if it is too long; of a socket the address of the peer, or "at " and its
 * own.
 * file_lock: mode is one of enum posixtrace_lock_mode, waits 0 if the call does not wait.  pid: as
 * the argument of waitpid().  signal_taken: result is the signal.
 *
 * Logs of 0.1 have no callers: there the data ends before that field.
 *
 * cpu_time is recorded if context switches were requested and refused.  Until its time the thread
 * had run, since its start, for run to run + more ns; more UINT64_MAX: at least for run.  In such a
 * stream one without data and thread follows each start.
 *
 * In a stream each name has "posixtrace_" before it.  docs/system-events.md has the conditions
 * under which each is recorded.
 */
#ifndef POSIXTRACE_SYSTEM_H
#define POSIXTRACE_SYSTEM_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include "../trace.h"

#ifdef __cplusplus
extern "C" {
#endif

#define POSIXTRACE_SWITCH_IN        16u
#define POSIXTRACE_SWITCH_OUT       17u
#define POSIXTRACE_SWITCH_PREEMPTED 18u
#define POSIXTRACE_CPU_TIME         19u
#define POSIXTRACE_MUTEX_LOCK       20u
#define POSIXTRACE_MUTEX_LOCKED     21u
#define POSIXTRACE_MUTEX_UNLOCK     22u
#define POSIXTRACE_RWLOCK_LOCK      23u
#define POSIXTRACE_RWLOCK_LOCKED    24u
#define POSIXTRACE_RWLOCK_UNLOCK    25u
#define POSIXTRACE_COND_WAIT        26u
#define POSIXTRACE_COND_WOKEN       27u
#define POSIXTRACE_COND_SIGNAL      28u
#define POSIXTRACE_SEM_WAIT         29u
#define POSIXTRACE_SEM_TAKEN        30u
#define POSIXTRACE_SEM_POST         31u
#define POSIXTRACE_BARRIER_WAIT     32u
#define POSIXTRACE_BARRIER_PASSED   33u
#define POSIXTRACE_SLEEP            34u
#define POSIXTRACE_SLEEP_DONE       35u
#define POSIXTRACE_TIMER_SET        36u
#define POSIXTRACE_THREAD_CREATE    37u
#define POSIXTRACE_THREAD_BEGIN     38u
#define POSIXTRACE_THREAD_END       39u
#define POSIXTRACE_SIGNAL_BEGIN     40u
#define POSIXTRACE_SIGNAL_END       41u
#define POSIXTRACE_IO               42u
#define POSIXTRACE_IO_DONE          43u
#define POSIXTRACE_POLL             44u
#define POSIXTRACE_POLL_DONE        45u
#define POSIXTRACE_FILE_LOCK        46u
#define POSIXTRACE_FILE_LOCKED      47u
#define POSIXTRACE_FUTEX_WAIT       48u
#define POSIXTRACE_FUTEX_WOKEN      49u
#define POSIXTRACE_THREAD_JOIN      50u
#define POSIXTRACE_THREAD_JOINED    51u
#define POSIXTRACE_CHILD_WAIT       52u
#define POSIXTRACE_CHILD_WAITED     53u
#define POSIXTRACE_SIGNAL_WAIT      54u
#define POSIXTRACE_SIGNAL_TAKEN     55u
#define POSIXTRACE_DESCRIPTOR       56u
#define POSIXTRACE_LONG_CALL        57u
#define POSIXTRACE_WAITING          58u
#define POSIXTRACE_STACK            59u
#define POSIXTRACE_STACK_MAX        64 /* addresses */
#define POSIXTRACE_FUNCTION_ENTER   60u
#define POSIXTRACE_FUNCTION_EXIT    61u
#define POSIXTRACE_CONNECTION       62u
#define POSIXTRACE_EPOLL_SET        63u
#define POSIXTRACE_READY            64u
#define POSIXTRACE_READY_MAX        32 /* of the descriptors that are ready */
#define POSIXTRACE_CONTEXT          65u

/*
 * Which call.  A variant for large files, or with checks of a buffer's size (pread64(),
 * __read_chk()), is the same call.
 */
enum posixtrace_call {
    POSIXTRACE_CALL_READ,
    POSIXTRACE_CALL_WRITE,
    POSIXTRACE_CALL_PREAD,
    POSIXTRACE_CALL_PWRITE,
    POSIXTRACE_CALL_READV,
    POSIXTRACE_CALL_WRITEV,
    POSIXTRACE_CALL_PREADV,
    POSIXTRACE_CALL_PWRITEV,
    POSIXTRACE_CALL_PREADV2,
    POSIXTRACE_CALL_PWRITEV2,
    POSIXTRACE_CALL_RECV,
    POSIXTRACE_CALL_SEND,
    POSIXTRACE_CALL_RECVFROM,
    POSIXTRACE_CALL_SENDTO,
    POSIXTRACE_CALL_RECVMSG,
    POSIXTRACE_CALL_SENDMSG,
    POSIXTRACE_CALL_RECVMMSG,
    POSIXTRACE_CALL_SENDMMSG,
    POSIXTRACE_CALL_ACCEPT,
    POSIXTRACE_CALL_ACCEPT4,
    POSIXTRACE_CALL_CONNECT,
    POSIXTRACE_CALL_FSYNC,
    POSIXTRACE_CALL_FDATASYNC,
    POSIXTRACE_CALL_SYNCFS,
    POSIXTRACE_CALL_SYNC_FILE_RANGE,
    POSIXTRACE_CALL_SENDFILE,
    POSIXTRACE_CALL_SPLICE,
    POSIXTRACE_CALL_TEE,
    POSIXTRACE_CALL_VMSPLICE,
    POSIXTRACE_CALL_COPY_FILE_RANGE,
    POSIXTRACE_CALL_MQ_RECEIVE,
    POSIXTRACE_CALL_MQ_TIMEDRECEIVE,
    POSIXTRACE_CALL_MQ_SEND,
    POSIXTRACE_CALL_MQ_TIMEDSEND,
    POSIXTRACE_CALL_OPEN,
    POSIXTRACE_CALL_OPENAT,
    POSIXTRACE_CALL_CREAT,
    POSIXTRACE_CALL_CLOSE,
    POSIXTRACE_CALL_FTRUNCATE,
    POSIXTRACE_CALL_FALLOCATE,
    POSIXTRACE_CALL_UNLINK,
    POSIXTRACE_CALL_UNLINKAT,
    POSIXTRACE_CALL_RENAME,
    POSIXTRACE_CALL_RENAMEAT,
    POSIXTRACE_CALL_RENAMEAT2,
    POSIXTRACE_CALL_POLL = 64,
    POSIXTRACE_CALL_PPOLL,
    POSIXTRACE_CALL_SELECT,
    POSIXTRACE_CALL_PSELECT,
    POSIXTRACE_CALL_EPOLL_WAIT,
    POSIXTRACE_CALL_EPOLL_PWAIT,
    POSIXTRACE_CALL_EPOLL_PWAIT2,
    POSIXTRACE_CALL_FLOCK = 80,
    POSIXTRACE_CALL_FCNTL,
    POSIXTRACE_CALL_LOCKF,
    POSIXTRACE_CALL_WAIT = 88,
    POSIXTRACE_CALL_WAITPID,
    POSIXTRACE_CALL_WAIT3,
    POSIXTRACE_CALL_WAIT4,
    POSIXTRACE_CALL_WAITID,
    POSIXTRACE_CALL_SIGWAIT = 96,
    POSIXTRACE_CALL_SIGWAITINFO,
    POSIXTRACE_CALL_SIGTIMEDWAIT,
    POSIXTRACE_CALL_SIGSUSPEND,
    POSIXTRACE_CALL_PAUSE
};

/*
 * The name of a call ("read"), and that of a system event type ("posixtrace_mutex_lock"; also those
 * of the standard, and posix_trace_unnamed_userevent); NULL for a number that is none.  Constant
 * text.  Thread-safe, async-signal-safe.
 */
const char *posixtrace_call_text(unsigned call);
const char *posixtrace_system_text(trace_event_id_t id);

/* What a descriptor is. */
enum posixtrace_descriptor_kind {
    POSIXTRACE_KIND_OTHER,
    POSIXTRACE_KIND_FILE,
    POSIXTRACE_KIND_DIRECTORY,
    POSIXTRACE_KIND_PIPE,
    POSIXTRACE_KIND_SOCKET,
    POSIXTRACE_KIND_TTY,
    POSIXTRACE_KIND_DEVICE,
    POSIXTRACE_KIND_EVENTFD,
    POSIXTRACE_KIND_TIMERFD,
    POSIXTRACE_KIND_SIGNALFD,
    POSIXTRACE_KIND_EPOLL,
    POSIXTRACE_KIND_INOTIFY
};
/* What a connection is of. */
enum posixtrace_connection_kind { POSIXTRACE_CONNECTION_TCP, POSIXTRACE_CONNECTION_UNIX };
#define POSIXTRACE_DESCRIPTOR_TEXT_MAX 200 /* bytes of a path or address, without the final NUL */

/* How a file is locked. */
enum posixtrace_lock_mode {
    POSIXTRACE_LOCK_SHARED,
    POSIXTRACE_LOCK_EXCLUSIVE,
    POSIXTRACE_LOCK_UNLOCK,
    POSIXTRACE_LOCK_TEST
};

/*
 * Traces a system event of the list above, as posix_trace_event() traces user events: with the same
 * cost and losses, and not if no stream wants it.  For libraries that wrap system interfaces, as
 * libposixtrace-preload.so does.  data_len is in bytes; data may be NULL for none.  An id that is
 * not in the list is ignored, without an error.
 *
 * POSIXTRACE_CPU_TIME ignores the caller's data: the library gets the CPU time of the calling
 * thread from the kernel, with two system calls, if some stream wants it.  For a caller that traces
 * the start or end of a measurement, right after that event.
 *
 * Async-signal-safe, thread-safe, no cancellation point, leaves errno alone.
 */
void posixtrace_system_event(trace_event_id_t id, const void *data, size_t data_len);

/*
 * What a thread waits for now, for streams that want events of its type: readers of a stream find
 * it (posixtrace_threadlist_getnext()), and recovery after the thread was killed, as
 * POSIXTRACE_WAITING.  The caller fills the first four members: type, that of the event that begins
 * such a call; call, one of enum posixtrace_call, UINT32_MAX if the type has none; the object, or
 * the descriptor or pid; and the address to which the call returns.  The others are the library's.
 */
struct posixtrace_waiting {
    uint32_t type, call;
    uint64_t object, caller;
    uint64_t began, streams;
};

/*
 * Before a call that may wait, and after it, with the same object.  outer: the call of the same
 * thread that a signal handler has interrupted, in which it waits again from now on; NULL: none.
 * posixtrace_waiting_ns(): how long ago the call began, in ns.  A type that is not in the list, or
 * begins no call, is not shown.
 * Cost some 10 ns each; the first call of a thread in a stream more.
 * Async-signal-safe, thread-safe, no cancellation point, leave errno alone.
 */
void posixtrace_waiting_begin(struct posixtrace_waiting *waiting);
void posixtrace_waiting_end(const struct posixtrace_waiting *waiting,
                            const struct posixtrace_waiting *outer);
int64_t posixtrace_waiting_ns(const struct posixtrace_waiting *waiting);

/*
 * Whether any stream traces this process now, whatever it filters: one load and one test,
 * for a caller that would have to prepare several events, and wants to pay once where there
 * is nothing to do.  Also true until the first call of the library that finds out.
 * Async-signal-safe, thread-safe, no cancellation point, leaves errno alone.
 */
bool posixtrace_system_wanted(void);

/*
 * Whether a stream that traces this process now wants events of one of the two types, which
 * may be the same, or POSIXTRACE_CPU_TIME: what a call that makes the two is preceded by,
 * so that it pays nothing more where filters leave both out.  Costs what
 * posixtrace_system_wanted() costs where no stream traces the process, else a nanosecond
 * more; false for ids that are not in the list.
 * Async-signal-safe, thread-safe, no cancellation point, leaves errno alone.
 */
bool posixtrace_system_wants(trace_event_id_t before, trace_event_id_t after);

/*
 * A number for the streams that want events of the type now: 0 where none does, and another one
 * where a stream has begun or ended to trace the process, and in a forked child.  For a caller that
 * records an event once in each stream.  Costs a few nanoseconds; until the process has called the
 * library it is a number of its own.  0 for an id that is not in the list.
 * Async-signal-safe, thread-safe, no cancellation point, leaves errno alone.
 */
uint64_t posixtrace_system_streams(trace_event_id_t id);

/*
 * Stores in *set the types above that belong to groups, words with commas between them: switches,
 * locks, io, sleep, threads, signals, functions; calls for all of these but switches, and all.
 * posixtrace_descriptor belongs to io and to locks.  EINVAL: a NULL pointer, or another word.
 * Thread-safe, async-signal-safe.
 */
int posixtrace_eventset_system(const char *groups, trace_event_set_t *set);

/*
 * A thread of this process, the calling one or another, has been given another name
 * (pthread_setname_np(), prctl(PR_SET_NAME)): streams that trace the process show it by that name
 * from now on, for all its events.  Without this call they find out within a second, and not at
 * all if the process ends before by a signal, _exit() or exec.  libposixtrace-preload.so makes it.
 * Some system calls for each thread and stream that it concerns; of a thread that has recorded
 * nothing, and in a signal handler that has interrupted an event, it does nothing.
 * Async-signal-safe, thread-safe, no cancellation point, leaves errno alone.
 */
void posixtrace_thread_renamed(pthread_t thread);

#ifdef __cplusplus
}
#endif
#endif
