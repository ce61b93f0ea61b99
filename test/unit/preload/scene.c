/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See scene.h. */
#include <fcntl.h>
#include <poll.h>
#include <posixtrace/event.h>
#include <posixtrace/typed.h>
#include "scene.h"

enum { NAMES = 64, RESULTS = 64, THREADS = 8, TEXT = 32768 };

static struct {
    const void *object;
    const char *name;
} named[NAMES];
static int results[RESULTS];
static unsigned result_count, name_count, thread_count, due_count, duration_count;
static struct {
    pid_t tid;
    char text[TEXT];
} threads[THREADS];
static char path[TH_PATH];
static int fd, started;
static trace_id_t reading;
static char descriptors[TEXT];
static char connections[8192];

int64_t scene_due[SCENE_DUES], scene_durations[SCENE_DUES];
const struct timespec scene_past = { 1, 0 };

extern const char pt_preload_is_here[] __attribute__((weak));

void scene_name(const void *object, const char *name)
{
    if (name_count == NAMES)
        abort();
    named[name_count].object = object;
    named[name_count++].name = name;
}

trace_id_t scene_begin(void)
{
    trace_id_t trid;

    ck_assert_msg(pt_preload_is_here != NULL, "LD_PRELOAD does not name libposixtrace-preload.so");
    fd = th_file(path, O_RDWR);
    trid = th_stream_log(fd, .inherit = POSIX_TRACE_INHERITED);
    result_count = 0;
    started = posix_trace_start(trid);
    return trid;
}

static char *text_of(pid_t tid)
{
    unsigned i = 0;

    while (i < thread_count && threads[i].tid != tid)
        i++;
    ck_assert_uint_lt(i, THREADS);
    if (i == thread_count) {
        threads[thread_count++].tid = tid;
        threads[i].text[0] = '\0';
    }
    return threads[i].text;
}

static const char *object_name(const struct posixtrace_event *e, uint64_t object)
{
    for (unsigned i = name_count; i-- > 0;) /* the newest, where tests share a process */
        if ((uintptr_t)named[i].object == object)
            return named[i].name;
    return object == 0 ? "-" : object == e->thread_id ? "self" : "?";
}

static bool has_due(trace_event_id_t id)
{
    return id == POSIXTRACE_SLEEP || id == POSIXTRACE_SLEEP_DONE || id == POSIXTRACE_TIMER_SET;
}

/* Of the types after signal_end. */
static bool is_object(trace_event_id_t id)
{
    return id >= POSIXTRACE_FUTEX_WAIT && id <= POSIXTRACE_THREAD_JOINED;
}

/* The last field of the data. */
static uint64_t last_field(const struct posixtrace_event *e)
{
    uint64_t last;

    memcpy(&last, (const char *)e->data + e->data_len - sizeof last, sizeof last);
    return last;
}

/* The call is in this program. */
static void check_caller(const struct posixtrace_event *e)
{
    extern const char __executable_start[], etext[];
    uint64_t caller = last_field(e);

    ck_assert_uint_ge(caller, (uintptr_t)__executable_start);
    ck_assert_uint_lt(caller, (uintptr_t)etext);
}

/* What the value of a field is called. */
static const char *call_name(const struct posixtrace_event *e, size_t field, uint32_t call)
{
    static char name[64];
    char text[POSIXTRACE_DESCRIPTION_MAX + 1];
    posixtrace_layout_t *layout;
    const struct posixtrace_field *f;

    ck_ok(posixtrace_event_description(reading, e->id, text, sizeof text));
    ck_ok(posixtrace_layout_parse(text, &layout, NULL));
    f = posixtrace_layout_field(layout, field);
    snprintf(name, sizeof name, "%s", posixtrace_field_enumerator(f, call));
    posixtrace_layout_free(layout);
    return name;
}

static bool is_call(trace_event_id_t id)
{
    return id >= POSIXTRACE_IO && !is_object(id);
}

/* "read A", and a result: "read A 5" or "read A EBADF"; of poll with count and time-out, of a file
 * lock with its mode. */
