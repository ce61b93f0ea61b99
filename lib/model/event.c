/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The names of the predefined event types, as the standard's tables 2-4 to 2-7
 * spell them, and of the system types of posixtrace/system.h.  They cannot be
 * opened by programs under another id.
 */
#include <posixtrace/system.h>
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
};
_Static_assert(PT_ID_OWN_FIRST == POSIXTRACE_SWITCH_IN && PT_ID_OWN_LAST == POSIXTRACE_SIGNAL_END &&
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
#define CPU    OF("u32 cpu")
#define OBJECT OF("x64 object")
#define DONE   OF("x64 object; i64 error")
#define DUE    OF("u64 zero; i64 due")
#define THREAD OF("x64 thread")
#define NUMBER OF("u32 number")

const char *pt_event_system_description(uint32_t id)
{
    static const char *const text[PT_ID_OWN_LAST + 1] = {
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
        [POSIXTRACE_SLEEP] = DUE,
        [POSIXTRACE_SLEEP_DONE] = DUE,
        [POSIXTRACE_TIMER_SET] = OF("x64 timer; i64 due"),
        [POSIXTRACE_THREAD_CREATE] = THREAD,
        [POSIXTRACE_THREAD_BEGIN] = THREAD,
        [POSIXTRACE_THREAD_END] = THREAD,
        [POSIXTRACE_SIGNAL_BEGIN] = NUMBER,
        [POSIXTRACE_SIGNAL_END] = NUMBER,
    };

    return id <= PT_ID_OWN_LAST ? text[id] : NULL;
}
