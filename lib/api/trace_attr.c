/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * posix_trace_attr_*: attributes objects of the standard.
 *
 * An object that was never initialised, or was destroyed, is recognised by its
 * magic word and answered with EINVAL, as a null pointer is.
 */
#include <errno.h>
#include <string.h>
#include "api/attr_change.h"
#include "base/atomics.h"
#include "model/attr.h"

PT_PUBLIC int posix_trace_attr_init(trace_attr_t *attr)
{
    if (!attr)
        return EINVAL;
    memset(attr, 0, sizeof *attr);
    pt_attr_init((struct pt_attr *)(void *)attr);
    return 0;
}

PT_PUBLIC int posix_trace_attr_destroy(trace_attr_t *attr)
{
    struct pt_attr *a = pt_attr_get_mutable(attr);

    if (!a)
        return EINVAL;
    a->magic = 0;
    return 0;
}

static struct timespec to_timespec(int64_t ns)
{
    return (struct timespec){ .tv_sec = (time_t)(ns / 1000000000),
                              .tv_nsec = (long)(ns % 1000000000) };
}

PT_PUBLIC int posix_trace_attr_getclockres(const trace_attr_t *attr, struct timespec *resolution)
{
    const struct pt_attr *a = pt_attr_get(attr);

    if (!a || !resolution)
        return EINVAL;
    *resolution = to_timespec((int64_t)a->clock_res_ns);
    return 0;
}

/* An object that did not come from a stream has no creation time. */
PT_PUBLIC int posix_trace_attr_getcreatetime(const trace_attr_t *attr, struct timespec *createtime)
{
    const struct pt_attr *a = pt_attr_get(attr);

    if (!a || !createtime || a->create_ns <= 0)
        return EINVAL;
    *createtime = to_timespec(a->create_ns);
    return 0;
}

/* exactly the text and its NUL are written, for any size of the buffer. */
static int copy_text(char *to, const char *text)
{
    memcpy(to, text, strlen(text) + 1);
    return 0;
}

PT_PUBLIC int posix_trace_attr_getgenversion(const trace_attr_t *attr, char *genversion)
{
    const struct pt_attr *a = pt_attr_get(attr);

    return a && genversion ? copy_text(genversion, a->genversion) : EINVAL;
}

PT_PUBLIC int posix_trace_attr_getname(const trace_attr_t *attr, char *tracename)
{
    const struct pt_attr *a = pt_attr_get(attr);

    return a && tracename ? copy_text(tracename, a->name) : EINVAL;
}

/* a name longer than the limit is cut to one character below it.  The
 * rest of the member is cleared, so that equal names are equal bytes. */
PT_PUBLIC int posix_trace_attr_setname(trace_attr_t *attr, const char *tracename)
{
    struct pt_attr *a = pt_attr_get_mutable(attr);
    size_t length;

    if (!a || !tracename)
        return EINVAL;
    length = strnlen(tracename, TRACE_NAME_MAX + 1);
    if (length > TRACE_NAME_MAX)
        length = TRACE_NAME_MAX - 1;
    memmove(a->name, tracename, length);
    memset(a->name + length, 0, sizeof a->name - length);
    return 0;
}

/*
 * Attributes objects: inheritance and full policies.
 *
 * A stream policy that was never set means LOOP without a log and FLUSH with one; the getter
 * returns LOOP.  A policy that was set, also to LOOP, holds in both cases.
 */
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

/*
 * Attributes objects: sizes in bytes.  The setters store the given values; create may reserve more,
 * which posix_trace_get_attr returns.
 */
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
