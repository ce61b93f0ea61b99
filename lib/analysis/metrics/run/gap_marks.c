/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
#include "analysis/metrics/run/gap_marks.h"

bool pt_gap_marks_lack_begin(struct pt_gap_marks *marks, trace_event_id_t id)
{
    bool full = id == POSIX_TRACE_OVERFLOW || id == POSIX_TRACE_RESUME;
    bool *open = full ? &marks->overflow : &marks->stop, was_open = *open;

    if (!full && id != POSIX_TRACE_STOP && id != POSIX_TRACE_START)
        return false;
    *open = id == POSIX_TRACE_OVERFLOW || id == POSIX_TRACE_STOP;
    return !*open && !was_open;
}
