/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Attributes objects: sizes in bytes.  The setters keep what they are given;
 * create may reserve more and tells so through posix_trace_get_attr.
 */
#include <errno.h>
#include "api/attr_change.h"
#include "base/atomics.h"

static int get_size(const struct pt_attr *a, uint64_t value, size_t *to)
{
    if (!a || !to)
        return EINVAL;
    *to = value <= SIZE_MAX ? (size_t)value : SIZE_MAX;
    return 0;
}

PT_PUBLIC int posix_trace_attr_getlogsize(const trace_attr_t *restrict attr,
                                          size_t *restrict logsize)
{
    const struct pt_attr *a = pt_attr_get(attr);

    return get_size(a, a ? a->log_size : 0, logsize);
}

PT_PUBLIC int posix_trace_attr_setlogsize(trace_attr_t *attr, size_t logsize)
{
    struct pt_attr copy;

    if (!attr_begin(attr, &copy))
        return EINVAL;
    copy.log_size = logsize;
    return attr_commit(attr, &copy);
}

PT_PUBLIC int posix_trace_attr_getmaxdatasize(const trace_attr_t *restrict attr,
                                              size_t *restrict maxdatasize)
{
    const struct pt_attr *a = pt_attr_get(attr);

    return get_size(a, a ? a->max_data : 0, maxdatasize);
}

PT_PUBLIC int posix_trace_attr_setmaxdatasize(trace_attr_t *attr, size_t maxdatasize)
{
    struct pt_attr copy;

    if (!attr_begin(attr, &copy))
        return EINVAL;
    copy.max_data = maxdatasize;
    return attr_commit(attr, &copy);
}

PT_PUBLIC int posix_trace_attr_getmaxsystemeventsize(const trace_attr_t *restrict attr,
                                                     size_t *restrict eventsize)
{
    const struct pt_attr *a = pt_attr_get(attr);

    return get_size(a, a ? pt_attr_max_system_event(a) : 0, eventsize);
}

PT_PUBLIC int posix_trace_attr_getmaxusereventsize(const trace_attr_t *restrict attr,
                                                   size_t data_len, size_t *restrict eventsize)
{
    const struct pt_attr *a = pt_attr_get(attr);

    return get_size(a, a ? pt_attr_max_user_event(a, data_len) : 0, eventsize);
}

PT_PUBLIC int posix_trace_attr_getstreamsize(const trace_attr_t *restrict attr,
                                             size_t *restrict streamsize)
{
    const struct pt_attr *a = pt_attr_get(attr);

    return get_size(a, a ? a->stream_size : 0, streamsize);
}

PT_PUBLIC int posix_trace_attr_setstreamsize(trace_attr_t *attr, size_t streamsize)
{
    struct pt_attr copy;

    if (!attr_begin(attr, &copy))
        return EINVAL;
    copy.stream_size = streamsize;
    return attr_commit(attr, &copy);
}
