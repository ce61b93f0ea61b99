/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Context switches in a stream with log, from a source that plays a script: which are part of the
 * stream, their authors, and that the accounts of the threads' own events stay right in all cases,
 * also after SIGKILL in the middle of a round.
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <posixtrace/event.h>
#include <posixtrace/info.h>
#include <posixtrace/log.h>
#include <posixtrace/system.h>
#include "base/clock.h"
#include "control/control.h"
#include "flush/switch_thread.h"
#include "flush/switches.h"
#include "stream/stream.h"
#include "support/killed_child.h"
#include "support/log_file.h"
#include "support/run_suite.h"

enum { MOST = 200000, EVENTS = 3000 };

static struct pt_switch script[MOST];
static size_t script_count;
static uint64_t script_ts;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static size_t given;
static bool kill_when_done;

static int play(struct pt_switch_source **source, const struct pt_switch_request *request)
{
    (void)request;
    *source = (struct pt_switch_source *)(void *)script;
    return 0;
}

static size_t take(struct pt_switch_source *source, uint64_t before, const struct pt_switch **list)
{
    (void)source;
    pthread_mutex_lock(&lock);
    *list = script;
    for (given = 0; given < script_count && script[given].ts < before;)
        given++;
    pthread_mutex_unlock(&lock);
    return given;
}

static void done(struct pt_switch_source *source)
{
    (void)source;
    if (kill_when_done && given > 0)
        raise(SIGKILL);
    pthread_mutex_lock(&lock);
    memmove(script, script + given, (script_count - given) * sizeof script[0]);
    script_count -= given;
    pthread_mutex_unlock(&lock);
}

static void end(struct pt_switch_source *source)
{
    (void)source;
}

static const struct pt_switch_ops ops = {
    .open = play,
    .take = take,
    .done = done,
    .close = end,
};

/* At the present moment, or just after the one before. */
static uint64_t put(uint32_t what, int32_t tid, uint32_t value, uint32_t origin)
{
    uint64_t ts = pt_clock_now(pt_clock_choose());

    pthread_mutex_lock(&lock);
    ck_assert_uint_lt(script_count, MOST);
    script_ts = ts > script_ts ? ts : script_ts + 1;
    script[script_count++] = (struct pt_switch){
        .ts = script_ts, .pid = getpid(), .tid = tid, .what = what, .value = value, .origin = origin
    };
    ts = script_ts;
    pthread_mutex_unlock(&lock);
    while (pt_clock_now(pt_clock_choose()) <= ts)
        ;
    return ts;
}

static size_t script_left(void)
{
    size_t n;

    pthread_mutex_lock(&lock);
    n = script_count;
    pthread_mutex_unlock(&lock);
    return n;
}

static void put_name(int32_t tid, const char *name)
{
    put(PT_SWITCH_NAMED, tid, 0, 0);
    pthread_mutex_lock(&lock);
    strcpy(script[script_count - 1].name, name);
    pthread_mutex_unlock(&lock);
}

static struct pt_stream *make_small(int fd, int policy, uint64_t size, uint64_t log_size)
{
    struct pt_stream *s = NULL;
    struct pt_attr attr;

    pt_switches_use(&ops, NULL);
    pt_attr_init(&attr);
    attr.switches = 1;
    attr.stream_policy = policy;
    attr.policy_is_default = 0;
    attr.stream_size = size;
    attr.max_data = 64;
    attr.log_size = log_size;
    ck_assert_int_eq(pt_stream_create(&s, &attr, fd, NULL), 0);
    ck_assert_int_eq(s->seg->h->clock, pt_clock_choose());
    return s;
}

static struct pt_stream *make(int fd, int policy, uint64_t size)
{
    return make_small(fd, policy, size, 64 << 20);
}

struct found {
    uint64_t switches, own, overflow, resume;
    int64_t first_ns, last_ns;
    uint32_t last_value;
};

static bool is_switch(uint32_t id)
{
    return id >= POSIXTRACE_SWITCH_IN && id <= POSIXTRACE_SWITCH_PREEMPTED;
}

/* tid 0: of all threads. */
static struct found look(int fd, int32_t tid, struct posixtrace_info *info)
{
    struct found f = { 0 };
    struct posixtrace_event e;
    int64_t before = 0;
    trace_id_t trid;
    int none;

