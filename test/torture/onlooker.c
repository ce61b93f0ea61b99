/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * An onlooker reads while a stream is written and emptied at full rate.
 *
 *   onlooker [MULTIPLIER]
 *
 * A child traces from several threads into a stream of its own and, meanwhile,
 * leaves it alone (LOOP), reads it (UNTIL_FULL), or has it flushed into a log
 * (FLUSH).  This process has attached to the stream and reads, too, until the
 * child is done.  No event that it reads may be torn, doubled or out of order, and events read plus
 * events reported as missed are the events that the child has traced.  The child, or its log, gets
 * all events as without an onlooker: events read plus events lost are the same sum.
 */
#include <errno.h>
#include <pthread.h>
#include <sys/wait.h>
#include <posixtrace/attach.h>
#include <posixtrace/stream.h>
#include "torture/audit.h"

#define THREADS    3u
#define EVENTS     150000u
#define LOOKS      60000u /* for the last events, a millisecond apart */
#define WATCHDOG_S 380

static trace_event_id_t event_id;
static pthread_barrier_t begin, end, leave;
static uint64_t events;
static int done; /* all events are traced */

/* ---- the process that is looked at ---- */

static void *trace_all(void *argument)
{
    uint32_t lane = (uint32_t)(uintptr_t)argument;
    struct payload p;

    pthread_barrier_wait(&begin);
    for (uint64_t seq = 0; seq < events; seq++) {
        size_t len = payload_make(&p, lane, seq);

        posix_trace_event(event_id, &p, len);
    }
    pthread_barrier_wait(&end);
    pthread_barrier_wait(&leave);
    return NULL;
}

static trace_id_t create(int policy, int log_fd)
{
    trace_attr_t attr;

    DEMAND_OK(posix_trace_attr_init(&attr));
    DEMAND_OK(posix_trace_attr_setstreamfullpolicy(&attr, policy));
    return audit_create(&attr, log_fd);
}

static void tell(int fd)
{
    DEMAND(write(fd, "x", 1) == 1, "the other end is gone");
}

static void be_told(int fd)
{
    char byte;

    DEMAND(read(fd, &byte, 1) == 1, "the other end is gone");
}

/* Reads until the threads are done and nothing is left. */
static void read_along(trace_id_t trid)
{
    struct audit a;
    int last;

    audit_init(&a, event_id, THREADS);
    do {
        last = __atomic_load_n(&done, __ATOMIC_ACQUIRE);
        audit_drain(&a, trid);
    } while (!last);
    DEMAND(a.events + audit_lost(trid) == THREADS * events, "its creator has read %llu",
           (unsigned long long)a.events);
    audit_deinit(&a);
}

static void *wait_for_end(void *unused)
{
    pthread_barrier_wait(&end);
    __atomic_store_n(&done, 1, __ATOMIC_RELEASE);
    return unused;
}

static void be_looked_at(int policy, int log_fd, int to, int from)
{
    pthread_t threads[THREADS], waiter;
    trace_id_t trid;

    pthread_barrier_init(&begin, NULL, THREADS + 1);
    pthread_barrier_init(&end, NULL, THREADS + 1);
    pthread_barrier_init(&leave, NULL, THREADS + 1);
    DEMAND_OK(posix_trace_eventid_open("onlooker", &event_id));
    trid = create(policy, log_fd);
    for (uintptr_t i = 0; i < THREADS; i++)
        DEMAND_OK(pthread_create(&threads[i], NULL, trace_all, (void *)i));
    DEMAND_OK(pthread_create(&waiter, NULL, wait_for_end, NULL));
    tell(to);
    be_told(from);
    pthread_barrier_wait(&begin);
    if (policy == POSIX_TRACE_UNTIL_FULL)
        read_along(trid);
    DEMAND_OK(pthread_join(waiter, NULL));
    tell(to);
    be_told(from);
    pthread_barrier_wait(&leave);
    for (unsigned i = 0; i < THREADS; i++)
        DEMAND_OK(pthread_join(threads[i], NULL));
    DEMAND_OK(posix_trace_shutdown(trid));
    _exit(0);
}

/* ---- the onlooker ---- */

struct found {
    pid_t owner;
    char file[sizeof((struct posixtrace_stream *)0)->file];
};

