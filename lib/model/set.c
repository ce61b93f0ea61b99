/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Event sets.  Only bits of ids that can name an event type are ever set: the
 * system types that have a name and the whole user range.  So two sets are equal exactly when their
 * bytes are equal, and a filter recorded in an event contains no ids that do not exist.
 */
#include <string.h>
#include "base/assert.h"
#include "model/set.h"

void pt_set_copy(struct pt_set *to, const struct pt_set *from)
{
    to->magic = PT_SET_MAGIC;
    for (unsigned i = 0; i < PT_SET_WORDS; i++)
        pt_store_relaxed(&to->bits[i], pt_load_relaxed(&from->bits[i]));
}

void pt_set_empty(struct pt_set *s)
{
    memset(s->bits, 0, sizeof s->bits);
    s->magic = PT_SET_MAGIC;
}

void pt_set_add(struct pt_set *s, uint32_t id)
{
    pt_assert_call(id < PT_ID_MAX);
    s->bits[id / 32] |= 1u << (id % 32);
}

void pt_set_del(struct pt_set *s, uint32_t id)
{
    pt_assert_call(id < PT_ID_MAX);
    s->bits[id / 32] &= ~(1u << (id % 32));
}

static void add_range(struct pt_set *s, uint32_t first, uint32_t last)
{
    for (uint32_t id = first; id <= last; id++)
        pt_set_add(s, id);
}

bool pt_set_fill(struct pt_set *s, int what)
{
    if (what != POSIX_TRACE_WOPID_EVENTS && what != POSIX_TRACE_SYSTEM_EVENTS &&
        what != POSIX_TRACE_ALL_EVENTS)
        return false;
    pt_set_empty(s);
    if (what == POSIX_TRACE_WOPID_EVENTS) {
        pt_set_add(s, POSIX_TRACE_OVERFLOW);
        pt_set_add(s, POSIX_TRACE_RESUME);
        pt_set_add(s, POSIX_TRACE_ERROR);
        return true;
    }
    add_range(s, 1, PT_ID_SYSTEM_LAST);
    for (uint32_t id = PT_ID_OWN_FIRST; id <= PT_ID_OWN_LAST; id++)
        if (pt_event_is_own(id))
            pt_set_add(s, id);
    if (what == POSIX_TRACE_ALL_EVENTS)
        add_range(s, PT_ID_USER_FIRST, PT_ID_MAX - 1);
    return true;
}

bool pt_set_change(struct pt_set *filter, const struct pt_set *change, int how)
{
    if (how != POSIX_TRACE_SET_EVENTSET && how != POSIX_TRACE_ADD_EVENTSET &&
        how != POSIX_TRACE_SUB_EVENTSET)
        return false;
    for (unsigned i = 0; i < PT_SET_WORDS; i++) {
        if (how == POSIX_TRACE_SET_EVENTSET)
            filter->bits[i] = change->bits[i];
        else if (how == POSIX_TRACE_ADD_EVENTSET)
            filter->bits[i] |= change->bits[i];
        else
            filter->bits[i] &= ~change->bits[i];
    }
    return true;
}
