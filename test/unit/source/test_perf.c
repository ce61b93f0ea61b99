/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Context switches from the kernel.  The kernel's own counters of a thread say when it
 * has switched: nothing here waits for time to pass.
 */
#include <dirent.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>
#include <posixtrace/attr.h>
#include <posixtrace/event.h>
#include <posixtrace/info.h>
#include <posixtrace/system.h>
#include <trace.h>
#include "base/atomics.h"
#include "base/clock.h"
#include "support/flush_log.h"
#include "support/log_file.h"
#include "support/refuse_call.h"
#include "support/run_suite.h"

enum { BLOCKS = 200, THREADS = 4, MOST = 64, CPUS = 64, SKIPPED = 77 };

void *__real_mmap64(void *addr, size_t length, int prot, int flags, int fd, off_t offset);
void *__wrap_mmap64(void *addr, size_t length, int prot, int flags, int fd, off_t offset);
int __real_epoll_wait(int epoll, struct epoll_event *ready, int most, int timeout);
int __wrap_epoll_wait(int epoll, struct epoll_event *ready, int most, int timeout);

static trace_event_id_t own_id;
static uint32_t rings_fill;      /* they have one page, and only rounds empty them */
static uint32_t rings_small;     /* they have one page */
static uint64_t allowance;       /* bytes of all of them together; 0: as many as the system gives */
static uint32_t waits_fail, failed_waits;

static bool is_called(int fd, const char *name)
{
    char link[64], what[32] = "";

    snprintf(link, sizeof link, "/proc/thread-self/fd/%d", fd);
    return fd >= 0 && readlink(link, what, sizeof what - 1) > 0 && strstr(what, name);
}

struct mapped {
    size_t largest, smallest, all;
};

/* Bytes of the kernel's rings that this process maps. */
static struct mapped mapped_rings(void)
{
    FILE *f = fopen("/proc/self/maps", "r");
    struct mapped m = { .smallest = SIZE_MAX };
    unsigned long from, to;
    char line[512];

    while (f && fgets(line, sizeof line, f))
        if (strstr(line, "[perf_event]") && sscanf(line, "%lx-%lx", &from, &to) == 2) {
            m.largest = to - from > m.largest ? to - from : m.largest;
            m.smallest = to - from < m.smallest ? to - from : m.smallest;
            m.all += to - from;
        }
    if (f)
        fclose(f);
    return m;
}

void *__wrap_mmap64(void *addr, size_t length, int prot, int flags, int fd, off_t offset)
{
    bool small = pt_load_seqcst(&rings_fill) || pt_load_seqcst(&rings_small);
    uint64_t most = pt_load_seqcst(&allowance);

    if (((small && length > 2 * (size_t)sysconf(_SC_PAGESIZE)) || most) &&
        is_called(fd, "[perf_event]") && (!most || mapped_rings().all + length > most)) {
        errno = most ? EPERM : ENOMEM;
        return MAP_FAILED;
    }
    return __real_mmap64(addr, length, prot, flags, fd, offset);
}

/* The thread that waits for them waits for its end instead, which comes last. */
int __wrap_epoll_wait(int epoll, struct epoll_event *ready, int most, int timeout)
{
    int n;

    if (pt_load_seqcst(&waits_fail)) {
        errno = EBADF;
        n = -1;
    } else {
        do
            n = __real_epoll_wait(epoll, ready, most, timeout);
        while (n > 0 && pt_load_seqcst(&rings_fill) && !is_called(ready[0].data.fd, "eventfd"));
    }
    if (n < 0 && errno != EINTR)
        pt_add_seqcst(&failed_waits, 1u);
    return n;
}

static trace_attr_t *attributes(int switches, int inherited)
{
    static trace_attr_t attr;

    ck_assert_int_eq(posix_trace_attr_init(&attr), 0);
    ck_assert_int_eq(posixtrace_attr_setswitches(&attr, switches), 0);
    ck_assert_int_eq(posix_trace_attr_setinherited(&attr, inherited), 0);
    ck_assert_int_eq(posix_trace_eventid_open("own", &own_id), 0);
    return &attr;
}

