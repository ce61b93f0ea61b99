/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * If any call fails, nothing crashes or hangs, and no event is lost without being counted.
 *
 *   kth_call KIND [CALL once|forever]
 *
 * A child process creates a stream with log, traces from two threads, flushes,
 * clears, traces again, shuts down, opens the log and reads it.  One kind of
 * call (calls.h) fails at its k-th use, once or from then on, for k = 0, 1, ...
 * until the child makes fewer than k of them.  In each child
 *
 *   a function that fails returns an error that its manual page names
 *   events read and events reported as lost are the events traced since the clear
 *   a failure with an effect is reported by some function or by a count
 *   afterwards the same process repeats all of it without a failure, exactly
 *
 * Then the same with a stream for another process: its events are read, and the calls of its
 * controller fail.
 */
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>
#include <posixtrace/info.h>
#include "fault/calls.h"
#include "torture/audit.h"

#define THREADS       2u
#define EVENTS        300u /* of a thread, before and after the clear */
#define OTHERS_EVENTS 10u
#define WATCHDOG_S    100
#define SKIPPED       77

/* Errors that the manual pages name, for what can happen here. */
static const int create_errors[] = { EAGAIN, EBADF,  EDQUOT, EFBIG,  EIO,
                                     EMFILE, ENFILE, ENOMEM, ENOSPC, 0 };
static const int write_errors[] = { EDQUOT, EFBIG, EIO, ENOSPC, ENOMEM, 0 };
static const int open_errors[] = { EIO, EMFILE, ENOMEM, EINVAL, 0 };
static const int read_errors[] = { EIO, ENOMEM, 0 };
static const int memory_errors[] = { ENOMEM, 0 };

static char what[120];

static bool is_one_of(int error, const int *list)
{
    while (*list && *list != error)
        list++;
    return error == 0 || *list;
}

#define DEMAND_DOCUMENTED(error, list) \
    DEMAND(is_one_of(error, list), "%s: error %d (%s)", what, (error), strerror(error))

struct result {
    bool created;
    int error;            /* of create */
    int told;             /* an error of flush, clear, shutdown or get_status */
    uint64_t made;        /* since the clear */
    uint64_t lost_before; /* clearing does not take back what was lost */
    int log;
};

struct tracer {
    trace_event_id_t id;
    uint32_t writer, from;
};

static void *trace_some(void *argument)
{
    const struct tracer *t = argument;

    for (uint64_t i = t->from; i < t->from + EVENTS; i++) {
        struct payload p;
        size_t len = payload_make(&p, t->writer, i);

        posix_trace_event(t->id, &p, len);
    }
    return NULL;
}

static void trace_all(trace_event_id_t id, uint32_t from)
{
    pthread_t threads[THREADS];
    struct tracer tracers[THREADS];

    for (uint32_t i = 0; i < THREADS; i++) {
        tracers[i] = (struct tracer){ id, i, from };
        DEMAND_OK(pthread_create(&threads[i], NULL, trace_some, &tracers[i]));
    }
    for (unsigned i = 0; i < THREADS; i++)
        DEMAND_OK(pthread_join(threads[i], NULL));
}

static void tell(struct result *r, int error)
{
    if (error)
        r->told = error;
}

/* Returns when the flush that was asked for has ended. */
static void wait_flushed(trace_id_t trid, struct result *r)
{
    struct posix_trace_status_info status;

    do {
        DEMAND_OK(posix_trace_get_status(trid, &status));
        tell(r, status.posix_stream_flush_error);
    } while (status.posix_stream_flush_status == POSIX_TRACE_FLUSHING);
}

static int lost_of(trace_id_t trid, uint64_t *lost)
{
    struct posixtrace_info info;
    int error = posixtrace_get_info(trid, &info, sizeof info);

    DEMAND_DOCUMENTED(error, memory_errors);
    *lost = 0;
    for (unsigned i = 0; error == 0 && i < POSIXTRACE_LOSS_CAUSES; i++)
        *lost += info.lost[i];
    return error;
}

