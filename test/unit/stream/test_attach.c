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

static trace_event_id_t tick;
static char file[128];

static int note_stream(void *unused, const struct posixtrace_stream *s)
{
    (void)unused;
    if (s->owner != getpid())
        return 0;
    memcpy(file, s->file, sizeof file);
    return 1;
}

static trace_id_t attach(void)
{
    trace_id_t trid;

    ck_assert_int_eq(posixtrace_stream_list(note_stream, NULL), 1);
    ck_assert_int_eq(posixtrace_attach(file, &trid), 0);
    return trid;
}

static trace_id_t create(int policy, int log_fd)
{
    trace_attr_t attr;
    trace_id_t trid;

    ck_assert_int_eq(posix_trace_eventid_open("tick", &tick), 0);
    ck_assert_int_eq(posix_trace_attr_init(&attr), 0);
    ck_assert_int_eq(posix_trace_attr_setstreamsize(&attr, 8192), 0);
    ck_assert_int_eq(posix_trace_attr_setmaxdatasize(&attr, 16), 0);
    ck_assert_int_eq(posix_trace_attr_setstreamfullpolicy(&attr, policy), 0);
    ck_assert_int_eq(log_fd < 0 ? posix_trace_create(0, &attr, &trid)
                                : posix_trace_create_withlog(0, &attr, log_fd, &trid),
                     0);
    ck_assert_int_eq(posix_trace_start(trid), 0);
    return trid;
}

static void trace(uint64_t from, uint64_t to)
{
    for (; from < to; from++)
        posix_trace_event(tick, &from, sizeof from);
}

/* How many ticks there are, which must begin with number from. */
static uint64_t read_ticks(trace_id_t trid, uint64_t from)
{
    struct posixtrace_event e;
    uint64_t n = 0, number;
    int none = 0;

    for (;;) {
        ck_assert_int_eq(posixtrace_next_event(trid, &e, sizeof e, &none), 0);
        if (none)
            return n;
        if (e.id != tick)
            continue;
        memcpy(&number, e.data, sizeof number);
        ck_assert_uint_eq(number, from + n);
        n++;
    }
}

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

/* The sum of what was missed since the beginning. */
static uint64_t missed(trace_id_t trid)
{
    struct posixtrace_info info;
    uint64_t sum = 0;

    ck_assert_int_eq(posixtrace_get_info(trid, &info, sizeof info), 0);
    for (unsigned i = 0; i < POSIXTRACE_LOSS_CAUSES; i++)
        sum += info.lost[i];
    return sum;
}