    ck_assert_int_eq(posix_trace_open(fd, &trid), 0);
    while (posixtrace_next_event(trid, &e, sizeof e, &none) == 0 && !none) {
        ck_assert_int_ge(e.ns, before);
        before = e.ns;
        f.own += e.id >= POSIX_TRACE_UNNAMED_USEREVENT;
        f.overflow += e.id == POSIX_TRACE_OVERFLOW;
        f.resume += e.id == POSIX_TRACE_RESUME;
        if (!is_switch((uint32_t)e.id) || (tid && e.tid != tid))
            continue;
        ck_assert_uint_eq(e.data_len, sizeof f.last_value);
        memcpy(&f.last_value, e.data, sizeof f.last_value);
        f.first_ns = f.switches++ ? f.first_ns : e.ns;
        f.last_ns = e.ns;
    }
    if (info)
        ck_assert_int_eq(posixtrace_get_info(trid, info, sizeof *info), 0);
    ck_assert_int_eq(posix_trace_close(trid), 0);
    return f;
}

START_TEST(only_inside_windows)
{
    int fd = log_file();
    struct pt_stream *s = make(fd, POSIX_TRACE_FLUSH, 1 << 16);
    struct found f;

    put(PT_SWITCH_IN, 100001, 1, 0);
    ck_assert_int_eq(pt_stream_start(s, 0), 0);
    put(PT_SWITCH_OUT, 100001, 2, 0);
    put(PT_SWITCH_IN, 100001, 3, 0);
    ck_assert_int_eq(pt_stream_stop(s, 0), 0);
    put(PT_SWITCH_PREEMPTED, 100001, 4, 0);
    ck_assert_int_eq(pt_stream_start(s, 0), 0);
    put(PT_SWITCH_IN, 100001, 5, 0);
    ck_assert_int_eq(pt_stream_stop(s, 0), 0);
    put(PT_SWITCH_OUT, 100001, 6, 0);
    ck_assert_int_eq(pt_stream_destroy(s, 0), 0);
    f = look(fd, 100001, NULL);
    ck_assert_uint_eq(f.switches, 3);
    ck_assert_uint_eq(f.last_value, 5);
    close(fd);
}
END_TEST

START_TEST(not_what_is_filtered)
{
    int fd = log_file();
    struct pt_stream *s = make(fd, POSIX_TRACE_FLUSH, 1 << 16);
    struct pt_set set;

    pt_set_empty(&set);
    pt_set_add(&set, POSIXTRACE_SWITCH_IN);
    pt_set_add(&set, POSIXTRACE_SWITCH_PREEMPTED);
    ck_assert_int_eq(pt_stream_set_filter(s, &set, POSIX_TRACE_SET_EVENTSET, 0), 0);
    ck_assert_int_eq(pt_stream_start(s, 0), 0);
    put(PT_SWITCH_IN, 100001, 1, 0);
    put(PT_SWITCH_OUT, 100001, 2, 0);
    put(PT_SWITCH_PREEMPTED, 100001, 3, 0);
    ck_assert_int_eq(pt_stream_destroy(s, 0), 0);
    ck_assert_uint_eq(look(fd, 0, NULL).switches, 1);
    ck_assert_uint_eq(look(fd, 0, NULL).last_value, 2);
    close(fd);
}
END_TEST

START_TEST(an_expression_looks_at_them)
{
    int fd = log_file();
    struct pt_stream *s = make(fd, POSIX_TRACE_FLUSH, 1 << 16);

    ck_assert_int_eq(
        pt_stream_set_expression(s, "tid 100002 and cpu > 1 or event \"*preempted\"", 0), 0);
    ck_assert_int_eq(pt_stream_start(s, 0), 0);
    put(PT_SWITCH_IN, 100001, 7, 0);
    put(PT_SWITCH_IN, 100002, 1, 0);
    put(PT_SWITCH_OUT, 100002, 2, 0);
    put(PT_SWITCH_PREEMPTED, 100001, 3, 0);
    ck_assert_int_eq(pt_stream_destroy(s, 0), 0);
    ck_assert_uint_eq(look(fd, 0, NULL).switches, 2);
    ck_assert_uint_eq(look(fd, 100002, NULL).last_value, 2);
    ck_assert_uint_eq(look(fd, 100001, NULL).last_value, 3);
    close(fd);
}
END_TEST

