/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See scene.h. */
#include <fcntl.h>
#include <posixtrace/event.h>
#include "scene.h"

enum { NAMES = 64, RESULTS = 64, THREADS = 8, TEXT = 4096 };

static struct {
    const void *object;
    const char *name;
} named[NAMES];
static int results[RESULTS];
static unsigned result_count, name_count, thread_count, due_count;
static struct {
    pid_t tid;
    char text[TEXT];
} threads[THREADS];
static char path[TH_PATH];
static int fd, started;

int64_t scene_due[SCENE_DUES];
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

static void tell_event(const struct posixtrace_event *e)
{
    struct {
        uint64_t object;
        int64_t second;
    } data = { 0, 0 };
    char *to = text_of(e->tid), more[40] = "";

    ck_assert_uint_le(e->data_len, sizeof data);
    memcpy(&data, e->data, e->data_len);
    ck_assert_int_eq(strncmp(e->name, "posixtrace_", 11), 0);
    if (e->data_len == 4) {
        uint32_t number;

        memcpy(&number, e->data, sizeof number);
        snprintf(more, sizeof more, "%u", number);
    }
    if (e->data_len == 16 && has_due(e->id)) {
        ck_assert_uint_lt(due_count, SCENE_DUES);
        scene_due[due_count++] = data.second;
        strcpy(more, data.second ? " due" : " never");
    } else if (e->data_len == 16 && data.second) {
        snprintf(more, sizeof more, " %s", strerrorname_np((int)data.second));
    }
    to += strlen(to);
    ck_assert_uint_lt(strlen(to), TEXT - 100);
    sprintf(to, "%s%s %s%s", to == text_of(e->tid) ? "" : ", ", e->name + 11,
            e->data_len == 4 ? "" : object_name(e, data.object), more);
}

void scene_end(trace_id_t trid)
{
    struct posixtrace_event e;
    int end = 0;

    ck_ok(posix_trace_shutdown(trid));
    ck_ok(started);
    close(fd);
    thread_count = due_count = 0;
    trid = th_open(path);
    while (posixtrace_next_event(trid, &e, sizeof e, &end) == 0 && !end)
        if (e.id > POSIX_TRACE_ERROR)
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