static void tell_call(const struct posixtrace_event *e, char *to)
{
    static const char *const modes[] = { "shared", "exclusive", "unlock", "test" };
    struct {
        uint32_t call;
        int32_t number;
        int64_t more[2];
    } data;
    uint32_t lock[2];
    bool begins = e->id % 2 == POSIXTRACE_IO % 2;
    size_t length = e->id == POSIXTRACE_POLL ? 32 : e->id == POSIXTRACE_FILE_LOCK ? 24 : 16;

    ck_assert_uint_eq(e->data_len, length);
    memcpy(&data, e->data, length < sizeof data ? length : sizeof data);
    memcpy(lock, data.more, sizeof lock);
    to += sprintf(to, "%s %s", call_name(e, 0, data.call),
                  data.number == -1 ? "-" : object_name(e, (uint64_t)data.number));
    if (begins)
        check_caller(e);
    if (e->id == POSIXTRACE_POLL)
        sprintf(to, " %d %d", (int)data.more[0], (int)data.more[1]);
    else if (e->id == POSIXTRACE_FILE_LOCK)
        sprintf(to, " %s%s", modes[lock[0]], lock[1] ? " waits" : "");
    else if (!begins && data.more[0] < 0)
        sprintf(to, " %s", strerrorname_np((int)-data.more[0]));
    else if (!begins)
        sprintf(to, " %d", (int)data.more[0]);
}

static void tell_object(const struct posixtrace_event *e, char *to)
{
    struct {
        uint64_t object;
        int64_t second;
    } data = { 0, 0 };
    const size_t with_caller = has_due(e->id) ? 24 : 16;
    const bool ends = e->id == POSIXTRACE_FUTEX_WOKEN || e->id == POSIXTRACE_THREAD_JOINED ||
                      e->id == POSIXTRACE_SLEEP_DONE || e->id == POSIXTRACE_MUTEX_LOCKED ||
                      e->id == POSIXTRACE_RWLOCK_LOCKED || e->id == POSIXTRACE_COND_WOKEN ||
                      e->id == POSIXTRACE_SEM_TAKEN || e->id == POSIXTRACE_BARRIER_PASSED;

    ck_assert_uint_ge(e->data_len, sizeof data.object);
    if (!ends && e->id != POSIXTRACE_THREAD_BEGIN && e->id != POSIXTRACE_THREAD_END) {
        ck_assert_uint_eq(e->data_len, with_caller);
        check_caller(e);
    }
    memcpy(&data, e->data, e->data_len < sizeof data ? e->data_len : sizeof data);
    to += sprintf(to, "%s", object_name(e, data.object));
    if (has_due(e->id)) {
        ck_assert_uint_lt(due_count, SCENE_DUES);
        scene_due[due_count++] = data.second;
        strcpy(to, data.second ? " due" : " never");
    } else if (ends && data.second) {
        sprintf(to, " %s", strerrorname_np((int)data.second));
    }
}

/* "FILE file /path", apart from the calls. */
static void tell_descriptor(const struct posixtrace_event *e)
{
    static const char *const kinds[] = { "other",   "file",     "directory", "pipe",
                                         "socket",  "tty",      "device",    "eventfd",
                                         "timerfd", "signalfd", "epoll",     "inotify" };
    char *to = descriptors + strlen(descriptors);
    struct {
        int32_t fd;
        uint32_t kind;
        char name[POSIXTRACE_DESCRIPTOR_TEXT_MAX + 1];
    } data;

    ck_assert_uint_le(e->data_len, sizeof data);
    ck_assert_uint_gt(e->data_len, 8);
    memcpy(&data, e->data, e->data_len);
    ck_assert_uint_eq(strlen(data.name), e->data_len - 9);
    ck_assert_uint_lt(data.kind, TH_COUNT(kinds));
    ck_assert_uint_lt(strlen(descriptors) + 300, sizeof descriptors);
    sprintf(to, "%s%s %s %s", to == descriptors ? "" : ", ", object_name(e, (uint64_t)data.fd),
            kinds[data.kind], data.name);
}

const char *scene_descriptors(void)
{
    return descriptors;
}

/* The numbers of two arrays, unaligned. */
static void tell_ready(const struct posixtrace_event *e, char *to)
{
    const char *p = (const char *)e->data + 10;
    uint16_t count, events;
    uint64_t which;

    memcpy(&count, p - 2, sizeof count);
    ck_assert_uint_eq(e->data_len, 12 + 10 * (size_t)count);
    for (unsigned i = 0; i < count; i++) {
        memcpy(&which, p + i * sizeof which, sizeof which);
        memcpy(&events, p + count * sizeof which + sizeof count + i * sizeof events, sizeof events);
        to += sprintf(to, " %s%s%s", object_name(e, which), events & POLLIN ? " in" : "",
                      events & POLLOUT ? " out" : "");
    }
}

