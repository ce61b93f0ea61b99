/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Fuzz target: a sequence of calls.  An input is a list of calls, three bytes
 * each: which one, and two arguments that choose objects and values out of
 * small tables.  There are four streams (some with logs, on files that refuse
 * to grow, on broken pipes), two opened logs, three attributes objects and three
 * event sets; all of them may be stale, uninitialised or of the wrong kind.
 *
 * Each call must return 0 where the model says that it is right, and the error
 * number that the manual gives where it is not.  At the end the books of each
 * stream must be exact; see calls_model.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <posixtrace/event.h>
#include <posixtrace/info.h>
#include <posixtrace/log.h>
#include <posixtrace/stream.h>
#include "fuzz/calls_model.h"
#include "fuzz/calls_objects.h"
#include "fuzz/target.h"

#define CALLS_MAX 150u
#define LOGS      2u
#define ATTRS     3u
#define SETS      3u

/* Of data. */
static const size_t lengths[] = { 0,    3,    4,    8,    17,    64,    100,
                                  1000, 4095, 4096, 4097, 61440, 61441, 66000 };

struct log {
    trace_id_t trid;
    bool used;
};

static struct attr attrs[ATTRS];
static struct set sets[SETS];
static struct log logs[LOGS];

/* ---- filters ---- */

static void set_filter(struct model_stream *s, const struct set *set, uint8_t b)
{
    static const int hows[] = { POSIX_TRACE_SET_EVENTSET, POSIX_TRACE_ADD_EVENTSET,
                                POSIX_TRACE_SUB_EVENTSET, 0 };
    int how = hows[b / 16 % COUNT(hows)];
    bool good = s->used && set->good && how != 0;

    expect_ok_if(posix_trace_set_filter(s->trid, &set->object, how), good);
    for (unsigned id = 0; good && id < MODEL_IDS; id++)
        s->filter[id] = how == POSIX_TRACE_SET_EVENTSET   ? set->has[id]
                        : how == POSIX_TRACE_ADD_EVENTSET ? s->filter[id] || set->has[id]
                                                          : s->filter[id] && !set->has[id];
}

static void get_filter(struct model_stream *s)
{
    trace_event_set_t now;

    expect_ok_if(posix_trace_get_filter(s->trid, &now), s->used);
    if (s->used)
        expect_members(&now, s->filter);
}

/* ---- streams ---- */

static void created(struct model_stream *s, const struct attr *a, trace_id_t trid, int fd)
{
    model_stream_init(s, trid, fd);
    s->policy = a ? a->policy : POSIX_TRACE_LOOP;
    if (fd >= 0 && !(a && a->policy_set))
        s->policy = POSIX_TRACE_FLUSH;
    s->log_policy = a ? a->log_policy : POSIX_TRACE_LOOP;
    s->max_data = a ? a->max_data : 4096;
}

static void create(struct model_stream *s, uint8_t b)
{
    const struct attr *a = b % 4 < ATTRS ? &attrs[b % 4] : NULL;
    trace_id_t trid;
    int r;

    if (s->used)
        return;
    r = posix_trace_create(b & 64 ? getpid() : 0, a ? &a->object : NULL, &trid);
    expect_ok_if(r, !a || (a->good && a->policy != POSIX_TRACE_FLUSH));
    if (r == 0)
        created(s, a, trid, -1);
}

enum {
    FILE_PLAIN,
    FILE_APPEND,
    FILE_FULL,
    FILE_SEALED,
    FILE_PIPE,
    FILE_READ_ONLY,
    FILE_CLOSED,
    FILE_KINDS
};

