/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Controller and target are different processes, at full rate, and one of them is killed or stopped
 * at a random moment, also during the creation of the stream.
 *
 *   controllers [MULTIPLIER [SEED]]
 *
 * controller killed  the target continues, and soon is not traced any more; the log opens with all
 *                    recorded events, recover completes it, and it does not change any more
 * target killed      the controller shuts down; the log is complete
 * target stopped     each operation of the controller still ends (each has a watchdog, and the
 *                    longest is printed); the target continues afterwards
 *
 * The accounts, thread by thread: events read plus events lost are the events recorded by the
 * calls, or one more if the target was killed or stopped.  Events from before the start of the
 * stream are not part of it; in every other round the target begins only then, and the accounts are
 * exact.  At the end the directory is empty.
 */
#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <time.h>
#include <posixtrace/info.h>
#include <posixtrace/log.h>
#include <posixtrace/stream.h>
#include "torture/audit.h"

#define ROUNDS     30u
#define THREADS    2u
#define LONGEST_US 30000u
#define WATCHDOG_S 380u
#define GOES_ON    1000u /* further events that show it */

enum kind { KILL_CONTROLLER, KILL_TARGET, STOP_TARGET, KINDS };

struct shared {
    _Atomic uint64_t returned[THREADS];
    _Atomic pid_t tid[THREADS];
    _Atomic int started;         /* the stream records */
    _Atomic int trace;           /* the target's threads may begin */
    _Atomic int conclude;        /* the controller is to shut down */
    _Atomic int finish;          /* the target is to end */
    _Atomic uint64_t longest_ns; /* of the controller's operations at the end */
};

static struct shared *shared;
static int log_fd;
static bool loop_log, waits_for_start;

static void rest(void)
{
    nanosleep(&(struct timespec){ .tv_nsec = 50000 }, NULL);
}

/* ---- the target ---- */

static trace_event_id_t event_id;

static void *trace_until_told(void *argument)
{
    uint32_t lane = (uint32_t)(uintptr_t)argument;
    struct payload p;

    shared->tid[lane] = gettid();
    while (waits_for_start && !shared->trace && !shared->finish)
        rest();
    for (uint64_t seq = 0; !shared->finish; seq++) {
        size_t len = payload_make(&p, lane, seq);

        posix_trace_event(event_id, &p, len);
        shared->returned[lane] = seq + 1;
    }
    return NULL;
}

static void be_target(void)
{
    pthread_t threads[THREADS];

    alarm(WATCHDOG_S);
    DEMAND_OK(posix_trace_eventid_open("controllers", &event_id));
    for (uintptr_t i = 0; i < THREADS; i++)
        DEMAND_OK(pthread_create(&threads[i], NULL, trace_until_told, (void *)i));
    for (unsigned i = 0; i < THREADS; i++)
        DEMAND_OK(pthread_join(threads[i], NULL));
    exit(0);
}

/* ---- the controller ---- */

/* An operation has ended, and the next one begins. */
static void ended(int count_it)
{
    static uint64_t begun;
    struct timespec t;
    uint64_t now;

    clock_gettime(CLOCK_MONOTONIC, &t);
    now = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
    if (count_it && now - begun > shared->longest_ns)
        shared->longest_ns = now - begun;
    begun = now;
    alarm(WATCHDOG_S);
}

static void be_controller(pid_t target)
{
    trace_event_id_t id;
    trace_attr_t attr;
    trace_id_t trid;

    alarm(WATCHDOG_S);
    DEMAND_OK(posix_trace_attr_init(&attr));
    DEMAND_OK(posix_trace_attr_setstreamsize(&attr, 256 << 10));
    DEMAND_OK(posix_trace_attr_setmaxdatasize(&attr, PAYLOAD_MAX));
    DEMAND_OK(
        posix_trace_attr_setlogfullpolicy(&attr, loop_log ? POSIX_TRACE_LOOP : POSIX_TRACE_APPEND));
    DEMAND_OK(posix_trace_create_withlog(target, &attr, log_fd, &trid));
    DEMAND_OK(posix_trace_trid_eventid_open(trid, "controllers", &id));
    DEMAND_OK(posix_trace_start(trid));
    shared->started = shared->trace = 1;
    while (!shared->conclude) {
        DEMAND_OK(posix_trace_flush(trid));
        usleep(1000);
    }
    ended(0);
    DEMAND_OK(posix_trace_flush(trid));
    ended(1);
    DEMAND_OK(posix_trace_stop(trid));
    ended(1);
    DEMAND_OK(posix_trace_shutdown(trid));
    ended(1);
    exit(0);
}

