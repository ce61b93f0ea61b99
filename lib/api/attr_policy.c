/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Attributes objects: inheritance and full policies.
 *
 * The stream policy that nobody set means LOOP without a log and FLUSH with
 * one; the getter says LOOP.  Setting it, to LOOP too, ends that.
 */
#include <errno.h>
#include "api/attr_change.h"
#include "base/atomics.h"

static int get_int(const struct pt_attr *a, const int32_t *member, int *to)
{
    if (!a || !to)
        return EINVAL;
    *to = *member;
    return 0;
}

PT_PUBLIC int posix_trace_attr_getinherited(const trace_attr_t *restrict attr,
                                            int *restrict inheritancepolicy)
{
    const struct pt_attr *a = pt_attr_get(attr);

    return get_int(a, a ? &a->inheritance : NULL, inheritancepolicy);
}

PT_PUBLIC int posix_trace_attr_setinherited(trace_attr_t *attr, int inheritancepolicy)
{
    struct pt_attr copy;

    if (!attr_begin(attr, &copy))
        return EINVAL;
    copy.inheritance = inheritancepolicy;
    return attr_commit(attr, &copy);
}

PT_PUBLIC int posix_trace_attr_getlogfullpolicy(const trace_attr_t *restrict attr,
                                                int *restrict logpolicy)
{
    const struct pt_attr *a = pt_attr_get(attr);

    return get_int(a, a ? &a->log_policy : NULL, logpolicy);
}

PT_PUBLIC int posix_trace_attr_setlogfullpolicy(trace_attr_t *attr, int logpolicy)
{
    struct pt_attr copy;

    if (!attr_begin(attr, &copy))
        return EINVAL;
    copy.log_policy = logpolicy;
    return attr_commit(attr, &copy);
}

PT_PUBLIC int posix_trace_attr_getstreamfullpolicy(const trace_attr_t *restrict attr,
                                                   int *restrict streampolicy)
{
    const struct pt_attr *a = pt_attr_get(attr);

    return get_int(a, a ? &a->stream_policy : NULL, streampolicy);
}

PT_PUBLIC int posix_trace_attr_setstreamfullpolicy(trace_attr_t *attr, int streampolicy)
{
    struct pt_attr copy;

    if (!attr_begin(attr, &copy))
        return EINVAL;
    copy.stream_policy = streampolicy;
    copy.policy_is_default = 0;
    return attr_commit(attr, &copy);
}
