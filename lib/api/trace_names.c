/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* posix_trace_eventid_*, _trid_eventid_open, _eventtypelist_*. */
#include <string.h>
#include "api/guard.h"
#include "api/trace_names.h"
#include "control/control.h"
#include "process/exit.h"
#include "process/gates.h"
#include "startup/self_record.h"

static int open_name(struct pt_names *names, const char *name, trace_event_id_t *id)
{
    uint32_t found = 0;
    int r;

    if (strnlen(name, TRACE_EVENT_NAME_MAX + 1) > TRACE_EVENT_NAME_MAX)
        return ENAMETOOLONG;
    r = pt_names_id(names, name, true, &found);
    if (r == 0)
        *id = found;
    return -r;
}

int pt_eventid_open(const char *event_name, trace_event_id_t *event_id, struct pt_self **of)
{
    struct pt_self *self;
    int r;

    if (!event_name || !event_id)
        return EINVAL;
    pt_self_record_begin();
    if (pt_self_make(&self) < 0 || pt_exit_register() < 0)
        return ENOMEM;
    r = open_name(self->names, event_name, event_id);
    *of = self;
    return r;
}

PT_PUBLIC int posix_trace_eventid_open(const char *restrict event_name,
                                       trace_event_id_t *restrict event_id)
{
    struct pt_self *self;
    int r = pt_eventid_open(event_name, event_id, &self);

    if (r == 0)
        pt_gates_named(self, *event_id);
    return r;
}

PT_PUBLIC int posix_trace_trid_eventid_open(trace_id_t trid, const char *restrict event_name,
                                            trace_event_id_t *restrict event)
{
    struct pt_guard g;

    if (!event_name || !event || !pt_guard_enter(&g, trid, PT_LIVING_STREAMS))
        return EINVAL;
    return pt_guard_leave(&g, -open_name(g.s->names, event_name, event));
}

PT_PUBLIC int posix_trace_eventid_equal(trace_id_t trid, trace_event_id_t event1,
                                        trace_event_id_t event2)
{
    (void)trid;
    return event1 == event2;
}

PT_PUBLIC int posix_trace_eventid_get_name(trace_id_t trid, trace_event_id_t event,
                                           char *event_name)
{
    const char *name;
    struct pt_guard g;

    if (!event_name || !pt_guard_enter(&g, trid, PT_STREAM_ANY))
        return EINVAL;
    pthread_mutex_lock(&g.s->reading);
    name = pt_stream_name(g.s, event);
    if (name)
        pt_string_table_copy_out(event_name, name, TRACE_EVENT_NAME_MAX);
    pthread_mutex_unlock(&g.s->reading);
    return pt_guard_leave(&g, name ? 0 : -EINVAL);
}

PT_PUBLIC int posix_trace_eventtypelist_getnext_id(trace_id_t trid,
                                                   trace_event_id_t *restrict event,
                                                   int *restrict unavailable)
{
    struct pt_guard g;
    uint32_t id;

    if (!event || !unavailable || !pt_guard_enter(&g, trid, PT_STREAM_ANY))
        return EINVAL;
    pthread_mutex_lock(&g.s->control);
    pthread_mutex_lock(&g.s->reading);
    for (id = g.s->next_type; id < PT_ID_MAX && !pt_stream_lists(g.s, id); id++)
        ;
    /* An active stream's list may grow: its end is not remembered. */
    if (id < PT_ID_MAX) {
        g.s->next_type = id + 1;
        *event = id;
    }
    *unavailable = id == PT_ID_MAX;
    pthread_mutex_unlock(&g.s->reading);
    pthread_mutex_unlock(&g.s->control);
    return pt_guard_leave(&g, 0);
}

PT_PUBLIC int posix_trace_eventtypelist_rewind(trace_id_t trid)
{
    struct pt_guard g;

    if (!pt_guard_enter(&g, trid, PT_STREAM_ANY))
        return EINVAL;
    pthread_mutex_lock(&g.s->control);
    g.s->next_type = 1;
    pthread_mutex_unlock(&g.s->control);
    return pt_guard_leave(&g, 0);
}
