/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* Attributes objects: how the log is compressed. */
#include <posixtrace/attr.h>
#include "api/attr_change.h"
#include "base/atomics.h"
#include "log/pack.h"

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
