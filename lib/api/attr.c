/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* posixtrace/attr.h: attributes beyond the standard, and the result of requesting switches. */
#include <posixtrace/attr.h>
#include "api/attr_change.h"
#include "api/guard.h"
#include "base/atomics.h"
#include "flush/thread.h"
#include "log/pack.h"

PT_PUBLIC int posixtrace_attr_setswitches(trace_attr_t *attr, bool switches)
{
    struct pt_attr copy;

    if (!attr_begin(attr, &copy))
        return EINVAL;
    copy.switches = switches;
    return attr_commit(attr, &copy);
}

PT_PUBLIC int posixtrace_attr_getswitches(const trace_attr_t *attr, bool *switches)
{
    const struct pt_attr *a = pt_attr_get(attr);

    if (!a || !switches)
        return EINVAL;
    *switches = a->switches;
    return 0;
}

PT_PUBLIC int posixtrace_attr_setswitchbuffer(trace_attr_t *attr, size_t bytes)
{
    struct pt_attr copy;

    if (!attr_begin(attr, &copy))
        return EINVAL;
    copy.switch_buffer = bytes;
    return attr_commit(attr, &copy);
}

PT_PUBLIC int posixtrace_attr_getswitchbuffer(const trace_attr_t *attr, size_t *bytes)
{
    const struct pt_attr *a = pt_attr_get(attr);

    if (!a || !bytes)
        return EINVAL;
    *bytes = (size_t)a->switch_buffer;
    return 0;
}

PT_PUBLIC int posixtrace_stream_switchbuffer(trace_id_t trid, size_t *bytes)
{
    struct pt_guard g;

    if (!bytes || !pt_guard_enter(&g, trid, PT_OWN_STREAMS))
        return EINVAL;
    *bytes = g.s->flusher ? (size_t)pt_flusher_switch_buffer(g.s->flusher) : 0;
    return pt_guard_leave(&g, 0);
}

PT_PUBLIC int posixtrace_stream_switches(trace_id_t trid, int *refusal)
{
    struct pt_guard g;

    if (!refusal || !pt_guard_enter(&g, trid, PT_OWN_STREAMS))
        return EINVAL;
    *refusal = g.s->flusher ? pt_flusher_switches(g.s->flusher) : ENODATA;
    return pt_guard_leave(&g, 0);
}

PT_PUBLIC int posixtrace_attr_seteventcost(trace_attr_t *attr, double ns)
{
    struct pt_attr copy;

    /* Not a number is not in the range, either. */
    if (!attr_begin(attr, &copy) || !(ns >= 0 && ns <= PT_EVENT_COST_MAX / 1000.0))
        return EINVAL;
    copy.event_cost_ps = (uint64_t)(ns * 1000 + 0.5);
    return attr_commit(attr, &copy);
}

PT_PUBLIC int posixtrace_attr_geteventcost(const trace_attr_t *attr, double *ns)
{
    const struct pt_attr *a = pt_attr_get(attr);

    if (!a || !ns)
        return EINVAL;
    *ns = (double)a->event_cost_ps / 1000;
    return 0;
}

PT_PUBLIC int posixtrace_attr_setcompression(trace_attr_t *attr, int compression)
{
    struct pt_attr copy;
    int error;

    if (!attr_begin(attr, &copy))
        return EINVAL;
    copy.compression = compression;
    error = pt_attr_check(&copy, true);
    if (error == 0 && !pt_pack_available(compression))
        error = -ENOTSUP;
    return error ? -error : attr_commit(attr, &copy);
}

PT_PUBLIC int posixtrace_attr_getcompression(const trace_attr_t *attr, int *compression)
{
    const struct pt_attr *a = pt_attr_get(attr);

    if (!a || !compression)
        return EINVAL;
    *compression = a->compression;
    return 0;
}
