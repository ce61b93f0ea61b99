/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * kill -9 at any moment: no traced event is lost.
 *
 *   kill [MULTIPLIER [SEED]]
 *
 * A child traces from four threads into a stream with a log.  After each call
 * the thread notes in shared memory how many have returned.  The parent kills
 * the child at a random moment, creation of the stream included.  A third
 * process then opens the log as it is, recovers it, and recovers it again:
 * each time every event whose call had returned is there, once and in order.
 *
 * In every other round the threads trace as fast as they can; then the log cannot keep up, and the
 * missing events must be those that the log counts as lost.  In half of the rounds of either kind
 * the stream is flushed meanwhile.
 */
#include <pthread.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <posixtrace/info.h>
#include <posixtrace/log.h>
#include <posixtrace/stream.h>
#include "torture/audit.h"
#include "torture/packed.h"

#define ROUNDS     30u
#define THREADS    4u
#define LONGEST_US 40000u
#define WATCHDOG_S 380u
#define PACE       16u    /* events between two pauses of a slow round */
#define SLOW_MOST  15000u /* events of a thread there: all have room, also if none is flushed */

struct shared {
    volatile uint64_t returned[THREADS];
    volatile pid_t tid[THREADS];
    volatile int stop_now; /* never set: the threads run until they are killed */
};

static struct shared *shared;
static trace_event_id_t event_id;
static int log_fd;
static bool at_full_speed, with_flushes;

/* ---- the process that is killed ---- */

static void *trace_until_killed(void *argument)
{
    uint32_t lane = (uint32_t)(uintptr_t)argument;
    struct payload p;

    shared->tid[lane] = gettid();
    for (uint64_t seq = 0; !shared->stop_now; seq++) {
        size_t len = payload_make(&p, lane, seq);

        while (!at_full_speed && seq >= SLOW_MOST)
            pause();

        posix_trace_event(event_id, &p, len);
        shared->returned[lane] = seq + 1;
        if (!at_full_speed && seq % PACE == PACE - 1)
            nanosleep(&(struct timespec){ .tv_nsec = 200000 }, NULL);
    }
    return NULL;
}

static void be_killed(void)
{
    pthread_t threads[THREADS];
    trace_attr_t attr;
    trace_id_t trid;

    alarm(WATCHDOG_S);
    DEMAND_OK(posix_trace_eventid_open("kill", &event_id));
    DEMAND_OK(posix_trace_attr_init(&attr));
    pack_if_asked(&attr);
    DEMAND_OK(posix_trace_attr_setstreamsize(&attr, at_full_speed ? 256 << 10 : 8 << 20));
    DEMAND_OK(posix_trace_attr_setmaxdatasize(&attr, PAYLOAD_MAX));
    DEMAND_OK(posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_APPEND));
    DEMAND_OK(posix_trace_create_withlog(0, &attr, log_fd, &trid));
    DEMAND_OK(posix_trace_start(trid));
    for (uintptr_t i = 0; i < THREADS; i++)
        DEMAND_OK(pthread_create(&threads[i], NULL, trace_until_killed, (void *)i));
    while (with_flushes) {
        DEMAND_OK(posix_trace_flush(trid));
        usleep(2000);
    }
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    _exit(2);
}

/* ---- the process that verifies ---- */

/* A call that had not returned may have recorded its event, or counted it. */
static void check_lane(const struct audit *a, trace_id_t trid, uint32_t lane, const char *when)
{
    uint64_t returned = shared->returned[lane], read = a->read[lane];
    uint64_t lost = audit_lost_by(trid, shared->tid[lane]);

    DEMAND(at_full_speed || lost == 0, "%s, thread %u: %llu lost at leisure", when, lane,
           (unsigned long long)lost);
    DEMAND(read + lost == returned || read + lost == returned + 1,
           "%s, thread %u: %llu calls returned, %llu events read, %llu lost", when, lane,
           (unsigned long long)returned, (unsigned long long)read, (unsigned long long)lost);
    DEMAND(a->next[lane] <= returned + 1, "%s, thread %u: number %llu was never traced", when, lane,
           (unsigned long long)a->next[lane] - 1);
}

static uint64_t read_log(const char *when, int wanted_end)
{
    struct posixtrace_info info;
    struct audit audit;
    trace_id_t trid;
    uint64_t events;

    DEMAND_OK(posix_trace_open(log_fd, &trid));
    audit_init(&audit, 0, THREADS);
    /* the name was opened before the log was made, so the log has it */
    audit.id = audit_type(trid, "kill");
    audit_read_log(&audit, trid);
    audit_check_time(&audit, trid);
    for (uint32_t lane = 0; lane < THREADS; lane++)
        check_lane(&audit, trid, lane, when);
    DEMAND_OK(posixtrace_get_info(trid, &info, sizeof info));
    DEMAND(info.end == wanted_end, "%s: end %d", when, info.end);
    events = audit.events;
    audit_deinit(&audit);
    DEMAND_OK(posix_trace_close(trid));
    return events;
}

