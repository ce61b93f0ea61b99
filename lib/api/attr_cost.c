/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* Attributes objects: what storing an event costs.  Kept as an integer, for files. */
#include <posixtrace/attr.h>
#include "api/attr_change.h"
#include "base/atomics.h"

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