static int open_file(unsigned kind)
{
    int fd = memfd_create("log", MFD_CLOEXEC | MFD_ALLOW_SEALING), ends[2], again;
    char path[32];

    FUZZ_NEED(fd >= 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (kind == FILE_PIPE || kind == FILE_CLOSED) {
        close(fd);
        if (kind == FILE_CLOSED)
            return fd;
        FUZZ_NEED(pipe2(ends, O_CLOEXEC) == 0);
        close(ends[0]);
        return ends[1];
    }
    if (kind == FILE_APPEND || kind == FILE_READ_ONLY) {
        again = open(path, O_CLOEXEC | (kind == FILE_APPEND ? O_RDWR | O_APPEND : O_RDONLY));
        FUZZ_NEED(again >= 0);
        close(fd);
        return again;
    }
    return fd;
}

static int log_error(unsigned kind, const struct attr *a)
{
    int log_policy = a ? a->log_policy : POSIX_TRACE_LOOP;

    if (a && !a->good)
        return EINVAL;
    if (kind == FILE_READ_ONLY || kind == FILE_CLOSED)
        return EBADF;
    if ((kind == FILE_APPEND || kind == FILE_PIPE) && log_policy != POSIX_TRACE_APPEND)
        return EINVAL;
    return kind == FILE_PIPE ? EPIPE : 0;
}

static void create_with_log(struct model_stream *s, uint8_t b)
{
    const struct attr *a = b % 4 < ATTRS ? &attrs[b % 4] : NULL;
    unsigned kind = b / 4 % 16 < FILE_KINDS ? b / 4 % 16 : FILE_PLAIN;
    int fd, r, wanted = log_error(kind, a);
    trace_id_t trid;

    if (s->used)
        return;
    fd = open_file(kind);
    r = posix_trace_create_withlog(0, a ? &a->object : NULL, fd, &trid);
    /* The first write may come later. */
    FUZZ_NEED(r == wanted || (r == 0 && wanted == EPIPE));
    if (r != 0) {
        if (kind != FILE_CLOSED)
            close(fd);
        return;
    }
    created(s, a, trid, fd);
    s->broken = kind == FILE_FULL || kind == FILE_SEALED || kind == FILE_PIPE;
    s->unreadable = kind == FILE_SEALED || kind == FILE_PIPE;
    if (kind == FILE_FULL)
        FUZZ_NEED(fcntl(fd, F_ADD_SEALS, F_SEAL_GROW) == 0);
    if (kind == FILE_SEALED)
        FUZZ_NEED(fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE) == 0);
}

static void start(struct model_stream *s)
{
    expect_ok_if(posix_trace_start(s->trid), s->used);
    if (s->used) {
        s->stopped = false;
        s->running = true;
    }
}

static void stop(struct model_stream *s)
{
    expect_ok_if(posix_trace_stop(s->trid), s->used);
    if (s->used) {
        s->stopped = true;
        s->running = false;
    }
}

/* Where the log cannot be written, calls that write say so. */
static void expect_written(const struct model_stream *s, int result)
{
    FUZZ_NEED(result == 0 || (s->broken && (result == EPERM || result == EPIPE)));
}

static void clear(struct model_stream *s)
{
    int r = posix_trace_clear(s->trid);

    if (!s->used) {
        expect(r, EINVAL);
        return;
    }
    expect_written(s, r);
    model_look(s);
    model_clear(s);
}

static void flush(struct model_stream *s)
{
    int r = posix_trace_flush(s->trid);

    if (s->used && s->with_log)
        expect_written(s, r);
    else
        expect(r, EINVAL);
}

static void shut_down(struct model_stream *s)
{
    if (!s->used) {
        expect(posix_trace_shutdown(s->trid), EINVAL);
        return;
    }
    model_finish(s);
    if (s->with_log)
        close(s->fd);
}

/* ---- reading ---- */

static void read_one(struct model_stream *s, uint8_t b)
{
    static uint8_t data[66000];
    struct posix_trace_event_info e;
    struct timespec past = { 0, 0 };
    size_t room = lengths[b / 2 % COUNT(lengths)], len;
    int unavailable = -1, r;

    r = b % 2 ? posix_trace_trygetnext_event(s->trid, &e, data, room, &len, &unavailable)
              : posix_trace_timedgetnext_event(s->trid, &e, data, room, &len, &unavailable, &past);
    if (!s->used || s->with_log) {
        expect(r, EINVAL);
        return;
    }
    FUZZ_NEED(r == 0 || (r == ETIMEDOUT && b % 2 == 0 && unavailable));
    if (r == 0 && !unavailable)
        model_take(s, &e, data, len, room);
}

static void drain(struct model_stream *s)
{
    if (s->used && !s->with_log)
        model_read_all(s, s->trid);
}

static void look_at(const struct posixtrace_event *e)
{
    volatile uint8_t byte = 0;

    FUZZ_NEED(is_type(e->id) && strlen(e->name) <= TRACE_EVENT_NAME_MAX);
    FUZZ_NEED(strlen(e->thread_name) < 16);
    for (size_t i = 0; i < e->data_len; i++)
        byte = (uint8_t)(byte + ((const uint8_t *)e->data)[i]);
}