static void trace_into_log(struct result *r)
{
    trace_event_id_t id = 0;
    trace_attr_t attr;
    trace_id_t trid;
    int error;

    r->log = audit_temporary_file();
    DEMAND_OK(posix_trace_attr_init(&attr));
    DEMAND_OK(posix_trace_attr_setstreamsize(&attr, 128 << 10));
    DEMAND_OK(posix_trace_attr_setmaxdatasize(&attr, PAYLOAD_MAX));
    DEMAND_OK(posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_APPEND));
    error = posix_trace_create_withlog(0, &attr, r->log, &trid);
    DEMAND_DOCUMENTED(error, create_errors);
    r->created = error == 0;
    r->error = error;
    DEMAND_OK(posix_trace_attr_destroy(&attr));
    if (error)
        return;
    error = posix_trace_eventid_open("kth call", &id);
    DEMAND_DOCUMENTED(error, memory_errors);
    if (error)
        tell(r, error);
    DEMAND_OK(posix_trace_start(trid));
    if (!error)
        trace_all(id, 0);
    error = posix_trace_flush(trid);
    DEMAND_DOCUMENTED(error, write_errors);
    tell(r, error);
    wait_flushed(trid, r);
    error = posix_trace_clear(trid);
    DEMAND_DOCUMENTED(error, write_errors);
    tell(r, error);
    tell(r, lost_of(trid, &r->lost_before));
    if (id) {
        trace_all(id, EVENTS);
        r->made = THREADS * EVENTS + (error ? THREADS * EVENTS : 0);
    }
    wait_flushed(trid, r);
    error = posix_trace_shutdown(trid);
    DEMAND_DOCUMENTED(error, write_errors);
    tell(r, error);
}

/* With failures: reads as far as it goes.  False: it did not go to the end. */
static bool try_to_read(int log)
{
    struct posix_trace_event_info info;
    uint8_t data[PAYLOAD_MAX];
    int unavailable = 0, error;
    trace_id_t trid;
    size_t len;

    error = posix_trace_open(log, &trid);
    DEMAND_DOCUMENTED(error, open_errors);
    if (error)
        return false;
    while (error == 0 && !unavailable)
        error = posix_trace_getnext_event(trid, &info, data, sizeof data, &len, &unavailable);
    DEMAND_DOCUMENTED(error, read_errors);
    DEMAND_OK(posix_trace_close(trid));
    return error == 0;
}

/* A log that could not be written knows no type, and has no event. */
static bool find_type(trace_id_t trid, trace_event_id_t *id)
{
    char name[TRACE_EVENT_NAME_MAX + 1];
    int unavailable;

    DEMAND_OK(posix_trace_eventtypelist_rewind(trid));
    for (;;) {
        DEMAND_OK(posix_trace_eventtypelist_getnext_id(trid, id, &unavailable));
        if (unavailable)
            return false;
        DEMAND_OK(posix_trace_eventid_get_name(trid, *id, name));
        if (strcmp(name, "kth call") == 0)
            return true;
    }
}

static void check_log(const struct result *r)
{
    trace_event_id_t id = 0;
    struct audit audit;
    trace_id_t trid;
    uint64_t lost;
    int error = posix_trace_open(r->log, &trid);

    /* A log whose first bytes could not be written is none. */
    DEMAND(error == 0 || (error == EINVAL && r->told), "%s: the log does not open: %d", what,
           error);
    if (error)
        return;
    DEMAND(find_type(trid, &id) || r->told, "%s: the event type is not in the log", what);
    audit_init(&audit, id, THREADS);
    audit_read_log(&audit, trid);
    audit_check_time(&audit, trid);
    DEMAND_OK(lost_of(trid, &lost));
    lost -= r->lost_before;
    DEMAND(audit.events + lost == r->made || (r->told && audit.events + lost <= 2 * r->made),
           "%s: %llu read, %llu lost, %llu made, told %d", what, (unsigned long long)audit.events,
           (unsigned long long)lost, (unsigned long long)r->made, r->told);
    audit_deinit(&audit);
    DEMAND_OK(posix_trace_close(trid));
}

/* Runs in the child.  The parent gets the result: 0 if call k was not reached. */
static int one_failure(enum fault_kind kind, unsigned k, bool forever)
{
    struct result r = { 0 }, again = { 0 };
    unsigned calls;
    bool read;

    alarm(WATCHDOG_S);
    fault_arm(kind, k, forever);
    trace_into_log(&r);
    read = r.created && try_to_read(r.log);
    calls = fault_disarm();
    DEMAND(calls > k || (r.created && read && !r.told), "%s: an error without a failure: %d", what,
           r.told);
    if (r.created)
        check_log(&r);
    close(r.log);
    trace_into_log(&again);
    DEMAND(again.created && !again.told, "%s: fails afterwards: %d", what,
           again.created ? again.told : again.error);
    check_log(&again);
    close(again.log);
    return calls > k;
}

/* ---- the controller of another process ---- */

static const int other_errors[] = { EACCES, EAGAIN, EMFILE, ENFILE, ENOMEM, ENOSPC, ENOTSUP, 0 };

struct other {
    pid_t pid;
    int go[2], done[2];
};

