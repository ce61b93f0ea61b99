/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See log/reader/reader.h. */
#include <errno.h>
#include <string.h>
#ifndef PT_METRICS_POSIX
#include <posixtrace/attr.h>
#include <posixtrace/info.h>
#include <sys/mman.h>
#include <unistd.h>
#endif
#include "analysis/metrics/run/reader.h"

int pt_reader_rewind(trace_id_t trid)
{
    int error = posix_trace_rewind(trid);

    /* A stream that is being traced has no begin to go back to, nor has a pipe. */
    return error == EINVAL || error == ESPIPE ? 0 : error;
}

#ifdef PT_METRICS_POSIX

enum { DATA_MAX = 4096 }; /* the metrics look at the first 16 */

int pt_reader_next(trace_id_t trid, struct posixtrace_event *event, size_t most, size_t *count,
                   bool *gap)
{
    static _Thread_local char data[DATA_MAX];
    struct posix_trace_event_info info;
    uintptr_t thread = 0;
    int unavailable = 0;
    size_t len;
    int error = posix_trace_trygetnext_event(trid, &info, data, sizeof data, &len, &unavailable);

    (void)most;
    *gap = 0;

    /* Not of a pre-recorded stream, whose next event comes at once, or none. */
    if (error == EINVAL)
        error = posix_trace_getnext_event(trid, &info, data, sizeof data, &len, &unavailable);
    *count = !error && !unavailable;
    if (*count == 0)
        return error;
    memcpy(&thread, &info.posix_thread_id,
           sizeof thread < sizeof info.posix_thread_id ? sizeof thread
                                                       : sizeof info.posix_thread_id);
    *event = (struct posixtrace_event){ .ns = info.posix_timestamp.tv_sec * INT64_C(1000000000) +
                                              info.posix_timestamp.tv_nsec,
                                        .thread_id = thread,
                                        .data = data,
                                        .data_len = len,
                                        .id = info.posix_event_id,
                                        .thread_name = "",
                                        .name = "",
                                        .pid = info.posix_pid };
    return 0;
}

/* The standard has no count of a type's events. */
bool pt_reader_hides_losses(trace_id_t trid)
{
    (void)trid;
    return false;
}

bool pt_reader_begins_in_gap(trace_id_t trid)
{
    (void)trid;
    return false;
}

bool pt_reader_grows(trace_id_t trid)
{
    (void)trid;
    return false;
}

/* The standard tells of no damage. */
bool pt_reader_begin(trace_id_t trid, int64_t *ns)
{
    (void)trid;
    (void)ns;
    return false;
}

bool pt_reader_end(trace_id_t trid, int64_t *ns)
{
    (void)trid;
    *ns = INT64_MIN;
    return false;
}

/* The standard does not count losses: there may have been some. */
bool pt_reader_was_full(trace_id_t trid)
{
    (void)trid;
    return true;
}

int pt_reader_trial(const trace_attr_t *attr, trace_id_t *trid)
{
    trace_attr_t own;
    int error = posix_trace_attr_init(&own);

    (void)attr;
    if (error)
        return error;
    posix_trace_attr_setstreamfullpolicy(&own, POSIX_TRACE_LOOP);
    error = posix_trace_create(0, &own, trid);
    posix_trace_attr_destroy(&own);
    return error;
}

#else

static bool has_none(trace_id_t trid, trace_event_id_t id)
{
    uint64_t count;

    return posixtrace_event_count(trid, id, &count) == 0 && count == 0;
}

/* Losses of a full stream are also between a STOP and a START.  The log itself may have lost the
 * marks, and has no gap before its first event. */
bool pt_reader_hides_losses(trace_id_t trid)
{
    struct posixtrace_info info;

    if (posixtrace_get_info(trid, &info, sizeof info) != 0 || info.lost[POSIXTRACE_LOST_LOG_FULL] ||
        info.lost[POSIXTRACE_LOST_LOG_OVERWRITTEN] || info.lost[POSIXTRACE_LOST_LOG_ERROR] ||
        !has_none(trid, POSIX_TRACE_OVERFLOW))
        return false;
    return info.lost[POSIXTRACE_LOST_OVERWRITTEN] || info.lost[POSIXTRACE_LOST_NO_MEMORY] ||
           info.lost[POSIXTRACE_LOST_NESTED] ||
           (info.lost[POSIXTRACE_LOST_FULL] && has_none(trid, POSIX_TRACE_STOP));
}

