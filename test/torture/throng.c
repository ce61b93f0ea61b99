/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Thousands of short threads, then kill -9: missing events are counted.
 *
 *   throng [MULTIPLIER [SEED]]
 *
 * A child starts threads that trace a few events each and end, far more than a
 * stream has slots for, so that of most of them only sums are left.  It is
 * killed at a random moment, with a log of every stream policy, while it flushes
 * all the time, now and then or never.  Events read and events lost together are
 * as many as were traced, but for the calls that had not returned: before the log
 * is recovered, and after.  Each event that is read is read once and in order.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <time.h>
#include <posixtrace/log.h>
#include <posixtrace/stream.h>
#include "torture/audit.h"
#include "torture/packed.h"

#define ROUNDS       60u
#define TOGETHER     8u /* threads at a time */
#define THREADS_MAX  20000u
#define FEWEST       300u /* threads before a kill that is not an early one */
#define LONGEST_US   3000u
#define HANG_MS      30000u /* until it is killed all the same */
#define STREAM_BYTES (16u << 10)
#define WATCHDOG_S   380u

enum flushing { NEVER, NOW_AND_THEN, ALWAYS };

struct plan {
    int policy;
    enum flushing flushing;
    uint32_t after_threads;
    unsigned after_us; /* beyond that */
};

/* A thread notes each event before the call and after it. */
struct shared {
    _Atomic uint64_t begun, returned;
    _Atomic uint32_t threads;
};

static struct shared *shared;
static trace_event_id_t event_id;
static trace_id_t trid;
static int log_fd;

/* ---- the process that is killed ---- */

static void trace_one(uint32_t lane, uint64_t seq)
{
    struct payload p;
    size_t len = payload_make(&p, lane, seq);

    atomic_fetch_add(&shared->begun, 1);
    posix_trace_event(event_id, &p, len);
    atomic_fetch_add(&shared->returned, 1);
}

static void *trace_a_little(void *argument)
{
    uint32_t lane = (uint32_t)(uintptr_t)argument, events = 1 + lane % 9;

    for (uint64_t seq = 0; seq < events; seq++) {
        /* Some live on while others are forgotten, and are flushed half-way. */
        if (lane % 64 == 0 && seq == events / 2)
            nanosleep(&(struct timespec){ .tv_nsec = 500000 }, NULL);
        trace_one(lane, seq);
    }
    return NULL;
}

static void *flush_always(void *argument)
{
    for (;;) {
        DEMAND_OK(posix_trace_flush(trid));
        nanosleep(&(struct timespec){ .tv_nsec = 300000 }, NULL);
    }
    return argument;
}

static void make_stream(int policy)
{
    trace_attr_t attr;

    DEMAND_OK(posix_trace_eventid_open("throng", &event_id));
    DEMAND_OK(posix_trace_attr_init(&attr));
    pack_if_asked(&attr);
    DEMAND_OK(posix_trace_attr_setstreamsize(&attr, STREAM_BYTES));
    DEMAND_OK(posix_trace_attr_setmaxdatasize(&attr, PAYLOAD_MAX));
    DEMAND_OK(posix_trace_attr_setstreamfullpolicy(&attr, policy));
    DEMAND_OK(posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_APPEND));
    DEMAND_OK(posix_trace_create_withlog(0, &attr, log_fd, &trid));
    DEMAND_OK(posix_trace_start(trid));
}

static void be_killed(const struct plan *plan)
{
    pthread_t threads[TOGETHER], flusher;

    alarm(WATCHDOG_S);
    make_stream(plan->policy);
    if (plan->flushing == ALWAYS)
        DEMAND_OK(pthread_create(&flusher, NULL, flush_always, NULL));
    for (uint32_t n = 0; n < THREADS_MAX; n += TOGETHER) {
        atomic_store(&shared->threads, n + TOGETHER);
        for (uint32_t i = 0; i < TOGETHER; i++)
            DEMAND_OK(
                pthread_create(&threads[i], NULL, trace_a_little, (void *)(uintptr_t)(n + i)));
        for (uint32_t i = 0; i < TOGETHER; i++)
            pthread_join(threads[i], NULL);
        trace_one(THREADS_MAX, n / TOGETHER); /* keeps its slot */
        if (plan->flushing == NOW_AND_THEN && n % 400 == 0)
            DEMAND_OK(posix_trace_flush(trid));
    }
    pause();
}

