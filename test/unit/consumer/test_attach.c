/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * posixtrace_attach(): what an attached stream's trace id is good for, one call
 * after the other.  Creator and onlooker are the same process here; torture/steer
 * and torture/onlooker have two.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <posixtrace/attach.h>
#include <posixtrace/event.h>
#include <posixtrace/info.h>
#include <posixtrace/stream.h>
#include "base/clock.h"
#include "page/page.h"
#include "support/flush_log.h"
#include "support/run_suite.h"
#include "support/stream_inside.h"
#include "attach_helpers.h"

START_TEST(arguments)
{
    trace_id_t own = create(POSIX_TRACE_UNTIL_FULL, -1), trid = attach();
    static const char *const bad[] = {
        "",
        "s-",
        "s-.seg/",
        "../s-0.seg",
        "n-0.names",
        "s-0123456789abcdef0123456789abcdef",
        "s-0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef.seg"
    };

    for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert_int_eq(posixtrace_attach(bad[i], &trid), EINVAL);
    ck_assert_int_eq(posixtrace_attach("s-0123456789abcdef0123456789abcdef.seg", &trid), ENOENT);
    ck_assert_int_eq(posixtrace_attach(NULL, &trid), EINVAL);
    ck_assert_int_eq(posixtrace_attach(file, NULL), EINVAL);
    ck_assert_int_eq(posixtrace_detach(own), EINVAL);
    ck_assert_int_eq(posix_trace_shutdown(trid), EINVAL);
    ck_assert_int_eq(posix_trace_clear(trid), EINVAL);
    ck_assert_int_eq(posix_trace_close(trid), EINVAL);
    ck_assert_int_eq(posix_trace_flush(trid), EINVAL);
    ck_assert_int_eq(posixtrace_seek(own, 0), EINVAL);
    ck_assert_int_eq(posixtrace_detach(trid), 0);
    ck_assert_int_eq(posixtrace_seek(trid, 0), EINVAL);
    ck_assert_int_eq(posixtrace_detach(trid), EINVAL);
    ck_assert_int_eq(posix_trace_start(trid), EINVAL);
    ck_assert_int_eq(posix_trace_shutdown(own), 0);
}
END_TEST

static int note_pid(void *pid, pid_t traced)
{
    *(pid_t *)pid = traced;
    return 7;
}

START_TEST(traced)
{
    trace_id_t own = create(POSIX_TRACE_UNTIL_FULL, -1);
    pid_t pid = 0;

    ck_assert_int_eq(posixtrace_detach(attach()), 0);
    ck_assert_int_eq(posixtrace_stream_traced(file, note_pid, &pid), 7);
    ck_assert_int_eq(pid, getpid());
    ck_assert_int_eq(posixtrace_stream_traced(NULL, note_pid, &pid), EINVAL);
    ck_assert_int_eq(posixtrace_stream_traced(file, NULL, &pid), EINVAL);
    ck_assert_int_eq(posixtrace_stream_traced("", note_pid, &pid), EINVAL);
    ck_assert_int_eq(posixtrace_stream_traced("s-../x.seg", note_pid, &pid), EINVAL);
    ck_assert_int_eq(posix_trace_shutdown(own), 0);
    ck_assert_int_eq(posixtrace_stream_traced(file, note_pid, &pid), ENOENT);
}
END_TEST

static int say_pid(void *value, pid_t pid)
{
    return pid == getpid() ? *(int *)value : 0;
}

static int say_stream(void *value, const struct posixtrace_stream *s)
{
    return strcmp(s->file, file) == 0 ? *(int *)value : 0;
}

