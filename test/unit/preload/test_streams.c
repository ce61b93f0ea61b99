/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * What streams make of system events: the list of types, filters, nothing without a
 * stream, nothing of the library's own calls.
 */
#include <fcntl.h>
#include <posixtrace/event.h>
#include <posixtrace/stream.h>
#include "scene.h"
#include "support/system_types.h"

/* One of them is recorded where a stream asks for it, and by no caller. */
enum { CALLERS_TYPES = OWN_TYPES - 1 };

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

static void use(void)
{
    pthread_mutex_lock(&m);
    pthread_mutex_unlock(&m);
}

static unsigned own_types(trace_id_t trid)
{
    unsigned n = 0;

    ck_ok(posix_trace_eventtypelist_rewind(trid));
    for (;;) {
        char name[TRACE_EVENT_NAME_MAX + 1];
        trace_event_id_t id;
        int end;

        ck_ok(posix_trace_eventtypelist_getnext_id(trid, &id, &end));
        if (end)
            return n;
        ck_ok(posix_trace_eventid_get_name(trid, id, name));
        ck_assert((strncmp(name, "posixtrace_", 11) == 0) ==
                  (id >= POSIXTRACE_SWITCH_IN && id <= OWN_LAST));
        n += strncmp(name, "posixtrace_", 11) == 0;
    }
}

/* A program that does not use these types does not see them, even with this library, as long as
 * none was recorded. */
START_TEST(type_list)
{
    char path[TH_PATH], empty_path[TH_PATH], name[TRACE_EVENT_NAME_MAX + 1];
    int fd = th_file(path, O_RDWR), empty_fd = th_file(empty_path, O_RDWR);
    trace_id_t empty = th_stream_log(empty_fd), trid = th_stream_log(fd);
    trace_event_set_t set;

    ck_ok(posix_trace_eventset_fill(&set, POSIX_TRACE_ALL_EVENTS));
    ck_ok(posix_trace_set_filter(empty, &set, POSIX_TRACE_SET_EVENTSET));
    ck_ok(posix_trace_start(empty));
    use();
    ck_assert_uint_eq(own_types(trid), 0);
    ck_ok(posix_trace_start(trid));
    use();
    ck_assert_uint_eq(own_types(trid), OWN_TYPES);
    ck_ok(posix_trace_eventid_get_name(trid, POSIXTRACE_SEM_POST, name));
    ck_assert_str_eq(name, "posixtrace_sem_post");
    ck_ok(posix_trace_shutdown(empty));
    ck_ok(posix_trace_shutdown(trid));
    close(fd);
    close(empty_fd);
    trid = th_open(path);
    ck_assert_uint_eq(own_types(trid), OWN_TYPES);
    ck_ok(posix_trace_eventid_get_name(trid, POSIXTRACE_SEM_POST, name));
    ck_assert_str_eq(name, "posixtrace_sem_post");
    th_close(trid);
    trid = th_open(empty_path);
    ck_assert_uint_eq(own_types(trid), 0);
    th_close(trid);
}
END_TEST

START_TEST(filters)
{
    trace_id_t trid;
    trace_event_set_t set = th_set(POSIXTRACE_MUTEX_LOCK, POSIXTRACE_MUTEX_UNLOCK), got;
    int member = 0;

    scene_name(&m, "M");
    trid = scene_begin();
    scene_note(posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET));
    use();
    scene_note(posix_trace_eventset_fill(&set, POSIX_TRACE_SYSTEM_EVENTS));
    scene_note(posix_trace_eventset_ismember(POSIXTRACE_MUTEX_LOCKED, &set, &member));
    scene_note(posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET));
    use();
    scene_note(posix_trace_eventset_empty(&set));
    scene_note(posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET));
    use();
    scene_note(posix_trace_get_filter(trid, &got));
    scene_end(trid);
    ck_results("0 0 0 0 0 0 0");
    ck_assert_int_eq(member, 1);
    ck_events(0, "mutex_locked M, mutex_lock M, mutex_locked M, mutex_unlock M");
}
END_TEST

