/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * How long threads ran, in a program whose perf_event_open() is refused: what the
 * kernel says, when it is asked, and what comes of it in a log.
 */
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <posixtrace/attr.h>
#include <posixtrace/event.h>
#include <posixtrace/system.h>
#include "base/clock.h"
#include "control/control.h"
#include "flush/cputime.h"
#include "flush/switches.h"
#include "source/run_time.h"
#include "stream/stream.h"
#include "support/log_file.h"
#include "support/refuse_call.h"
#include "support/run_suite.h"

enum { SKIPPED = 77, NOBODY = 0x3ffffff, MANY = 3000 };

/* ---- what the kernel says ---- */

START_TEST(texts)
{
    static const char sched[] = "cat (2163, #threads: 1)\n-----\n"
                                "se.exec_start      :  12841076.774993\n"
                                "se.sum_exec_runtime            :             2.000097\n";
    uint64_t ns = 1;

    ck_assert(pt_run_time_parse_schedstat("1234567 890 12\n", &ns) && ns == 1234567);
    ck_assert(pt_run_time_parse_sched(sched, &ns) && ns == 2000097);
    ck_assert(!pt_run_time_parse_schedstat("0 0 0\n", &ns));
    ck_assert(!pt_run_time_parse_schedstat("", &ns));
    ck_assert(!pt_run_time_parse_schedstat("-5 0 0\n", &ns));
    ck_assert(!pt_run_time_parse_schedstat("99999999999999999999 0 0\n", &ns));
    ck_assert(!pt_run_time_parse_sched("se.sum_exec_runtime : 12.34", &ns));
    ck_assert(!pt_run_time_parse_sched("se.sum_exec_runtime : 12", &ns));
    ck_assert(!pt_run_time_parse_sched("se.sum_exec_runtime", &ns));
    ck_assert(!pt_run_time_parse_sched("nothing : 12.345678", &ns));
}
END_TEST

START_TEST(dated_back)
{
    struct pt_run_time t = { 1000, 500, 7 }, young = { 1000, 50, 7 };

    pt_run_time_date_back(PT_CLOCK_MONOTONIC, &t, 900);
    ck_assert(t.ts == 900 && t.run_ns == 400 && t.more_ns == 107);
    pt_run_time_date_back(PT_CLOCK_MONOTONIC, &t, 950);
    ck_assert(t.ts == 900 && t.run_ns == 400 && t.more_ns == 107);
    pt_run_time_date_back(PT_CLOCK_MONOTONIC, &young, 900);
    ck_assert(young.ts == 900 && young.run_ns == 0 && young.more_ns == 57);
}
END_TEST

START_TEST(own_threads)
{
    int32_t tid = (int32_t)syscall(SYS_gettid);
    struct pt_run_time t;
    uint64_t before = pt_clock_ns(CLOCK_THREAD_CPUTIME_ID);

    ck_assert_int_eq(pt_run_time_get(PT_CLOCK_MONOTONIC, getpid(), tid, &t), 0);
    ck_assert_uint_ge(t.run_ns, before);
    ck_assert_uint_le(t.run_ns, pt_clock_ns(CLOCK_THREAD_CPUTIME_ID));
    ck_assert_uint_le(t.ts, pt_clock_ns(CLOCK_MONOTONIC));
    ck_assert_int_eq(pt_run_time_get(PT_CLOCK_MONOTONIC, getpid(), NOBODY, &t), -ESRCH);
    ck_assert_int_eq(pt_run_time_get(PT_CLOCK_MONOTONIC, NOBODY, NOBODY, &t), -ESRCH);
}
END_TEST

/* A child that has used CPU time, and waits for the order to end. */
static pid_t begin_child(int ends[2])
{
    pid_t pid;

    ck_assert_int_eq(pipe(ends), 0);
    pid = fork();
    if (pid == 0) {
        char c;

        close(ends[1]);
        _exit(read(ends[0], &c, 1) != 0);
    }
    return pid;
}

