/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Streams, events, sets and files for tests; see trace_helpers.h.  Programs,
 * children and threads are in test_process.c.
 */
#include "trace_helpers.h"

#include <fcntl.h>
#include <sys/stat.h>

#define DATA_MAX 65536

const struct th_predefined th_predefined[TH_PREDEFINED] = {
    { POSIX_TRACE_START, "posix_trace_start" },
    { POSIX_TRACE_STOP, "posix_trace_stop" },
    { POSIX_TRACE_FILTER, "posix_trace_filter" },
    { POSIX_TRACE_OVERFLOW, "posix_trace_overflow" },
    { POSIX_TRACE_RESUME, "posix_trace_resume" },
    { POSIX_TRACE_FLUSH_START, "posix_trace_flush_start" },
    { POSIX_TRACE_FLUSH_STOP, "posix_trace_flush_stop" },
    { POSIX_TRACE_ERROR, "posix_trace_error" },
    { POSIX_TRACE_UNNAMED_USEREVENT, "posix_trace_unnamed_userevent" },
};

/* ---- streams ---- */

void th_attr(trace_attr_t *attr, const struct th_conf *conf)
{
    ck_ok(posix_trace_attr_init(attr));
    if (conf->name)
        ck_ok(posix_trace_attr_setname(attr, conf->name));
    if (conf->policy)
        ck_ok(posix_trace_attr_setstreamfullpolicy(attr, conf->policy));
    if (conf->log_policy)
        ck_ok(posix_trace_attr_setlogfullpolicy(attr, conf->log_policy));
    if (conf->inherit)
        ck_ok(posix_trace_attr_setinherited(attr, conf->inherit));
    if (conf->stream_size)
        ck_ok(posix_trace_attr_setstreamsize(attr, conf->stream_size));
    if (conf->max_data)
        ck_ok(posix_trace_attr_setmaxdatasize(attr, conf->max_data));
    if (conf->log_size)
        ck_ok(posix_trace_attr_setlogsize(attr, conf->log_size));
}

trace_id_t th_create(const struct th_conf *conf)
{
    trace_attr_t attr;
    trace_id_t trid;

    th_attr(&attr, conf);
    ck_ok(posix_trace_create(0, &attr, &trid));
    ck_ok(posix_trace_attr_destroy(&attr));
    return trid;
}

trace_id_t th_create_withlog(const struct th_conf *conf, int fd)
{
    trace_attr_t attr;
    trace_id_t trid;

    th_attr(&attr, conf);
    ck_ok(posix_trace_create_withlog(0, &attr, fd, &trid));
    ck_ok(posix_trace_attr_destroy(&attr));
    return trid;
}

struct posix_trace_status_info th_status(trace_id_t trid)
{
    struct posix_trace_status_info status;

    ck_ok(posix_trace_get_status(trid, &status));
    return status;
}

size_t th_stream_size(trace_id_t trid)
{
    trace_attr_t attr;
    size_t size;

    ck_ok(posix_trace_get_attr(trid, &attr));
    ck_ok(posix_trace_attr_getstreamsize(&attr, &size));
    ck_ok(posix_trace_attr_destroy(&attr));
    return size;
}

void th_wait_flushed(trace_id_t trid)
{
    for (int64_t end = th_now_ns() + TH_WATCHDOG_S * INT64_C(1000000000);;) {
        if (th_status(trid).posix_stream_flush_status == POSIX_TRACE_NOT_FLUSHING)
            return;
        ck_assert_msg(th_now_ns() < end, "the flush does not end");
        th_sleep_ms(1);
    }
}

void th_flush(trace_id_t trid)
{
    ck_ok(posix_trace_flush(trid));
    th_wait_flushed(trid);
}

/* ---- events ---- */

trace_event_id_t th_id(const char *name)
{
    trace_event_id_t id;

    ck_ok(posix_trace_eventid_open(name, &id));
    return id;
}

void th_put(trace_event_id_t id, uint32_t seq, size_t len)
{
    unsigned char data[DATA_MAX];

    memcpy(data, &seq, sizeof seq);
    for (size_t i = sizeof seq; i < len; i++)
        data[i] = (unsigned char)(seq * 7 + i);
    posix_trace_event(id, data, len);
}

void th_put_run(trace_event_id_t id, uint32_t first, uint32_t n, size_t len)
{
    for (uint32_t i = 0; i < n; i++)
        th_put(id, first + i, len);
}

typedef int reader_fn(trace_id_t, struct posix_trace_event_info *restrict, void *restrict, size_t,
                      size_t *restrict, int *restrict);

/* False: nothing available. */
static bool read_one(trace_id_t trid, reader_fn *reader, struct th_event *e)
{
    static unsigned char buffer[DATA_MAX];
    int unavailable = -1;

    ck_ok(reader(trid, &e->info, buffer, sizeof buffer, &e->len, &unavailable));
    if (unavailable)
        return false;
    ck_assert_uint_le(e->len, sizeof buffer);
    e->data = th_alloc(e->len + 1);
    memcpy(e->data, buffer, e->len);
    return true;
}

static struct th_list read_all(trace_id_t trid, reader_fn *reader)
{
    struct th_list list = { NULL, 0 };
    struct th_event e;

    while (read_one(trid, reader, &e)) {
        if ((list.n & (list.n - 1)) == 0) {
            struct th_event *more = th_alloc((list.n * 2 + 1) * sizeof *more);

            if (list.n > 0)
                memcpy(more, list.at, list.n * sizeof *more);
            list.at = more;
        }
        list.at[list.n++] = e;
    }
    return list;
}

