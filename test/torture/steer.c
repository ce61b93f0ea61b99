/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * A process that controls a stream is killed or stopped at a random moment.
 *
 *   steer [MULTIPLIER [SEED]]
 *
 * A child attaches to a stream of this process and starts, filters and stops it all the time, until
 * at a random moment it is killed, or stopped and continued later.  Then the creator starts the
 * stream, traces, and stops it: neither call may wait for the child for much longer than a second,
 * and exactly the events traced in between are read, between a START and a STOP.  The same again
 * when a stopped child has finished its call.  Before that both do it at the same time.
 *
 * An onlooker attaches after such deaths, while the stream has unread events of a thread that has
 * ended.  It finds these events and no losses, although the children's control writers have reused
 * that thread's slot.
 */
#include <pthread.h>
#include <signal.h>
#include <sched.h>
#include <sys/wait.h>
#include <time.h>
#include <posixtrace/attach.h>
#include <posixtrace/event.h>
#include <posixtrace/info.h>
#include <posixtrace/stream.h>
#include "torture/audit.h"

#define KILLED     150u
#define STOPPED    12u
#define TOGETHER   100u
#define LOOKED_ON  12u
#define DEATHS     8u /* while one thread's events wait */
#define LONGEST_NS 1000000
#define EVENTS     3u
#define LONGEST_S  20 /* for a second; valgrind and a loaded machine take theirs */
#define WATCHDOG_S 380

struct shared {
    volatile int finish;
    volatile unsigned rounds;
};

static struct shared *shared;
static trace_event_id_t wanted, other;
static char file[128];
static uint64_t number, expected;
static bool open; /* the window, as read so far */

static int note_stream(void *unused, const struct posixtrace_stream *s)
{
    (void)unused;
    if (s->owner != getpid())
        return 0;
    snprintf(file, sizeof file, "%s", s->file);
    return 1;
}

/* ---- the child ---- */

static void steer(void)
{
    trace_event_set_t set;
    trace_id_t trid;

    DEMAND_OK(posixtrace_attach(file, &trid));
    DEMAND_OK(posix_trace_eventset_empty(&set));
    DEMAND_OK(posix_trace_eventset_add(other, &set));
    shared->rounds = 1;
    do {
        DEMAND_OK(posix_trace_start(trid));
        DEMAND_OK(posix_trace_set_filter(trid, &set, POSIX_TRACE_ADD_EVENTSET));
        DEMAND_OK(posix_trace_set_filter(trid, &set, POSIX_TRACE_SUB_EVENTSET));
        DEMAND_OK(posix_trace_stop(trid));
        shared->rounds++;
    } while (!shared->finish);
    DEMAND_OK(posixtrace_detach(trid));
    _exit(0);
}

/* A child that has begun, some time ago. */
static pid_t begin_child(void)
{
    struct timespec pause = { 0, random() % LONGEST_NS };
    pid_t child;

    shared->finish = 0;
    shared->rounds = 0;
    child = fork();
    DEMAND(child >= 0, "fork");
    if (child == 0)
        steer();
    while (!shared->rounds)
        sched_yield();
    nanosleep(&pause, NULL);
    return child;
}

static void end_child(pid_t child, const char *when)
{
    int status;

    shared->finish = 1;
    DEMAND(waitpid(child, &status, 0) == child && status == 0, "%s: status %x", when, status);
}

/* ---- the creator ---- */

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void trace(void)
{
    for (unsigned i = 0; i < EVENTS; i++, number++)
        posix_trace_event(wanted, &number, sizeof number);
}

/* The events must have the numbers from expected to number - 1, each in a window. */
static void check(trace_id_t trid, const char *when)
{
    struct posix_trace_event_info info;
    uint64_t data[64];
    int none = 0;
    size_t len;

    for (;;) {
        DEMAND_OK(posix_trace_trygetnext_event(trid, &info, data, sizeof data, &len, &none));
        if (none)
            break;
        if (info.posix_event_id == POSIX_TRACE_START)
            open = true;
        else if (info.posix_event_id == POSIX_TRACE_STOP)
            open = false;
        if (info.posix_event_id != wanted)
            continue;
        DEMAND(data[0] == expected, "%s: event %llu instead of %llu", when,
               (unsigned long long)data[0], (unsigned long long)expected);
        DEMAND(open, "%s: event %llu lies outside START and STOP", when,
               (unsigned long long)data[0]);
        expected++;
    }
    DEMAND(expected == number, "%s: up to %llu instead of %llu", when, (unsigned long long)expected,
           (unsigned long long)number);
}

/* Uses the stream as the child has left it: the next caller completes the interrupted call. */
static void use_as_left(trace_id_t trid, const char *when)
{
    struct posix_trace_status_info status;
    trace_event_set_t none;

    DEMAND_OK(posix_trace_eventset_empty(&none));
    DEMAND_OK(posix_trace_set_filter(trid, &none, POSIX_TRACE_SET_EVENTSET));
    DEMAND_OK(posix_trace_get_status(trid, &status));
    if (status.posix_stream_status == POSIX_TRACE_RUNNING)
        trace();
    else
        posix_trace_event(wanted, &number, sizeof number);
    check(trid, when);
}

