/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* The events that a stream holds now, as a log. */
#ifndef PT_CONTROL_SNAPSHOT_H
#define PT_CONTROL_SNAPSHOT_H

#include <posixtrace/log.h>
#include "stream/stream.h"

/* onlooker: a stream that was attached for this call, so that no other thread reads its events.
 * 0 or a negative errno. */
int pt_snapshot(struct pt_stream *onlooker, int fd, struct posixtrace_snapshot_report *report);

#endif
