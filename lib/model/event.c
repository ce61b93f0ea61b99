/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The names of the predefined event types, as the standard's tables 2-4 to 2-7
 * spell them, and of the system types of posixtrace/system.h.  They cannot be
 * opened by programs under another id.
 */
#include <posixtrace/system.h>
#include "model/calls.h"
#include "model/event.h"

static const char *const names[PT_ID_OWN_LAST + 1] = {
    [POSIX_TRACE_START] = "posix_trace_start",
    [POSIX_TRACE_STOP] = "posix_trace_stop",
    [POSIX_TRACE_FILTER] = "posix_trace_filter",
    [POSIX_TRACE_OVERFLOW] = "posix_trace_overflow",
    [POSIX_TRACE_RESUME] = "posix_trace_resume",
    [POSIX_TRACE_FLUSH_START] = "posix_trace_flush_start",
    [POSIX_TRACE_FLUSH_STOP] = "posix_trace_flush_stop",
    [POSIX_TRACE_ERROR] = "posix_trace_error",
    [POSIXTRACE_SWITCH_IN] = "posixtrace_switch_in",
    [POSIXTRACE_SWITCH_OUT] = "posixtrace_switch_out",
    [POSIXTRACE_SWITCH_PREEMPTED] = "posixtrace_switch_preempted",
    [POSIXTRACE_CPU_TIME] = "posixtrace_cpu_time",
    [POSIXTRACE_MUTEX_LOCK] = "posixtrace_mutex_lock",
    [POSIXTRACE_MUTEX_LOCKED] = "posixtrace_mutex_locked",
    [POSIXTRACE_MUTEX_UNLOCK] = "posixtrace_mutex_unlock",
    [POSIXTRACE_RWLOCK_LOCK] = "posixtrace_rwlock_lock",
    [POSIXTRACE_RWLOCK_LOCKED] = "posixtrace_rwlock_locked",
    [POSIXTRACE_RWLOCK_UNLOCK] = "posixtrace_rwlock_unlock",
    [POSIXTRACE_COND_WAIT] = "posixtrace_cond_wait",
    [POSIXTRACE_COND_WOKEN] = "posixtrace_cond_woken",
    [POSIXTRACE_COND_SIGNAL] = "posixtrace_cond_signal",
    [POSIXTRACE_SEM_WAIT] = "posixtrace_sem_wait",
    [POSIXTRACE_SEM_TAKEN] = "posixtrace_sem_taken",
    [POSIXTRACE_SEM_POST] = "posixtrace_sem_post",
    [POSIXTRACE_BARRIER_WAIT] = "posixtrace_barrier_wait",
    [POSIXTRACE_BARRIER_PASSED] = "posixtrace_barrier_passed",
    [POSIXTRACE_SLEEP] = "posixtrace_sleep",
    [POSIXTRACE_SLEEP_DONE] = "posixtrace_sleep_done",
    [POSIXTRACE_TIMER_SET] = "posixtrace_timer_set",
    [POSIXTRACE_THREAD_CREATE] = "posixtrace_thread_create",
    [POSIXTRACE_THREAD_BEGIN] = "posixtrace_thread_begin",
    [POSIXTRACE_THREAD_END] = "posixtrace_thread_end",
    [POSIXTRACE_SIGNAL_BEGIN] = "posixtrace_signal_begin",
    [POSIXTRACE_SIGNAL_END] = "posixtrace_signal_end",
    [POSIXTRACE_IO] = "posixtrace_io",
    [POSIXTRACE_IO_DONE] = "posixtrace_io_done",
    [POSIXTRACE_POLL] = "posixtrace_poll",
    [POSIXTRACE_POLL_DONE] = "posixtrace_poll_done",
    [POSIXTRACE_FILE_LOCK] = "posixtrace_file_lock",
    [POSIXTRACE_FILE_LOCKED] = "posixtrace_file_locked",
    [POSIXTRACE_FUTEX_WAIT] = "posixtrace_futex_wait",
    [POSIXTRACE_FUTEX_WOKEN] = "posixtrace_futex_woken",
    [POSIXTRACE_THREAD_JOIN] = "posixtrace_thread_join",
    [POSIXTRACE_THREAD_JOINED] = "posixtrace_thread_joined",
    [POSIXTRACE_CHILD_WAIT] = "posixtrace_child_wait",
    [POSIXTRACE_CHILD_WAITED] = "posixtrace_child_waited",
    [POSIXTRACE_SIGNAL_WAIT] = "posixtrace_signal_wait",
    [POSIXTRACE_SIGNAL_TAKEN] = "posixtrace_signal_taken",
    [POSIXTRACE_DESCRIPTOR] = "posixtrace_descriptor",
    [POSIXTRACE_LONG_CALL] = "posixtrace_long_call",
    [POSIXTRACE_WAITING] = "posixtrace_waiting",
    [POSIXTRACE_STACK] = "posixtrace_stack",
    [POSIXTRACE_FUNCTION_ENTER] = "posixtrace_function_enter",
    [POSIXTRACE_FUNCTION_EXIT] = "posixtrace_function_exit",
    [POSIXTRACE_CONNECTION] = "posixtrace_connection",
    [POSIXTRACE_EPOLL_SET] = "posixtrace_epoll_set",
    [POSIXTRACE_READY] = "posixtrace_ready",
    [POSIXTRACE_CONTEXT] = "posixtrace_context",
};
_Static_assert(PT_ID_OWN_FIRST == POSIXTRACE_SWITCH_IN && PT_ID_OWN_LAST == POSIXTRACE_CONTEXT &&
                   PT_ID_CPU_TIME == POSIXTRACE_CPU_TIME,
               "the first and the last of them, and one");