static void tell_connection(const struct posixtrace_event *e)
{
    static const char *const operations[] = { "?", "add", "del", "mod" };
    char *to = connections + strlen(connections);
    const char *names = (const char *)e->data + 16;
    uint32_t head[6];
    uint64_t object;

    ck_assert_uint_lt(strlen(connections) + 400, sizeof connections);
    ck_assert_uint_ge(e->data_len, 8);
    memcpy(head, e->data, e->data_len < sizeof head ? e->data_len : sizeof head);
    to += sprintf(to, "%s%s %s", to == connections ? "" : ", ", e->name + 11,
                  head[0] == UINT32_MAX ? "-" : object_name(e, head[0]));
    if (e->id == POSIXTRACE_CONNECTION) {
        ck_assert_uint_eq(e->data_len, 18 + strlen(names) + strlen(names + strlen(names) + 1));
        ck_assert((head[2] | head[3]) != 0 || head[1] == POSIXTRACE_CONNECTION_UNIX);
        sprintf(to, " %s %s %s", head[1] == POSIXTRACE_CONNECTION_TCP ? "tcp" : "unix", names,
                names + strlen(names) + 1);
    } else if (e->id == POSIXTRACE_EPOLL_SET) {
        ck_assert_uint_eq(e->data_len, 24);
        memcpy(&object, (const uint8_t *)e->data + 16, sizeof object);
        sprintf(to, " %s %s %s", operations[head[2] & 3], object_name(e, head[1]),
                object_name(e, object));
    } else {
        to += sprintf(to, " %u", head[1]);
        tell_ready(e, to);
    }
}

const char *scene_connections(void)
{
    return connections;
}

/* "io write FILE 3"; of a sleep "due". */
static void tell_long(const struct posixtrace_event *e, char *to)
{
    struct {
        uint32_t type, call;
        uint64_t object;
        int64_t result, duration;
        uint64_t caller;
    } data;

    ck_assert_uint_eq(e->data_len, sizeof data);
    memcpy(&data, e->data, sizeof data);
    check_caller(e);
    ck_assert_uint_lt(duration_count, SCENE_DUES);
    scene_durations[duration_count++] = data.duration;
    to += sprintf(to, "%s", call_name(e, 0, data.type));
    to += sprintf(to, " %s ", call_name(e, 1, data.call));
    to += data.object == UINT64_MAX ? sprintf(to, "-1")
                                    : sprintf(to, "%s", object_name(e, data.object));
    if (data.type == POSIXTRACE_SLEEP)
        sprintf(to, " %s", data.result ? "due" : "never");
    else
        sprintf(to, " %d", (int)data.result);
}

static void tell_event(const struct posixtrace_event *e)
{
    char *to;

    ck_assert_int_eq(strncmp(e->name, "posixtrace_", 11), 0);
    if (e->id == POSIXTRACE_DESCRIPTOR) {
        tell_descriptor(e);
        return;
    }
    if (e->id >= POSIXTRACE_CONNECTION) {
        tell_connection(e);
        return;
    }
    to = text_of(e->tid);
    to += strlen(to);
    ck_assert_uint_lt(strlen(text_of(e->tid)), TEXT - 100);
    to += sprintf(to, "%s%s ", to == text_of(e->tid) ? "" : ", ", e->name + 11);
    if (e->data_len == 4) {
        uint32_t number;

        memcpy(&number, e->data, sizeof number);
        sprintf(to, "%u", number);
    } else if (e->id == POSIXTRACE_LONG_CALL) {
        tell_long(e, to);
    } else if (is_call(e->id)) {
        tell_call(e, to);
    } else {
        tell_object(e, to);
    }
}

void scene_end(trace_id_t trid)
{
    struct posixtrace_event e;
    int end = 0;

    ck_ok(posix_trace_shutdown(trid));
    ck_ok(started);
    close(fd);
    thread_count = due_count = duration_count = 0;
    descriptors[0] = connections[0] = '\0';
    reading = trid = th_open(path);
    while (posixtrace_next_event(trid, &e, sizeof e, &end) == 0 && !end)
        if (e.id > POSIX_TRACE_ERROR && e.id != POSIXTRACE_WAITING)
            tell_event(&e);
    ck_assert(end);
    th_close(trid);
}

void scene_note(int result)
{
    if (result_count < RESULTS)
        results[result_count++] = result;
}

void scene_note_errno(int result)
{
    scene_note(result == -1 ? errno : result);
}

const char *scene_results(void)
{
    static char text[RESULTS * 16];
    char *to = text;

    text[0] = '\0';
    for (unsigned i = 0; i < result_count; i++) {
        const char *name = results[i] > 0 ? strerrorname_np(results[i]) : NULL;

        to += name ? sprintf(to, "%s%s", i ? " " : "", name)
                   : sprintf(to, "%s%d", i ? " " : "", results[i]);
    }
    return text;
}

const char *scene_events(unsigned n)
{
    return n < thread_count ? threads[n].text : "";
}

unsigned scene_count(const char *event)
{
    unsigned n = 0;

    for (const char *at = scene_events(0); (at = strstr(at, event)); at++)
        n++;
    return n;
}

unsigned scene_threads(void)
{
    return thread_count;
}
