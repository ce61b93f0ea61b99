/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Streams come and go while a process keeps running: threads of a target trace at full rate while
 * its controller creates and shuts down streams for it.  Each stream must be read in order and have
 * the events of its windows; and after the last one the target maps no more than after the first.
 * Then a target executes itself again and again, in one stream that must not grow.  And orphans,
 * which have identifiers from a parent that no controller can find any more: their events are
 * recorded under the right names, or not at all.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <signal.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <posixtrace/info.h>
#include <trace.h>
#include "torture/audit.h"

#define THREADS      3u
#define CYCLES       60u
#define READ_EACH    200u /* events of a stream that are read, at least */
#define EXECS        40u
#define STREAM_BYTES 65536u
#define WATCHDOG_S   380u

struct note {
    uint32_t thread, number;
};

/* What controller and target tell each other. */
struct shared {
    uint32_t quiet; /* the target's threads shall stop tracing, but for the first */
    uint32_t still; /* how many have */
};

static struct shared *shared;
static trace_event_id_t event_id;

static void *trace_for_ever(void *which)
{
    struct note p = { (uint32_t)(uintptr_t)which, 0 };

    for (;; p.number++) {
        if (p.thread > 0 && __builtin_expect(*(volatile uint32_t *)&shared->quiet, 0)) {
            __sync_fetch_and_add(&shared->still, 1);
            for (;;)
                pause();
        }
        posix_trace_event(event_id, &p, sizeof p);
    }
    return NULL;
}

static pid_t start_target(void)
{
    pid_t pid = fork();
    pthread_t thread;

    DEMAND(pid >= 0, "no child");
    if (pid > 0)
        return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    DEMAND_OK(posix_trace_eventid_open("guest", &event_id));
    for (uintptr_t i = 1; i < THREADS; i++)
        DEMAND_OK(pthread_create(&thread, NULL, trace_for_ever, (void *)i));
    trace_for_ever(NULL);
    return 0;
}

/* How many pieces of segments it maps. */
static unsigned mappings(pid_t pid)
{
    char path[40], *line = NULL;
    size_t size = 0;
    unsigned n = 0;
    FILE *f;

    snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
    f = fopen(path, "r");
    DEMAND(f, "%s cannot be read", path);
    while (getline(&line, &size, f) > 0)
        n += strstr(line, ".seg") != NULL;
    free(line);
    fclose(f);
    return n;
}

static void create(pid_t pid, trace_id_t *trid)
{
    trace_attr_t attr;

    DEMAND_OK(posix_trace_attr_init(&attr));
    DEMAND_OK(posix_trace_attr_setstreamsize(&attr, STREAM_BYTES));
    DEMAND_OK(posix_trace_attr_setmaxdatasize(&attr, sizeof(struct note)));
    DEMAND_OK(posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_LOOP));
    DEMAND_OK(posix_trace_create(pid, &attr, trid));
    DEMAND_OK(posix_trace_start(*trid));
}

/* Reads events until it has seen enough; those of a thread come in rising order. */
static void read_some(trace_id_t trid, pid_t pid)
{
    uint32_t next[THREADS] = { 0 };
    struct posix_trace_event_info e;
    struct note p;
    unsigned n = 0;
    int unavailable;
    size_t len;

    while (n < READ_EACH) {
        DEMAND_OK(posix_trace_getnext_event(trid, &e, &p, sizeof p, &len, &unavailable));
        if (e.posix_event_id < POSIX_TRACE_UNNAMED_USEREVENT)
            continue;
        DEMAND(e.posix_pid == pid && len == sizeof p && p.thread < THREADS, "event %u of %d", n,
               (int)e.posix_pid);
        DEMAND(p.number >= next[p.thread], "thread %u: %u after %u", p.thread, p.number,
               next[p.thread]);
        next[p.thread] = p.number + 1;
        n++;
    }
}

static void cycle(pid_t pid)
{
    trace_id_t trid;

    create(pid, &trid);
    read_some(trid, pid);
    DEMAND_OK(posix_trace_shutdown(trid));
}

static void come_and_go(unsigned cycles)
{
    pid_t pid = start_target();
    unsigned first, last;

    cycle(pid);
    first = mappings(pid);
    for (unsigned i = 0; i < cycles; i++)
        cycle(pid);
    *(volatile uint32_t *)&shared->quiet = 1;
    while (*(volatile uint32_t *)&shared->still < THREADS - 1)
        usleep(1000);
    cycle(pid);
    last = mappings(pid);
    DEMAND(first > 0 && last <= 2 * first, "%u mappings, and %u before", last, first);
    DEMAND(kill(pid, SIGKILL) == 0 && waitpid(pid, NULL, 0) == pid, "the target is gone");
    printf("%u streams: %u mappings, then %u\n", cycles + 2, first, last);
}

static int exec_again(const char *path, unsigned left)
{
    struct note p = { 0, EXECS - left };
    char text[16];

    DEMAND_OK(posix_trace_eventid_open("guest", &event_id));
    posix_trace_event(event_id, &p, sizeof p);
    if (left == 0)
        return 0;
    snprintf(text, sizeof text, "%u", left - 1);
    execl(path, path, text, (char *)NULL);
    return 1;
}

