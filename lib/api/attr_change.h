/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Attribute setters: a setter copies the object, changes the copy, checks it as a whole, and stores
 * it only if it is valid.  So no setter needs the rules for values, and a refused one does not
 * change the object.
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

/* The result of a setter.  A FLUSH policy is valid here, because it is not known yet whether there
 * will be a log. */
static inline int attr_commit(trace_attr_t *attr, const struct pt_attr *copy)
{
    if (pt_attr_check(copy, true) < 0)
        return EINVAL;
    *pt_attr_get_mutable(attr) = *copy;
    return 0;
}

#endif
