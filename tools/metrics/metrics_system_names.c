/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The names of system events, apart from what prints: a unit test compares them with the
 * library's.
 */
#include "metrics/metrics_names.h"

#include <string.h>

const char *const metrics_system_names[] = { "posix_trace_unnamed_userevent",
                                             "posixtrace_switch_in",
                                             "posixtrace_switch_out",
                                             "posixtrace_switch_preempted",
                                             "posixtrace_cpu_time",
                                             "posixtrace_mutex_lock",
                                             "posixtrace_mutex_locked",
                                             "posixtrace_mutex_unlock",
                                             "posixtrace_rwlock_lock",
                                             "posixtrace_rwlock_locked",
                                             "posixtrace_rwlock_unlock",
                                             "posixtrace_cond_wait",
                                             "posixtrace_cond_woken",
                                             "posixtrace_cond_signal",
                                             "posixtrace_sem_wait",
                                             "posixtrace_sem_taken",
                                             "posixtrace_sem_post",
                                             "posixtrace_barrier_wait",
                                             "posixtrace_barrier_passed",
                                             "posixtrace_sleep",
                                             "posixtrace_sleep_done",
                                             "posixtrace_timer_set",
                                             "posixtrace_thread_create",
                                             "posixtrace_thread_begin",
                                             "posixtrace_thread_end",
                                             "posixtrace_signal_begin",
                                             "posixtrace_signal_end",
                                             "posixtrace_io",
                                             "posixtrace_io_done",
                                             "posixtrace_poll",
                                             "posixtrace_poll_done",
                                             "posixtrace_file_lock",
                                             "posixtrace_file_locked",
                                             "posixtrace_futex_wait",
                                             "posixtrace_futex_woken",
                                             "posixtrace_thread_join",
                                             "posixtrace_thread_joined",
                                             "posixtrace_child_wait",
                                             "posixtrace_child_waited",
                                             "posixtrace_signal_wait",
                                             "posixtrace_signal_taken",
                                             "posixtrace_descriptor",
                                             "posixtrace_long_call",
                                             NULL };

bool metrics_name_is_wrong(const char *event)
{
    if (strncmp(event, "posixtrace_", 11) != 0 && strncmp(event, "posix_trace_", 12) != 0)
        return false;
    for (size_t i = 0; metrics_system_names[i]; i++)
        if (strcmp(event, metrics_system_names[i]) == 0)
            return false;
    return true;
}
