/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Opening and describing event types, for more than one public function: the library
 * does not call those itself, as a program may have put others in their place.
 */
#ifndef PT_API_TRACE_NAMES_H
#define PT_API_TRACE_NAMES_H

#include "process/self.h"

/* As posix_trace_eventid_open(); *self: the process whose map has the name.  The caller calls
 * pt_gates_named() when the type is complete. */
int pt_eventid_open(const char *event_name, trace_event_id_t *event_id, struct pt_self **self);

/* Describes a type; adds the machine's byte order to the text if necessary. 0 or a
 * negative errno. */
int pt_event_describe(struct pt_names *names, uint32_t id, const char *description);

/* As posixtrace_event_description(); a negative errno. */
int pt_event_description(trace_id_t trid, trace_event_id_t event, char *description);

#endif
