/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Where the events of a run come from: the one file of this folder that knows more than
 * <trace.h>.  Compiled with PT_METRICS_POSIX it does not, and the metrics run over any
 * implementation of the standard; without kernel thread ids, and copying the data.
 */
#ifndef PT_METRICS_READER_H
#define PT_METRICS_READER_H

#include <stdbool.h>
#include <posixtrace/event.h>

/* Starts again from the first event, where that can be done.  0 or an error number. */
int pt_reader_rewind(trace_id_t trid);
/* The next events, as posixtrace_next_whole_events(); name is not filled. */
int pt_reader_next(trace_id_t trid, struct posixtrace_event *events, size_t most, size_t *count,
                   bool *gap);
/* A log that has lost events and none that marks where, since a filter left these types out:
 * any two of its events may have others between them. */
bool pt_reader_hides_losses(trace_id_t trid);
/* Such a log begins inside a gap in which some threads lost events and others did not. */
bool pt_reader_begins_in_gap(trace_id_t trid);
/* A log whose stream is still active: it may lose events later. */
bool pt_reader_grows(trace_id_t trid);
/* The time of the first event that there is, with those that pt_reader_next() leaves out; or an
 * earlier one.  False: it is not known, or the trace is still written. */
bool pt_reader_begin(trace_id_t trid, int64_t *ns);
/* The time of the last event that there is, with those that pt_reader_next() leaves out; INT64_MIN:
 * it is not known.  True: the log is cut or was full there, and nothing tells how much longer the
 * trace was. */
bool pt_reader_end(trace_id_t trid, int64_t *ns);
/* Has the stream lost events because it was full and stopped? */
bool pt_reader_was_full(trace_id_t trid);
/* Makes a stream of this process in which an event costs as much as in one with these attributes,
 * NULL: the default ones.  0 or an error number. */
int pt_reader_trial(const trace_attr_t *attr, trace_id_t *trid);
/* The name of one of its event types, or NULL. */
const char *pt_reader_name(trace_id_t trid, trace_event_id_t id,
                           char name[TRACE_EVENT_NAME_MAX + 1]);

#endif
