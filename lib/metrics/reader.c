/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See reader.h. */
#include <errno.h>
#include <string.h>
#include "metrics/reader.h"

int pt_reader_rewind(trace_id_t trid)
{
    int error = posix_trace_rewind(trid);

    /* A stream that is being traced has no begin to go back to, nor has a pipe. */
    return error == EINVAL || error == ESPIPE ? 0 : error;
}

#ifdef PT_METRICS_POSIX

enum { DATA_MAX = 4096 };   /* of which the metrics look at the first 16 */

int pt_reader_next(trace_id_t trid, struct posixtrace_event *event, int *unavailable)
{
    static _Thread_local char data[DATA_MAX];
    struct posix_trace_event_info info;
    uintptr_t thread = 0;
    size_t len;
    int error = posix_trace_trygetnext_event(trid, &info, data, sizeof data, &len, unavailable);

    /* Not of a pre-recorded stream, whose next event comes at once, or none. */
    if (error == EINVAL)
        error = posix_trace_getnext_event(trid, &info, data, sizeof data, &len, unavailable);
    if (error || *unavailable)
        return error;
    memcpy(&thread, &info.posix_thread_id,
           sizeof thread < sizeof info.posix_thread_id ? sizeof thread
                                                       : sizeof info.posix_thread_id);
    *event = (struct posixtrace_event){
        .ns = info.posix_timestamp.tv_sec * INT64_C(1000000000) + info.posix_timestamp.tv_nsec,
        .thread_id = thread, .data = data, .data_len = len, .id = info.posix_event_id,
        .thread_name = "", .name = "", .pid = info.posix_pid };
    return 0;
}

#else

int pt_reader_next(trace_id_t trid, struct posixtrace_event *event, int *unavailable)
{
    return posixtrace_next_event(trid, event, unavailable);
}

#endif

const char *pt_reader_name(trace_id_t trid, trace_event_id_t id,
                           char name[TRACE_EVENT_NAME_MAX + 1])
{
    return posix_trace_eventid_get_name(trid, id, name) == 0 ? name : NULL;
}