/* The pointers of next_event, next_events and next_whole_events are good, and so are their
 * numbers. */
static void next_of(trace_id_t trid, bool readable, size_t most)
{
    struct posixtrace_event e[4];
    bool gap = readable;
    int unavailable = -1, r = posixtrace_next_event(trid, &e[0], sizeof e[0], &unavailable);
    size_t count = 9;

    expect_ok_if(r, readable);
    if (r == 0 && !unavailable)
        look_at(&e[0]);
    expect_ok_if(posixtrace_next_events(trid, e, sizeof *e, most, &count), readable);
    FUZZ_NEED(count == 9 ? !readable : count <= most);
    for (size_t i = 0; readable && i < count; i++)
        look_at(&e[i]);
    count = 9;
    expect_ok_if(posixtrace_next_whole_events(trid, e, sizeof *e, most, &count, &gap), readable);
    FUZZ_NEED(count == 9 ? !readable && !gap : count <= most);
    for (size_t i = 0; readable && i < count; i++)
        look_at(&e[i]);
}

/* A log may be opened while it is written, and read while it is cleared. */
static void open_log(struct log *l, const struct model_stream *s)
{
    if (!l->used && s->used && s->with_log && posix_trace_open(s->fd, &l->trid) == 0)
        l->used = true;
}

static void use_log(struct log *l, uint8_t b)
{
    struct posix_trace_event_info e;
    struct posixtrace_info info;
    uint8_t data[32];
    size_t len;
    int unavailable, r;

    switch (b % 8) {
    case 0: expect_ok_if(posix_trace_rewind(l->trid), l->used); return;
    case 1:
        r = posixtrace_seek(l->trid, INT64_MAX / 2);
        FUZZ_NEED(l->used ? r >= 0 : r == EINVAL);
        return;
    case 2:
        expect_ok_if(posix_trace_close(l->trid), l->used);
        l->used = false;
        return;
    case 3: next_of(l->trid, l->used, 1 + b % 4); return;
    case 4: expect_ok_if(posixtrace_get_info(l->trid, &info, sizeof info), l->used); return;
    case 5:
        expect(posix_trace_start(l->trid), EINVAL);
        expect(posix_trace_trygetnext_event(l->trid, &e, data, 8, &len, &unavailable), EINVAL);
        return;
    default:
        for (int i = 0; i < b; i++)
            expect_ok_if(
                posix_trace_getnext_event(l->trid, &e, data, sizeof data, &len, &unavailable),
                l->used);
    }
}

/* ---- questions ---- */

static int count_stream(void *context, const struct posixtrace_stream *stream)
{
    (void)stream;
    ++*(unsigned *)context;
    return 0;
}

static void look_around(void)
{
    unsigned listed = 0, used = 0;
    int r;

    expect(posixtrace_stream_list(count_stream, &listed), 0);
    for (unsigned i = 0; i < MODEL_STREAMS; i++)
        used += model_streams[i].used;
    FUZZ_NEED(listed == used);
    /* ENOMEM: a stream is full. */
    r = posixtrace_prepare();
    FUZZ_NEED(r == 0 || r == ENOMEM);
}

static void list_types(trace_id_t trid, bool good, bool rewind)
{
    char name[TRACE_EVENT_NAME_MAX + 1];
    trace_event_id_t id;
    int unavailable = 1;

    expect_ok_if(posix_trace_eventtypelist_getnext_id(trid, &id, &unavailable), good);
    if (good && !unavailable)
        expect(posix_trace_eventid_get_name(trid, id, name), 0);
    if (rewind)
        expect_ok_if(posix_trace_eventtypelist_rewind(trid), good);
}

static void open_name(struct model_stream *s, const char *name)
{
    trace_event_id_t id;

    expect_ok_if(posix_trace_trid_eventid_open(s->trid, name, &id), s->used);
}