const char *pt_event_system_name(uint32_t id)
{
    if (id == POSIX_TRACE_UNNAMED_USEREVENT)
        return "posix_trace_unnamed_userevent";
    return id <= PT_ID_OWN_LAST ? names[id] : NULL;
}

/* Readers get this data in the order of their own machine. */
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define OF(fields) "be; " fields
#else
#define OF(fields) fields
#endif
#define CALLER "x64 caller"
#define CPU    OF("u32 cpu")
#define OBJECT OF("x64 object; " CALLER)
#define DONE   OF("x64 object; i64 error")
#define THREAD OF("x64 thread")
#define NUMBER OF("u32 number")

/* The lists of model/calls.h as texts: each group begins with its first number. */
#define TEXT_FIRST(name, number, start) #name start
#define TEXT_NEXT(name, number)         ", " #name
#define IO_NAMES                        PT_CALLS_IO(TEXT_FIRST, TEXT_NEXT)
#define POLL_NAMES                      PT_CALLS_POLL(TEXT_FIRST, TEXT_NEXT)
#define LOCK_NAMES                      PT_CALLS_LOCK(TEXT_FIRST, TEXT_NEXT)
#define CHILD_NAMES                     PT_CALLS_CHILD(TEXT_FIRST, TEXT_NEXT)
#define SIGNAL_NAMES                    PT_CALLS_SIGNAL(TEXT_FIRST, TEXT_NEXT)

#define CALL(names, number) "u32 call {" names "}; i32 " number "; "
#define IO_CALLS            CALL(IO_NAMES, "descriptor")
#define POLL_CALLS          CALL(POLL_NAMES, "descriptor")
#define LOCK_CALLS          CALL(LOCK_NAMES, "descriptor")
#define CHILD_CALLS         CALL(CHILD_NAMES, "pid")
#define SIGNAL_CALLS        CALL(SIGNAL_NAMES, "zero")
#define ALL_CALLS                                                               \
    IO_NAMES ", " POLL_NAMES ", " LOCK_NAMES ", " CHILD_NAMES ", " SIGNAL_NAMES \
             ", none = 4294967295"
#define TYPES                                                                               \
    "mutex_lock = 20, rwlock_lock = 23, cond_wait = 26, sem_wait = 29, barrier_wait = 32, " \
    "sleep = 34, io = 42, poll = 44, file_lock = 46, futex_wait = 48, thread_join = 50, "   \
    "child_wait = 52, signal_wait = 54"
_Static_assert(POSIXTRACE_CALL_RENAMEAT2 == 44 && POSIXTRACE_CALL_POLL == 64 &&
                   POSIXTRACE_CALL_EPOLL_PWAIT2 == 70 && POSIXTRACE_CALL_FLOCK == 80 &&
                   POSIXTRACE_CALL_LOCKF == 82 && POSIXTRACE_CALL_WAIT == 88 &&
                   POSIXTRACE_CALL_WAITID == 92 && POSIXTRACE_CALL_SIGWAIT == 96 &&
                   POSIXTRACE_CALL_PAUSE == 100,
               "model/calls.h");

#define NAME_FIRST(name, number, start) [POSIXTRACE_CALL_##number] = #name,
#define NAME_NEXT(name, number)         [POSIXTRACE_CALL_##number] = #name,

static const char *const calls[] = { PT_CALLS_ALL(NAME_FIRST, NAME_NEXT) };

const char *pt_event_call_name(uint32_t call)
{
    return call < sizeof calls / sizeof calls[0] ? calls[call] : NULL;
}

