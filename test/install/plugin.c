/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The part of two_copies that is linked to the shared library.  It does not
 * create a stream; it only has an event type of its own and records.
 */
#include <trace.h>

int plugin_record(int times);

int plugin_record(int times)
{
    trace_event_id_t id;
    int error = posix_trace_eventid_open("from plugin", &id);

    for (int i = 0; i < times && !error; i++)
        posix_trace_event(id, "from plugin", 11);
    return error;
}
