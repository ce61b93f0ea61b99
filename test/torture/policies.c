/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Streams with a log, of each stream policy, whose process is killed.
 *
 *   policies
 *
 * A child traces more than its stream holds, flushes now and then or never, and
 * kills itself.  The log, united with what the child left in memory, must give
 * its events in order and tell of exactly those that are missing; so must the
 * log alone once it is recovered.
 */
#include <signal.h>
#include <sys/wait.h>
#include <posixtrace/log.h>
#include "torture/audit.h"
#include "torture/packed.h"

#define STREAM_BYTES (64u << 10)
#define WATCHDOG_S   380

struct plan {
    int policy;
    uint64_t events;
    uint64_t flush_after; /* so many events each time; 0: never */
};

/* Waits until what was asked for is in the log. */
static void flush(trace_id_t trid)
{
    struct posix_trace_status_info status;

    DEMAND_OK(posix_trace_flush(trid));
    do
        DEMAND_OK(posix_trace_get_status(trid, &status));
    while (status.posix_stream_flush_status == POSIX_TRACE_FLUSHING);
}

static void trace_and_die(const struct plan *plan, int log_fd)
{
    trace_event_id_t id;
    trace_attr_t attr;
    trace_id_t trid;

    alarm(WATCHDOG_S);
    DEMAND_OK(posix_trace_attr_init(&attr));
    pack_if_asked(&attr);
    DEMAND_OK(posix_trace_attr_setstreamsize(&attr, STREAM_BYTES));
    DEMAND_OK(posix_trace_attr_setmaxdatasize(&attr, PAYLOAD_MAX));
    DEMAND_OK(posix_trace_attr_setstreamfullpolicy(&attr, plan->policy));
    DEMAND_OK(posix_trace_create_withlog(0, &attr, log_fd, &trid));
    DEMAND_OK(posix_trace_eventid_open("policies", &id));
    DEMAND_OK(posix_trace_start(trid));
    for (uint64_t i = 0; i < plan->events; i++) {
        struct payload p;
        size_t len = payload_make(&p, 0, i);

        posix_trace_event(id, &p, len);
        if (plan->flush_after && i % plan->flush_after == plan->flush_after - 1)
            flush(trid);
    }
    raise(SIGKILL);
}

static void check_log(const struct plan *plan, int log_fd, const char *when)
{
    struct audit audit;
    uint64_t lost;
    trace_id_t trid;
    char what[120];

    DEMAND_OK(posix_trace_open(log_fd, &trid));
    audit_init(&audit, audit_type(trid, "policies"), 1);
    audit_read_log(&audit, trid);
    lost = audit_lost(trid);
    snprintf(what, sizeof what, "policy %#x, %llu events, flush after %llu, %s", plan->policy,
             (unsigned long long)plan->events, (unsigned long long)plan->flush_after, when);
    DEMAND(audit.events + lost == plan->events, "%s: %llu read, %llu lost", what,
           (unsigned long long)audit.events, (unsigned long long)lost);
    DEMAND(audit.backward == 0, "%s: time goes back", what);
    /* LOOP keeps the newest, the others the oldest. */
    DEMAND(plan->policy != POSIX_TRACE_LOOP || audit.next[0] == plan->events, "%s: ends with %llu",
           what, (unsigned long long)audit.next[0]);
    DEMAND(plan->policy == POSIX_TRACE_LOOP || audit.read[0] > 0, "%s: nothing", what);
    audit_deinit(&audit);
    DEMAND_OK(posix_trace_close(trid));
}

static void run(const struct plan *plan)
{
    struct posixtrace_recover_report report;
    int log_fd = audit_temporary_file(), status;
    pid_t pid = fork();

    DEMAND(pid >= 0, "fork");
    if (pid == 0) {
        trace_and_die(plan, log_fd);
        _exit(1);
    }
    DEMAND(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL,
           "status %#x", status);
    check_log(plan, log_fd, "as killed");
    DEMAND_OK(posixtrace_log_recover(log_fd, &report, sizeof report));
    DEMAND(report.segment_found, "no segment");
    check_log(plan, log_fd, "recovered");
    close(log_fd);
}

int main(void)
{
    static const int policies[] = { POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL, POSIX_TRACE_FLUSH };
    static const uint64_t flush_after[] = { 0, 300, 7000 };
    unsigned runs = 0;

    alarm(WATCHDOG_S);
    for (unsigned p = 0; p < 3; p++)
        for (unsigned f = 0; f < 3; f++)
            for (uint64_t events = 100; events <= 20000; events *= 14, runs++)
                run(&(struct plan){ policies[p], events, flush_after[f] });
    printf("%u streams\n", runs);
    return 0;
}
