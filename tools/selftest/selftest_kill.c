/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * An event whose call returned survives kill -9.
 *
 * Each round forks a child that records numbered events into a log, and writes
 * into a pipe how many calls have returned: a burst of events, then one write.
 * The parent kills it at a random instant and reads the log.  The numbers must rise; events that
 * the child acknowledged must be there, or be counted as lost; and at most one burst may be there
 * that was never acknowledged.  Every second log is completed by posixtrace_log_recover() first,
 * the others are read as they are.
 *
 * The pipe limits the progress of a child while the parent does not read, so that the stream has
 * room for all its events.  This part runs first, while the program has no other thread and has not
 * traced yet, so each child starts like a new program.
 */
#include "selftest/selftest.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <posixtrace/info.h>
#include <posixtrace/log.h>
#include <posixtrace/stream.h>

#include "common/units.h"
#include "common/progress.h"

enum { ROUNDS = 100, BURST = 16, DELAYS = 14, CHILD_ENDED = -1 };
#define STREAM_SIZE (8u << 20)
#define NAME        "kill"

struct tally {
    unsigned rounds, good;
    uint64_t acknowledged, returned, lost;
    char fault[200]; /* of the first round that was not good */
};

/* The child: never returns. */
static void trace_until_killed(int log, int acks, pid_t parent)
{
    trace_event_id_t id;
    trace_id_t trid;
    uint64_t number = 0;
    int error;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(ECHILD);
    error = posix_trace_eventid_open(NAME, &id);
    if (!error)
        error = selftest_stream(STREAM_SIZE, POSIX_TRACE_FLUSH, log, 0, &trid);
    if (error)
        _exit(error);
    for (;;) {
        uint64_t burst = 1 + selftest_random() % BURST;

        for (; burst > 0; burst--) {
            posix_trace_event(id, &number, sizeof number);
            number++;
        }
        if (write(acks, &number, sizeof number) != sizeof number)
            _exit(EPIPE);
    }
}

/* Takes the bytes in the pipe, waiting for the first; false at its end. */
static bool take_acks(int acks, uint64_t *acknowledged)
{
    uint64_t numbers[512];
    ssize_t n = read(acks, numbers, sizeof numbers);

    if (n >= (ssize_t)sizeof numbers[0])
        *acknowledged = numbers[n / (ssize_t)sizeof numbers[0] - 1];
    return n > 0 || (n < 0 && errno == EINTR);
}

/* 1 us to some 8 ms after the first sign of life; shorter ones are as likely. */
static void wait_for_instant(int acks, uint64_t *acknowledged)
{
    struct pollfd ready = { .fd = acks, .events = POLLIN };
    int64_t span = 1000ll << selftest_random() % DELAYS, until;

    if (!take_acks(acks, acknowledged))
        return;
    until = selftest_now() + (int64_t)(selftest_random() % (uint64_t)span);
    while (selftest_now() < until && !selftest_interrupted()) {
        if (poll(&ready, 1, 0) == 1 && !take_acks(acks, acknowledged))
            return;
    }
}

/* The number of events that the child reports as recorded; CHILD_ENDED: it failed, and tally has
 * the reason. */
