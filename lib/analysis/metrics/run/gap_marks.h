/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The events of a stream that mark where events are missing: STOP to START, OVERFLOW to RESUME.
 */
#ifndef PT_METRICS_GAP_MARKS_H
#define PT_METRICS_GAP_MARKS_H

#include <stdbool.h>
#include <stdint.h>
#include <trace.h>

/* Gaps whose begin was read, and not yet their end. */
struct pt_gap_marks {
    bool overflow, stop;
};
/* Takes the next START, STOP, OVERFLOW or RESUME; others do nothing.  True: a gap ends whose begin
 * the log does not have: a LOOP log gives it up, a filter leaves it out.  Then nothing is left of
 * the gap, and it is after the event before. */
bool pt_gap_marks_lack_begin(struct pt_gap_marks *marks, trace_event_id_t id);
/* In place of that event's time: there is none, or the reader has reported a gap after it. */
#define PT_NONE_BEFORE INT64_MIN

#endif
