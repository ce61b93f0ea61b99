/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* posixtrace/info.h: information about a stream or log, and its losses. */
#include <posixtrace/info.h>
#include "api/guard.h"
#include "api/sized.h"
#include "control/control.h"
#include "control/info.h"
#include "control/sequence.h"

PT_PUBLIC const char *posixtrace_loss_cause_text(unsigned cause)
{
    static const char *const text[] = {
        [POSIXTRACE_LOST_FULL] = "stream full",
        [POSIXTRACE_LOST_OVERWRITTEN] = "overwritten in the stream",
        [POSIXTRACE_LOST_NO_MEMORY] = "no memory for the thread",
        [POSIXTRACE_LOST_NESTED] = "signal handlers nested too deep",
        [POSIXTRACE_LOST_LOG_FULL] = "log full",
        [POSIXTRACE_LOST_LOG_OVERWRITTEN] = "overwritten in the log",
        [POSIXTRACE_LOST_LOG_ERROR] = "log could not be written",
        [POSIXTRACE_LOST_SWITCHES] = "switches lost by the kernel",
    };

    return cause < sizeof text / sizeof text[0] ? text[cause] : "unknown cause";
}

PT_PUBLIC int posixtrace_lost(trace_id_t trid, unsigned cause, uint64_t *events)
{
    struct posixtrace_info info;
    struct pt_guard g;
    int r;

    if (!events || !pt_guard_enter(&g, trid, PT_STREAM_ANY))
        return EINVAL;
    r = cause > POSIXTRACE_LOST_SWITCHES ? -ENOENT : pt_stream_info(g.s, &info);
    if (r == 0)
        *events = info.lost[cause];
    return pt_guard_leave(&g, r);
}

PT_PUBLIC int posixtrace_get_info(trace_id_t trid, struct posixtrace_info *info, size_t size)
{
    struct posixtrace_info i;
    struct pt_guard g;
    int r;

    if (!info || size == 0 || !pt_guard_enter(&g, trid, PT_STREAM_ANY))
        return EINVAL;
    r = pt_stream_info(g.s, &i);
    if (r == 0)
        pt_sized_copy(info, size, &i, sizeof i);
    return pt_guard_leave(&g, r);
}

PT_PUBLIC int posixtrace_get_limits(trace_id_t trid, struct posixtrace_limits *limits, size_t size)
{
    struct posixtrace_limits l;
    struct pt_guard g;

    if (!limits || size == 0 || !pt_guard_enter(&g, trid, PT_STREAM_ANY))
        return EINVAL;
    pt_stream_limits(g.s, &l);
    pt_sized_copy(limits, size, &l, sizeof l);
    return pt_guard_leave(&g, 0);
}

PT_PUBLIC int posixtrace_outlived(trace_id_t trid, bool *outlived)
{
    struct pt_guard g;

    if (!outlived || !pt_guard_enter(&g, trid, PT_STREAM_RECORDED))
        return EINVAL;
    pthread_mutex_lock(&g.s->reading);
    *outlived = g.s->pieces ? pt_sequence_outlived(g.s) : pt_log_reader_outlived(g.s->log);
    pthread_mutex_unlock(&g.s->reading);
    return pt_guard_leave(&g, 0);
}

PT_PUBLIC int posixtrace_threadlist_getnext(trace_id_t trid, struct posixtrace_thread_info *thread,
                                            size_t size, int *unavailable)
{
    struct posixtrace_thread_info t;
    struct pt_guard g;
    int r;

    if (!thread || size == 0 || !unavailable || !pt_guard_enter(&g, trid, PT_STREAM_ANY))
        return EINVAL;
    r = pt_stream_next_thread(g.s, &t);
    if (r == 1)
        pt_sized_copy(thread, size, &t, sizeof t);
    *unavailable = r != 1;
    return pt_guard_leave(&g, r);
}

PT_PUBLIC int posixtrace_threadlist_rewind(trace_id_t trid)
{
    struct pt_guard g;

    if (!pt_guard_enter(&g, trid, PT_STREAM_ANY))
        return EINVAL;
    pt_stream_rewind_threads(g.s);
    return pt_guard_leave(&g, 0);
}

PT_PUBLIC int posixtrace_event_count(trace_id_t trid, trace_event_id_t event, uint64_t *count)
{
    struct pt_guard g;
    int r;

    if (!count || !pt_guard_enter(&g, trid, PT_STREAM_RECORDED))
        return EINVAL;
    pthread_mutex_lock(&g.s->reading);
    r = -EINVAL;
    if (pt_stream_name(g.s, event))
        r = g.s->pieces ? pt_sequence_count(g.s, event, count)
                        : pt_log_reader_count(g.s->log, event, count);
    pthread_mutex_unlock(&g.s->reading);
    return pt_guard_leave(&g, r);
}
