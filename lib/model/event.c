/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The names of the predefined event types, as the standard's tables 2-4 to 2-7
 * spell them.  They are part of every stream and log and cannot be opened by
 * programs under another id.
 */
#include "model/event.h"

static const char *const names[PT_ID_SYSTEM_LAST + 1] = {
    [POSIX_TRACE_START] = "posix_trace_start",
    [POSIX_TRACE_STOP] = "posix_trace_stop",
    [POSIX_TRACE_FILTER] = "posix_trace_filter",
    [POSIX_TRACE_OVERFLOW] = "posix_trace_overflow",
    [POSIX_TRACE_RESUME] = "posix_trace_resume",
    [POSIX_TRACE_FLUSH_START] = "posix_trace_flush_start",
    [POSIX_TRACE_FLUSH_STOP] = "posix_trace_flush_stop",
    [POSIX_TRACE_ERROR] = "posix_trace_error",
};

const char *pt_event_system_name(uint32_t id)
{
    if (id == POSIX_TRACE_UNNAMED_USEREVENT)
        return "posix_trace_unnamed_userevent";
    return id <= PT_ID_SYSTEM_LAST ? names[id] : NULL;
}
