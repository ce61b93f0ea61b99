/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * How the attribute setters work: the object is copied, the copy changed and
 * checked as a whole, and only a good copy is stored.  So no setter knows what
 * values are valid, and a refused one leaves the object as it was.
 */
#ifndef PT_API_ATTR_CHANGE_H
#define PT_API_ATTR_CHANGE_H

#include <errno.h>
#include "model/attr.h"

/* A copy to change; false: attr was never initialised. */
static inline bool attr_begin(trace_attr_t *attr, struct pt_attr *copy)
{
    const struct pt_attr *a = pt_attr_get(attr);

    if (a)
        *copy = *a;
    return a != NULL;
}

/* What the setter returns.  A FLUSH policy is good here: whether there will be
 * a log is not known yet. */
static inline int attr_commit(trace_attr_t *attr, const struct pt_attr *copy)
{
    if (pt_attr_check(copy, true) < 0)
        return EINVAL;
    *pt_attr_get_mutable(attr) = *copy;
    return 0;
}

#endif