static void end_child(pid_t pid, const int ends[2])
{
    int status;

    close(ends[0]);
    close(ends[1]);
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* The kernel's clock of another process is what the same numbers add up to. */
START_TEST(other_processes)
{
    struct pt_run_time t = { 0, 0, 0 };
    uint64_t before, after;
    int ends[2], e;
    clockid_t clock;
    pid_t pid = begin_child(ends);

    ck_assert_int_eq(clock_getcpuclockid(pid, &clock), 0);
    before = pt_clock_ns(clock);
    e = pt_run_time_get(PT_CLOCK_MONOTONIC, pid, pid, &t);
    after = pt_clock_ns(clock);
    end_child(pid, ends);
    if (e == -ENOTSUP) {
        puts("this kernel does not tell how long threads of others ran");
        return;
    }
    ck_assert_int_eq(e, 0);
    ck_assert_uint_ge(t.run_ns, before);
    ck_assert_uint_le(t.run_ns, after);
    ck_assert_uint_ge(t.more_ns, pt_run_time_lag());
}
END_TEST

/* ---- when it is asked ---- */

static unsigned looks, found;

static int open_fake(struct pt_switch_source **source, const struct pt_switch_request *request)
{
    (void)request;
    *source = NULL;
    return 0;
}

static int refuse(struct pt_switch_source **source, const struct pt_switch_request *request)
{
    (void)source;
    (void)request;
    return -EACCES;
}

static void close_fake(struct pt_switch_source *source)
{
    (void)source;
}

static unsigned look_fake(struct pt_switch_source *source)
{
    (void)source;
    looks++;
    return found;
}

static const struct pt_switch_ops refused = { .open = refuse };
static const struct pt_switch_ops fake = { .open = open_fake,
                                           .close = close_fake,
                                           .look = look_fake };

/* The time for a look has come. */
static void turn(struct pt_cputime *l, unsigned result, bool running)
{
    unsigned before = looks;

    found = result;
    l->at = 1;
    pt_cputime_turn(l, running);
    ck_assert_uint_eq(looks, before + 1);
}

START_TEST(when_to_look)
{
    struct pt_switches *w = NULL;
    struct pt_stream *s = NULL;
    struct pt_cputime l;
    struct pt_attr attr;
    uint64_t pause, before;

    pt_attr_init(&attr);
    ck_assert_int_eq(pt_stream_create(&s, &attr, -1, NULL), 0);
    pt_switches_use(&refused, &fake);
    ck_assert_int_eq(pt_switches_open(&w, s, NULL, NULL), -EACCES);
    pt_cputime_init(&l, w);
    ck_assert(l.waits && l.at == 0);
    pt_cputime_turn(&l, true);
    ck_assert_uint_eq(looks, 0); /* no event was recorded yet */
    pt_cputime_wake(&l);
    ck_assert(!l.waits && l.at > 0);
    before = pt_clock_ns(CLOCK_MONOTONIC);
    turn(&l, PT_LOOK_RECORDED | PT_LOOK_RAN, true);
    ck_assert(!l.waits && l.at > before);
    pause = l.pause;
    turn(&l, PT_LOOK_RAN, true); /* they compute */
    ck_assert(l.waits && l.at > 0 && l.pause == 2 * pause);
    for (int i = 0; i < 20; i++)
        turn(&l, PT_LOOK_RAN, true);
    ck_assert(l.pause >= 1000000000u && l.pause <= 2000000000u);
    pt_cputime_wake(&l);
    ck_assert(l.pause == pause);
    turn(&l, 0, true); /* they sleep: so do we */
    ck_assert(l.waits && l.at == 0);
    found = PT_LOOK_RAN;
    pt_cputime_waits_now(&l);
    ck_assert(l.at == 0);
    found = PT_LOOK_RECORDED; /* in the moment before we went to sleep */
    pt_cputime_waits_now(&l);
    ck_assert(l.at > 0);
    turn(&l, PT_LOOK_RAN | PT_LOOK_RECORDED, false);
    ck_assert(l.waits && l.at == 0); /* a stream that is stopped needs nothing */
    pt_switches_close(w);
    ck_assert_int_eq(pt_stream_destroy(s, 0), 0);
}
END_TEST

/* ---- in a log ---- */

static trace_event_id_t own_id;

static trace_id_t make(int fd, pid_t pid, int switches, int inherited)
{
    trace_attr_t attr;
    trace_id_t trid;
    int refusal = -1;

    ck_assert_int_eq(posix_trace_attr_init(&attr), 0);
    ck_assert_int_eq(posixtrace_attr_setswitches(&attr, switches), 0);
    ck_assert_int_eq(posix_trace_attr_setinherited(&attr, inherited), 0);
    ck_assert_int_eq(posix_trace_eventid_open("own", &own_id), 0);
    ck_assert_int_eq(posix_trace_create_withlog(pid, &attr, fd, &trid), 0);
    ck_assert_int_eq(posixtrace_stream_switches(trid, &refusal), 0);
    ck_assert_int_eq(refusal, switches ? EACCES : ENODATA);
    return trid;
}

struct seen {
    unsigned beginnings;      /* tellings of no thread */
    unsigned own, others;     /* of the thread: by itself, by the flush thread */
    uint64_t run_ns, most_ns; /* the last of its own */
};

/* Reads a log, and closes it.  Tellings of a thread fit together and lie between START
 * and STOP; after one that is not exact, in a new chunk, comes one that is. */
static struct seen look(int fd, pid_t tid)
{
    struct seen seen = { 0 };
    struct posixtrace_event e;
    uint64_t data[2], least = 0;
    bool running = false;
    unsigned open = 0;
    trace_id_t trid;
    int none;

    ck_assert_int_eq(posix_trace_open(fd, &trid), 0);
    while (posixtrace_next_event(trid, &e, sizeof e, &none) == 0 && !none) {
        running = e.id == POSIX_TRACE_START || (running && e.id != POSIX_TRACE_STOP);
        ck_assert(e.id < POSIXTRACE_SWITCH_IN || e.id > POSIXTRACE_SWITCH_PREEMPTED);
        if (e.id != POSIXTRACE_CPU_TIME)
            continue;
        ck_assert(running);
        if (e.tid == 0) {
            ck_assert_uint_eq(e.data_len, 0);
            seen.beginnings++;
        }
        if (e.tid != tid)
            continue;
        ck_assert_uint_eq(e.data_len, sizeof data);
        memcpy(data, e.data, sizeof data);
        if (e.prog_address)
            open = data[1] == UINT64_MAX ? open + 1 : 0;
        ck_assert_uint_le(open, 1);
        ck_assert(data[1] > UINT64_MAX - data[0] || data[0] + data[1] >= least);
        least = data[0] > least ? data[0] : least;
        seen.own += e.prog_address != 0;
        seen.others += e.prog_address == 0;
        if (e.prog_address) {
            seen.run_ns = data[0];
            seen.most_ns = data[0] + data[1];
        }
    }
    ck_assert_uint_eq(open, 0);
    ck_assert_int_eq(posix_trace_close(trid), 0);
    close(fd);
    return seen;
}

/* The last look is at a thread that has recorded something, whatever came before. */
START_TEST(told_in_a_log)
{
    int fd = log_file();
    trace_id_t trid = make(fd, 0, 1, POSIX_TRACE_CLOSE_FOR_CHILD);
    uint64_t before, after;
    struct seen seen;

    posixtrace_system_event(POSIXTRACE_CPU_TIME, NULL, 0);
    ck_assert_int_eq(posix_trace_start(trid), 0);
    posix_trace_event(own_id, "a", 1);
    before = pt_clock_ns(CLOCK_THREAD_CPUTIME_ID);
    posixtrace_system_event(POSIXTRACE_CPU_TIME, NULL, 0);
    after = pt_clock_ns(CLOCK_THREAD_CPUTIME_ID);
    ck_assert_int_eq(posix_trace_stop(trid), 0);
    ck_assert_int_eq(posix_trace_start(trid), 0);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
    posixtrace_system_event(POSIXTRACE_CPU_TIME, NULL, 0);
    seen = look(fd, (pid_t)syscall(SYS_gettid));
    ck_assert_uint_eq(seen.beginnings, 2);
    ck_assert_uint_ge(seen.own, 1);
    ck_assert_uint_ge(seen.others, 1);
    ck_assert_uint_ge(seen.run_ns, before);
    ck_assert_uint_le(seen.most_ns, after);
}
END_TEST

/* Over many changes of chunks: look() says what has to be. */
START_TEST(told_many_times)
{
    int fd = log_file();
    trace_id_t trid = make(fd, 0, 1, POSIX_TRACE_CLOSE_FOR_CHILD);

    ck_assert_int_eq(posix_trace_start(trid), 0);
    for (int i = 0; i < MANY; i++) {
        posix_trace_event(own_id, "0123456789", (size_t)i % 10);
        posixtrace_system_event(POSIXTRACE_CPU_TIME, NULL, 0);
    }
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
    ck_assert_uint_ge(look(fd, (pid_t)syscall(SYS_gettid)).own, MANY);
}
END_TEST

/* No samples if switches were not requested, or the type is filtered. */
START_TEST(not_wanted)
{
    int fd = log_file();
    trace_id_t trid = make(fd, 0, _i == 0 ? 0 : 1, POSIX_TRACE_CLOSE_FOR_CHILD);
    trace_event_set_t set;
    struct seen seen;

    ck_assert_int_eq(posix_trace_eventset_empty(&set), 0);
    ck_assert_int_eq(posix_trace_eventset_add(POSIXTRACE_CPU_TIME, &set), 0);
    if (_i == 1)
        ck_assert_int_eq(posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET), 0);
    ck_assert_int_eq(posix_trace_start(trid), 0);
    posix_trace_event(own_id, "a", 1);
    posixtrace_system_event(POSIXTRACE_CPU_TIME, NULL, 0);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
    seen = look(fd, (pid_t)syscall(SYS_gettid));
    ck_assert_uint_eq(seen.beginnings + seen.own + seen.others, 0);
}
END_TEST

