/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Group M, third part: cancellation, how errors are returned, and what calls
 * leave alone.
 */
#include "support/trace_helpers.h"

#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>

static void *wait_for_event(void *context)
{
    trace_id_t trid = *(trace_id_t *)context;
    struct posix_trace_event_info info;
    size_t len;
    int unavailable;

    posix_trace_getnext_event(trid, &info, NULL, 0, &len, &unavailable);
    return NULL;
}

/* The standard allows it to be a cancellation point: the thread ends now, or still waits and ends
 * with the next event.  In both cases the stream works afterwards, and an event that the thread did
 * not take is still there. */
START_TEST(test_260_cancel_in_getnext)
{
    trace_event_id_t id = th_id("u");
    trace_id_t trid = th_stream();
    struct th_thread t;
    struct th_list list;
    void *result;

    ck_ok(posix_trace_start(trid));
    th_drain(trid);
    th_thread_start(&t, wait_for_event, &trid);
    th_thread_wait_asleep(&t);
    ck_ok(pthread_cancel(t.thread));
    th_sleep_ms(50);
    th_put(id, 0, 8);
    result = th_thread_join(&t);
    ck_assert(result == PTHREAD_CANCELED || result == NULL);
    th_put(id, 1, 8);
    list = th_drain(trid);
    ck_assert_uint_eq(list.n, result == PTHREAD_CANCELED ? 2 : 1);
    th_expect_run(list, result == PTHREAD_CANCELED ? 0 : 1);
    ck_ok(posix_trace_stop(trid));
    ck_ok(posix_trace_start(trid));
    ck_ok(posix_trace_shutdown(trid));
}
END_TEST

/* Calls made with a cancellation pending; each bit of done is one group that
 * returned.  check's macros write to a file, which is a cancellation point, so
 * this thread only counts errors.  The groups stay functions of their own
 * (noinline): AddressSanitizer does not clear the marks of a frame that
 * cancellation leaves, so that frame must have none. */
struct pending {
    trace_id_t trid;
    trace_event_id_t id;
    unsigned errors;
    atomic_uint done;
};

__attribute__((noinline)) static void attributes_with_pending(struct pending *p)
{
    trace_attr_t a;
    struct timespec t;
    char text[TRACE_NAME_MAX + 1];
    size_t size;
    int value;

    p->errors += posix_trace_attr_init(&a) != 0;
    p->errors += posix_trace_attr_getclockres(&a, &t) != 0;
    p->errors += posix_trace_attr_getcreatetime(&a, &t) == ECANCELED;
    p->errors += posix_trace_attr_getgenversion(&a, text) != 0;
    p->errors += posix_trace_attr_setname(&a, "pending") != 0;
    p->errors += posix_trace_attr_getname(&a, text) != 0;
    p->errors += posix_trace_attr_setinherited(&a, POSIX_TRACE_INHERITED) != 0;
    p->errors += posix_trace_attr_getinherited(&a, &value) != 0;
    p->errors += posix_trace_attr_setlogfullpolicy(&a, POSIX_TRACE_LOOP) != 0;
    p->errors += posix_trace_attr_getlogfullpolicy(&a, &value) != 0;
    p->errors += posix_trace_attr_setstreamfullpolicy(&a, POSIX_TRACE_LOOP) != 0;
    p->errors += posix_trace_attr_getstreamfullpolicy(&a, &value) != 0;
    p->errors += posix_trace_attr_setlogsize(&a, 100000) != 0;
    p->errors += posix_trace_attr_getlogsize(&a, &size) != 0;
    p->errors += posix_trace_attr_setmaxdatasize(&a, 100) != 0;
    p->errors += posix_trace_attr_getmaxdatasize(&a, &size) != 0;
    p->errors += posix_trace_attr_setstreamsize(&a, 100000) != 0;
    p->errors += posix_trace_attr_getstreamsize(&a, &size) != 0;
    p->errors += posix_trace_attr_getmaxsystemeventsize(&a, &size) != 0;
    p->errors += posix_trace_attr_getmaxusereventsize(&a, 10, &size) != 0;
    p->errors += posix_trace_attr_destroy(&a) != 0;
    atomic_fetch_or(&p->done, 1);
}

__attribute__((noinline)) static void sets_with_pending(struct pending *p)
{
    trace_event_set_t set;
    int member;

    p->errors += posix_trace_eventset_empty(&set) != 0;
    p->errors += posix_trace_eventset_fill(&set, POSIX_TRACE_ALL_EVENTS) != 0;
    p->errors += posix_trace_eventset_del(p->id, &set) != 0;
    p->errors += posix_trace_eventset_add(p->id, &set) != 0;
    p->errors += posix_trace_eventset_ismember(p->id, &set, &member) != 0;
    atomic_fetch_or(&p->done, 2);
}

__attribute__((noinline)) static void streams_with_pending(struct pending *p)
{
    struct posix_trace_event_info info;
    char text[TRACE_EVENT_NAME_MAX + 1];
    trace_event_id_t id;
    size_t len;
    int unavailable;

    p->errors += posix_trace_start(p->trid) != 0;
    for (uint32_t i = 0; i < 1000; i++)
        th_put(p->id, i, 50);
    p->errors += posix_trace_stop(p->trid) != 0;
    p->errors += posix_trace_start(p->trid) != 0;
    p->errors += posix_trace_eventid_open("opened with cancellation pending", &id) != 0;
    p->errors += posix_trace_trid_eventid_open(p->trid, "another one", &id) != 0;
    p->errors += posix_trace_eventid_get_name(p->trid, id, text) != 0;
    p->errors += posix_trace_eventid_equal(p->trid, id, id) == 0;
    for (int i = 0; i < 10; i++)
        p->errors += posix_trace_trygetnext_event(p->trid, &info, NULL, 0, &len, &unavailable) != 0;
    atomic_fetch_or(&p->done, 4);
}