static void exec_many(const char *path)
{
    struct posixtrace_info before, after;
    trace_id_t trid;
    int go[2], status;
    char byte = 0;
    pid_t pid;

    DEMAND(pipe(go) == 0, "no pipe");
    pid = fork();
    DEMAND(pid >= 0, "no child");
    if (pid == 0) {
        DEMAND(read(go[0], &byte, 1) == 1, "no byte");
        _exit(exec_again(path, EXECS));
    }
    create(pid, &trid);
    DEMAND_OK(posixtrace_get_info(trid, &before, sizeof before));
    DEMAND(write(go[1], &byte, 1) == 1, "no byte");
    DEMAND(waitpid(pid, &status, 0) == pid && status == 0, "status %x", (unsigned)status);
    DEMAND_OK(posixtrace_get_info(trid, &after, sizeof after));
    DEMAND(after.reserved_bytes <= before.reserved_bytes + 8192, "%llu bytes reserved, then %llu",
           (unsigned long long)before.reserved_bytes, (unsigned long long)after.reserved_bytes);
    for (uint32_t i = 0; i <= EXECS;) {
        struct posix_trace_event_info e;
        struct note p;
        int unavailable;
        size_t len;

        DEMAND_OK(posix_trace_trygetnext_event(trid, &e, &p, sizeof p, &len, &unavailable));
        DEMAND(!unavailable, "%u events and no more", i);
        if (e.posix_event_id < POSIX_TRACE_UNNAMED_USEREVENT)
            continue;
        DEMAND(e.posix_pid == pid && p.number == i, "event %u of image %u", p.number, i);
        i++;
    }
    DEMAND_OK(posix_trace_shutdown(trid));
    printf("%u images of one process\n", EXECS + 1);
}

/* Reports of an orphan, and orders for it. */
struct orphan {
    pid_t pid;
    int said[2], go[2];
};

/* Its parent opens names, forks it, and is gone before it makes a call. */
static void make_orphan(struct orphan *o)
{
    trace_event_id_t first, second;
    int status;
    char byte;
    pid_t parent;

    DEMAND(pipe(o->said) == 0 && pipe(o->go) == 0, "no pipe");
    parent = fork();
    DEMAND(parent >= 0, "no child");
    if (parent == 0) {
        DEMAND_OK(posix_trace_eventid_open("first", &first));
        DEMAND_OK(posix_trace_eventid_open("second", &second));
        if (fork() != 0)
            _exit(0);
        alarm(WATCHDOG_S);
        close(o->go[1]);
        while (getppid() == parent)
            usleep(1000);
        o->pid = getpid();
        DEMAND(write(o->said[1], &o->pid, sizeof o->pid) == sizeof o->pid, "no pid");
        DEMAND(read(o->go[0], &byte, 1) == 1, "no byte");
        posix_trace_event(second, "2nd", 3);
        DEMAND_OK(posix_trace_eventid_open("third", &first));
        posix_trace_event(first, "3rd", 3);
        DEMAND(write(o->said[1], &byte, 1) == 1, "no byte");
        _exit(0);
    }
    DEMAND(waitpid(parent, &status, 0) == parent && status == 0, "status %x", (unsigned)status);
    DEMAND(read(o->said[0], &o->pid, sizeof o->pid) == sizeof o->pid, "no pid");
}

/* The names of its events in the stream, or "". */
static void names_of(const struct orphan *o, const char *opened_before, char names[600])
{
    struct posix_trace_event_info e;
    int unavailable = 0;
    trace_id_t trid;
    char byte = 0;
    size_t len;

    create(o->pid, &trid);
    if (opened_before)
        DEMAND_OK(posix_trace_trid_eventid_open(trid, opened_before, &event_id));
    DEMAND(write(o->go[1], &byte, 1) == 1 && read(o->said[0], &byte, 1) == 1, "no byte");
    for (names[0] = '\0';;) {
        DEMAND_OK(posix_trace_trygetnext_event(trid, &e, &byte, 1, &len, &unavailable));
        if (unavailable)
            break;
        if (e.posix_event_id < POSIX_TRACE_UNNAMED_USEREVENT)
            continue;
        DEMAND(strlen(names) < 200, "too many events: %s", names);
        DEMAND_OK(posix_trace_eventid_get_name(trid, e.posix_event_id, names + strlen(names)));
        strcat(names, " ");
    }
    DEMAND_OK(posix_trace_shutdown(trid));
}

static void trace_orphans(struct orphan *a, struct orphan *b)
{
    char names[600];

    names_of(a, NULL, names);
    DEMAND(strcmp(names, "second third ") == 0, "an orphan's events are: %s", names);
    names_of(b, "in the way", names);
    DEMAND(strcmp(names, "") == 0, "events of an orphan with other ids are: %s", names);
    printf("two orphans\n");
}

int main(int argc, char **argv)
{
    struct orphan orphans[2];
    static char path[4096];
    bool small = getenv("POSIXTRACE_TEST_SHORT") != NULL;
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);

    if (argc == 2)
        return exec_again(argv[0], (unsigned)strtoul(argv[1], NULL, 10));
    DEMAND(n > 0, "no path");
    alarm(WATCHDOG_S * (small ? 10 : 1));
    shared = audit_shared(sizeof *shared);
    /* Before this process has a page and names, which would be their family's. */
    make_orphan(&orphans[0]);
    make_orphan(&orphans[1]);
    trace_orphans(&orphans[0], &orphans[1]);
    come_and_go(small ? CYCLES / 10 : CYCLES);
    exec_many(path);
    return 0;
}