/* What a callback returns comes back as it is. */
START_TEST(callbacks)
{
    static const int values[] = { -5, -1, 1, 5, INT_MIN, INT_MAX };
    trace_id_t own = create(POSIX_TRACE_UNTIL_FULL, -1);

    ck_assert_int_eq(posixtrace_detach(attach()), 0);
    for (unsigned i = 0; i < sizeof values / sizeof *values; i++) {
        int value = values[i];

        ck_assert_int_eq(posixtrace_stream_list(say_stream, &value), value);
        ck_assert_int_eq(posixtrace_stream_traced(file, say_pid, &value), value);
    }
    ck_assert_int_eq(posix_trace_shutdown(own), 0);
}
END_TEST

/* ---- a callback that closes what it does not know ---- */

enum { FILES = 16 };

static int own_fd[FILES], opened;

/* The program's files have the numbers that the library would have used. */
static int replace_all(void)
{
    if (opened++ == 0) {
        ck_assert_int_eq(close_range((unsigned)own_fd[0], ~0u, 0), 0);
        for (int i = 0; i < FILES; i++)
            own_fd[i] = open("/dev/null", O_RDONLY | O_CLOEXEC);
    }
    return 0;
}

static int replace_at_stream(void *unused, const struct posixtrace_stream *s)
{
    (void)unused;
    (void)s;
    return replace_all();
}

static int replace_at_process(void *unused, pid_t pid)
{
    (void)unused;
    (void)pid;
    return replace_all();
}

static void expect_own_files(void)
{
    ck_assert_int_ge(opened, 1);
    for (int i = 0; i < FILES; i++)
        ck_assert_int_ge(fcntl(own_fd[i], F_GETFD), 0);
    opened = 0;
}

START_TEST(callback_closes_all)
{
    trace_id_t trid = create(POSIX_TRACE_LOOP, -1), second = create(POSIX_TRACE_LOOP, -1);

    ck_assert_int_eq(posixtrace_stream_list(note_stream, NULL), 1);
    own_fd[0] = open("/dev/null", O_RDONLY | O_CLOEXEC);
    ck_assert_int_eq(posixtrace_stream_list(replace_at_stream, NULL), 0);
    ck_assert_int_ge(opened, 2);
    expect_own_files();
    ck_assert_int_eq(posixtrace_stream_traced(file, replace_at_process, NULL), 0);
    expect_own_files();
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
    ck_assert_int_eq(posix_trace_shutdown(second), 0);
}
END_TEST

START_TEST(reading_takes_nothing)
{
    trace_id_t own = create(POSIX_TRACE_UNTIL_FULL, -1), trid, late;

    trace(0, 20);
    trid = attach();
    ck_assert_uint_eq(read_ticks(trid, 0), 20);
    trace(20, 30);
    ck_assert_uint_eq(read_ticks(trid, 20), 10);
    ck_assert_uint_eq(read_ticks(own, 0), 30);
    /* Its creator has read them, but the chunk is not full: they are still there. */
    late = attach();
    ck_assert_uint_eq(read_ticks(late, 0), 30);
    ck_assert_uint_eq(read_ticks(trid, 30), 0);
    ck_assert_int_eq(posixtrace_detach(late), 0);
    ck_assert_int_eq(posixtrace_detach(trid), 0);
    ck_assert_int_eq(posix_trace_shutdown(own), 0);
}
END_TEST

/* Two readers may give an event times that differ by some ns, as each knows the clock's speed from
 * another moment: far less than this. */
static void pause_recording(void)
{
    const struct timespec pause = { 0, 20000000 };

    nanosleep(&pause, NULL);
}