static int note_stream(void *found, const struct posixtrace_stream *s)
{
    struct found *f = found;

    if (s->owner != f->owner)
        return 0;
    memcpy(f->file, s->file, sizeof f->file);
    return 1;
}

static bool has_told(int fd)
{
    fd_set set;
    struct timeval now = { 0, 0 };

    FD_ZERO(&set);
    FD_SET(fd, &set);
    return select(fd + 1, &set, NULL, NULL, &now) == 1;
}

static uint64_t look_on(pid_t owner, int to, int from)
{
    struct found found = { .owner = owner };
    struct posix_trace_event_info info;
    uint8_t data[1024];
    struct audit a;
    trace_id_t trid;
    uint64_t read;
    int none, last;
    size_t len;

    be_told(from);
    DEMAND(posixtrace_stream_list(note_stream, &found) == 1, "no stream of the child");
    DEMAND_OK(posixtrace_attach(found.file, &trid));
    audit_init(&a, audit_type(trid, "onlooker"), THREADS);
    tell(to);
    do {
        last = has_told(from);
        audit_drain(&a, trid);
    } while (!last);
    /* A flush thread that is inside an event of its own holds back later events. */
    for (unsigned i = 0; i < LOOKS && a.events + audit_lost(trid) < THREADS * events; i++) {
        usleep(1000);
        audit_drain(&a, trid);
    }
    audit_check_time(&a, trid);
    DEMAND(a.events + audit_lost(trid) == THREADS * events, "read %llu, missed %llu, made %llu",
           (unsigned long long)a.events, (unsigned long long)audit_lost(trid),
           (unsigned long long)(THREADS * events));
    tell(to);
    do
        last = posix_trace_getnext_event(trid, &info, data, sizeof data, &len, &none);
    while (last == 0);
    DEMAND(last == ENXIO, "%s instead of the end", strerror(last));
    DEMAND(posix_trace_start(trid) == ENXIO && posix_trace_stop(trid) == ENXIO, "still steered");
    DEMAND_OK(posixtrace_detach(trid));
    read = a.events;
    audit_deinit(&a);
    return read;
}

static void check_log(int fd)
{
    struct audit a;
    trace_id_t trid;

    DEMAND(lseek(fd, 0, SEEK_SET) == 0, "lseek");
    DEMAND_OK(posix_trace_open(fd, &trid));
    audit_init(&a, audit_type(trid, "onlooker"), THREADS);
    audit_read_log(&a, trid);
    DEMAND(a.events + audit_lost(trid) == THREADS * events, "%llu in the log",
           (unsigned long long)a.events);
    audit_deinit(&a);
    DEMAND_OK(posix_trace_close(trid));
}

static void one(const char *name, int policy)
{
    int log_fd = policy == POSIX_TRACE_FLUSH ? audit_temporary_file() : -1;
    int there[2], back[2], status;
    uint64_t read;
    pid_t child;

    DEMAND(pipe(there) == 0 && pipe(back) == 0, "pipe");
    child = fork();
    DEMAND(child >= 0, "fork");
    if (child == 0) {
        close(there[0]);
        close(back[1]);
        be_looked_at(policy, log_fd, there[1], back[0]);
    }
    close(there[1]);
    close(back[0]);
    read = look_on(child, back[1], there[0]);
    DEMAND(waitpid(child, &status, 0) == child && status == 0, "status %d", status);
    close(there[0]);
    close(back[1]);
    if (log_fd >= 0) {
        check_log(log_fd);
        close(log_fd);
    }
    printf("%s: saw %llu of %llu events\n", name, (unsigned long long)read,
           (unsigned long long)(THREADS * events));
    fflush(stdout);
}

int main(int argc, char **argv)
{
    double multiplier = audit_multiplier(argc > 1 ? argv[1] : NULL);

    alarm((unsigned)(WATCHDOG_S * (multiplier > 1 ? multiplier : 1)));
    events = (uint64_t)(EVENTS * multiplier) + 1;
    one("alone", POSIX_TRACE_LOOP);
    one("read", POSIX_TRACE_UNTIL_FULL);
    one("flushed", POSIX_TRACE_FLUSH);
    return 0;
}
