/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See rkh_job.h. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include "analysis/format/rkh/rkh_job.h"

bool pt_rkh_add(struct pt_job *job, struct pt_rkh_type *type, struct posixtrace_event *event,
                const struct pt_rkh_bytes *data)
{
    char description[POSIXTRACE_DESCRIPTION_MAX + 1];

    if (!type->described && type->count) {
        pt_rkh_type_describe(type, description);
        if (!pt_job_describe(job, type->name, description))
            return false;
    }
    type->described = true;
    event->name = type->name;
    event->data = data->at;
    event->data_len = data->used;
    return pt_job_add(job, event);
}

bool pt_rkh_number_option(struct pt_job *job, const char *name, uint64_t least, uint64_t most,
                          uint64_t *value)
{
    const char *text = pt_job_option(job, name, 0);
    char *end;
    unsigned long long v;

    if (!text)
        return true;
    errno = 0;
    v = strtoull(text, &end, 10);
    if (*text >= '0' && *text <= '9' && !*end && errno == 0 && v >= least && v <= most) {
        *value = v;
        return true;
    }
    pt_job_fail(job, EINVAL, "--%s=%s: a whole number from %" PRIu64 " to %" PRIu64 " is needed",
                name, text, least, most);
    return false;
}