static void start_other(struct other *o)
{
    trace_event_id_t id;
    char byte;

    DEMAND(pipe(o->go) == 0 && pipe(o->done) == 0, "no pipe");
    o->pid = fork();
    DEMAND(o->pid >= 0, "fork: %d", errno);
    if (o->pid > 0)
        return;
    close(o->go[1]);
    while (read(o->go[0], &byte, 1) == 1) {
        DEMAND_OK(posix_trace_eventid_open("other", &id));
        for (unsigned i = 0; i < OTHERS_EVENTS; i++)
            posix_trace_event(id, &i, sizeof i);
        DEMAND(write(o->done[1], &byte, 1) == 1, "write: %d", errno);
    }
    _exit(0);
}

/* Its events, which are all there or counted. The error of create. */
static int trace_other(struct other *o)
{
    struct posix_trace_event_info info;
    int unavailable = 0, error;
    unsigned seen = 0, number;
    trace_id_t trid;
    char byte = 0;
    size_t len;

    error = posix_trace_create(o->pid, NULL, &trid);
    DEMAND_DOCUMENTED(error, other_errors);
    if (error)
        return error;
    DEMAND_OK(posix_trace_start(trid));
    DEMAND(write(o->go[1], &byte, 1) == 1 && read(o->done[0], &byte, 1) == 1, "the other is gone");
    for (;;) {
        error = posix_trace_trygetnext_event(trid, &info, &number, sizeof number, &len,
                                             &unavailable);
        DEMAND_DOCUMENTED(error, memory_errors);
        if (error || unavailable)
            break;
        if (info.posix_event_id < POSIX_TRACE_UNNAMED_USEREVENT)
            continue;
        DEMAND(info.posix_pid == o->pid && number == seen, "%s: event %u of %d", what, number,
               (int)info.posix_pid);
        seen++;
    }
    DEMAND(error || seen == OTHERS_EVENTS, "%s: %u events", what, seen);
    DEMAND_OK(posix_trace_shutdown(trid));
    return error;
}

static int one_failure_with_other(enum fault_kind kind, unsigned k, bool forever)
{
    struct other o;
    unsigned calls;
    int error, again;

    alarm(WATCHDOG_S);
    start_other(&o);
    fault_arm(kind, k, forever);
    error = trace_other(&o);
    calls = fault_disarm();
    DEMAND(calls > k || !error, "%s: an error without a failure: %d", what, error);
    again = trace_other(&o);
    DEMAND(again == 0, "%s: fails afterwards: %d", what, again);
    close(o.go[1]);
    DEMAND(waitpid(o.pid, NULL, 0) == o.pid, "waitpid: %d", errno);
    return calls > k;
}

typedef int failure_fn(enum fault_kind kind, unsigned k, bool forever);

static bool run_child(failure_fn *fails, enum fault_kind kind, unsigned k, bool forever)
{
    pid_t child;
    int status;

    snprintf(what, sizeof what, "%s, call %u %s", fault_names[kind], k,
             forever ? "forever" : "once");
    fflush(stdout);
    child = fork();
    DEMAND(child >= 0, "fork: %d", errno);
    if (child == 0)
        exit(fails(kind, k, forever) ? 10 : 11);
    DEMAND(waitpid(child, &status, 0) == child, "waitpid: %d", errno);
    DEMAND(!WIFSIGNALED(status), "%s: %s", what,
           WTERMSIG(status) == SIGALRM ? "hangs" : strsignal(WTERMSIG(status)));
    DEMAND(WEXITSTATUS(status) == 10 || WEXITSTATUS(status) == 11, "%s: the child failed", what);
    return WEXITSTATUS(status) == 10;
}

static unsigned all_of(failure_fn *fails, enum fault_kind kind, bool forever)
{
    unsigned k = 0;

    while (run_child(fails, kind, k, forever))
        k++;
    return k;
}

static enum fault_kind kind_named(const char *name)
{
    for (unsigned kind = 0; kind < FAULT_KINDS; kind++)
        if (strcmp(name, fault_names[kind]) == 0)
            return (enum fault_kind)kind;
    DEMAND(false, "%s is no kind of call", name);
}

int main(int argc, char **argv)
{
    enum fault_kind kind;
    unsigned once, forever, others;

#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
    puts("skipped: the sanitizer has the memory functions to itself");
    return SKIPPED;
#endif
    DEMAND(argc == 2 || argc == 4, "usage: %s KIND [CALL once|forever]", argv[0]);
    kind = kind_named(argv[1]);
    if (argc == 4)
        return !run_child(one_failure, kind, (unsigned)atoi(argv[2]),
                          strcmp(argv[3], "forever") == 0);
    once = all_of(one_failure, kind, false);
    forever = all_of(one_failure, kind, true);
    others = all_of(one_failure_with_other, kind, false);
    others += all_of(one_failure_with_other, kind, true);
    printf("%s: %u calls failed once each, %u for ever, %u of the controller of another\n",
           fault_names[kind], once, forever, others);
    DEMAND(once > 0, "%s was never called", fault_names[kind]);
    return 0;
}
