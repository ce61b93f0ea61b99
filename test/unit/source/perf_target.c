/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See perf_target.h. */
#include "perf_target.h"
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <posixtrace/attr.h>
#include <posixtrace/event.h>
#include <posixtrace/info.h>
#include <posixtrace/system.h>
#include "base/atomics.h"
#include "base/clock.h"
#include "support/run_suite.h"

enum { MOST = 64 };

trace_event_id_t own_id;

trace_attr_t *attributes(int switches, int inherited)
{
    static trace_attr_t attr;

    ck_assert_int_eq(posix_trace_attr_init(&attr), 0);
    ck_assert_int_eq(posixtrace_attr_setswitches(&attr, switches), 0);
    ck_assert_int_eq(posix_trace_attr_setinherited(&attr, inherited), 0);
    ck_assert_int_eq(posix_trace_eventid_open("own", &own_id), 0);
    return &attr;
}

trace_id_t make_with(int fd, pid_t pid, int inherited, size_t ring_bytes)
{
    trace_attr_t *attr = attributes(1, inherited);
    struct posixtrace_info info;
    int refusal = -1;
    trace_id_t trid;

    ck_assert_int_eq(posixtrace_attr_setswitchbuffer(attr, ring_bytes), 0);
    ck_assert_int_eq(posix_trace_create_withlog(pid, attr, fd, &trid), 0);
    /* The clock of other streams, which costs an event less than CLOCK_MONOTONIC. */
    ck_assert_int_eq(posixtrace_get_info(trid, &info, sizeof info), 0);
    ck_assert_int_eq(info.clock, pt_clock_choose());
    ck_assert_int_eq(posixtrace_stream_switches(trid, &refusal), 0);
    ck_assert_int_eq(refusal, 0);
    ck_assert_int_eq(posix_trace_start(trid), 0);
    return trid;
}

trace_id_t make(int fd, pid_t pid, int inherited)
{
    return make_with(fd, pid, inherited, 0);
}

uint64_t counter(pid_t pid, pid_t tid, const char *name)
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

static struct seen seen[MOST];
static size_t seen_count;

struct seen *seen_of(pid_t pid, pid_t tid)
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
uint64_t look(int fd)
{
    struct posixtrace_event e;
    uint64_t switches = 0;
    int64_t before = 0;
    trace_id_t trid;
    int none;

    seen_count = 0;
    ck_assert_int_eq(posix_trace_open(fd, &trid), 0);
    while (posixtrace_next_event(trid, &e, sizeof e, &none) == 0 && !none) {
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

void await_turn(const struct sleeper *s, uint32_t turn)
{
    while (pt_load_seqcst(&s->progress->turn) < turn)
        sched_yield();
}

void begin(struct sleeper *s)
{
    prepare(s);
    s->pid = getpid();
    ck_assert_int_eq(pthread_create(&s->thread, NULL, sleeping_thread, s), 0);
    await_turn(s, 1);
}

/* Until it has blocked in its read() number turn. */
void await_block(const struct sleeper *s, uint32_t turn)
{
    const struct progress *p = s->progress;

    await_turn(s, turn);
    while (blocked(s->pid, p->tid) <= p->switched)
        sched_yield();
}

/* It has blocked once more before each of its events, and at the end. */
void wake_often(struct sleeper *s)
{
    uint32_t turn = pt_load_seqcst(&s->progress->turn);

    for (unsigned i = 0; i < BLOCKS; i++) {
        await_block(s, turn + i);
        ck_assert_int_eq(write(s->pipe[1], "x", 1), 1);
    }
    await_block(s, turn + BLOCKS);
}

void end(struct sleeper *s)
{
    close(s->pipe[1]);
    pthread_join(s->thread, NULL);
    close(s->pipe[0]);
}

/* A child of the traced process does the same. */
void fork_child(struct sleeper *s)
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

void end_child(struct sleeper *s)
{
    close(s->pipe[0]);
    close(s->pipe[1]);
    waitpid(s->pid, NULL, 0);
}

void wake_child(struct sleeper *s)
{
    wake_often(s);
    end_child(s);
}

void check_sleeper(pid_t pid, pid_t tid)
{
    const struct seen *s = seen_of(pid, tid);

    ck_assert_uint_eq(s->wrong, 0);
    ck_assert_uint_eq(s->own, BLOCKS);
    ck_assert_uint_ge(s->least, 1);
    ck_assert_uint_ge(s->out, BLOCKS);
    ck_assert_uint_ge(s->in + 1, s->out + s->preempted);
}

/* The reason for which the system refuses context switches; 0: it does not, as far as known
 * here. */
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

static void set_time(TCase *t)
{
    tcase_set_timeout(t, 60);
}

int run_perf_tests(const char *name, void (*add)(TCase *t))
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
    return run_suite("source", name, set_time, add);
}