static trace_id_t make(int fd, pid_t pid, int inherited)
{
    struct posixtrace_info info;
    int refusal = -1;
    trace_id_t trid;

    ck_assert_int_eq(posix_trace_create_withlog(pid, attributes(1, inherited), fd, &trid), 0);
    /* The clock of other streams, which costs an event less than CLOCK_MONOTONIC. */
    ck_assert_int_eq(posixtrace_get_info(trid, &info), 0);
    ck_assert_int_eq(info.clock, pt_clock_choose());
    ck_assert_int_eq(posixtrace_stream_switches(trid, &refusal), 0);
    ck_assert_int_eq(refusal, 0);
    ck_assert_int_eq(posix_trace_start(trid), 0);
    return trid;
}

/* A line of /proc/PID/task/TID/status. */
static uint64_t counter(pid_t pid, pid_t tid, const char *name)
{
    unsigned long long n = 0;
    char path[64], line[256];
    FILE *f;

    snprintf(path, sizeof path, "/proc/%d/task/%d/status", (int)pid, (int)tid);
    f = fopen(path, "r");
    while (f && fgets(line, sizeof line, f))
        if (strncmp(line, name, strlen(name)) == 0 && line[strlen(name)] == ':')
            n = strtoull(line + strlen(name) + 1, NULL, 10);
    if (f)
        fclose(f);
    return n;
}

static uint64_t blocked(pid_t pid, pid_t tid)
{
    return counter(pid, tid, "voluntary_ctxt_switches");
}

/* What a log says of one thread. */
struct seen {
    pid_t pid, tid;
    uint64_t in, out, preempted, own;
    uint64_t outs_since;    /* the last event of its own */
    uint64_t least;         /* of those, between two events of its own */
    uint64_t wrong;         /* own events while it was out, or out twice, or in twice */
    bool is_out, known;
};

static struct seen seen[MOST];
static size_t seen_count;

static struct seen *seen_of(pid_t pid, pid_t tid)
{
    for (size_t i = 0; i < seen_count; i++)
        if (seen[i].pid == pid && seen[i].tid == tid)
            return &seen[i];
    ck_assert_uint_lt(seen_count, MOST);
    seen[seen_count] = (struct seen){ .pid = pid, .tid = tid, .least = UINT64_MAX };
    return &seen[seen_count++];
}

static void take_own(struct seen *s)
{
    s->wrong += s->known && s->is_out;
    if (s->own++ > 0 && s->outs_since < s->least)
        s->least = s->outs_since;
    s->outs_since = 0;
}

static void take_switch(struct seen *s, const struct posixtrace_event *e)
{
    bool out = e->id != POSIXTRACE_SWITCH_IN;
    uint32_t cpu;

    ck_assert_uint_eq(e->data_len, sizeof cpu);
    memcpy(&cpu, e->data, sizeof cpu);
    ck_assert_int_lt((long)cpu, sysconf(_SC_NPROCESSORS_CONF));
    s->wrong += s->known && s->is_out == out;
    s->known = true;
    s->is_out = out;
    s->in += !out;
    s->out += e->id == POSIXTRACE_SWITCH_OUT;
    s->preempted += e->id == POSIXTRACE_SWITCH_PREEMPTED;
    s->outs_since += e->id == POSIXTRACE_SWITCH_OUT;
}

/* Goes through a log; closes it.  The system's own events that were found. */
static uint64_t look(int fd)
{
    struct posixtrace_event e;
    uint64_t switches = 0;
    int64_t before = 0;
    trace_id_t trid;
    int none;

    seen_count = 0;
    ck_assert_int_eq(posix_trace_open(fd, &trid), 0);
    while (posixtrace_next_event(trid, &e, &none) == 0 && !none) {
        ck_assert_int_ge(e.ns, before);
        before = e.ns;
        if (e.id >= POSIXTRACE_SWITCH_IN && e.id <= POSIXTRACE_SWITCH_PREEMPTED) {
            take_switch(seen_of(e.pid, e.tid), &e);
            switches++;
        } else if (e.id == own_id) {
            take_own(seen_of(e.pid, e.tid));
        }
    }
    ck_assert_int_eq(posix_trace_close(trid), 0);
    close(fd);
    return switches;
}

/* Whoever blocks in read() as often as it is told to, and how far it has come. */
struct progress {
    pid_t tid;
    uint32_t turn;          /* how often it has begun to read */
    uint64_t switched;      /* how often it had blocked by then */
};