/* Skipped events are not lost, and stay there for others. */
START_TEST(skipping)
{
    enum { HALF_PAUSE_NS = 10000000 };
    trace_id_t own = create(POSIX_TRACE_UNTIL_FULL, -1), trid = attach();
    struct posixtrace_event e;
    int64_t seventh = 0;
    int none = 0;

    trace(0, 6);
    pause_recording();
    trace(6, 20);
    for (unsigned n = 0; n < 7 && !none;) {
        ck_assert_int_eq(posixtrace_next_event(own, &e, sizeof e, &none), 0);
        n += e.id == tick;
        seventh = e.ns;
    }
    ck_assert_int_eq(posixtrace_seek(trid, 0), 0);
    ck_assert_int_eq(posixtrace_seek(trid, seventh - HALF_PAUSE_NS), 0);
    ck_assert_int_eq(posixtrace_seek(trid, seventh - 1000000000), 0);
    ck_assert_uint_eq(read_ticks(trid, 6), 14);
    trace(20, 40);
    ck_assert_int_eq(posixtrace_seek(trid, INT64_MAX), 0);
    ck_assert_uint_eq(read_ticks(trid, 40), 0);
    trace(40, 45);
    ck_assert_int_eq(posixtrace_seek(trid, INT64_MIN), 0);
    ck_assert_uint_eq(read_ticks(trid, 40), 5);
    ck_assert_uint_eq(missed(trid), 0);
    ck_assert_uint_eq(read_ticks(own, 7), 38);
    ck_assert_int_eq(posixtrace_detach(trid), 0);
    ck_assert_int_eq(posix_trace_shutdown(own), 0);
}
END_TEST

/* A thread that is inside an event holds back what others have recorded since.  That is skipped,
 * too, if it is before the position. */
START_TEST(skipping_what_is_held)
{
    trace_id_t own = create(POSIX_TRACE_UNTIL_FULL, -1), trid = attach();
    struct pt_slot *slot;

    trace(0, 20);
    slot = slot_of_last_writer(segment_of(own));
    pt_store_seqcst(&slot->inside, (uint64_t)-1);
    ck_assert_int_eq(posixtrace_seek(trid, INT64_MAX), 0);
    pt_store_seqcst(&slot->inside, (uint64_t)0);
    trace(20, 25);
    ck_assert_uint_eq(read_ticks(trid, 20), 5);
    ck_assert_uint_eq(missed(trid), 0);
    ck_assert_uint_eq(info_of(trid).events, 25);
    ck_assert_int_eq(posixtrace_detach(trid), 0);
    ck_assert_int_eq(posix_trace_shutdown(own), 0);
}
END_TEST

/* The stream was full, and has been restarted and cleared since the onlooker read: the START that
 * is made for it goes with the rest. */
START_TEST(cleared_after_full)
{
    trace_id_t own = create(POSIX_TRACE_UNTIL_FULL, -1), trid = attach();

    trace(0, 1000);
    ck_assert_uint_gt(read_ticks(trid, 0), 0);
    ck_assert_uint_gt(read_ticks(own, 0), 0);
    ck_assert_int_eq(posix_trace_stop(own), 0);
    ck_assert_int_eq(posix_trace_start(own), 0);
    ck_assert_int_eq(posix_trace_clear(own), 0);
    trace(2000, 2005);
    ck_assert_uint_eq(read_ticks(trid, 2000), 5);
    ck_assert_int_eq(posixtrace_detach(trid), 0);
    ck_assert_int_eq(posix_trace_shutdown(own), 0);
}
END_TEST

/* The ticks with these numbers; is there a gap before the first one? */
static void expect_whole(trace_id_t trid, uint64_t from, uint64_t to, bool first)
{
    struct posixtrace_event e;
    bool gap, any = false;
    uint64_t number;
    size_t n = 1;

    while (n > 0) {
        ck_assert_int_eq(posixtrace_next_whole_events(trid, &e, sizeof e, 1, &n, &gap), 0);
        any |= gap;
        if (n == 0 || e.id != tick)
            continue;
        memcpy(&number, e.data, sizeof number);
        ck_assert_uint_eq(number, from++);
        ck_assert_int_eq(any, first);
        first = any = false;
    }
    ck_assert_uint_eq(from, to);
}