/* Two saw a thread: one counts.  After its end its tid is another thread's, and that
 * may have been seen first by the other one. */
START_TEST(seen_twice)
{
    int fd = log_file();
    struct pt_stream *s = make(fd, POSIX_TRACE_FLUSH, 1 << 16);
    struct found f;

    ck_assert_int_eq(pt_stream_start(s, 0), 0);
    for (uint32_t i = 0; i < 10; i++) {
        put(i % 2 ? PT_SWITCH_IN : PT_SWITCH_OUT, 100001, 1, 7);
        put(i % 2 ? PT_SWITCH_IN : PT_SWITCH_OUT, 100001, 2, 8);
    }
    put(PT_SWITCH_ENDED, 100001, 0, 8); /* of the one that does not count */
    put(PT_SWITCH_OUT, 100001, 2, 8);
    put(PT_SWITCH_ENDED, 100001, 0, 7);
    put(PT_SWITCH_IN, 100001, 3, 8);
    put(PT_SWITCH_OUT, 100001, 4, 7);
    ck_assert_int_eq(pt_stream_destroy(s, 0), 0);
    f = look(fd, 100001, NULL);
    ck_assert_uint_eq(f.switches, 12); /* its end is one */
    ck_assert_uint_eq(f.last_value, 3);
    close(fd);
}
END_TEST

/* A main thread, or one that is killed, has no thread_end: its last switch ends its time on the
 * processor, and comes from its end, as the kernel reports none then. */
START_TEST(leaves_the_processor_at_its_end)
{
    int fd = log_file();
    struct pt_stream *s = make(fd, POSIX_TRACE_FLUSH, 1 << 16);

    ck_assert_int_eq(pt_stream_start(s, 0), 0);
    put(PT_SWITCH_IN, 100001, 5, 0);
    put(PT_SWITCH_ENDED, 100001, 5, 0);
    put(PT_SWITCH_ENDED, 100001, 6, 0); /* of no thread now */
    put(PT_SWITCH_IN, 100002, 7, 0);
    put(PT_SWITCH_OUT, 100002, 7, 0);
    put(PT_SWITCH_ENDED, 100002, 8, 0); /* it runs no more */
    put(PT_SWITCH_ENDED, 100003, 9, 0); /* never seen */
    ck_assert_int_eq(pt_stream_destroy(s, 0), 0);
    ck_assert_uint_eq(look(fd, 100001, NULL).switches, 2);
    ck_assert_uint_eq(look(fd, 100001, NULL).last_value, 5);
    ck_assert_uint_eq(look(fd, 100002, NULL).switches, 2);
    ck_assert_uint_eq(look(fd, 100003, NULL).switches, 0);
    close(fd);
}
END_TEST

/* How many switches of a tid have that name; all: how many it has. */
static unsigned named(int fd, int32_t tid, const char *name, unsigned *all)
{
    struct posixtrace_event e;
    unsigned n = 0;
    trace_id_t trid;
    int none;

    *all = 0;
    ck_assert_int_eq(posix_trace_open(fd, &trid), 0);
    while (posixtrace_next_event(trid, &e, sizeof e, &none) == 0 && !none) {
        if (!is_switch((uint32_t)e.id) || e.tid != tid)
            continue;
        ++*all;
        n += strcmp(e.thread_name, name) == 0;
    }
    ck_assert_int_eq(posix_trace_close(trid), 0);
    return n;
}

/* Entries of the list of threads with that tid and name; they have nothing but switches. */
static unsigned listed(int fd, int32_t tid, const char *name)
{
    struct posixtrace_thread_info info;
    unsigned n = 0;
    trace_id_t trid;
    int none;

    ck_assert_int_eq(posix_trace_open(fd, &trid), 0);
    posixtrace_threadlist_rewind(trid);
    while (posixtrace_threadlist_getnext(trid, &info, sizeof info, &none) == 0 && !none) {
        if (info.tid != tid)
            continue;
        ck_assert_int_eq(info.pid, getpid());
        ck_assert_uint_eq(info.recorded, 0);
        n += strcmp(info.name, name) == 0;
    }
    ck_assert_int_eq(posix_trace_close(trid), 0);
    return n;
}