static void use(trace_id_t trid, const char *when)
{
    struct posix_trace_status_info status;
    trace_event_set_t none;
    double begun = now();

    DEMAND_OK(posix_trace_eventset_empty(&none));
    /* However the child left it. */
    DEMAND_OK(posix_trace_stop(trid));
    DEMAND_OK(posix_trace_start(trid));
    DEMAND_OK(posix_trace_set_filter(trid, &none, POSIX_TRACE_SET_EVENTSET));
    DEMAND_OK(posix_trace_get_status(trid, &status));
    DEMAND(status.posix_stream_status == POSIX_TRACE_RUNNING, "%s: not running", when);
    trace();
    DEMAND_OK(posix_trace_stop(trid));
    /* Not part of the stream. */
    posix_trace_event(wanted, &number, sizeof number);
    DEMAND(now() - begun < LONGEST_S, "%s: waited %.1f s", when, now() - begun);
    check(trid, when);
}

static void one(trace_id_t trid, unsigned round, bool kill_it)
{
    pid_t child = begin_child();
    char when[64];
    int status;

    snprintf(when, sizeof when, "%s, round %u", kill_it ? "killed" : "stopped", round);
    kill(child, kill_it ? SIGKILL : SIGSTOP);
    waitpid(child, &status, kill_it ? 0 : WUNTRACED);
    use_as_left(trid, when);
    use(trid, when);
    if (kill_it)
        return;
    kill(child, SIGCONT);
    end_child(child, when);
    use_as_left(trid, when);
    use(trid, when);
}

static void both(trace_id_t trid)
{
    pid_t child = begin_child();
    uint64_t wasted = 0;

    for (unsigned i = 0; i < TOGETHER; i++) {
        DEMAND_OK(posix_trace_start(trid));
        posix_trace_event(other, &wasted, sizeof wasted);
        DEMAND_OK(posix_trace_stop(trid));
        check(trid, "together");
    }
    end_child(child, "together");
    use(trid, "together");
}

/* What it traces first is read and cleared, and what it traces then is left. */
static void *trace_twice(void *trid)
{
    trace();
    check(*(trace_id_t *)trid, "looked on");
    DEMAND_OK(posix_trace_clear(*(trace_id_t *)trid));
    trace();
    return NULL;
}

static void trace_in_thread(trace_id_t trid)
{
    struct posixtrace_info info;
    pthread_t thread;

    DEMAND_OK(posix_trace_start(trid));
    DEMAND_OK(pthread_create(&thread, NULL, trace_twice, &trid));
    DEMAND_OK(pthread_join(thread, NULL));
    DEMAND_OK(posix_trace_stop(trid));
    DEMAND_OK(posixtrace_get_info(trid, &info, sizeof info)); /* its slot is free */
}

/* Attaches, and expects the remaining events only. */
static void look_on(void)
{
    struct posixtrace_info info;
    struct posixtrace_event e;
    trace_id_t trid;
    uint64_t n = 0;
    int none = 0;

    DEMAND_OK(posixtrace_attach(file, &trid));
    for (;;) {
        DEMAND_OK(posixtrace_next_event(trid, &e, sizeof e, &none));
        if (none)
            break;
        n += e.id == wanted;
    }
    DEMAND_OK(posixtrace_get_info(trid, &info, sizeof info));
    DEMAND(n == EVENTS && info.events == EVENTS && info.lost[POSIXTRACE_LOST_OVERWRITTEN] == 0,
           "looked on: %llu read of %llu, %llu overwritten", (unsigned long long)n,
           (unsigned long long)info.events,
           (unsigned long long)info.lost[POSIXTRACE_LOST_OVERWRITTEN]);
    DEMAND_OK(posixtrace_detach(trid));
}

static void looked_on(trace_id_t trid)
{
    struct posixtrace_info info;
    trace_event_set_t none;

    DEMAND_OK(posix_trace_eventset_empty(&none));
    trace_in_thread(trid);
    for (unsigned i = 0; i < DEATHS; i++) {
        pid_t child = begin_child();

        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        DEMAND_OK(posix_trace_set_filter(trid, &none, POSIX_TRACE_SET_EVENTSET));
        DEMAND_OK(posixtrace_get_info(trid, &info, sizeof info));
        look_on();
    }
    use_as_left(trid, "looked on");
    use(trid, "looked on");
}

static trace_id_t create(void)
{
    trace_attr_t attr;
    trace_id_t trid;

    DEMAND_OK(posix_trace_attr_init(&attr));
    DEMAND_OK(posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_UNTIL_FULL));
    DEMAND_OK(posix_trace_create(0, &attr, &trid));
    return trid;
}

int main(int argc, char **argv)
{
    double multiplier = audit_multiplier(argc > 1 ? argv[1] : NULL);
    unsigned killed = (unsigned)(KILLED * multiplier) + 1;
    unsigned stopped = (unsigned)(STOPPED * multiplier) + 1;
    unsigned looked = (unsigned)(LOOKED_ON * multiplier) + 1;
    trace_id_t trid;

    alarm((unsigned)(WATCHDOG_S * (multiplier > 1 ? multiplier : 1)));
    shared = audit_shared(sizeof *shared);
    DEMAND_OK(posix_trace_eventid_open("wanted", &wanted));
    DEMAND_OK(posix_trace_eventid_open("other", &other));
    trid = create();
    DEMAND(posixtrace_stream_list(note_stream, NULL) == 1, "no stream of ours");
    audit_seed(argc > 2 ? argv[2] : NULL);
    fflush(stdout);
    use(trid, "alone");
    both(trid);
    for (unsigned i = 0; i < killed; i++)
        one(trid, i, true);
    for (unsigned i = 0; i < looked; i++)
        looked_on(trid);
    for (unsigned i = 0; i < stopped; i++)
        one(trid, i, false);
    DEMAND_OK(posix_trace_shutdown(trid));
    return 0;
}