/* Events that were cleared are missing between those before and those after. */
START_TEST(cleared_between)
{
    trace_id_t own = create(POSIX_TRACE_UNTIL_FULL, -1), trid = attach();

    for (uint64_t n = 0; n < 30; n += 10) {
        trace(n, n + 5);
        expect_whole(trid, n, n + 5, n > 0);
        expect_whole(own, n, n + 5, n > 0);
        trace(n + 5, n + 10);
        ck_assert_int_eq(posix_trace_clear(own), 0);
    }
    ck_assert_int_eq(posixtrace_detach(trid), 0);
    ck_assert_int_eq(posix_trace_shutdown(own), 0);
}
END_TEST

/* Several at once are valid together. */
START_TEST(several)
{
    enum { MOST = 7, TICKS = 300 };
    trace_id_t own = create(POSIX_TRACE_UNTIL_FULL, -1), trid = attach();
    struct posixtrace_event e[MOST];
    uint64_t n = 0, number;
    size_t count = 1, calls = 0;

    trace(0, TICKS);
    for (; count > 0; calls++) {
        ck_assert_int_eq(posixtrace_next_events(trid, e, sizeof e[0], MOST, &count), 0);
        ck_assert_uint_le(count, MOST);
        for (size_t i = 0; i < count; i++) {
            if (e[i].id != tick)
                continue;
            memcpy(&number, e[i].data, sizeof number);
            ck_assert_uint_eq(number, n++);
            ck_assert_int_eq(e[i].pid, getpid());
            ck_assert_str_eq(e[i].name, "tick");
            ck_assert_str_eq(e[i].thread_name, e[count - 1].thread_name);
        }
    }
    ck_assert_uint_eq(n, TICKS);
    ck_assert_uint_lt(calls, TICKS / 2);
    ck_assert_int_eq(posixtrace_detach(trid), 0);
    ck_assert_int_eq(posix_trace_shutdown(own), 0);
}
END_TEST

static void *trace_all(void *over)
{
    enum { ALL = 300000, STEP = 1000 };

    for (uint64_t from = 0; from < ALL; from += STEP)
        trace(from, from + STEP);
    __atomic_store_n((bool *)over, true, __ATOMIC_RELEASE);
    return NULL;
}

/* While the stream is overwritten: in order, and each event is read, skipped or lost once. */
START_TEST(skipping_overwritten)
{
    enum { ALL = 300000, MOST = 16 };
    trace_id_t own = create(POSIX_TRACE_LOOP, -1), trid = attach();
    struct posixtrace_event e[MOST];
    struct posixtrace_info info;
    uint64_t read = 0, next = 0, number;
    pthread_t writer;
    bool over = false;

    ck_assert_int_eq(pthread_create(&writer, NULL, trace_all, &over), 0);
    for (unsigned turn = 0; !__atomic_load_n(&over, __ATOMIC_ACQUIRE); turn++) {
        size_t count;

        if (turn % 4 == 0)
            ck_assert_int_eq(posixtrace_seek(trid, INT64_MAX), 0);
        ck_assert_int_eq(posixtrace_next_events(trid, e, sizeof e[0], MOST, &count), 0);
        for (size_t i = 0; i < count; i++) {
            if (e[i].id != tick)
                continue;
            memcpy(&number, e[i].data, sizeof number);
            ck_assert_uint_ge(number, next);
            next = number + 1;
            read++;
        }
    }
    ck_assert_int_eq(pthread_join(writer, NULL), 0);
    ck_assert_int_eq(posixtrace_seek(trid, INT64_MAX), 0);
    ck_assert_uint_eq(read_ticks(trid, 0), 0);
    ck_assert_int_eq(posixtrace_get_info(trid, &info, sizeof info), 0);
    ck_assert_uint_eq(info.events, ALL);
    ck_assert_uint_le(read + missed(trid), ALL);
    ck_assert_int_eq(posixtrace_detach(trid), 0);
    ck_assert_int_eq(posix_trace_shutdown(own), 0);
}
END_TEST