START_TEST(only_while_a_stream_runs)
{
    trace_id_t trid;

    scene_name(&m, "M");
    use();
    trid = scene_begin();
    scene_note(posixtrace_system_wanted() != 0);
    scene_note(posix_trace_stop(trid));
    scene_note(posixtrace_system_wanted() != 0);
    use();
    scene_note(posix_trace_start(trid));
    pthread_mutex_lock(&m);
    scene_note(posix_trace_stop(trid));
    pthread_mutex_unlock(&m);
    scene_end(trid);
    ck_results("EPERM 0 0 0 0"); /* the name of 1 */
    ck_events(0, "mutex_lock M, mutex_locked M");
}
END_TEST

static void *traces(void *unused)
{
    posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, NULL, 0);
    return unused;
}

/* All kinds of calls of the library, which lock, sleep and make threads: not one of
 * them is in the stream. */
START_TEST(calls_of_the_library)
{
    char path[TH_PATH];
    int fd = th_file(path, O_RDWR), end = 0;
    trace_event_set_t set = th_set(POSIX_TRACE_UNNAMED_USEREVENT);
    struct posix_trace_status_info status;
    struct posixtrace_event e;
    trace_event_id_t id;
    trace_id_t trid, other, log;
    pthread_t t;

    trid = scene_begin();
    scene_note(posix_trace_set_filter(trid, &set, POSIX_TRACE_ADD_EVENTSET));
    scene_note(posix_trace_eventid_open("of the program", &id));
    scene_note(posix_trace_create_withlog(0, NULL, fd, &other));
    scene_note(posix_trace_start(other));
    scene_note(pthread_create(&t, NULL, traces, NULL));
    scene_note(pthread_join(t, NULL));
    scene_note(posix_trace_flush(trid));
    scene_note(posix_trace_get_status(trid, &status));
    scene_note(posix_trace_clear(other));
    scene_note(posix_trace_shutdown(other));
    scene_note(posix_trace_open(fd, &log));
    while (posixtrace_next_event(log, &e, sizeof e, &end) == 0 && !end)
        ;
    scene_note(posix_trace_close(log));
    scene_note(posixtrace_prepare());
    scene_name((void *)t, "T");
    scene_end(trid);
    close(fd);
    ck_results("0 0 0 0 0 0 0 0 0 0 0 0 0");
    ck_assert_uint_eq(scene_threads(), 2);
    ck_assert_uint_eq(strlen(scene_events(0)) + strlen(scene_events(1)),
                      strlen("thread_create T, thread_join T, thread_joined T"
                             "thread_begin T, thread_end T"));
}
END_TEST

/* posixtrace_system_event() by itself: numbers that are no system type, data of any length. */
START_TEST(numbers)
{
    static const trace_event_id_t bad[] = { 0,   1,   8,   15,   19,   OWN_LAST + 1,
                                            191, 192, 193, 1215, 1216, UINT32_MAX };
    struct th_list list;
    trace_id_t trid = th_stream();
    int started = posix_trace_start(trid);

    for (size_t i = 0; i < TH_COUNT(bad); i++)
        posixtrace_system_event(bad[i], "data", 4);
    for (trace_event_id_t id = POSIXTRACE_SWITCH_IN; id <= OWN_LAST; id++)
        posixtrace_system_event(id, "0123456789abcdefghij", id % 20);
    posixtrace_system_event(POSIXTRACE_SLEEP, NULL, 8);
    ck_ok(posix_trace_stop(trid));
    ck_ok(started);
    list = th_drain(trid);
    ck_assert_uint_eq(list.n, 1 + CALLERS_TYPES + 1 + 1);
    for (size_t i = 1; i <= CALLERS_TYPES; i++)
        ck_assert_uint_eq(list.at[i].len, list.at[i].info.posix_event_id % 20);
    ck_assert_uint_eq(list.at[CALLERS_TYPES + 1].len, 0);
    ck_ok(posix_trace_shutdown(trid));
}
END_TEST

static void add(TCase *tc)
{
    th_add_fresh(tc, type_list);
    tcase_add_test(tc, filters);
    tcase_add_test(tc, only_while_a_stream_runs);
    tcase_add_test(tc, calls_of_the_library);
    tcase_add_test(tc, numbers);
}

int main(void)
{
    return th_main("preload streams", add);
}
