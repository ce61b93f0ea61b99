/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * A program that records itself with a filter that no event matches: its log is empty, and
 * there is no terminal to warn on.  exit(3) writes the reason to LOG.error, with the names of the
 * program's event types.
 */
#ifndef PT_STARTUP_SELF_RECORD_EMPTY_H
#define PT_STARTUP_SELF_RECORD_EMPTY_H

#include <trace.h>

/* The stream of the log has a filter.  After pt_exit_register(): the streams must still be there
 * when the handler of this runs. */
void pt_self_empty_begin(trace_id_t trid, const char *log);

#endif
