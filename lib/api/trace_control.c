/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* posix_trace_start, _stop, _get_filter, _set_filter, _get_attr, _get_status. */
#include <string.h>
#include "api/guard.h"
#include "control/control.h"
#include "control/sequence.h"

PT_PUBLIC int posix_trace_start(trace_id_t trid)
{
    struct pt_guard g;

    if (!pt_guard_enter(&g, trid, PT_LIVING_STREAMS))
        return EINVAL;
    return pt_guard_leave(&g, pt_stream_start(g.s, pt_caller()));
}

PT_PUBLIC int posix_trace_stop(trace_id_t trid)
{
    struct pt_guard g;

    if (!pt_guard_enter(&g, trid, PT_LIVING_STREAMS))
        return EINVAL;
    return pt_guard_leave(&g, pt_stream_stop(g.s, pt_caller()));
}

PT_PUBLIC int posix_trace_get_filter(trace_id_t trid, trace_event_set_t *set)
{
    struct pt_guard g;

    if (!set || !pt_guard_enter(&g, trid, PT_LIVING_STREAMS))
        return EINVAL;
    pt_seg_filter_copy(g.s->seg->h, (struct pt_set *)(void *)set);
    return pt_guard_leave(&g, 0);
}

PT_PUBLIC int posix_trace_set_filter(trace_id_t trid, const trace_event_set_t *set, int how)
{
    const struct pt_set *s = pt_set_get(set);
    struct pt_guard g;

    if (!s || !pt_guard_enter(&g, trid, PT_LIVING_STREAMS))
        return EINVAL;
    return pt_guard_leave(&g, pt_stream_set_filter(g.s, s, how, pt_caller()));
}

PT_PUBLIC int posix_trace_get_attr(trace_id_t trid, trace_attr_t *attr)
{
    const struct pt_attr *from;
    struct pt_guard g;

    if (!attr || !pt_guard_enter(&g, trid, PT_STREAM_ANY))
        return EINVAL;
    from = g.s->log ? &pt_log_reader_params(g.s->log)->attr : &g.s->seg->g.attr;
    memset(attr, 0, sizeof *attr);
    memcpy(attr, from, sizeof *from);
    ((struct pt_attr *)(void *)attr)->magic = PT_ATTR_MAGIC;
    return pt_guard_leave(&g, 0);
}

PT_PUBLIC int posix_trace_get_status(trace_id_t trid, struct posix_trace_status_info *statusinfo)
{
    struct pt_guard g;

    if (!statusinfo || !pt_guard_enter(&g, trid, PT_STREAM_ANY))
        return EINVAL;
    if (g.s->log) {
        pthread_mutex_lock(&g.s->reading);
        if (g.s->pieces)
            pt_sequence_status(g.s, statusinfo);
        else
            pt_log_reader_status(g.s->log, statusinfo);
        pthread_mutex_unlock(&g.s->reading);
    } else {
        pt_stream_status(g.s, statusinfo);
    }
    return pt_guard_leave(&g, 0);
}