struct sleeper {
    pthread_t thread;
    pid_t pid;
    int pipe[2];
    struct progress *progress;
};

static void sleep_and_trace(struct progress *p, int fd)
{
    struct rusage use;
    char c;

    pt_store_seqcst(&p->tid, (pid_t)syscall(SYS_gettid));
    for (;;) {
        getrusage(RUSAGE_THREAD, &use);
        p->switched = (uint64_t)use.ru_nvcsw;
        pt_add_seqcst(&p->turn, 1u);
        if (read(fd, &c, 1) != 1)
            return;
        posix_trace_event(own_id, &c, 1);
    }
}

static void *sleeping_thread(void *arg)
{
    struct sleeper *s = arg;

    sleep_and_trace(s->progress, s->pipe[0]);
    return NULL;
}

static void prepare(struct sleeper *s)
{
    memset(s, 0, sizeof *s);
    ck_assert_int_eq(pipe(s->pipe), 0);
    s->progress = mmap(NULL, sizeof *s->progress, PROT_READ | PROT_WRITE,
                       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(s->progress, MAP_FAILED);
}

static void await_turn(const struct sleeper *s, uint32_t turn)
{
    while (pt_load_seqcst(&s->progress->turn) < turn)
        sched_yield();
}

static void begin(struct sleeper *s)
{
    prepare(s);
    s->pid = getpid();
    ck_assert_int_eq(pthread_create(&s->thread, NULL, sleeping_thread, s), 0);
    await_turn(s, 1);
}

/* Until it has blocked in its read() number turn. */
static void await_block(const struct sleeper *s, uint32_t turn)
{
    const struct progress *p = s->progress;

    await_turn(s, turn);
    while (blocked(s->pid, p->tid) <= p->switched)
        sched_yield();
}

/* It has blocked once more before each of its events, and at the end. */
static void wake_often(struct sleeper *s)
{
    uint32_t turn = pt_load_seqcst(&s->progress->turn);

    for (unsigned i = 0; i < BLOCKS; i++) {
        await_block(s, turn + i);
        ck_assert_int_eq(write(s->pipe[1], "x", 1), 1);
    }
    await_block(s, turn + BLOCKS);
}

static void end(struct sleeper *s)
{
    close(s->pipe[1]);
    pthread_join(s->thread, NULL);
    close(s->pipe[0]);
}

static void check_sleeper(pid_t pid, pid_t tid)
{
    const struct seen *s = seen_of(pid, tid);

    ck_assert_uint_eq(s->wrong, 0);
    ck_assert_uint_eq(s->own, BLOCKS);
    ck_assert_uint_ge(s->least, 1);
    ck_assert_uint_ge(s->out, BLOCKS);
    ck_assert_uint_ge(s->in + 1, s->out + s->preempted);
}

/* Half of the threads are there before the stream, half come after it. */
START_TEST(blocked_threads)
{
    struct sleeper sleeper[THREADS];
    int fd = log_file();
    trace_id_t trid;

    for (unsigned i = 0; i < THREADS / 2; i++)
        begin(&sleeper[i]);
    trid = make(fd, 0, POSIX_TRACE_CLOSE_FOR_CHILD);
    for (unsigned i = THREADS / 2; i < THREADS; i++)
        begin(&sleeper[i]);
    for (unsigned i = 0; i < THREADS; i++)
        wake_often(&sleeper[i]);
    for (unsigned i = 0; i < THREADS; i++)
        end(&sleeper[i]);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
    look(fd);
    for (unsigned i = 0; i < THREADS; i++)
        check_sleeper(getpid(), sleeper[i].progress->tid);
}
END_TEST

static uint32_t resting;

static void *flush_often(void *trid)
{
    while (!pt_load_seqcst(&resting))
        posix_trace_flush(*(trace_id_t *)trid);
    return NULL;
}

/* A round after the other while threads switch: what is before a round's watermark is
 * in it, so the log is in order from its begin to its end. */
START_TEST(many_rounds)
{
    struct sleeper sleeper[THREADS];
    struct posixtrace_info info;
    int fd = log_file();
    pthread_t flusher;
    trace_id_t trid = make(fd, 0, POSIX_TRACE_CLOSE_FOR_CHILD);

    pt_store_seqcst(&resting, 0u);
    ck_assert_int_eq(pthread_create(&flusher, NULL, flush_often, &trid), 0);
    for (unsigned i = 0; i < THREADS; i++)
        begin(&sleeper[i]);
    for (unsigned i = 0; i < THREADS; i++)
        wake_often(&sleeper[i]);
    pt_store_seqcst(&resting, 1u);
    pthread_join(flusher, NULL);
    for (unsigned i = 0; i < THREADS; i++)
        end(&sleeper[i]);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
    ck_assert_int_eq(posix_trace_open(fd, &trid), 0);
    ck_assert_int_eq(posixtrace_get_info(trid, &info), 0);
    ck_assert_uint_eq(info.late, 0);
    ck_assert_int_eq(posix_trace_close(trid), 0);
    look(fd);
    for (unsigned i = 0; i < THREADS; i++)
        check_sleeper(getpid(), sleeper[i].progress->tid);
}
END_TEST

/* The kernel has counted as many, from one moment on to another. */
START_TEST(as_the_kernel_counts)
{
    struct sleeper s;
    int fd = log_file();
    uint64_t before, outs;
    trace_id_t trid;

    begin(&s);
    await_block(&s, 1);
    before = blocked(getpid(), s.progress->tid);
    trid = make(fd, 0, POSIX_TRACE_CLOSE_FOR_CHILD);
    wake_often(&s);
    outs = blocked(getpid(), s.progress->tid) - before;
    ck_assert_int_eq(posix_trace_stop(trid), 0);
    end(&s);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
    look(fd);
    ck_assert_uint_eq(seen_of(getpid(), s.progress->tid)->out, outs);
}
END_TEST

static uint32_t spinning;

/* It has the one processor of the thread that made it. */
static void *spin(void *tid)
{
    posix_trace_event(own_id, NULL, 0);
    pt_store_seqcst((pid_t *)tid, (pid_t)syscall(SYS_gettid));
    while (pt_load_seqcst(&spinning))
        ;
    posix_trace_event(own_id, NULL, 0);
    return NULL;
}

/* To the first processor that it may run on. */
static void pin(cpu_set_t *old)
{
    cpu_set_t one;

    sched_getaffinity(0, sizeof *old, old);
    CPU_ZERO(&one);
    for (int i = 0; i < CPU_SETSIZE && CPU_COUNT(&one) == 0; i++)
        if (CPU_ISSET(i, old))
            CPU_SET(i, &one);
    sched_setaffinity(0, sizeof one, &one);
}

/* Two threads want one processor. */
START_TEST(preempted_threads)
{
    pid_t tid[2] = { 0, 0 };
    int fd = log_file();
    pthread_t thread[2];
    trace_id_t trid;
    cpu_set_t old;

    trid = make(fd, 0, POSIX_TRACE_CLOSE_FOR_CHILD);
    pt_store_seqcst(&spinning, 1u);
    pin(&old);
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(pthread_create(&thread[i], NULL, spin, &tid[i]), 0);
    sched_setaffinity(0, sizeof old, &old);
    for (int i = 0; i < 2; i++)
        while (!pt_load_seqcst(&tid[i]) ||
               counter(getpid(), tid[i], "nonvoluntary_ctxt_switches") < 3)
            sched_yield();
    pt_store_seqcst(&spinning, 0u);
    for (int i = 0; i < 2; i++)
        pthread_join(thread[i], NULL);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
    look(fd);
    for (int i = 0; i < 2; i++) {
        ck_assert_uint_ge(seen_of(getpid(), tid[i])->preempted, 3);
        ck_assert_uint_eq(seen_of(getpid(), tid[i])->wrong, 0);
    }
}
END_TEST

/* A child of the traced process does the same. */
static void fork_child(struct sleeper *s)
{
    prepare(s);
    s->pid = fork();
    ck_assert_int_ge(s->pid, 0);
    if (s->pid > 0) {
        await_turn(s, 1);
        return;
    }
    close(s->pipe[1]);
    sleep_and_trace(s->progress, s->pipe[0]);
    _exit(0);
}

static void wake_child(struct sleeper *s)
{
    wake_often(s);
    close(s->pipe[0]);
    close(s->pipe[1]);
    waitpid(s->pid, NULL, 0);
}

START_TEST(children)
{
    bool inherited = _i == 1;
    int fd = log_file();
    trace_id_t trid = make(fd, 0, inherited ? POSIX_TRACE_INHERITED : POSIX_TRACE_CLOSE_FOR_CHILD);
    struct sleeper c;

    fork_child(&c);
    wake_child(&c);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
    look(fd);
    if (inherited)
        check_sleeper(c.pid, c.pid);
    else
        ck_assert_uint_eq(seen_of(c.pid, c.pid)->in + seen_of(c.pid, c.pid)->out, 0);
}
END_TEST

/* The listed name of a pid, "" if it is not listed. */
static void listed_name(int fd, pid_t pid, char name[16])
{
    struct posixtrace_thread_info t;
    size_t cursor = 0;
    trace_id_t trid;
    int none;

    name[0] = '\0';
    ck_assert_int_eq(posix_trace_open(fd, &trid), 0);
    while (posixtrace_thread_getnext(trid, &cursor, &t, &none) == 0 && !none)
        if (t.pid == pid && t.tid == pid)
            memcpy(name, t.name, 16);
    ck_assert_int_eq(posix_trace_close(trid), 0);
}

/* The child ends before anybody could ask for the name of its last program. */
START_TEST(names_of_programs)
{
    int fd = log_file(), status;
    trace_id_t trid = make(fd, 0, POSIX_TRACE_INHERITED);
    char name[16];
    pid_t child;

    child = vfork();
    if (child == 0) {
        execl("/bin/sh", "a shell", "-c", "exec sleep 0", (char *)NULL);
        _exit(1);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
    listed_name(fd, child, name);
    ck_assert_str_eq(name, "sleep");
    look(fd);
}
END_TEST

/* From outside, a process that was there before. */
START_TEST(another_process)
{
    int fd = log_file();
    struct sleeper c;
    trace_id_t trid;

    attributes(1, POSIX_TRACE_CLOSE_FOR_CHILD);
    fork_child(&c);
    await_block(&c, 1);
    trid = make(fd, c.pid, POSIX_TRACE_CLOSE_FOR_CHILD);
    wake_child(&c);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
    look(fd);
    check_sleeper(c.pid, c.pid);
    ck_assert_uint_eq(seen_of(getpid(), getpid())->in, 0);
}
END_TEST

/* More than may wait for a round, and no round: the newest stay, the rest is counted. */
START_TEST(no_room)
{
    struct posixtrace_info info;
    int fd = log_file();
    struct sleeper s;
    trace_attr_t *attr = attributes(1, POSIX_TRACE_CLOSE_FOR_CHILD);
    trace_id_t trid;

    ck_assert_int_eq(posix_trace_attr_setstreamsize(attr, 1 << 13), 0);
    ck_assert_int_eq(posix_trace_attr_setstreamfullpolicy(attr, POSIX_TRACE_LOOP), 0);
    ck_assert_int_eq(posix_trace_create_withlog(0, attr, fd, &trid), 0);
    ck_assert_int_eq(posix_trace_start(trid), 0);
    begin(&s);
    for (unsigned i = 0; i < 100; i++)
        wake_often(&s);
    ck_assert_int_eq(posix_trace_stop(trid), 0);
    end(&s);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
    ck_assert_uint_gt(look(dup(fd)), 0);
    ck_assert_int_eq(posix_trace_open(fd, &trid), 0);
    ck_assert_int_eq(posixtrace_get_info(trid, &info), 0);
    ck_assert_uint_gt(info.lost[POSIXTRACE_LOST_OVERWRITTEN], 10000);
    ck_assert_int_eq(posix_trace_close(trid), 0);
    close(fd);
}
END_TEST

static uint64_t lost_of(int fd)
{
    struct posixtrace_info info;
    uint64_t lost = 0;
    trace_id_t trid;

    ck_assert_int_eq(posix_trace_open(fd, &trid), 0);
    ck_assert_int_eq(posixtrace_get_info(trid, &info), 0);
    for (unsigned c = 0; c < POSIXTRACE_LOSS_CAUSES; c++)
        lost += info.lost[c];
    ck_assert_int_eq(posix_trace_close(trid), 0);
    return lost;
}

/* The kernel reports what a full ring has lost with the next record: there is none.  Events
 * count it since Linux 6.0. */
START_TEST(full_ring_and_no_more)
{
    int fd = log_file();
    struct utsname system;
    struct sleeper s;
    trace_id_t trid;
    uint64_t there;

    ck_assert_int_eq(uname(&system), 0);
    if (strtol(system.release, NULL, 10) < 6)
        return;
    pt_store_seqcst(&rings_fill, 1u);
    trid = make(fd, 0, POSIX_TRACE_CLOSE_FOR_CHILD);
    begin(&s);
    wake_often(&s);
    ck_assert_int_eq(posix_trace_stop(trid), 0);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
    pt_store_seqcst(&rings_fill, 0u);
    look(dup(fd));
    there = seen_of(getpid(), s.progress->tid)->in + seen_of(getpid(), s.progress->tid)->out;
    ck_assert_uint_lt(there, 2 * BLOCKS);
    ck_assert_uint_ge(there + lost_of(fd), 2 * BLOCKS);
    end(&s);
    close(fd);
}
END_TEST

/* What it lost before the stream was started is no part of the stream. */
START_TEST(full_ring_before_start)
{
    int fd = log_file();
    struct sleeper s;
    trace_id_t trid;

    pt_store_seqcst(&rings_fill, 1u);
    trid = make(fd, 0, POSIX_TRACE_CLOSE_FOR_CHILD);
    ck_assert_int_eq(posix_trace_stop(trid), 0);
    begin(&s);
    wake_often(&s);
    ck_assert_int_eq(posix_trace_start(trid), 0);
    flush_log(trid);
    end(&s);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
    pt_store_seqcst(&rings_fill, 0u);
    /* Until that flush the rings are full in the window, too: what its threads switched in
     * those microseconds is lost there, a few; before the start hundreds are. */
    ck_assert_uint_lt(lost_of(fd), BLOCKS / 4);
    close(fd);
}
END_TEST

/* In a child, which keeps the filter; its exit status says what went wrong. */
static int trace_refused(int fd, int error)
{
    trace_attr_t *attr = attributes(1, POSIX_TRACE_CLOSE_FOR_CHILD);
    int refusal = -1;
    trace_id_t trid;

    if (!refuse_call(SYS_perf_event_open, error))
        return SKIPPED;
    if (posix_trace_create_withlog(0, attr, fd, &trid) != 0)
        return 1;
    if (posixtrace_stream_switches(trid, &refusal) != 0 || refusal != error)
        return 2;
    posix_trace_start(trid);
    posix_trace_event(own_id, "a", 1);
    sched_yield();
    posix_trace_event(own_id, "b", 1);
    return posix_trace_shutdown(trid) == 0 ? 0 : 3;
}

START_TEST(refused)
{
    static const int errors[] = { EACCES, EPERM, ENOSYS };
    int fd = log_file(), status;
    pid_t pid;

    attributes(1, POSIX_TRACE_CLOSE_FOR_CHILD);
    pid = fork();
    if (pid == 0)
        _exit(trace_refused(fd, errors[_i]));
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert(WIFEXITED(status));
    if (WEXITSTATUS(status) == SKIPPED)
        return;
    ck_assert_int_eq(WEXITSTATUS(status), 0);
    ck_assert_uint_eq(look(fd), 0);
    ck_assert_uint_eq(seen_of(pid, pid)->own, 2);
}
END_TEST

START_TEST(who_asks)
{
    int fd = log_file(), refusal = -1, value = -1;
    trace_attr_t *attr = attributes(1, POSIX_TRACE_CLOSE_FOR_CHILD), got;
    trace_id_t trid;

    ck_assert_int_eq(posix_trace_create(0, attr, &trid), EINVAL);
    ck_assert_int_eq(posixtrace_attr_setswitches(attr, 2), EINVAL);
    ck_assert_int_eq(posixtrace_attr_setswitches(NULL, 1), EINVAL);
    ck_assert_int_eq(posixtrace_attr_getswitches(attr, NULL), EINVAL);
    ck_assert_int_eq(posixtrace_attr_getswitches(attr, &value), 0);
    ck_assert_int_eq(value, 1);
    ck_assert_int_eq(posixtrace_attr_setswitches(attr, 0), 0);
    ck_assert_int_eq(posix_trace_create_withlog(0, attr, fd, &trid), 0);
    ck_assert_int_eq(posixtrace_stream_switches(trid, NULL), EINVAL);
    ck_assert_int_eq(posixtrace_stream_switches(trid, &refusal), 0);
    ck_assert_int_eq(refusal, ENODATA);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
    ck_assert_int_eq(posixtrace_stream_switches(trid, &refusal), EINVAL);

    ck_assert_int_eq(setenv("POSIXTRACE_SYSTEM_SWITCHES", "1", 1), 0);
    ck_assert_int_eq(posix_trace_create(0, attr, &trid), 0);   /* without log: ignored */
    ck_assert_int_eq(posixtrace_stream_switches(trid, &refusal), 0);
    ck_assert_int_eq(refusal, ENODATA);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
    ck_assert_int_eq(posix_trace_create_withlog(0, attr, fd, &trid), 0);
    ck_assert_int_eq(unsetenv("POSIXTRACE_SYSTEM_SWITCHES"), 0);
    ck_assert_int_eq(posixtrace_stream_switches(trid, &refusal), 0);
    ck_assert_int_eq(refusal, 0);
    ck_assert_int_eq(posix_trace_get_attr(trid, &got), 0);
    ck_assert_int_eq(posixtrace_attr_getswitches(&got, &value), 0);
    ck_assert_int_eq(value, 1);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
    close(fd);
}
END_TEST

/* The thread of this process with that name; 0: there is none. */
static pid_t thread_named(const char *name)
{
    pid_t found = 0;
    struct dirent *d;
    DIR *dir = opendir("/proc/self/task");

    while (dir && found == 0 && (d = readdir(dir))) {
        char path[300], is[32] = "";
        FILE *f;

        snprintf(path, sizeof path, "/proc/self/task/%s/comm", d->d_name);
        f = fopen(path, "r");
        if (f && fgets(is, sizeof is, f) && strcmp(is, name) == 0)
            found = (pid_t)strtol(d->d_name, NULL, 10);
        if (f)
            fclose(f);
    }
    if (dir)
        closedir(dir);
    return found;
}

/* May a thread run in real time?  0 or an error number. */
static void *try_first(void *error)
{
    const struct sched_param first = { .sched_priority = 1 };

    *(int *)error = pthread_setschedparam(pthread_self(), SCHED_FIFO, &first);
    return NULL;
}

/* Not every root: CAP_IPC_LOCK lifts the limit on locked memory. */
static bool may_have_large_rings(void)
{
    struct perf_event_attr attr = { .size = sizeof attr, .type = PERF_TYPE_SOFTWARE,
                                    .config = PERF_COUNT_SW_DUMMY };
    size_t bytes = (4u << 20) + (size_t)sysconf(_SC_PAGESIZE);
    long n = sysconf(_SC_NPROCESSORS_CONF);
    void *at[CPUS];
    int fd[CPUS];
    bool all = true;

    for (long i = 0; i < n && i < CPUS; i++) {
        fd[i] = (int)syscall(SYS_perf_event_open, &attr, 0, i, -1, PERF_FLAG_FD_CLOEXEC);
        at[i] = fd[i] < 0 ? MAP_FAILED
                          : mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd[i], 0);
        all &= at[i] != MAP_FAILED || (fd[i] < 0 && errno == ENODEV);
    }
    for (long i = 0; i < n && i < CPUS; i++) {
        if (at[i] != MAP_FAILED)
            munmap(at[i], bytes);
        if (fd[i] >= 0)
            close(fd[i]);
    }
    return geteuid() == 0 && all;
}

/* The kernel's rings are emptied before other threads run, and root's are large: a busy machine
 * loses no switch. */
START_TEST(pump_goes_first)
{
    bool large = may_have_large_rings();
    int fd = log_file(), denied = 0;
    trace_id_t trid = make(fd, getpid(), POSIX_TRACE_CLOSE_FOR_CHILD);
    pthread_t t;
    pid_t pump;

    ck_assert_int_eq(pthread_create(&t, NULL, try_first, &denied), 0);
    pthread_join(t, NULL);
    while ((pump = thread_named("posixtrace-perf\n")) == 0)
        sched_yield();
    if (denied == 0)
        ck_assert_int_eq(sched_getscheduler(pump), SCHED_FIFO);
    if (large)
        ck_assert_uint_ge(mapped_rings().largest, 4u << 20);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
    close(fd);
}
END_TEST

/* A round trip after the other, without a descriptor of its own, until it has blocked often. */
static void switch_often(struct sleeper *s, uint64_t often)
{
    uint64_t until = s->progress->switched + often;

    while (s->progress->switched < until) {
        uint32_t turn = pt_load_seqcst(&s->progress->turn);

        ck_assert_int_eq(write(s->pipe[1], "x", 1), 1);
        await_turn(s, turn + 1);
    }
}

/* The program may have fewer descriptors than there are rings, or nobody can wait for them: the
 * pump does not spin, and hears the bell. */
START_TEST(waiting_is_refused)
{
    int fd = log_file();
    struct rlimit all, few;
    struct sleeper s;
    trace_id_t trid;

    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &all), 0);
    few = (struct rlimit){ 1, all.rlim_max };
    pt_store_seqcst(&failed_waits, 0u);
    pt_store_seqcst(&rings_small, 1u);
    pt_store_seqcst(&waits_fail, (uint32_t)_i);
    trid = make(fd, 0, POSIX_TRACE_CLOSE_FOR_CHILD);
    begin(&s);
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
    switch_often(&s, 2 * BLOCKS);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &all), 0);
    pt_store_seqcst(&waits_fail, 0u);
    pt_store_seqcst(&rings_small, 0u);
    end(&s);
    ck_assert_uint_eq(pt_load_seqcst(&failed_waits), (uint32_t)_i);
    look(fd);
    ck_assert_uint_gt(seen_of(getpid(), s.progress->tid)->out, 0);
}
END_TEST