static int is_of(void *pid, const struct posixtrace_stream *stream)
{
    return stream->owner == *(const pid_t *)pid;
}

/* Killed while the stream was being made: there may be no log yet, and then no
 * call can have returned. */
static bool killed_too_early(void)
{
    trace_id_t trid;

    for (unsigned i = 0; i < THREADS; i++) {
        if (shared->returned[i])
            return false;
    }
    if (posix_trace_open(log_fd, &trid) != 0)
        return true;
    DEMAND_OK(posix_trace_close(trid));
    return false;
}

static void verify(void *context)
{
    pid_t killed = *(pid_t *)context;
    struct posixtrace_recover_report first, second;
    struct posixtrace_log_report check;
    uint64_t before, after;

    alarm(WATCHDOG_S);
    if (killed_too_early()) {
        /* Remaining files would count for a later process with this pid. */
        DEMAND_OK(posixtrace_stream_reap(1, NULL, NULL));
        return;
    }
    before = read_log("as killed", POSIXTRACE_END_TAIL);
    DEMAND_OK(posixtrace_log_recover(log_fd, &first, sizeof first));
    after = read_log("recovered", POSIXTRACE_END_RECOVERED);
    DEMAND(before == after, "%llu events before, %llu after", (unsigned long long)before,
           (unsigned long long)after);
    DEMAND(!first.was_complete && first.segment_found, "complete %d, segment %d",
           first.was_complete, first.segment_found);
    DEMAND_OK(posixtrace_log_recover(log_fd, &second, sizeof second));
    DEMAND(second.was_complete && second.events_added == 0, "complete %d, %llu added",
           second.was_complete, (unsigned long long)second.events_added);
    DEMAND(read_log("recovered twice", POSIXTRACE_END_RECOVERED) == after, "events changed");
    DEMAND_OK(posixtrace_log_check(log_fd, NULL, NULL, &check, sizeof check));
    DEMAND(check.complete && !check.damaged, "complete %d, damaged %d", check.complete,
           check.damaged);
    DEMAND(posixtrace_stream_list(is_of, &killed) != 1, "the segment is still there");
}

/* ---- the parent ---- */

static uint64_t all_returned(void)
{
    uint64_t sum = 0;

    for (unsigned i = 0; i < THREADS; i++)
        sum += shared->returned[i];
    return sum;
}

/* Until a call has returned; the child does not outlive its watchdog. */
static void wait_for_event(pid_t child)
{
    siginfo_t ended = { .si_pid = 0 };

    while (all_returned() == 0 &&
           waitid(P_PID, (id_t)child, &ended, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           ended.si_pid == 0)
        usleep(100);
}

/* Only in a round that is to trace has the killed process come so far for certain. */
static bool run_round(unsigned round, unsigned after_us, bool to_trace)
{
    pid_t pid;
    int status;

    memset(shared, 0, sizeof *shared);
    DEMAND(ftruncate(log_fd, 0) == 0, "ftruncate");
    at_full_speed = round % 2 == 1;
    with_flushes = round / 2 % 2 == 1;
    fflush(NULL);
    pid = fork();
    if (pid == 0)
        be_killed();
    if (to_trace)
        wait_for_event(pid);
    usleep(after_us);
    kill(pid, SIGKILL);
    DEMAND(waitpid(pid, &status, 0) == pid, "waitpid");
    DEMAND(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL,
           "round %u: the process ended by itself, status %#x", round, status);
    status = audit_in_child(verify, &pid);
    if (status != 0)
        fprintf(stderr, "FAIL: round %u, killed after %u us, status %#x\n", round, after_us,
                status);
    return status == 0;
}

int main(int argc, char **argv)
{
    unsigned rounds = (unsigned)(ROUNDS * audit_multiplier(argc > 1 ? argv[1] : NULL)) + 1;
    uint64_t events = 0;

    audit_seed(argc > 2 ? argv[2] : NULL);
    log_fd = audit_temporary_file();
    shared = audit_shared(sizeof *shared);
    for (unsigned round = 0; round < rounds; round++) {
        unsigned after_us = audit_early_us(LONGEST_US);

        if (!run_round(round, after_us, round == rounds - 1))
            return 1;
        events += all_returned();
    }
    printf("%u rounds, %llu events\n", rounds, (unsigned long long)events);
    DEMAND(events > 0, "no round came to trace");
    return 0;
}
