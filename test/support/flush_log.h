/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* A flush of a stream with a log that has ended when the call returns.  Also for processes that
 * use nothing of check's. */
#ifndef SUPPORT_FLUSH_LOG_H
#define SUPPORT_FLUSH_LOG_H

#include <trace.h>
#include "support/need.h"

static inline void flush_log(trace_id_t trid)
{
    struct posix_trace_status_info status;

    NEED(posix_trace_flush(trid) == 0);
    do
        NEED(posix_trace_get_status(trid, &status) == 0);
    while (status.posix_stream_flush_status == POSIX_TRACE_FLUSHING);
}

#endif