static const char *const descriptions[PT_ID_OWN_LAST + 1] = {
    [POSIXTRACE_SWITCH_IN] = CPU,
    [POSIXTRACE_SWITCH_OUT] = CPU,
    [POSIXTRACE_SWITCH_PREEMPTED] = CPU,
    [POSIXTRACE_CPU_TIME] = OF("u64 run; u64 more"),
    [POSIXTRACE_MUTEX_LOCK] = OBJECT,
    [POSIXTRACE_MUTEX_LOCKED] = DONE,
    [POSIXTRACE_MUTEX_UNLOCK] = OBJECT,
    [POSIXTRACE_RWLOCK_LOCK] = OBJECT,
    [POSIXTRACE_RWLOCK_LOCKED] = DONE,
    [POSIXTRACE_RWLOCK_UNLOCK] = OBJECT,
    [POSIXTRACE_COND_WAIT] = OBJECT,
    [POSIXTRACE_COND_WOKEN] = DONE,
    [POSIXTRACE_COND_SIGNAL] = OBJECT,
    [POSIXTRACE_SEM_WAIT] = OBJECT,
    [POSIXTRACE_SEM_TAKEN] = DONE,
    [POSIXTRACE_SEM_POST] = OBJECT,
    [POSIXTRACE_BARRIER_WAIT] = OBJECT,
    [POSIXTRACE_BARRIER_PASSED] = DONE,
    [POSIXTRACE_SLEEP] = OF("u64 zero; i64 due; " CALLER),
    [POSIXTRACE_SLEEP_DONE] = OF("u64 zero; i64 due"),
    [POSIXTRACE_TIMER_SET] = OF("x64 timer; i64 due; " CALLER),
    [POSIXTRACE_THREAD_CREATE] = OF("x64 thread; " CALLER),
    [POSIXTRACE_THREAD_BEGIN] = THREAD,
    [POSIXTRACE_THREAD_END] = THREAD,
    [POSIXTRACE_SIGNAL_BEGIN] = NUMBER,
    [POSIXTRACE_SIGNAL_END] = NUMBER,
    [POSIXTRACE_IO] = OF(IO_CALLS CALLER),
    [POSIXTRACE_IO_DONE] = OF(IO_CALLS "i64 result"),
    [POSIXTRACE_POLL] = OF(POLL_CALLS "u64 count; i64 timeout; " CALLER),
    [POSIXTRACE_POLL_DONE] = OF(POLL_CALLS "i64 result"),
    [POSIXTRACE_FILE_LOCK] = OF(LOCK_CALLS "u32 mode {shared, exclusive, unlock, test}; "
                                           "u32 waits {no, yes}; " CALLER),
    [POSIXTRACE_FILE_LOCKED] = OF(LOCK_CALLS "i64 result"),
    [POSIXTRACE_FUTEX_WAIT] = OBJECT,
    [POSIXTRACE_FUTEX_WOKEN] = DONE,
    [POSIXTRACE_THREAD_JOIN] = OF("x64 thread; " CALLER),
    [POSIXTRACE_THREAD_JOINED] = OF("x64 thread; i64 error"),
    [POSIXTRACE_CHILD_WAIT] = OF(CHILD_CALLS CALLER),
    [POSIXTRACE_CHILD_WAITED] = OF(CHILD_CALLS "i64 result"),
    [POSIXTRACE_SIGNAL_WAIT] = OF(SIGNAL_CALLS CALLER),
    [POSIXTRACE_SIGNAL_TAKEN] = OF(SIGNAL_CALLS "i64 result"),
    [POSIXTRACE_DESCRIPTOR] = OF("i32 descriptor; u32 kind {other, file, directory, pipe, "
                                 "socket, tty, device, eventfd, timerfd, signalfd, epoll, "
                                 "inotify}; str name"),
    [POSIXTRACE_LONG_CALL] = OF("u32 type {" TYPES "}; u32 call {" ALL_CALLS "}; x64 object; "
                                "i64 result; i64 duration; " CALLER),
    [POSIXTRACE_WAITING] = OF("u32 type {" TYPES "}; u32 call {" ALL_CALLS "}; x64 object; "
                              "i64 duration; " CALLER),
    [POSIXTRACE_STACK] = OF("x64:u16 frames"),
    [POSIXTRACE_FUNCTION_ENTER] = OF("x64 function; " CALLER),
    [POSIXTRACE_FUNCTION_EXIT] = OF("x64 function"),
    [POSIXTRACE_CONNECTION] = OF("i32 descriptor; u32 kind {tcp, unix}; x64 space; str own; "
                                 "str peer"),
    [POSIXTRACE_EPOLL_SET] = OF("i32 epoll; i32 descriptor; u32 operation {add = 1, del, mod}; "
                                "x32 events; x64 data"),
    [POSIXTRACE_READY] = OF("i32 epoll; u32 result; x64:u16 which; x16:u16 events"),
    [POSIXTRACE_CONTEXT] = OF("str[32] trace_id; str[16] span_id; x8 flags"),
};

const char *pt_event_system_description(uint32_t id)
{
    return id <= PT_ID_OWN_LAST ? descriptions[id] : NULL;
}

/* Logs of 0.1, and those made by tools that write its data, have no descriptions of these types. */
const char *pt_event_system_undescribed(uint32_t id)
{
    switch (id) {
    case POSIXTRACE_MUTEX_LOCK:
    case POSIXTRACE_MUTEX_UNLOCK:
    case POSIXTRACE_RWLOCK_LOCK:
    case POSIXTRACE_RWLOCK_UNLOCK:
    case POSIXTRACE_COND_WAIT:
    case POSIXTRACE_COND_SIGNAL:
    case POSIXTRACE_SEM_WAIT:
    case POSIXTRACE_SEM_POST:
    case POSIXTRACE_BARRIER_WAIT: return OF("x64 object");
    case POSIXTRACE_SLEEP: return OF("u64 zero; i64 due");
    case POSIXTRACE_TIMER_SET: return OF("x64 timer; i64 due");
    case POSIXTRACE_THREAD_CREATE: return THREAD;
    default: return pt_event_system_description(id);
    }
}