/* ---- the process that verifies ---- */

/* least: calls that had returned while the stream surely recorded. */
static uint64_t read_log(const char *when, const uint64_t *least, int end)
{
    struct posixtrace_info info;
    struct audit audit;
    trace_id_t trid;
    uint64_t events;

    alarm(WATCHDOG_S);
    DEMAND_OK(posix_trace_open(log_fd, &trid));
    audit_init(&audit, 0, THREADS);
    audit.id = audit_type(trid, "controllers");
    audit_read_log(&audit, trid);
    audit_check_time(&audit, trid);
    for (unsigned i = 0; i < THREADS; i++) {
        uint64_t known = audit.read[i] + audit_lost_by(trid, shared->tid[i]);

        DEMAND(known >= least[i] && known <= shared->returned[i] + 1,
               "%s, thread %u: %llu and %llu calls had returned, %llu read, %llu known", when, i,
               (unsigned long long)least[i], (unsigned long long)shared->returned[i],
               (unsigned long long)audit.read[i], (unsigned long long)known);
    }
    DEMAND_OK(posixtrace_get_info(trid, &info, sizeof info));
    DEMAND(info.end == end, "%s: end %d, not %d", when, info.end, end);
    events = audit.events;
    audit_deinit(&audit);
    DEMAND_OK(posix_trace_close(trid));
    return events;
}

static void check_log(bool complete)
{
    struct posixtrace_log_report report;

    DEMAND_OK(posixtrace_log_check(log_fd, NULL, NULL, &report, sizeof report));
    DEMAND(report.complete == complete && !report.damaged, "complete %d, damaged %d",
           report.complete, report.damaged);
}

/* Killed before the start was seen: there may be no log, or none of its names. */
static bool is_too_early(void)
{
    struct posixtrace_recover_report report;
    trace_id_t trid;

    if (shared->started)
        return false;
    if (posix_trace_open(log_fd, &trid) == 0) {
        DEMAND_OK(posix_trace_close(trid));
        DEMAND_OK(posixtrace_log_recover(log_fd, &report, sizeof report));
    }
    return true;
}

static void verify_recovered(const uint64_t *least)
{
    struct posixtrace_recover_report report;
    uint64_t before, after;

    if (is_too_early())
        _exit(0);
    before = read_log("as left", least, POSIXTRACE_END_TAIL);
    DEMAND_OK(posixtrace_log_recover(log_fd, &report, sizeof report));
    DEMAND(!report.was_complete && report.segment_found, "complete %d, segment %d",
           report.was_complete, report.segment_found);
    after = read_log("recovered", least, POSIXTRACE_END_RECOVERED);
    /* The target lives: a call that had begun may have come to its end meanwhile. */
    DEMAND(after >= before && after <= before + THREADS, "%llu events before, %llu after",
           (unsigned long long)before, (unsigned long long)after);
    check_log(true);
    _exit(0);
}

static void verify_complete(const uint64_t *least)
{
    if (is_too_early())
        _exit(0);
    read_log("shut down", least, POSIXTRACE_END_SHUTDOWN);
    check_log(true);
    _exit(0);
}

static void verify(enum kind kind, const uint64_t *least)
{
    int status;
    pid_t pid;

    fflush(NULL);
    pid = fork();
    if (pid == 0)
        kind == KILL_CONTROLLER ? verify_recovered(least) : verify_complete(least);
    DEMAND(pid > 0 && waitpid(pid, &status, 0) == pid, "fork");
    DEMAND(status == 0, "the verifier's status is %#x", status);
}

/* ---- the parent ---- */

/* If a child has failed, the parent would wait for ever: it reports the child's status, after the
 * child's own message, in place of a test that hangs. */
static void rest_while_all_live(void)
{
    siginfo_t info = { .si_pid = 0 };

    DEMAND(waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == 0,
           "child %d has ended, code %d, status %d", (int)info.si_pid, info.si_code,
           info.si_status);
    rest();
}

static void await_progress(void)
{
    for (unsigned i = 0; i < THREADS; i++) {
        uint64_t from = shared->returned[i];

        while (shared->returned[i] < from + GOES_ON)
            rest_while_all_live();
    }
}