START_TEST(steering)
{
    trace_id_t own = create(POSIX_TRACE_UNTIL_FULL, -1), trid = attach();
    struct posix_trace_status_info status;
    trace_event_set_t set, now;
    trace_event_id_t other, same;
    int member = 0;

    ck_assert_int_eq(posix_trace_trid_eventid_open(trid, "other", &other), 0);
    ck_assert_int_eq(posix_trace_eventid_open("other", &same), 0);
    ck_assert_uint_eq(other, same);
    ck_assert_int_eq(posix_trace_eventset_empty(&set), 0);
    ck_assert_int_eq(posix_trace_eventset_add(tick, &set), 0);
    ck_assert_int_eq(posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET), 0);
    ck_assert_int_eq(posix_trace_get_filter(own, &now), 0);
    ck_assert_int_eq(posix_trace_eventset_ismember(tick, &now, &member), 0);
    ck_assert_int_ne(member, 0);
    trace(0, 3);
    ck_assert_int_eq(posix_trace_set_filter(own, &set, POSIX_TRACE_SUB_EVENTSET), 0);
    trace(3, 5);
    ck_assert_int_eq(posix_trace_stop(trid), 0);
    ck_assert_int_eq(posix_trace_get_status(own, &status), 0);
    ck_assert_int_eq(status.posix_stream_status, POSIX_TRACE_SUSPENDED);
    trace(0, 1);
    ck_assert_int_eq(posix_trace_start(own), 0);
    trace(5, 6);
    ck_assert_int_eq(posix_trace_set_filter(trid, &set, 99), EINVAL);
    ck_assert_uint_eq(read_ticks(own, 3), 3);
    ck_assert_uint_eq(read_ticks(trid, 3), 3);
    ck_assert_int_eq(posixtrace_detach(trid), 0);
    ck_assert_int_eq(posix_trace_shutdown(own), 0);
}
END_TEST

START_TEST(with_log)
{
    char path[] = "/tmp/posixtrace-attach.XXXXXX";
    int fd = mkstemp(path);
    trace_id_t own = create(POSIX_TRACE_UNTIL_FULL, fd), trid = attach(), log;

    unlink(path);
    trace(0, 10);
    ck_assert_uint_eq(read_ticks(trid, 0), 10);
    flush_log(trid);
    /* It is in the file, though its writer has not ended. */
    ck_assert_int_eq(posix_trace_open(fd, &log), 0);
    ck_assert_uint_eq(read_ticks(log, 0), 10);
    ck_assert_int_eq(posix_trace_close(log), 0);
    ck_assert_int_eq(posixtrace_detach(trid), 0);
    ck_assert_int_eq(posix_trace_shutdown(own), 0);
    close(fd);
}
END_TEST

static void *create_for_pipe(void *fd)
{
    trace_id_t *trid = malloc(sizeof *trid);
    trace_attr_t attr;

    ck_assert_int_eq(posix_trace_attr_init(&attr), 0);
    ck_assert_int_eq(posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_APPEND), 0);
    ck_assert_int_eq(posix_trace_create_withlog(0, &attr, *(int *)fd, trid), 0);
    return trid;
}

/* The flush thread, which the last step of create waits for, is there. */
static bool log_is_being_made(void)
{
    DIR *tasks = opendir("/proc/self/task");
    struct dirent *entry;
    bool found = false;

    ck_assert_ptr_nonnull(tasks);
    while (!found && (entry = readdir(tasks))) {
        char path[sizeof "/proc/self/task//comm" + sizeof entry->d_name], name[20] = "";
        FILE *comm;

        snprintf(path, sizeof path, "/proc/self/task/%s/comm", entry->d_name);
        comm = fopen(path, "r");
        found = comm && fgets(name, sizeof name, comm) && strcmp(name, "pxtrace-flush\n") == 0;
        if (comm)
            fclose(comm);
    }
    closedir(tasks);
    return found;
}

