/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Event sets: plain objects, tied to no stream.  A set that was never emptied
 * or filled, and an id that no event type can have, are answered with EINVAL.
 * A user id is taken before its name is opened: the set does not know which
 * process it is for.
 */
#include <errno.h>
#include "base/atomics.h"
#include "model/set.h"

static bool can_be_event_type(trace_event_id_t id)
{
    return pt_event_system_name(id) != NULL || (id >= PT_ID_NAMED_FIRST && id < PT_ID_MAX);
}

static struct pt_set *usable(trace_event_set_t *set)
{
    return pt_set_get(set) ? (struct pt_set *)(void *)set : NULL;
}

PT_PUBLIC int posix_trace_eventset_add(trace_event_id_t event_id, trace_event_set_t *set)
{
    struct pt_set *s = usable(set);

    if (!s || !can_be_event_type(event_id))
        return EINVAL;
    pt_set_add(s, event_id);
    return 0;
}

PT_PUBLIC int posix_trace_eventset_del(trace_event_id_t event_id, trace_event_set_t *set)
{
    struct pt_set *s = usable(set);

    if (!s || !can_be_event_type(event_id))
        return EINVAL;
    pt_set_del(s, event_id);
    return 0;
}

PT_PUBLIC int posix_trace_eventset_empty(trace_event_set_t *set)
{
    if (!set)
        return EINVAL;
    pt_set_empty((struct pt_set *)(void *)set);
    return 0;
}

PT_PUBLIC int posix_trace_eventset_fill(trace_event_set_t *set, int what)
{
    return set && pt_set_fill((struct pt_set *)(void *)set, what) ? 0 : EINVAL;
}

PT_PUBLIC int posix_trace_eventset_ismember(trace_event_id_t event_id,
                                            const trace_event_set_t *restrict set,
                                            int *restrict ismember)
{
    const struct pt_set *s = pt_set_get(set);

    if (!s || !ismember || !can_be_event_type(event_id))
        return EINVAL;
    *ismember = pt_set_has(s, event_id);
    return 0;
}