struct th_list th_drain(trace_id_t trid)
{
    return read_all(trid, posix_trace_trygetnext_event);
}

struct th_list th_read_log(trace_id_t trid)
{
    return read_all(trid, posix_trace_getnext_event);
}

struct th_event th_next(trace_id_t trid)
{
    struct th_event e;

    ck_assert_msg(read_one(trid, posix_trace_trygetnext_event, &e), "no event available");
    return e;
}

struct th_list th_only(struct th_list list, trace_event_id_t id)
{
    struct th_list only = { th_alloc((list.n + 1) * sizeof *list.at), 0 };

    for (size_t i = 0; i < list.n; i++) {
        if (list.at[i].info.posix_event_id == id)
            only.at[only.n++] = list.at[i];
    }
    return only;
}

size_t th_find(struct th_list list, trace_event_id_t id, size_t from)
{
    while (from < list.n && list.at[from].info.posix_event_id != id)
        from++;
    return from;
}

void th_expect_ids(struct th_list list, const trace_event_id_t *ids, size_t n, const char *file,
                   int line)
{
    bool same = list.n == n;
    char got[256] = "";
    size_t used = 0;

    for (size_t i = 0; same && i < n; i++)
        same = list.at[i].info.posix_event_id == ids[i];
    for (size_t i = 0; i < list.n && used < sizeof got - 16; i++)
        used += (size_t)snprintf(got + used, sizeof got - used, " %u",
                                 list.at[i].info.posix_event_id);
    ck_assert_msg(same, "%s:%d: other events than expected; %zu instead of %zu:%s", file, line,
                  list.n, n, got);
}

uint32_t th_seq(const struct th_event *event)
{
    uint32_t seq;

    ck_assert_uint_ge(event->len, sizeof seq);
    memcpy(&seq, event->data, sizeof seq);
    return seq;
}

bool th_intact_bytes(const void *data, size_t len)
{
    const unsigned char *bytes = data;
    uint32_t seq;

    if (len < sizeof seq)
        return false;
    memcpy(&seq, bytes, sizeof seq);
    for (size_t i = sizeof seq; i < len; i++) {
        if (bytes[i] != (unsigned char)(seq * 7 + i))
            return false;
    }
    return true;
}

bool th_intact(const struct th_event *event)
{
    return th_intact_bytes(event->data, event->len);
}

void th_expect_run(struct th_list list, uint32_t first)
{
    for (size_t i = 0; i < list.n; i++) {
        ck_assert_uint_eq(th_seq(&list.at[i]), first + i);
        ck_assert_msg(th_intact(&list.at[i]), "data of event %u are torn", first + (unsigned)i);
    }
}

int th_int(const struct th_event *event)
{
    int value;

    ck_assert_uint_eq(event->len, sizeof value);
    memcpy(&value, event->data, sizeof value);
    return value;
}

int64_t th_ns(struct timespec t)
{
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

int64_t th_now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return th_ns(now);
}

/* ---- event sets ---- */

bool th_member(const trace_event_set_t *set, trace_event_id_t id)
{
    int member = -1;

    ck_ok(posix_trace_eventset_ismember(id, set, &member));
    return member != 0;
}

trace_event_set_t th_set_of(const trace_event_id_t *ids, size_t n)
{
    trace_event_set_t set;

    ck_ok(posix_trace_eventset_empty(&set));
    for (size_t i = 0; i < n; i++)
        ck_ok(posix_trace_eventset_add(ids[i], &set));
    return set;
}

bool th_same_members(const trace_event_set_t *a, const trace_event_set_t *b,
                     const trace_event_id_t *more, size_t n)
{
    for (size_t i = 0; i < TH_PREDEFINED; i++) {
        if (th_member(a, th_predefined[i].id) != th_member(b, th_predefined[i].id))
            return false;
    }
    for (size_t i = 0; i < n; i++) {
        if (th_member(a, more[i]) != th_member(b, more[i]))
            return false;
    }
    return true;
}

/* ---- files ---- */

#define OPEN_LOGS 16

static struct {
    trace_id_t trid;
    int fd_plus_1; /* 0: unused */
} open_logs[OPEN_LOGS];

int th_file(char path[TH_PATH], int flags)
{
    static unsigned number;
    int fd;

    snprintf(path, TH_PATH, "%s.files/%d-%u.log", th_stream_dir(), (int)getpid(), number++);
    fd = open(path, flags | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    ck_assert_int_ge(fd, 0);
    return fd;
}

trace_id_t th_open(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    trace_id_t trid;
    size_t i = 0;

    ck_assert_int_ge(fd, 0);
    ck_ok(posix_trace_open(fd, &trid));
    while (i < OPEN_LOGS && open_logs[i].fd_plus_1)
        i++;
    ck_assert_uint_lt(i, OPEN_LOGS);
    open_logs[i].trid = trid;
    open_logs[i].fd_plus_1 = fd + 1;
    return trid;
}

void th_close(trace_id_t trid)
{
    ck_ok(posix_trace_close(trid));
    for (size_t i = 0; i < OPEN_LOGS; i++) {
        if (open_logs[i].fd_plus_1 && open_logs[i].trid == trid) {
            close(open_logs[i].fd_plus_1 - 1);
            open_logs[i].fd_plus_1 = 0;
        }
    }
}

struct th_list th_log_events(const char *path)
{
    trace_id_t trid = th_open(path);
    struct th_list list = th_read_log(trid);

    th_close(trid);
    return list;
}