/* A full pipe holds create up in the header of the log. */
START_TEST(listed_when_made)
{
    static char bytes[4096];
    int ends[2], flags;
    pthread_t creator;
    trace_id_t *trid;

    ck_assert_int_eq(pipe(ends), 0);
    ck_assert_int_eq(fcntl(ends[0], F_SETFL, O_NONBLOCK), 0);
    flags = fcntl(ends[1], F_GETFL);
    ck_assert_int_eq(fcntl(ends[1], F_SETFL, flags | O_NONBLOCK), 0);
    while (write(ends[1], bytes, sizeof bytes) > 0)
        ;
    ck_assert_int_eq(fcntl(ends[1], F_SETFL, flags), 0);
    ck_assert_int_eq(pthread_create(&creator, NULL, create_for_pipe, &ends[1]), 0);
    while (!log_is_being_made())
        usleep(100);
    ck_assert_int_eq(posixtrace_stream_list(note_stream, NULL), 0);
    while (posixtrace_stream_list(note_stream, NULL) == 0)
        while (read(ends[0], bytes, sizeof bytes) > 0)
            ;
    ck_assert_int_eq(pthread_join(creator, (void **)&trid), 0);
    ck_assert_int_eq(posix_trace_shutdown(*trid), 0);
    free(trid);
    close(ends[0]);
    close(ends[1]);
}
END_TEST

START_TEST(the_end)
{
    trace_id_t own = create(POSIX_TRACE_UNTIL_FULL, -1), trid = attach();
    struct timespec soon = { 1, 0 };
    trace_event_set_t set;
    struct posixtrace_event e;
    int none = 0;

    trace(0, 4);
    while (posixtrace_next_event(trid, &e, sizeof e, &none) == 0 && !none)
        ;
    ck_assert_int_eq(posixtrace_timednext_event(trid, &e, sizeof e, &none, &soon), ETIMEDOUT);
    trace(4, 7);
    ck_assert_int_eq(posix_trace_shutdown(own), 0);
    for (uint64_t i = 4; i < 7; i++) {
        ck_assert_int_eq(posixtrace_timednext_event(trid, &e, sizeof e, &none, NULL), 0);
        ck_assert_uint_eq(e.id, tick);
    }
    ck_assert_int_eq(posixtrace_timednext_event(trid, &e, sizeof e, &none, NULL), 0); /* STOP */
    ck_assert_uint_eq(e.id, POSIX_TRACE_STOP);
    ck_assert_int_eq(posixtrace_timednext_event(trid, &e, sizeof e, &none, NULL), ENXIO);
    ck_assert_int_eq(posixtrace_next_event(trid, &e, sizeof e, &none), ENXIO);
    ck_assert_int_eq(posix_trace_eventset_empty(&set), 0);
    ck_assert_int_eq(posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET), ENXIO);
    ck_assert_int_eq(posix_trace_start(trid), ENXIO);
    ck_assert_int_eq(posix_trace_stop(trid), ENXIO);
    ck_assert_int_eq(posixtrace_attach(file, &own), ENOENT);
    ck_assert_int_eq(posixtrace_detach(trid), 0);
}
END_TEST

static void add(TCase *t)
{
    tcase_add_test(t, arguments);
    tcase_add_test(t, traced);
    tcase_add_test(t, callbacks);
    tcase_add_test(t, callback_closes_all);
    tcase_add_test(t, reading_takes_nothing);
    tcase_add_test(t, skipping);
    tcase_add_test(t, skipping_what_is_held);
    tcase_add_test(t, cleared_after_full);
    tcase_add_test(t, cleared_between);
    tcase_add_test(t, several);
    tcase_add_test(t, skipping_overwritten);
    tcase_add_test(t, steering);
    tcase_add_test(t, with_log);
    tcase_add_test(t, listed_when_made);
    tcase_add_test(t, the_end);
}

int main(void)
{
    return run_suite("attach", "attach", NULL, add);
}
