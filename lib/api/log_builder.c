/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* posixtrace_log_builder_*: making a log of events from elsewhere. */
#include <errno.h>
#include "base/atomics.h"
#include "log/builder.h"

/* A pointer to the public type is a pointer to the inner one. */
static struct pt_log_builder *inner(posixtrace_log_builder_t *builder)
{
    return (struct pt_log_builder *)(void *)builder;
}

PT_PUBLIC int posixtrace_log_builder_open(int fd, const trace_attr_t *attr,
                                          posixtrace_log_builder_t **builder)
{
    const struct pt_attr *a = pt_attr_get(attr);
    struct pt_log_builder *b;
    int error;

    if (!builder || (attr && (!a || pt_attr_check(a, true) != 0)))
        return EINVAL;
    error = pt_log_builder_new(&b, fd, a);
    if (!error)
        *builder = (posixtrace_log_builder_t *)(void *)b;
    return -error;
}

PT_PUBLIC int posixtrace_log_builder_add(posixtrace_log_builder_t *builder,
                                         const struct posixtrace_event *event)
{
    return builder && event ? -pt_log_builder_add(inner(builder), event) : EINVAL;
}

PT_PUBLIC int posixtrace_log_builder_finish(posixtrace_log_builder_t *builder)
{
    return builder ? -pt_log_builder_finish(inner(builder)) : EINVAL;
}
