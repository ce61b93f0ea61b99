/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* Streams as tests find and leave them: one that runs, one that is none. */
#include "trace_helpers.h"

trace_id_t th_create_running(const struct th_conf *conf)
{
    trace_id_t trid = th_create(conf);

    ck_ok(posix_trace_start(trid));
    th_expect(th_drain(trid), POSIX_TRACE_START);
    return trid;
}

void th_expect_no_stream(trace_id_t trid)
{
    trace_event_set_t set = th_set(POSIX_TRACE_UNNAMED_USEREVENT);
    struct posix_trace_status_info status;
    struct posix_trace_event_info info;
    struct timespec until;
    trace_attr_t attr;
    trace_event_id_t id;
    char name[TRACE_EVENT_NAME_MAX + 1];
    size_t len;
    int unavailable;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += TH_WATCHDOG_S;
    ck_fails(posix_trace_start(trid), EINVAL);
    ck_fails(posix_trace_stop(trid), EINVAL);
    ck_fails(posix_trace_clear(trid), EINVAL);
    ck_fails(posix_trace_flush(trid), EINVAL);
    ck_fails(posix_trace_get_attr(trid, &attr), EINVAL);
    ck_fails(posix_trace_get_status(trid, &status), EINVAL);
    ck_fails(posix_trace_get_filter(trid, &set), EINVAL);
    ck_fails(posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET), EINVAL);
    ck_fails(posix_trace_eventid_get_name(trid, POSIX_TRACE_START, name), EINVAL);
    ck_fails(posix_trace_trid_eventid_open(trid, "of no stream", &id), EINVAL);
    ck_fails(posix_trace_eventtypelist_getnext_id(trid, &id, &unavailable), EINVAL);
    ck_fails(posix_trace_eventtypelist_rewind(trid), EINVAL);
    ck_fails(posix_trace_getnext_event(trid, &info, NULL, 0, &len, &unavailable), EINVAL);
    ck_fails(posix_trace_timedgetnext_event(trid, &info, NULL, 0, &len, &unavailable, &until),
             EINVAL);
    ck_fails(posix_trace_trygetnext_event(trid, &info, NULL, 0, &len, &unavailable), EINVAL);
    ck_fails(posix_trace_shutdown(trid), EINVAL);
}
