/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Starts a stream of this process, by a call or by the environment.  The first one of the process
 * completes the logs of killed programs.
 */
#ifndef PT_STARTUP_NEW_STREAM_H
#define PT_STARTUP_NEW_STREAM_H

#include "page/target.h"
#include "stream/handle.h"

/* The caller has checked the arguments and disabled cancellation.  fd: of the log, or -1;
 * target: NULL for this process.  0, or a negative error and no stream. */
int pt_create(const struct pt_attr *attr, int fd, const struct pt_target *target, trace_id_t *trid);

#endif