/* By the flush thread, in the log that is being written: it may not have begun. */
static bool was_told_of(int fd, pid_t tid)
{
    struct posixtrace_event e;
    bool told = false;
    trace_id_t trid;
    int none;

    if (posix_trace_open(fd, &trid) != 0)
        return false;
    while (!told && posixtrace_next_event(trid, &e, sizeof e, &none) == 0 && !none)
        told = e.id == POSIXTRACE_CPU_TIME && e.tid == tid && !e.prog_address;
    ck_assert_int_eq(posix_trace_close(trid), 0);
    return told;
}

/* A child that inherits the stream tells of itself; the flush thread tells of it as of
 * a thread of another process. */
START_TEST(of_a_child)
{
    int fd = log_file(), ends[2], e;
    trace_id_t trid = make(fd, 0, 1, POSIX_TRACE_INHERITED);
    int done[2];
    struct pt_run_time t;
    struct seen seen;
    char c;
    pid_t pid;

    ck_assert_int_eq(pipe(ends), 0);
    ck_assert_int_eq(pipe(done), 0);
    ck_assert_int_eq(posix_trace_start(trid), 0);
    pid = fork();
    if (pid == 0) {
        close(ends[1]);
        posix_trace_event(own_id, "a", 1);
        posixtrace_system_event(POSIXTRACE_CPU_TIME, NULL, 0);
        _exit(write(done[1], "x", 1) != 1 || read(ends[0], &c, 1) != 0);
    }
    ck_assert_int_eq(read(done[0], &c, 1), 1);
    e = pt_run_time_get(PT_CLOCK_MONOTONIC, pid, pid, &t);
    /* Which it does when it is its turn, not because the stream ends. */
    while (e == 0 && !was_told_of(fd, pid))
        ck_assert_int_eq(posix_trace_flush(trid), 0);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
    end_child(pid, ends);
    seen = look(fd, pid);
    ck_assert_uint_ge(seen.own, 1);
    if (e == 0)
        ck_assert_uint_ge(seen.others, 1);
}
END_TEST

static void add_tests(TCase *t)
{
    tcase_add_test(t, texts);
    tcase_add_test(t, dated_back);
    tcase_add_test(t, own_threads);
    tcase_add_test(t, other_processes);
    tcase_add_test(t, when_to_look);
    tcase_add_test(t, told_in_a_log);
    tcase_add_test(t, told_many_times);
    tcase_add_loop_test(t, not_wanted, 0, 2);
    tcase_add_test(t, of_a_child);
}

static void set_time(TCase *t)
{
    tcase_set_timeout(t, 60);
}

int main(void)
{
    if (!refuse_call(SYS_perf_event_open, EACCES)) {
        puts("there are no filters of system calls here");
        return SKIPPED;
    }
    return run_suite("source", "run times", set_time, add_tests);
}
