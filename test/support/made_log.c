/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Simple finished logs for tests that need one to work on; see trace_helpers.h.
 */
#include "trace_helpers.h"

#include <fcntl.h>

void th_make_log_on(int fd, uint32_t n, size_t len)
{
    trace_id_t trid = th_stream_log(fd, .name = "made");
    trace_event_id_t id = th_id("u");

    ck_ok(posix_trace_start(trid));
    th_put_run(id, 0, n, len);
    ck_ok(posix_trace_stop(trid));
    ck_ok(posix_trace_shutdown(trid));
}

void th_make_log(char path[TH_PATH], uint32_t n, size_t len)
{
    int fd = th_file(path, O_RDWR);

    th_make_log_on(fd, n, len);
    close(fd);
}

struct th_list th_without_flush_marks(struct th_list list)
{
    struct th_list rest = { th_alloc((list.n + 1) * sizeof *list.at), 0 };

    for (size_t i = 0; i < list.n; i++) {
        trace_event_id_t id = list.at[i].info.posix_event_id;
        if (id != POSIX_TRACE_FLUSH_START && id != POSIX_TRACE_FLUSH_STOP)
            rest.at[rest.n++] = list.at[i];
    }
    return rest;
}

trace_event_id_t th_id_named(trace_id_t trid, const char *name)
{
    trace_event_id_t id, found = 0;
    char text[TRACE_EVENT_NAME_MAX + 1];
    int unavailable;

    ck_ok(posix_trace_eventtypelist_rewind(trid));
    for (;;) {
        ck_ok(posix_trace_eventtypelist_getnext_id(trid, &id, &unavailable));
        if (unavailable)
            return found;
        ck_ok(posix_trace_eventid_get_name(trid, id, text));
        if (strcmp(text, name) == 0)
            found = id;
    }
}

void th_expect_made_log(const char *path, uint32_t n)
{
    trace_id_t trid = th_open(path);
    trace_event_id_t id = th_id_named(trid, "u");
    struct th_list list = th_without_flush_marks(th_read_log(trid)), user = th_only(list, id);

    ck_assert_uint_eq(list.n, n + 2);
    ck_assert_uint_eq(user.n, n);
    ck_assert_uint_eq(list.at[0].info.posix_event_id, POSIX_TRACE_START);
    ck_assert_uint_eq(list.at[n + 1].info.posix_event_id, POSIX_TRACE_STOP);
    ck_assert_int_eq(th_int(&list.at[n + 1]), 0);
    th_expect_run(user, 0);
    th_close(trid);
}
