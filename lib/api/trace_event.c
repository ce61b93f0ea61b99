/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* posix_trace_event(): the trace point.  The path is in writer/event.h. */
#include "writer/event.h"

PT_PUBLIC void posix_trace_event(trace_event_id_t event_id, const void *restrict data_ptr,
                                 size_t data_len)
{
    pt_event_record(event_id, data_ptr, data_len);
}