/* OVERFLOW and RESUME alternate.  Where the stream stopped in the gap, or a chunk was overwritten,
 * no event is inside. */
bool pt_reader_begins_in_gap(trace_id_t trid)
{
    struct posixtrace_info info;
    uint64_t begins, ends;

    return posixtrace_get_info(trid, &info, sizeof info) == 0 &&
           info.lost[POSIXTRACE_LOST_LOG_OVERWRITTEN] > 0 &&
           (info.lost[POSIXTRACE_LOST_NO_MEMORY] > 0 || info.lost[POSIXTRACE_LOST_NESTED] > 0) &&
           posixtrace_event_count(trid, POSIX_TRACE_OVERFLOW, &begins) == 0 &&
           posixtrace_event_count(trid, POSIX_TRACE_RESUME, &ends) == 0 && ends > begins;
}

bool pt_reader_grows(trace_id_t trid)
{
    struct posixtrace_info info;
    uint64_t count;

    return posixtrace_event_count(trid, POSIX_TRACE_START, &count) == 0 &&
           posixtrace_get_info(trid, &info, sizeof info) == 0 && info.end == POSIXTRACE_END_ACTIVE;
}

/* A cut log and a pipe know but the events that can be read. */
bool pt_reader_begin(trace_id_t trid, int64_t *ns)
{
    struct posixtrace_info info;
    struct timespec created;
    trace_attr_t attr;
    int64_t created_ns;

    if (posixtrace_get_info(trid, &info, sizeof info) != 0 || info.end == POSIXTRACE_END_ACTIVE)
        return false;
    *ns = info.first_ns;
    if (info.events > 0 && info.end != POSIXTRACE_END_CUT)
        return true;
    if (posix_trace_get_attr(trid, &attr) != 0)
        return info.events > 0;
    posix_trace_attr_getcreatetime(&attr, &created);
    posix_trace_attr_destroy(&attr);
    created_ns = created.tv_sec * INT64_C(1000000000) + created.tv_nsec;
    if (info.events == 0 || created_ns < *ns)
        *ns = created_ns;
    return true;
}

bool pt_reader_end(trace_id_t trid, int64_t *ns)
{
    struct posixtrace_info info;
    bool known = posixtrace_get_info(trid, &info, sizeof info) == 0;

    *ns = known && info.events ? info.last_ns : INT64_MIN;
    return known && (info.end == POSIXTRACE_END_CUT || info.lost[POSIXTRACE_LOST_LOG_FULL] > 0);
}

bool pt_reader_was_full(trace_id_t trid)
{
    struct posixtrace_info info;

    return posixtrace_get_info(trid, &info, sizeof info) == 0 &&
           info.lost[POSIXTRACE_LOST_FULL] > 0;
}

/* Context switches, which decide about the clock, need a log; it is not read. */
static int create_with_switches(trace_attr_t *attr, trace_id_t *trid)
{
    int fd = memfd_create("posixtrace-event-cost", MFD_CLOEXEC), error;

    if (fd < 0)
        return errno;
    error = posixtrace_attr_setswitches(attr, true);
    if (error == 0)
        error = posix_trace_create_withlog(0, attr, fd, trid);
    close(fd);
    return error;
}

int pt_reader_trial(const trace_attr_t *attr, trace_id_t *trid)
{
    trace_attr_t own;
    bool switches = false;
    int error = attr ? posixtrace_attr_getswitches(attr, &switches) : 0;

    if (error == 0)
        error = posix_trace_attr_init(&own);
    if (error)
        return error;
    posix_trace_attr_setstreamfullpolicy(&own, POSIX_TRACE_LOOP);
    error = switches ? create_with_switches(&own, trid) : posix_trace_create(0, &own, trid);
    posix_trace_attr_destroy(&own);
    return error;
}

int pt_reader_next(trace_id_t trid, struct posixtrace_event *events, size_t most, size_t *count,
                   bool *gap)
{
    return posixtrace_next_whole_events(trid, events, sizeof *events, most, count, gap);
}

#endif

const char *pt_reader_name(trace_id_t trid, trace_event_id_t id,
                           char name[TRACE_EVENT_NAME_MAX + 1])
{
    return posix_trace_eventid_get_name(trid, id, name) == 0 ? name : NULL;
}
