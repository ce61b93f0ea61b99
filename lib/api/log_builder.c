/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* posixtrace_log_builder_*: making a log of events from elsewhere. */
#include <errno.h>
#include <stdlib.h>
#include "base/atomics.h"
#include "log/builder.h"
#include "model/layout.h"

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

PT_PUBLIC int posixtrace_log_builder_describe(posixtrace_log_builder_t *builder,
                                              const char *event_name, const char *description)
{
    struct posixtrace_layout *layout;
    int r;

    if (!builder || !event_name || !description)
        return EINVAL;
    r = pt_layout_read(description, &layout);
    if (r == 0) {
        free(layout);
        r = pt_log_builder_describe(inner(builder), event_name, description);
    }
    return -r;
}

PT_PUBLIC int posixtrace_log_builder_lost(posixtrace_log_builder_t *builder,
                                          const uint64_t lost[POSIXTRACE_LOSS_CAUSES])
{
    if (!builder || !lost)
        return EINVAL;
    pt_log_builder_lost(inner(builder), lost);
    return 0;
}

PT_PUBLIC int posixtrace_log_builder_finish(posixtrace_log_builder_t *builder)
{
    return builder ? -pt_log_builder_finish(inner(builder)) : EINVAL;
}