/* ---- the process that verifies ---- */

static void check_log(const char *when)
{
    uint64_t begun = atomic_load(&shared->begun), returned = atomic_load(&shared->returned);
    struct audit audit;
    trace_id_t log;
    uint64_t lost;

    DEMAND_OK(posix_trace_open(log_fd, &log));
    audit_init(&audit, 0, THREADS_MAX + 1);
    audit.id = audit_type(log, "throng");
    audit_read_log(&audit, log);
    audit_check_time(&audit, log);
    lost = audit_lost(log);
    DEMAND(audit.events + lost >= returned && audit.events + lost <= begun,
           "%s: %llu calls begun, %llu returned; %llu events read, %llu lost: %lld too many", when,
           (unsigned long long)begun, (unsigned long long)returned,
           (unsigned long long)audit.events, (unsigned long long)lost,
           (long long)(audit.events + lost - returned));
    DEMAND(audit_lost_by_threads(log) == lost, "%s: the threads lost %llu, all together %llu", when,
           (unsigned long long)audit_lost_by_threads(log), (unsigned long long)lost);
    audit_deinit(&audit);
    DEMAND_OK(posix_trace_close(log));
}

static void verify(void *nothing)
{
    struct posixtrace_recover_report report;

    (void)nothing;
    alarm(WATCHDOG_S);
    /* Killed while the stream was being made. */
    if (atomic_load(&shared->threads) == 0) {
        DEMAND_OK(posixtrace_stream_reap(1, NULL, NULL));
        return;
    }
    check_log("as killed");
    DEMAND_OK(posixtrace_log_recover(log_fd, &report, sizeof report));
    DEMAND(report.segment_found, "no segment");
    check_log("recovered");
}

/* ---- the parent ---- */

static bool run(const struct plan *plan)
{
    pid_t pid;
    int status;

    memset(shared, 0, sizeof *shared);
    DEMAND(ftruncate(log_fd, 0) == 0, "ftruncate");
    fflush(NULL);
    pid = fork();
    if (pid == 0)
        be_killed(plan);
    for (unsigned ms = 0; atomic_load(&shared->threads) < plan->after_threads && ms < HANG_MS; ms++)
        usleep(1000);
    usleep(plan->after_us);
    kill(pid, SIGKILL);
    DEMAND(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL,
           "status %#x", status);
    status = audit_in_child(verify, NULL);
    if (status != 0)
        fprintf(stderr, "FAIL: policy %#x, flushing %d, killed after %u threads, %u us: %#x\n",
                plan->policy, plan->flushing, plan->after_threads, plan->after_us, status);
    return status == 0;
}

int main(int argc, char **argv)
{
    static const int policies[] = { POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL, POSIX_TRACE_LOOP,
                                    POSIX_TRACE_FLUSH };
    unsigned rounds = (unsigned)(ROUNDS * audit_multiplier(argc > 1 ? argv[1] : NULL)) + 1;
    uint64_t threads = 0;

    audit_seed(argc > 2 ? argv[2] : NULL);
    log_fd = audit_temporary_file();
    shared = audit_shared(sizeof *shared);
    for (unsigned round = 0; round < rounds; round++) {
        struct plan plan = { policies[round % 4], (enum flushing)(round / 4 % 3),
                             round % 13 == 12 ? 0 : FEWEST + (uint32_t)random() % 1500,
                             1 + (unsigned)random() % LONGEST_US };

        if (!run(&plan))
            return 1;
        threads += atomic_load(&shared->threads);
    }
    printf("%u rounds, %llu threads\n", rounds, (unsigned long long)threads);
    DEMAND(threads > 0, "no round came to trace");
    return 0;
}