/* Calls that have returned by now, if all of them are the stream's. */
static void note_returned(uint64_t least[THREADS])
{
    for (unsigned i = 0; i < THREADS; i++)
        least[i] = waits_for_start && shared->started ? shared->returned[i] : 0;
}

static void await(pid_t pid, int want)
{
    int status;

    DEMAND(waitpid(pid, &status, 0) == pid, "waitpid");
    DEMAND((WIFSIGNALED(status) ? WTERMSIG(status) : status) == want, "status %#x, not %#x", status,
           want);
}

static void end_target(pid_t target)
{
    shared->finish = 1;
    kill(target, SIGCONT);
    await(target, 0);
}

static void kill_controller(pid_t target, pid_t controller)
{
    uint64_t least[THREADS];

    note_returned(least);
    kill(controller, SIGKILL);
    await(controller, SIGKILL);
    verify(KILL_CONTROLLER, least);
    shared->trace = 1;
    await_progress();
    end_target(target);
}

static void kill_target(pid_t target, pid_t controller)
{
    uint64_t least[THREADS];

    kill(target, SIGKILL);
    await(target, SIGKILL);
    note_returned(least);
    shared->conclude = 1;
    await(controller, 0);
    verify(KILL_TARGET, least);
}

static void stop_target(pid_t target, pid_t controller)
{
    uint64_t least[THREADS];
    int status;

    kill(target, SIGSTOP);
    DEMAND(waitpid(target, &status, WUNTRACED) == target && WIFSTOPPED(status), "%#x", status);
    note_returned(least);
    shared->conclude = 1;
    await(controller, 0);
    verify(STOP_TARGET, least);
    shared->trace = 1;
    kill(target, SIGCONT);
    await_progress();
    end_target(target);
}

static pid_t start(void (*role)(pid_t other), pid_t other)
{
    pid_t pid;

    fflush(NULL);
    pid = fork();
    DEMAND(pid >= 0, "fork");
    if (pid == 0)
        role(other);
    return pid;
}

static void be_any_target(pid_t nobody)
{
    (void)nobody;
    be_target();
}

/* Only the controller may die before the stream is there: without its target it
 * would make none. */
static uint64_t run_round(enum kind kind, unsigned after_us)
{
    pid_t target, controller;

    memset(shared, 0, sizeof *shared);
    DEMAND(ftruncate(log_fd, 0) == 0, "ftruncate");
    target = start(be_any_target, 0);
    controller = start(be_controller, target);
    while (kind != KILL_CONTROLLER && !shared->started)
        rest_while_all_live();
    usleep(after_us);
    if (kind == KILL_CONTROLLER)
        kill_controller(target, controller);
    else if (kind == KILL_TARGET)
        kill_target(target, controller);
    else
        stop_target(target, controller);
    return shared->returned[0] + shared->returned[1];
}

static unsigned files_left(void)
{
    DIR *d = opendir(posixtrace_stream_directory());
    struct dirent *entry;
    unsigned n = 0;

    while (d && (entry = readdir(d)))
        n += entry->d_name[0] != '.';
    if (d)
        closedir(d);
    return n;
}

/* A file whose process was killed just after it made it may stay for some seconds, until it counts
 * as abandoned. */
static void check_directory(void)
{
    alarm(WATCHDOG_S);
    do {
        DEMAND_OK(posixtrace_stream_reap(0, NULL, NULL));
        rest();
    } while (files_left() > 0);
    alarm(0);
}

int main(int argc, char **argv)
{
    unsigned rounds = (unsigned)(ROUNDS * audit_multiplier(argc > 1 ? argv[1] : NULL)) + KINDS;
    uint64_t calls = 0, longest = 0;

    audit_seed(argc > 2 ? argv[2] : NULL);
    log_fd = audit_temporary_file();
    shared = audit_shared(sizeof *shared);
    for (unsigned round = 0; round < rounds; round++) {
        unsigned after_us = audit_early_us(LONGEST_US);

        waits_for_start = round / KINDS % 2 == 0;
        loop_log = round / KINDS / 2 % 2 == 0;
        calls += run_round((enum kind)(round % KINDS), after_us);
        longest = shared->longest_ns > longest ? shared->longest_ns : longest;
    }
    check_directory();
    printf("%u rounds, %llu calls, longest operation %llu ms\n", rounds, (unsigned long long)calls,
           (unsigned long long)longest / 1000000);
    DEMAND(calls > 0, "no round came to trace");
    return 0;
}
