/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Attributes objects: life cycle and identification.
 *
 * An object that was never initialised, or was destroyed, is recognised by its
 * magic word and answered with EINVAL, as a null pointer is.
 */
#include <errno.h>
#include <string.h>
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

/* exactly the text and its NUL are written, whatever the buffer's size. */
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
