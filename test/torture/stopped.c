/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Stopped writers: SIGSTOP at any moment.
 *
 *   stopped [MULTIPLIER [SEED]]
 *
 * A child traces from two threads into a stream that it has inherited and is
 * stopped at a random moment, now and then inside an event.  Its parent then makes all calls of a
 * controller: status, reading, flush, stop, clear, shutdown.  None may wait for the child (a
 * watchdog checks), and the accounts must balance: events read plus events lost are the events that
 * the child's calls have recorded.  Afterwards the child continues, without a stream, and ends
 * normally.
 */
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include "torture/audit.h"

#define ROUNDS 6u
/* ThreadSanitizer allows a child of a process with threads none of its own. */
#define THREADS    (SIGNALS_ARE_DELAYED ? 1u : 2u)
#define LONGEST_US 3000u
#define WATCHDOG_S 380u

struct shared {
    volatile uint64_t returned[2];
    volatile int finish;
};

struct plan {
    int policy;
    bool with_log;
};

static struct shared *shared;
static trace_event_id_t event_id;

/* ---- the process that is stopped ---- */

static void *trace_until_told(void *argument)
{
    uint32_t lane = (uint32_t)(uintptr_t)argument;
    struct payload p;

    for (uint64_t seq = 0; !shared->finish; seq++) {
        size_t len = payload_make(&p, lane, seq);

        posix_trace_event(event_id, &p, len);
        shared->returned[lane] = seq + 1;
    }
    return NULL;
}

static void be_stopped(void)
{
    pthread_t second;

    alarm(WATCHDOG_S);
    if (THREADS > 1)
        DEMAND_OK(pthread_create(&second, NULL, trace_until_told, (void *)(uintptr_t)1));
    trace_until_told(NULL);
    if (THREADS > 1)
        DEMAND_OK(pthread_join(second, NULL));
    _exit(0);
}

/* ---- the parent ---- */

static uint64_t all_returned(void)
{
    uint64_t returned = 0;

    for (unsigned i = 0; i < THREADS; i++)
        returned += shared->returned[i];
    return returned;
}

/* Each thread of the child may have one call that did its work and has not
 * returned, or has returned and is not noted. */
static void check_books(const char *what, uint64_t events, uint64_t lost)
{
    uint64_t returned = all_returned();

    DEMAND(events + lost >= returned && events + lost <= returned + THREADS,
           "%s: %llu calls returned, %llu events read, %llu lost", what,
           (unsigned long long)returned, (unsigned long long)events, (unsigned long long)lost);
}

static trace_id_t open_stream(const struct plan *plan, int log_fd)
{
    trace_attr_t attr;

    DEMAND_OK(posix_trace_attr_init(&attr));
    DEMAND_OK(posix_trace_attr_setinherited(&attr, POSIX_TRACE_INHERITED));
    DEMAND_OK(posix_trace_attr_setstreamfullpolicy(&attr, plan->policy));
    return audit_create(&attr, plan->with_log ? log_fd : -1);
}

/* traces: not before a call has returned. */
static pid_t start_and_stop_child(unsigned after_us, bool traces)
{
    int status;
    pid_t pid;

    fflush(NULL);
    pid = fork();
    DEMAND(pid >= 0, "fork");
    if (pid == 0)
        be_stopped();
    while (traces && all_returned() == 0)
        usleep(100);
    usleep(after_us);
    kill(pid, SIGSTOP);
    DEMAND(waitpid(pid, &status, WUNTRACED) == pid && WIFSTOPPED(status), "status %#x", status);
    return pid;
}

/* A writer that stands still inside an event holds back the others' events for
 * a second at most; reading does not wait for that, so it is done again. */
static void control_live(trace_id_t trid)
{
    struct posix_trace_status_info status;
    struct audit audit;

    audit_init(&audit, event_id, THREADS);
    audit_drain(&audit, trid);
    DEMAND_OK(posix_trace_get_status(trid, &status));
    DEMAND_OK(posix_trace_stop(trid));
    DEMAND_OK(posix_trace_get_status(trid, &status));
    DEMAND(status.posix_stream_status == POSIX_TRACE_SUSPENDED, "still running");
    do
        audit_drain(&audit, trid);
    while (audit.events + audit_lost(trid) < all_returned());
    audit_check_time(&audit, trid);
    check_books("live", audit.events, audit_lost(trid));
    audit_deinit(&audit);
    DEMAND_OK(posix_trace_clear(trid));
    DEMAND_OK(posix_trace_start(trid));
    DEMAND_OK(posix_trace_shutdown(trid));
}

static void control_log(trace_id_t trid, int log_fd)
{
    struct posix_trace_status_info status;
    struct audit audit;

    DEMAND_OK(posix_trace_flush(trid));
    do
        DEMAND_OK(posix_trace_get_status(trid, &status));
    while (status.posix_stream_flush_status == POSIX_TRACE_FLUSHING);
    DEMAND_OK(posix_trace_stop(trid));
    DEMAND_OK(posix_trace_shutdown(trid));
    DEMAND_OK(posix_trace_open(log_fd, &trid));
    audit_init(&audit, audit_type(trid, "stopped"), THREADS);
    audit_read_log(&audit, trid);
    audit_check_time(&audit, trid);
    check_books("log", audit.events, audit_lost(trid));
    audit_deinit(&audit);
    DEMAND_OK(posix_trace_close(trid));
}

static uint64_t run(const struct plan *plan, unsigned after_us, bool traces, int log_fd)
{
    trace_id_t trid;
    int status;
    pid_t pid;

    memset(shared, 0, sizeof *shared);
    DEMAND(ftruncate(log_fd, 0) == 0, "ftruncate");
    trid = open_stream(plan, log_fd);
    pid = start_and_stop_child(after_us, traces);
    if (plan->with_log)
        control_log(trid, log_fd);
    else
        control_live(trid);
    shared->finish = 1;
    kill(pid, SIGCONT);
    DEMAND(waitpid(pid, &status, 0) == pid && status == 0, "the child's status is %#x", status);
    return shared->returned[0] + shared->returned[1];
}

int main(int argc, char **argv)
{
    static const struct plan plans[] = {
        { POSIX_TRACE_UNTIL_FULL, false },
        { POSIX_TRACE_LOOP, false },
        { POSIX_TRACE_FLUSH, true },
    };
    unsigned rounds = (unsigned)(ROUNDS * audit_multiplier(argc > 1 ? argv[1] : NULL)) + 3;
    int log_fd = audit_temporary_file();
    uint64_t calls = 0;

    audit_seed(argc > 2 ? argv[2] : NULL);
    alarm((unsigned)(WATCHDOG_S * (rounds / (2 * ROUNDS) + 1)));
    shared = audit_shared(sizeof *shared);
    DEMAND_OK(posix_trace_eventid_open("stopped", &event_id));
    for (unsigned i = 0; i < rounds; i++)
        calls += run(&plans[i % 3], (unsigned)random() % LONGEST_US + 200, i + 3 >= rounds, log_fd);
    printf("%u rounds, %llu calls\n", rounds, (unsigned long long)calls);
    DEMAND(calls > 0, "no child came to trace");
    return 0;
}