/* Root whom the limit on locked memory binds, as in a container: 516 KiB for each processor,
 * which are for all rings. */
START_TEST(root_with_a_limit)
{
    int fd = log_file();
    trace_id_t trid;

    pt_store_seqcst(&allowance, (uint64_t)sysconf(_SC_NPROCESSORS_ONLN) * (516u << 10));
    trid = make(fd, 0, POSIX_TRACE_CLOSE_FOR_CHILD);
    pt_store_seqcst(&allowance, (uint64_t)0);
    ck_assert_uint_ge(mapped_rings().smallest, 256u << 10);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
    close(fd);
}
END_TEST

static void add_tests(TCase *t)
{
    tcase_add_test(t, blocked_threads);
    tcase_add_test(t, many_rounds);
    tcase_add_test(t, as_the_kernel_counts);
    tcase_add_test(t, preempted_threads);
    tcase_add_loop_test(t, children, 0, 2);
    tcase_add_test(t, names_of_programs);
    tcase_add_test(t, another_process);
    tcase_add_test(t, no_room);
    tcase_add_test(t, full_ring_and_no_more);
    tcase_add_test(t, full_ring_before_start);
    tcase_add_test(t, pump_goes_first);
    tcase_add_loop_test(t, waiting_is_refused, 0, 2);
    tcase_add_test(t, root_with_a_limit);
    tcase_add_loop_test(t, refused, 0, 3);
    tcase_add_test(t, who_asks);
}

static void set_time(TCase *t)
{
    tcase_set_timeout(t, 60);
}

/* Why the system lets nobody look at switches; 0: it does, or the tests will tell. */
static int refusal_here(void)
{
    FILE *f = tmpfile();
    trace_attr_t attr;
    int refusal = 0;
    trace_id_t trid;

    posix_trace_attr_init(&attr);
    posixtrace_attr_setswitches(&attr, 1);
    if (f && posix_trace_create_withlog(0, &attr, fileno(f), &trid) == 0) {
        posixtrace_stream_switches(trid, &refusal);
        posix_trace_shutdown(trid);
    }
    return refusal;
}

int main(void)
{
    int refusal = 0, status;
    pid_t pid = fork();

    if (pid == 0)
        _exit(refusal_here());
    if (pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status))
        refusal = WEXITSTATUS(status);
    if (refusal > 0) {
        printf("context switches are refused here: %s\n", strerror(refusal));
        return SKIPPED;
    }
    return run_suite("source", "perf", set_time, add_tests);
}