/* Skipped events are not lost, and stay there for others. */
START_TEST(skipping)
{
    trace_id_t own = create(POSIX_TRACE_UNTIL_FULL, -1), trid = attach();
    struct posixtrace_event e;
    int64_t seventh = 0;
    int none = 0;

    trace(0, 20);
    for (unsigned n = 0; n < 7 && !none;) {
        ck_assert_int_eq(posixtrace_next_event(own, &e, sizeof e, &none), 0);
        n += e.id == tick;
        seventh = e.ns;
    }
    ck_assert_int_eq(posixtrace_seek(trid, 0), 0);
    ck_assert_int_eq(posixtrace_seek(trid, seventh), 0);
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

/* ---- events outside the windows ---- */

/* Its thread has found the gate open, and takes the time after the STOP. */
static void trace_too_late(trace_id_t own, uint64_t number)
{
    struct pt_stream *s = pt_handle_get(own, ~0u);

    ck_assert_ptr_nonnull(s);
    ck_assert_int_eq(posix_trace_stop(own), 0);
    pt_page_set_gate(s->page, s->bit, tick, PT_GATE_OPEN);
    trace(number, number + 1);
    pt_page_set_gate(s->page, s->bit, tick, PT_GATE_CLOSED);
    pt_handle_put(s);
}

/* How many ticks there are; *marks: of missing events, too. */
static uint64_t read_all(trace_id_t trid, unsigned *marks)
{
    struct posixtrace_event e;
    uint64_t ticks = 0;
    int none = 0;

    for (*marks = 0;;) {
        ck_assert_int_eq(posixtrace_next_event(trid, &e, sizeof e, &none), 0);
        if (none)
            return ticks;
        ticks += e.id == tick;
        *marks += e.id == POSIX_TRACE_OVERFLOW || e.id == POSIX_TRACE_RESUME;
    }
}

/* What no window has is no part of the stream, for an onlooker as for the owner; _i: the STOP is
 * read before the next START is made. */
START_TEST(outside_windows)
{
    trace_id_t own = create(POSIX_TRACE_UNTIL_FULL, -1), trid = attach();
    struct posixtrace_info mine, owners;
    unsigned marks;

    trace(0, 3);
    trace_too_late(own, 3);
    if (_i)
        ck_assert_uint_eq(read_ticks(trid, 0), 3);
    ck_assert_int_eq(posix_trace_start(own), 0);
    trace(4, 6);
    trace_too_late(own, 6);
    ck_assert_uint_eq(read_all(trid, &marks), _i ? 2 : 5);
    ck_assert_uint_eq(marks, 0);
    ck_assert_uint_eq(missed(trid), 0);
    ck_assert_uint_eq(read_all(own, &marks), 5);
    ck_assert_int_eq(posixtrace_get_info(trid, &mine, sizeof mine), 0);
    ck_assert_int_eq(posixtrace_get_info(own, &owners, sizeof owners), 0);
    ck_assert_uint_eq(owners.events, 5);
    ck_assert_uint_eq(mine.events, 5);
    ck_assert_int_eq(posixtrace_detach(trid), 0);
    ck_assert_int_eq(posix_trace_shutdown(own), 0);
}
END_TEST

struct stepper {
    pthread_t thread;
    sem_t go, done;
    uint64_t number;
};

static void *make_steps(void *stepper)
{
    struct stepper *s = stepper;

    for (unsigned i = 0; i < 3; i++) {
        while (sem_wait(&s->go) < 0)
            ;
        trace(s->number, s->number + 3);
        s->number += 3;
        sem_post(&s->done);
    }
    return NULL;
}

static void make_step(struct stepper *s)
{
    sem_post(&s->go);
    while (sem_wait(&s->done) < 0)
        ;
}

/* The chunk of a thread has events of before and after a STOP and START that were read; then there
 * were 5 + _i FILTERs, of which the stream has the last ones. */
START_TEST(stopped_earlier)
{
    trace_id_t own = create(POSIX_TRACE_UNTIL_FULL, -1), trid;
    struct stepper s = { .number = 100 };
    trace_event_set_t none_of_all;
    struct posixtrace_event e;
    uint64_t number, next = 0;
    bool gap = false, mark = false;
    unsigned marks;
    int none = 0;

    ck_assert_int_eq(sem_init(&s.go, 0, 0), 0);
    ck_assert_int_eq(sem_init(&s.done, 0, 0), 0);
    ck_assert_int_eq(pthread_create(&s.thread, NULL, make_steps, &s), 0);
    make_step(&s);
    ck_assert_int_eq(posix_trace_stop(own), 0);
    make_step(&s);
    ck_assert_int_eq(posix_trace_start(own), 0);
    ck_assert_int_eq(posix_trace_eventset_empty(&none_of_all), 0);
    for (int i = 0; i < 5 + _i; i++)
        ck_assert_int_eq(posix_trace_set_filter(own, &none_of_all, POSIX_TRACE_SET_EVENTSET), 0);
    ck_assert_uint_eq(read_all(own, &marks), 3);
    make_step(&s);
    trid = attach();
    for (;;) {
        ck_assert_int_eq(posixtrace_next_event(trid, &e, sizeof e, &none), 0);
        if (none)
            break;
        gap = e.id == POSIX_TRACE_OVERFLOW || (gap && e.id != POSIX_TRACE_RESUME);
        mark |= e.id == POSIX_TRACE_RESUME;
        if (e.id != tick)
            continue;
        memcpy(&number, e.data, sizeof number);
        ck_assert(next == 0 || number == next || gap || mark);
        next = number + 1;
        mark = false;
    }
    ck_assert_uint_eq(next, 109);
    ck_assert_int_eq(pthread_join(s.thread, NULL), 0);
    ck_assert_int_eq(posixtrace_detach(trid), 0);
    ck_assert_int_eq(posix_trace_shutdown(own), 0);
}
END_TEST

static trace_event_id_t next(trace_id_t trid, struct posixtrace_event *e)
{
    int none;

    ck_assert_int_eq(posixtrace_next_event(trid, e, sizeof *e, &none), 0);
    ck_assert(!none);
    return e->id;
}

/* A chunk has events of before and after the last restart of a full stream. */
START_TEST(restarted_earlier)
{
    trace_id_t own = create(POSIX_TRACE_UNTIL_FULL, -1), trid;
    struct pt_seg *seg = segment_of(own);
    struct posixtrace_event e;

    trace(0, 3);
    pt_store_seqcst(&seg->h->gap_to, pt_clock_now(seg->g.clock));
    trace(3, 6);
    trid = attach();
    ck_assert_uint_eq(next(trid, &e), POSIX_TRACE_START);
    ck_assert_uint_eq(next(trid, &e), POSIX_TRACE_OVERFLOW);
    for (unsigned i = 0; i < 3; i++)
        ck_assert_uint_eq(next(trid, &e), tick);
    ck_assert_uint_eq(next(trid, &e), POSIX_TRACE_RESUME);
    ck_assert_uint_eq(read_ticks(trid, 3), 3);
    ck_assert_int_eq(posixtrace_detach(trid), 0);
    ck_assert_int_eq(posix_trace_shutdown(own), 0);
}
END_TEST

/* A full stream refuses events, which have no numbers.  It has been emptied and runs again before
 * an onlooker looks, _i + 1 times: OVERFLOW and RESUME are around the missing events. */
START_TEST(restarted_unseen)
{
    trace_id_t own = create(POSIX_TRACE_UNTIL_FULL, -1), trid = attach();
    struct posixtrace_event e;
    uint64_t number, next = 0, from = 10;
    bool gap = false, mark = false;
    unsigned marks;
    int none = 0;

    trace(0, from);
    ck_assert_uint_eq(read_ticks(trid, 0), from);
    next = from;
    for (int i = 0; i <= _i; i++, from += 2000) {
        trace(from, from + 2000);
        ck_assert_uint_lt(read_all(own, &marks), 2000);
    }
    trace(from, from + 10);
    for (;;) {
        ck_assert_int_eq(posixtrace_next_event(trid, &e, sizeof e, &none), 0);
        if (none)
            break;
        mark |= e.id == POSIX_TRACE_STOP;
        gap = e.id == POSIX_TRACE_OVERFLOW || (gap && e.id != POSIX_TRACE_RESUME);
        if (e.id != tick)
            continue;
        memcpy(&number, e.data, sizeof number);
        ck_assert_uint_ge(number, next);
        ck_assert(number == next || mark || gap);
        next = number + 1;
        mark = false;
    }
    ck_assert_uint_eq(next, from + 10);
    ck_assert_int_eq(posixtrace_detach(trid), 0);
    ck_assert_int_eq(posix_trace_shutdown(own), 0);
}
END_TEST

START_TEST(overtaken)
{
    trace_id_t own = create(POSIX_TRACE_LOOP, -1), trid = attach(), late;
    struct posixtrace_event e;
    uint64_t ticks = 0;
    unsigned told = 0;
    int none = 0;

    trace(0, 5000);
    late = attach();
    ck_assert_uint_eq(missed(late), 0);
    for (;;) {
        ck_assert_int_eq(posixtrace_next_event(trid, &e, sizeof e, &none), 0);
        if (none)
            break;
        ticks += e.id == tick;
        told += e.id == POSIX_TRACE_OVERFLOW;
    }
    ck_assert_uint_gt(ticks, 0);
    ck_assert_uint_lt(ticks, 5000);
    ck_assert_uint_eq(ticks + missed(trid), 5000);
    ck_assert_uint_eq(told, 1);
    ck_assert_uint_eq(read_ticks(late, 5000 - ticks), ticks);
    ck_assert_uint_eq(read_ticks(own, 5000 - ticks), ticks);
    ck_assert_int_eq(posixtrace_detach(late), 0);
    ck_assert_int_eq(posixtrace_detach(trid), 0);
    ck_assert_int_eq(posix_trace_shutdown(own), 0);
}
END_TEST

static uint64_t lost_before(trace_id_t trid, unsigned cause)
{
    uint64_t lost[POSIXTRACE_LOSS_CAUSES], sum = 0;

    ck_assert_int_eq(posixtrace_attach_lost(trid, lost), 0);
    for (unsigned i = 0; i < POSIXTRACE_LOSS_CAUSES; i++)
        sum += i == cause ? 0 : lost[i];
    ck_assert_uint_eq(sum, 0);
    return lost[cause];
}

/* What was overwritten before the attach is a gap before the first event, what was cleared is
 * none; _i: its owner has read events in between. */
START_TEST(overwritten_earlier)
{
    trace_id_t own = create(POSIX_TRACE_LOOP, -1), trid;
    struct posixtrace_event e;
    struct timespec before;

    clock_gettime(CLOCK_REALTIME, &before);
    trace(0, 5000);
    if (_i) {
        ck_assert_uint_eq(next(own, &e), POSIX_TRACE_OVERFLOW);
        trace(5000, 10000);
    }
    trid = attach();
    ck_assert_uint_eq(next(trid, &e), POSIX_TRACE_OVERFLOW);
    /* When the stream was created. */
    ck_assert_int_le(e.ns, (int64_t)before.tv_sec * 1000000000 + before.tv_nsec);
    ck_assert_uint_eq(next(trid, &e), POSIX_TRACE_RESUME);
    ck_assert_uint_eq(next(trid, &e), tick);
    ck_assert_uint_eq(missed(trid), 0);
    ck_assert_int_eq(posixtrace_detach(trid), 0);
    ck_assert_int_eq(posix_trace_clear(own), 0);
    trace(0, 7);
    trid = attach();
    ck_assert_uint_eq(next(trid, &e), tick);
    ck_assert_int_eq(posixtrace_detach(trid), 0);
    ck_assert_int_eq(posix_trace_shutdown(own), 0);
}
END_TEST

static void *trace_and_end(void *unused)
{
    trace(0, 3);
    return unused;
}

/* What a stream has overwritten before is lost, of living and of ended threads; what was
 * read or cleared is not. */
START_TEST(lost_earlier)
{
    trace_id_t own = create(POSIX_TRACE_LOOP, -1), trid;
    uint64_t lost[POSIXTRACE_LOSS_CAUSES], n;
    pthread_t thread;

    trace(0, 10);
    trid = attach();
    ck_assert_uint_eq(lost_before(trid, POSIXTRACE_LOST_OVERWRITTEN), 0);
    ck_assert_int_eq(posixtrace_detach(trid), 0);
    for (unsigned i = 0; i < 100; i++) {
        ck_assert_int_eq(pthread_create(&thread, NULL, trace_and_end, NULL), 0);
        ck_assert_int_eq(pthread_join(thread, NULL), 0);
    }
    trace(10, 5000);
    trid = attach();
    n = lost_before(trid, POSIXTRACE_LOST_OVERWRITTEN);
    ck_assert_uint_gt(n, 300);
    ck_assert_uint_eq(n + read_ticks(trid, n - 300), 5300);
    ck_assert_uint_eq(missed(trid), 0);
    ck_assert_int_eq(posixtrace_detach(trid), 0);
    ck_assert_int_eq(posix_trace_clear(own), 0);
    trace(0, 7);
    trid = attach();
    ck_assert_uint_eq(lost_before(trid, POSIXTRACE_LOST_OVERWRITTEN), 0);
    ck_assert_uint_eq(read_ticks(trid, 0), 7);
    ck_assert_int_eq(posixtrace_attach_lost(trid, NULL), EINVAL);
    ck_assert_int_eq(posixtrace_attach_lost(own, lost), EINVAL);
    ck_assert_int_eq(posixtrace_detach(trid), 0);
    ck_assert_int_eq(posix_trace_shutdown(own), 0);
}
END_TEST

START_TEST(full_earlier)
{
    trace_id_t own = create(POSIX_TRACE_UNTIL_FULL, -1), trid;
    uint64_t n;

    trace(0, 5000);
    trid = attach();
    n = lost_before(trid, POSIXTRACE_LOST_FULL);
    ck_assert_uint_gt(n, 0);
    ck_assert_uint_eq(n + read_ticks(trid, 0), 5000);
    ck_assert_int_eq(posixtrace_detach(trid), 0);
    ck_assert_int_eq(posix_trace_shutdown(own), 0);
}
END_TEST

START_TEST(full_and_restarted)
{
    trace_id_t own = create(POSIX_TRACE_UNTIL_FULL, -1), trid = attach();
    struct posix_trace_status_info status;
    uint64_t n;

    trace(0, 5000);
    n = read_ticks(trid, 0);
    ck_assert_uint_eq(n + missed(trid), 5000);
    /* The onlooker has neither ended the automatic stop nor reset the creator's status. */
    ck_assert_int_eq(posix_trace_get_status(trid, &status), 0);
    ck_assert_int_eq(status.posix_stream_full_status, POSIX_TRACE_FULL);
    ck_assert_int_eq(status.posix_stream_overrun_status, POSIX_TRACE_OVERRUN);
    ck_assert_int_eq(posix_trace_get_status(own, &status), 0);
    ck_assert_int_eq(status.posix_stream_overrun_status, POSIX_TRACE_OVERRUN);
    ck_assert_int_eq(posix_trace_get_status(trid, &status), 0);
    ck_assert_int_eq(status.posix_stream_overrun_status, POSIX_TRACE_NO_OVERRUN);
    ck_assert_uint_eq(read_ticks(own, 0), n);
    ck_assert_int_eq(posix_trace_get_status(trid, &status), 0);
    ck_assert_int_eq(status.posix_stream_status, POSIX_TRACE_RUNNING);
    trace(5000, 5003);
    ck_assert_uint_eq(read_ticks(trid, 5000), 3);
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
    tcase_add_loop_test(t, outside_windows, 0, 2);
    tcase_add_loop_test(t, stopped_earlier, 0, 3);
    tcase_add_test(t, restarted_earlier);
    tcase_add_loop_test(t, restarted_unseen, 0, 3);
    tcase_add_test(t, overtaken);
    tcase_add_loop_test(t, overwritten_earlier, 0, 2);
    tcase_add_test(t, lost_earlier);
    tcase_add_test(t, full_earlier);
    tcase_add_test(t, full_and_restarted);
    tcase_add_test(t, steering);
    tcase_add_test(t, with_log);
    tcase_add_test(t, listed_when_made);
    tcase_add_test(t, the_end);
}

int main(void)
{
    return run_suite("attach", "attach", NULL, add);
}