static void ask(struct model_stream *s, uint8_t b)
{
    struct attr *a = &attrs[b / 8 % ATTRS];
    struct posixtrace_thread_info thread;
    struct posix_trace_status_info status;
    int end = 0;

    switch (b % 8) {
    case 0: expect_ok_if(posix_trace_get_status(s->trid, &status), s->used); return;
    case 1:
        expect_ok_if(posix_trace_get_attr(s->trid, &a->object), s->used);
        if (s->used)
            *a = (struct attr){ a->object, true, s->policy, s->log_policy, true, s->max_data };
        return;
    case 2: list_types(s->trid, s->used, b & 64); return;
    case 3:
        posixtrace_threadlist_rewind(s->trid);
        while (posixtrace_threadlist_getnext(s->trid, &thread, sizeof thread, &end) == 0 && !end)
            FUZZ_NEED(memchr(thread.name, '\0', sizeof thread.name));
        return;
    case 4:
        expect(posix_trace_rewind(s->trid), EINVAL);
        expect(posix_trace_close(s->trid), EINVAL);
        expect(posixtrace_seek(s->trid, 0), EINVAL);
        return;
    case 5: look_around(); return;
    default:
        if (s->used)
            model_check_recorded(s);
    }
}

/* A live stream is also read by next_event; what that takes is read, too. */
static void take_next(struct model_stream *s)
{
    struct posixtrace_event e;
    int unavailable = 0;

    if (!s->used || s->with_log) {
        next_of(s->trid, false, 1);
        return;
    }
    expect(posixtrace_next_event(s->trid, &e, sizeof e, &unavailable), 0);
    if (!unavailable)
        model_take(s,
                   &(struct posix_trace_event_info){ .posix_event_id = e.id,
                                                     .posix_pid = e.pid,
                                                     .posix_truncation_status = e.truncation },
                   e.data, e.data_len, SIZE_MAX);
}

/* ---- the list ---- */

static void call(const uint8_t op[3])
{
    struct model_stream *s = &model_streams[op[1] % MODEL_STREAMS];
    size_t len = lengths[op[2] % COUNT(lengths)];
    unsigned count = op[1] / 4 * 2;

    switch (op[0] % 32) {
    case 0: attr_init(&attrs[op[1] % ATTRS]); return;
    case 1: attr_destroy(&attrs[op[1] % ATTRS]); return;
    case 2:
    case 3:
    case 4: attr_set(&attrs[op[1] % ATTRS], op[2]); return;
    case 5: attr_get(&attrs[op[1] % ATTRS]); return;
    case 6: create(s, op[2]); return;
    case 7:
    case 8: create_with_log(s, op[2]); return;
    case 9:
    case 10: start(s); return;
    case 11: stop(s); return;
    case 12: clear(s); return;
    case 13: flush(s); return;
    case 14: shut_down(s); return;
    case 15: model_put(some_id(op[1]), len, 1); return;
    case 16:
    case 17: model_put(calls_ids[op[1] % 4], len, count * (op[2] & 128 ? 16 : 1)); return;
    case 18: model_put_in_threads(calls_ids[op[1] % 4], len, count, 1); return;
    case 19: model_put_in_threads(calls_ids[op[1] % 4], len, count, 1 + op[2] / 64); return;
    case 20:
    case 21: read_one(s, op[2]); return;
    case 22: drain(s); return;
    case 23: set_change(&sets[op[1] % SETS], op[2]); return;
    case 24: set_filter(s, &sets[op[2] % SETS], op[2]); return;
    case 25: get_filter(s); return;
    case 26: open_name(s, calls_names[op[2] % CALLS_NAMES]); return;
    case 27: take_next(s); return;
    case 28: open_log(&logs[op[2] % LOGS], s); return;
    case 29: use_log(&logs[op[1] % LOGS], op[2]); return;
    case 30: set_expect(&sets[op[1] % SETS]); return;
    default: ask(s, op[2]); return;
    }
}

static void begin(void)
{
    memset(attrs, 0, sizeof attrs);
    memset(sets, 0, sizeof sets);
    memset(logs, 0, sizeof logs);
    memset(model_streams, 0, sizeof model_streams);
    model_reset();
    for (size_t i = 0; i < CALLS_NAMES; i++)
        expect(posix_trace_eventid_open(calls_names[i], &calls_ids[i]), 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    begin();
    for (size_t i = 0; i + 3 <= size && i < 3 * CALLS_MAX; i += 3)
        call(data + i);
    for (unsigned i = 0; i < MODEL_STREAMS; i++)
        if (model_streams[i].used)
            shut_down(&model_streams[i]);
    for (unsigned i = 0; i < LOGS; i++)
        if (logs[i].used)
            expect(posix_trace_close(logs[i].trid), 0);
    return 0;
}

const struct fuzz_replay fuzz_replay = { .rounds = 10 };