static int64_t run_child(int log, struct tally *t)
{
    uint64_t acknowledged = 0;
    pid_t parent = getpid(), pid;
    int acks[2], status = 0;

    if (pipe2(acks, O_CLOEXEC) < 0) {
        snprintf(t->fault, sizeof t->fault, "pipe: %s", strerror(errno));
        return CHILD_ENDED;
    }
    pid = fork();
    if (pid == 0) {
        close(acks[0]);
        trace_until_killed(log, acks[1], parent);
    }
    close(acks[1]);
    if (pid > 0) {
        wait_for_instant(acks[0], &acknowledged);
        kill(pid, SIGKILL);
        while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
            ;
        while (take_acks(acks[0], &acknowledged))
            ;
    }
    close(acks[0]);
    if (pid > 0 && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
        return (int64_t)acknowledged;
    if (pid < 0)
        snprintf(t->fault, sizeof t->fault, "fork: %s", strerror(errno));
    else if (WIFEXITED(status))
        snprintf(t->fault, sizeof t->fault, "the child could not trace: %s",
                 strerror(WEXITSTATUS(status)));
    else
        snprintf(t->fault, sizeof t->fault, "the child died of signal %d", WTERMSIG(status));
    return CHILD_ENDED;
}

struct found {
    uint64_t events, end, lost; /* end: after the highest number */
    bool rising;
};

static int count_events(trace_id_t trid, struct found *f)
{
    trace_event_id_t id = selftest_find_type(trid, NAME);
    struct posixtrace_info info;
    struct posixtrace_event e;
    int error, unavailable = 0;

    *f = (struct found){ .rising = true };
    while ((error = posixtrace_next_event(trid, &e, sizeof e, &unavailable)) == 0 && !unavailable) {
        if (e.id != id)
            continue;
        f->rising &= selftest_number(&e) >= f->end && selftest_number(&e) != UINT64_MAX;
        f->end = selftest_number(&e) + 1;
        f->events++;
    }
    if (!error)
        error = posixtrace_get_info(trid, &info, sizeof info);
    if (!error)
        f->lost = selftest_lost(info.lost);
    return error;
}

static int read_log(int log, bool recover_first, struct found *f)
{
    struct posixtrace_recover_report report;
    trace_id_t trid;
    int error = recover_first ? posixtrace_log_recover(log, &report, sizeof report) : 0;

    if (error)
        return error;
    if (lseek(log, 0, SEEK_SET) < 0)
        return errno;
    error = posix_trace_open(log, &trid);
    if (error)
        return error;
    error = count_events(trid, f);
    posix_trace_close(trid);
    return error;
}

static bool judge(const struct found *f, uint64_t acknowledged, bool recovered, struct tally *t)
{
    if (f->rising && f->events + f->lost >= acknowledged && f->end - f->events <= f->lost &&
        f->end <= acknowledged + BURST)
        return true;
    snprintf(t->fault, sizeof t->fault,
             "%s events acknowledged, %s %s, %s counted as lost, the "
             "highest is number %s%s",
             units_count(acknowledged), units_count(f->events), recovered ? "recovered" : "read",
             units_count(f->lost), units_count(f->end), f->rising ? "" : "; not in order");
    return false;
}

static bool one_round(const struct selftest *test, struct tally *t)
{
    int log = selftest_new_log(test, NAME ".ptl", NULL), error;
    bool recover_first = t->rounds % 2 == 1, good = false;
    int64_t acknowledged;
    struct found f = { 0 };

    if (log < 0) {
        snprintf(t->fault, sizeof t->fault, "cannot make a log: %s", strerror(errno));
        return false;
    }
    acknowledged = run_child(log, t);
    if (acknowledged >= 0) {
        error = read_log(log, recover_first, &f);
        if (error) {
            snprintf(t->fault, sizeof t->fault, "cannot %s the log: %s",
                     recover_first ? "recover" : "read", strerror(error));
        } else {
            good = judge(&f, (uint64_t)acknowledged, recover_first, t);
            t->acknowledged += (uint64_t)acknowledged;
            t->returned += f.events;
            t->lost += f.lost;
        }
    }
    close(log);
    /* this directory has only files of our own dead children */
    posixtrace_stream_reap(1, NULL, NULL);
    return good;
}

void selftest_kill(const struct selftest *test)
{
    unsigned rounds = test->seconds * 10 < ROUNDS ? (unsigned)(test->seconds * 10) : ROUNDS;
    struct tally t = { 0 };
    char step[64];

    if (!test->streams_named) {
        report_check(false, "kill -9",
                     "not possible: streams have no directory here, and end "
                     "with their process ('posixtrace doctor' says why)");
        return;
    }
    while (t.rounds < rounds && !selftest_interrupted()) {
        snprintf(step, sizeof step, "kill -9, %u of %u", t.rounds + 1, rounds);
        progress_step(step);
        t.good += one_round(test, &t);
        t.rounds++;
        if (t.fault[0] && t.good == 0)
            break; /* nor will it work a hundred times */
    }
    report_check(t.good == t.rounds, "kill -9",
                 "%u of %u; %s events acknowledged, %s came back, "
                 "%s lost%s%s",
                 t.good, t.rounds, units_count(t.acknowledged), units_count(t.returned),
                 units_count(t.lost), t.fault[0] ? "; " : "", t.fault);
}