/* No such threads exist: what they are called only the source says, and they are listed. */
START_TEST(named_by_the_source)
{
    int fd = log_file();
    struct pt_stream *s = make(fd, POSIX_TRACE_FLUSH, 1 << 16);
    const int32_t parent = 100001, child = 100002, other = 100003;
    unsigned all;

    ck_assert_int_eq(pt_stream_start(s, 0), 0);
    put(PT_SWITCH_IN, parent, 0, 7);
    put_name(parent, "parent");
    put(PT_SWITCH_FORKED, child, (uint32_t)parent, 7);
    put(PT_SWITCH_IN, child, 0, 8); /* the first switch says whose it is */
    put(PT_SWITCH_OUT, child, 0, 8);
    put(PT_SWITCH_FORKED, other, (uint32_t)child, 8);
    put(PT_SWITCH_IN, other, 0, 8);
    put_name(other, "between");
    put(PT_SWITCH_OUT, other, 0, 8);
    put_name(other, "other");
    put(PT_SWITCH_ENDED, other, 0, 8);
    ck_assert_int_eq(pt_stream_destroy(s, 0), 0);
    ck_assert_uint_eq(named(fd, parent, "parent", &all), 1);
    ck_assert_uint_eq(named(fd, child, "parent", &all), 2);
    ck_assert_uint_eq(all, 2);
    ck_assert_uint_eq(named(fd, other, "other", &all), 2);
    ck_assert_uint_eq(all, 2);
    ck_assert_uint_eq(listed(fd, parent, "parent"), 1);
    ck_assert_uint_eq(listed(fd, child, "parent"), 1);
    ck_assert_uint_eq(listed(fd, other, "other"), 1);
    close(fd);
}
END_TEST

/* A new name goes into the log in a later round than the switches; after the thread's end its
 * tid is that of another one, which has a name of its own. */
START_TEST(named_in_a_later_round)
{
    int fd = log_file();
    struct pt_stream *s = make(fd, POSIX_TRACE_FLUSH, 1 << 16);
    unsigned all;

    ck_assert_int_eq(pt_stream_start(s, 0), 0);
    put(PT_SWITCH_IN, 100001, 0, 7);
    put(PT_SWITCH_OUT, 100001, 0, 7);
    ck_assert_int_eq(pt_stream_flush(s, 0), 0);
    while (script_left())
        sched_yield();
    put_name(100001, "later");
    put(PT_SWITCH_ENDED, 100001, 0, 7);
    put(PT_SWITCH_IN, 100001, 0, 9);
    put_name(100001, "another");
    ck_assert_int_eq(pt_stream_destroy(s, 0), 0);
    ck_assert_uint_eq(named(fd, 100001, "later", &all), 2);
    ck_assert_uint_eq(named(fd, 100001, "another", &all), 1);
    ck_assert_uint_eq(all, 3);
    close(fd);
}
END_TEST

static uint64_t last_ts;

static void note(struct pt_switch_threads *x, uint32_t what, const char *name)
{
    static struct pt_seg_header h;
    struct pt_switch k = { .ts = ++last_ts, .pid = getpid(), .tid = 100001, .what = what };

    strcpy(k.name, name);
    ck_assert(pt_switch_threads_note(x, &h, &k));
}

/* A round finds that writer of the thread. */
static void compare(struct pt_switch_threads *x, struct pt_accounts *a, uint64_t wid,
                    enum pt_account_source source)
{
    uint64_t ended = source == PT_TALLY_SLOT ? 0 : ++last_ts;

    a->tally[wid] = (struct pt_account){
        .used = true,
        .source = source,
        .ended_ts = ended,
        .author = { .wid = wid, .pid = getpid(), .tid = 100001, .name = "first" }
    };
    pt_switch_threads_identify(x, a);
}

/* A new name reaches the writer of a thread that has ended, whether a round has seen the thread
 * while it lived or not; but not the writer of a thread that had the tid before. */