static void *call_with_pending(void *context)
{
    struct pending *p = context;

    pthread_cancel(pthread_self());
    attributes_with_pending(p);
    sets_with_pending(p);
    streams_with_pending(p);
    pthread_testcancel();
    atomic_fetch_or(&p->done, 8);
    return NULL;
}

START_TEST(test_261_no_cancellation_points)
{
    struct pending p = { .trid = th_stream(), .id = th_id("u") };
    struct th_thread t;

    th_thread_start(&t, call_with_pending, &p);
    ck_assert_ptr_eq(th_thread_join(&t), PTHREAD_CANCELED);
    ck_assert_uint_eq(atomic_load(&p.done), 1 | 2 | 4);
    ck_assert_uint_eq(p.errors, 0);
    ck_ok(posix_trace_shutdown(p.trid));
}
END_TEST

/* One error of every function that can be made to fail: it returns an error number, never -1, and
 * does not report by errno. */
START_TEST(test_262_errors_are_values)
{
    trace_id_t trid = 0xdeadbeef;
    trace_event_set_t set = th_set();
    struct posix_trace_status_info status;
    struct posix_trace_event_info info;
    struct timespec now = { 0, 0 };
    trace_attr_t attr;
    trace_event_id_t id;
    char name[TRACE_EVENT_NAME_MAX + 1], too_long[TRACE_EVENT_NAME_MAX + 2];
    size_t len;
    int unavailable;

    memset(too_long, 'x', sizeof too_long - 1);
    too_long[sizeof too_long - 1] = '\0';
    ck_ok(posix_trace_attr_init(&attr));
    errno = 4711;
    int results[] = {
        posix_trace_attr_setinherited(&attr, -1),
        posix_trace_attr_setlogfullpolicy(&attr, -1),
        posix_trace_attr_setstreamfullpolicy(&attr, -1),
        posix_trace_create(-77, NULL, &trid),
        posix_trace_create_withlog(0, NULL, -1, &trid),
        posix_trace_flush(trid),
        posix_trace_shutdown(trid),
        posix_trace_clear(trid),
        posix_trace_start(trid),
        posix_trace_stop(trid),
        posix_trace_get_filter(trid, &set),
        posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET),
        posix_trace_eventid_open(too_long, &id),
        posix_trace_trid_eventid_open(trid, "x", &id),
        posix_trace_eventid_get_name(trid, POSIX_TRACE_START, name),
        posix_trace_eventset_fill(&set, -1),
        posix_trace_eventtypelist_getnext_id(trid, &id, &unavailable),
        posix_trace_eventtypelist_rewind(trid),
        posix_trace_get_attr(trid, &attr),
        posix_trace_get_status(trid, &status),
        posix_trace_open(-1, &trid),
        posix_trace_rewind(trid),
        posix_trace_close(trid),
        posix_trace_getnext_event(trid, &info, NULL, 0, &len, &unavailable),
        posix_trace_timedgetnext_event(trid, &info, NULL, 0, &len, &unavailable, &now),
        posix_trace_trygetnext_event(trid, &info, NULL, 0, &len, &unavailable),
    };
    ck_assert_int_eq(errno, 4711);
    for (size_t i = 0; i < TH_COUNT(results); i++)
        ck_assert_msg(results[i] > 0, "call %zu returned %d", i, results[i]);
    ck_ok(posix_trace_attr_destroy(&attr));
}
END_TEST

struct signals {
    sigset_t mask;
    struct sigaction action[NSIG];
};

static void look_at_signals(struct signals *s)
{
    memset(s, 0, sizeof *s);
    ck_ok(pthread_sigmask(SIG_SETMASK, NULL, &s->mask));
    for (int signo = 1; signo < NSIG; signo++)
        sigaction(signo, NULL, &s->action[signo]);
}

static void use_everything(void)
{
    char path[TH_PATH];
    int fd = th_file(path, O_RDWR);
    trace_id_t stream = th_stream(), log = th_stream_log(fd);
    trace_event_set_t set = th_set(th_id("u"));

    ck_ok(posix_trace_start(stream));
    ck_ok(posix_trace_start(log));
    ck_ok(posix_trace_set_filter(stream, &set, POSIX_TRACE_ADD_EVENTSET));
    th_put_run(th_id("u"), 0, 2000, 100);
    th_flush(log);
    th_drain(stream);
    ck_ok(posix_trace_clear(stream));
    ck_ok(posix_trace_stop(stream));
    ck_ok(posix_trace_shutdown(stream));
    ck_ok(posix_trace_shutdown(log));
    close(fd);
    th_log_events(path);
}

START_TEST(test_264_signals_left_alone)
{
    static struct signals before, after;

    look_at_signals(&before);
    use_everything();
    look_at_signals(&after);
    for (int signo = 1; signo < NSIG; signo++) {
        ck_assert_int_eq(sigismember(&before.mask, signo), sigismember(&after.mask, signo));
        ck_assert(before.action[signo].sa_handler == after.action[signo].sa_handler);
        ck_assert_int_eq(before.action[signo].sa_flags, after.action[signo].sa_flags);
    }
}
END_TEST

static void add(TCase *tc)
{
    tcase_add_test(tc, test_260_cancel_in_getnext);
    tcase_add_test(tc, test_261_no_cancellation_points);
    tcase_add_test(tc, test_262_errors_are_values);
    tcase_add_test(tc, test_264_signals_left_alone);
}

int main(void)
{
    return th_main("M calls", add);
}