START_TEST(named_after_the_end)
{
    struct pt_account tally[4] = { 0 };
    struct pt_accounts accounts = { .tally = tally, .room = 4 };
    struct pt_switch_threads x = { 0 };

    note(&x, PT_SWITCH_NAMED, "one");
    if (_i == 0)
        compare(&x, &accounts, 1, PT_TALLY_SLOT);
    note(&x, PT_SWITCH_NAMED, "last");
    note(&x, PT_SWITCH_ENDED, "");
    compare(&x, &accounts, 1, PT_TALLY_FOLDED);
    ck_assert_str_eq(tally[1].author.name, "last");
    ck_assert(tally[1].changed);
    pt_switch_threads_forget(&x);
    ck_assert_uint_eq(x.count, 0);
    note(&x, PT_SWITCH_NAMED, "another");
    pt_switch_threads_identify(&x, &accounts);
    ck_assert_str_eq(tally[1].author.name, "last");
    note(&x, PT_SWITCH_NAMED, "the other");
    compare(&x, &accounts, 2, PT_TALLY_FOLDED);
    ck_assert_str_eq(tally[1].author.name, "last");
    ck_assert_str_eq(tally[2].author.name, "the other");
    pt_switch_threads_deinit(&x);
}
END_TEST

/* More than a packet holds, of more threads than a table begins with; and two that
 * are farther apart than a record can tell. */
START_TEST(many_and_far_apart)
{
    const struct timespec pause = { 2, 300000000 };
    int fd = log_file();
    struct pt_stream *s = make(fd, POSIX_TRACE_FLUSH, 1 << 16);
    struct found f;

    ck_assert_int_eq(pt_stream_start(s, 0), 0);
    for (uint32_t i = 0; i < 20000; i++) {
        put(i % 2 ? PT_SWITCH_IN : PT_SWITCH_OUT, 100001, i, 0);
        put(PT_SWITCH_IN, 200000 + (int32_t)i % 500, i, 0);
    }
    put(PT_SWITCH_OUT, 7, 1, 0);
    nanosleep(&pause, NULL);
    put(PT_SWITCH_IN, 7, 2, 0);
    ck_assert_int_eq(pt_stream_destroy(s, 0), 0);
    f = look(fd, 100001, NULL);
    ck_assert_uint_eq(f.switches, 20000);
    ck_assert_uint_eq(f.last_value, 19999);
    ck_assert_uint_eq(look(fd, 200499, NULL).switches, 40);
    f = look(fd, 7, NULL);
    ck_assert_uint_eq(f.switches, 2);
    ck_assert_int_gt(f.last_ns - f.first_ns, 2200000000);
    close(fd);
}
END_TEST

/* By the stream, not by the log. */
static uint64_t lost_by_stream(const struct posixtrace_thread_info *t)
{
    return t->lost[POSIXTRACE_LOST_FULL] + t->lost[POSIXTRACE_LOST_OVERWRITTEN] +
           t->lost[POSIXTRACE_LOST_NO_MEMORY] + t->lost[POSIXTRACE_LOST_NESTED];
}

/* The entry of a thread, zeros if it has none; tid 0: the entry of threads without a name.  A
 * thread that has only switched is listed, but its switches are not in the stream's accounts. */
static struct posixtrace_thread_info thread_in(int fd, pid_t tid)
{
    struct posixtrace_thread_info t, wanted = { .tid = tid };
    trace_id_t trid;
    int none;

    ck_assert_int_eq(posix_trace_open(fd, &trid), 0);
    posixtrace_threadlist_rewind(trid);
    while (posixtrace_threadlist_getnext(trid, &t, sizeof t, &none) == 0 && !none) {
        ck_assert(t.tid != 100001 || t.recorded + lost_by_stream(&t) == 0);
        if (t.tid == tid)
            wanted = t;
    }
    ck_assert_int_eq(posix_trace_close(trid), 0);
    return wanted;
}

/* By the kernel, as the log says. */
static uint64_t lost_by_kernel(int fd)
{
    struct posixtrace_info info;
    uint64_t n, same;
    trace_id_t trid;
    unsigned c = 0;

    ck_assert_int_eq(posix_trace_open(fd, &trid), 0);
    ck_assert_int_eq(posixtrace_lost(trid, POSIXTRACE_LOST_SWITCHES, &n), 0);
    while (posixtrace_lost(trid, c, &same) == 0)
        c++;
    ck_assert_uint_eq(c, POSIXTRACE_LOST_SWITCHES + 1);
    ck_assert_int_eq(posixtrace_lost(trid, c, &same), ENOENT);
    ck_assert_uint_eq(same, n);
    ck_assert_int_eq(posixtrace_get_info(trid, &info, sizeof info), 0);
    ck_assert_uint_eq(info.lost[POSIXTRACE_LOST_SWITCHES], n);
    ck_assert_int_eq(posix_trace_close(trid), 0);
    return n;
}

/* The kernel's losses are in no thread's numbers and no other cause's, in whichever way the log
 * ends. */
START_TEST(lost_by_the_kernel)
{
    enum { COMPLETE, KILLED, RECOVERED };
    int fd = log_file(), status;
    struct posixtrace_recover_report report;
    struct posixtrace_info info;
    struct pt_stream *s;
    struct found f;
    pid_t pid;

    pid = fork();
    if (pid == 0) {
        s = make(fd, POSIX_TRACE_FLUSH, 1 << 16);
        put(PT_SWITCH_LOST_BY_KERNEL, 0, 1000, 0); /* before the window: no loss */
        pt_stream_start(s, 0);
        put(PT_SWITCH_OUT, 100001, 1, 0);
        put(PT_SWITCH_LOST_BY_KERNEL, 0, 33, 0);
        put(PT_SWITCH_LOST, 0, 5, 0);
        pt_stream_flush(s, 0);
        while (script_left() > 0)
            sched_yield();
        put(PT_SWITCH_LOST_BY_KERNEL, 0, 9, 0);
        kill_when_done = _i != COMPLETE;
        pt_stream_destroy(s, 0);
        _exit(0);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_int_eq(WIFSIGNALED(status), _i != COMPLETE);
    if (_i == RECOVERED)
        ck_assert_int_eq(posixtrace_log_recover(fd, &report, sizeof report), 0);
    f = look(fd, 0, &info);
    ck_assert_uint_eq(f.switches, 1);
    ck_assert_uint_eq(info.lost[POSIXTRACE_LOST_FULL], 5);
    ck_assert_uint_eq(thread_in(fd, 0).lost[POSIXTRACE_LOST_FULL], 5);
    ck_assert_uint_eq(lost_by_kernel(fd), 42);
    close(fd);
}
END_TEST

START_TEST(losses_are_told)
{
    int fd = log_file();
    struct pt_stream *s = make(fd, POSIX_TRACE_FLUSH, 1 << 16);
    struct posixtrace_info info;
    struct found f;

    put(PT_SWITCH_LOST, 0, 1000, 0); /* before the window: not a loss */
    ck_assert_int_eq(pt_stream_start(s, 0), 0);
    put(PT_SWITCH_OUT, 100001, 1, 0);
    put(PT_SWITCH_LOST, 0, 42, 0);
    put(PT_SWITCH_IN, 100001, 2, 0);
    ck_assert_int_eq(pt_stream_destroy(s, 0), 0);
    f = look(fd, 0, &info);
    ck_assert_uint_eq(f.switches, 2);
    ck_assert_uint_eq(f.overflow, 1);
    ck_assert_uint_eq(f.resume, 1);
    ck_assert_uint_eq(info.lost[POSIXTRACE_LOST_FULL], 42);
    ck_assert_uint_eq(info.events, 6);
    ck_assert_uint_eq(thread_in(fd, 0).lost[POSIXTRACE_LOST_FULL], 42);
    ck_assert_uint_eq(thread_in(fd, 0).recorded, 0);
    close(fd);
}
END_TEST

/* What a small log overwrites is counted as the log's loss, of no thread. */
START_TEST(small_log)
{
    struct posixtrace_info info;
    int fd = log_file();
    struct pt_stream *s = make_small(fd, POSIX_TRACE_FLUSH, 1 << 16, 1 << 16);
    struct found f;

    ck_assert_int_eq(pt_stream_start(s, 0), 0);
    for (uint32_t i = 0; i < 20000; i++)
        put(i % 2 ? PT_SWITCH_IN : PT_SWITCH_OUT, 100001, i, 0);
    ck_assert_int_eq(pt_stream_destroy(s, 0), 0);
    f = look(fd, 100001, &info);
    ck_assert_uint_gt(info.lost[POSIXTRACE_LOST_LOG_OVERWRITTEN], 0);
    ck_assert_uint_ge(f.switches + info.lost[POSIXTRACE_LOST_LOG_OVERWRITTEN], 20000);
    ck_assert_uint_eq(f.last_value, 19999);
    ck_assert_uint_eq(thread_in(fd, getpid()).recorded, 0);
    close(fd);
}
END_TEST

static void trace_own(void)
{
    trace_event_id_t id;

    ck_assert_int_eq(posix_trace_eventid_open("own", &id), 0);
    for (unsigned i = 0; i < EVENTS; i++)
        posix_trace_event(id, "0123456789", 10);
}

/* The child ends in its second round with switches, when some of their packets are in
 * the file. */
static void be_killed(int fd, int policy)
{
    struct pt_stream *s = make(fd, policy, 1 << 14);

    pt_stream_start(s, 0);
    trace_own();
    for (uint32_t i = 0; i < 100; i++)
        put(PT_SWITCH_IN, 100001, i, 0);
    put(PT_SWITCH_LOST, 0, 5, 0);
    pt_stream_flush(s, 0);
    while (script_count > 0) {
        pthread_mutex_lock(&lock);
        pthread_mutex_unlock(&lock);
    }
    trace_own();
    for (uint32_t i = 0; i < 60000; i++)
        put(PT_SWITCH_IN, 100001, i, 0);
    kill_when_done = true;
    pt_stream_flush(s, 0);
    for (;;)
        pause();
}

/* The thread's losses are known, and it has no others.  Switches that a stream refuses after it
 * stopped itself are lost, too, but without a thread. */
static void check_books(int fd, pid_t pid)
{
    struct posixtrace_info info;
    struct found f = look(fd, 100001, &info);
    struct posixtrace_thread_info own = thread_in(fd, pid), rest = thread_in(fd, 0);
    uint64_t of_rest = rest.lost[POSIXTRACE_LOST_FULL] + rest.lost[POSIXTRACE_LOST_OVERWRITTEN];

    ck_assert_uint_eq(own.recorded + own.lost[POSIXTRACE_LOST_FULL], 2 * EVENTS);
    ck_assert_uint_eq(f.own + own.lost[POSIXTRACE_LOST_OVERWRITTEN], own.recorded);
    ck_assert_uint_eq(rest.recorded, 0);
    ck_assert_uint_ge(of_rest, 5);
    ck_assert_uint_le(of_rest + f.switches, 5 + 100 + 60000);
    ck_assert_uint_eq(of_rest + own.lost[POSIXTRACE_LOST_FULL] +
                          own.lost[POSIXTRACE_LOST_OVERWRITTEN],
                      info.lost[POSIXTRACE_LOST_FULL] + info.lost[POSIXTRACE_LOST_OVERWRITTEN]);
}

START_TEST(killed_in_a_round)
{
    static const int policies[] = { POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL, POSIX_TRACE_FLUSH };
    struct posixtrace_recover_report report;
    int fd = log_file();
    pid_t pid = fork();

    if (pid == 0)
        be_killed(fd, policies[_i]);
    await_kill(pid);
    check_books(fd, pid);
    ck_assert_int_eq(posixtrace_log_recover(fd, &report, sizeof report), 0);
    check_books(fd, pid);
    close(fd);
}
END_TEST

static void add_tests(TCase *t)
{
    tcase_add_test(t, only_inside_windows);
    tcase_add_test(t, not_what_is_filtered);
    tcase_add_test(t, an_expression_looks_at_them);
    tcase_add_test(t, seen_twice);
    tcase_add_test(t, leaves_the_processor_at_its_end);
    tcase_add_test(t, named_by_the_source);
    tcase_add_test(t, named_in_a_later_round);
    tcase_add_loop_test(t, named_after_the_end, 0, 2);
    tcase_add_test(t, many_and_far_apart);
    tcase_add_test(t, losses_are_told);
    tcase_add_loop_test(t, lost_by_the_kernel, 0, 3);
    tcase_add_test(t, small_log);
    tcase_add_loop_test(t, killed_in_a_round, 0, 3);
}

static void set_time(TCase *t)
{
    tcase_set_timeout(t, 60);
}

int main(void)
{
    return run_suite("source", "switches", set_time, add_tests);
}
