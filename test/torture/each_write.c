/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * A writer that is killed at one of its writes, at each of them in turn.
 *
 *   each_write [all]
 *
 * pwrite() is this program's own: the k-th call of the traced process ends it by SIGKILL,
 * before the bytes are written or after half of them; and a disk may be full from some
 * offset on, for a while or for ever.  For each k until the process ends by itself, with each plan:
 *
 *   the log with what the process left in memory gives its events in order, each at most
 *   once, and events plus losses are what was generated
 *   the log alone gives events in order, too, and knows of each one that it had once
 *   recovery changes neither sum, with the memory or without it, wherever it is killed
 *   itself, and leaves a log without damage; so does one without the memory that comes after
 *   a killed one with it, and before another one with it
 *
 * "all" is every combination; without it, one plan of each kind.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <posixtrace/attr.h>
#include <posixtrace/info.h>
#include <posixtrace/log.h>
#include <posixtrace/stream.h>
#include "torture/audit.h"

#define STREAM_BYTES (256u << 10)
#define LANES_MAX    3u
#define BURSTS       3u
#define BURST        900u   /* events of all lanes; a stream holds them */
#define FLOOD        20000u /* a stream does not hold these */
#define WATCHDOG_S   380
#define PAGE         4096
#define NO_LIMIT     INT64_MAX

struct plan {
    int stream_policy, log_policy;
    uint32_t log_bytes;
    bool packed, half, flood, marks; /* marks: the system's events, too */
    unsigned lanes;
    off_t disk_end; /* no room after it, until the last burst if half; NO_LIMIT */
};

static struct shared {
    volatile uint64_t returned[LANES_MAX];
    volatile uint64_t flushed; /* traced before the last flush that has ended */
    volatile pid_t first;      /* the thread of the first lane; the others have one a burst */
} * shared;

static unsigned failed; /* kills that left a log with wrong books */
static unsigned full_disk_kills;
static unsigned writes, kill_at; /* 0: never */
static bool kill_half;
static _Atomic off_t disk_end = NO_LIMIT; /* lifted while the flush thread writes */
static char what[200];

ssize_t pwrite(int fd, const void *from, size_t bytes, off_t offset);

ssize_t pwrite(int fd, const void *from, size_t bytes, off_t offset)
{
    off_t end = disk_end;

    if (++writes == kill_at) {
        /* A kill does not cut a write inside a page: the header block is one. */
        if (kill_half && offset >= PAGE && offset + (off_t)bytes / 2 <= end)
            syscall(SYS_pwrite64, fd, from, bytes / 2, offset);
        kill(getpid(), SIGKILL);
    }
    if (offset >= end) {
        errno = ENOSPC;
        return -1;
    }
    if (offset + (off_t)bytes > end)
        bytes = (size_t)(end - offset);
    return syscall(SYS_pwrite64, fd, from, bytes, offset);
}

static uint64_t traced(const struct plan *plan)
{
    uint64_t sum = 0;

    for (unsigned i = 0; i < plan->lanes; i++)
        sum += shared->returned[i];
    return sum;
}

/* ---- the process that is killed ---- */

struct tracer {
    trace_event_id_t id;
    uint32_t lane;
    uint64_t events;
};

static void *trace_some(void *argument)
{
    const struct tracer *t = argument;
    struct payload p;

    for (uint64_t n = 0; n < t->events; n++) {
        uint64_t seq = shared->returned[t->lane];
        size_t len = payload_make(&p, t->lane, seq);

        posix_trace_event(t->id, &p, len);
        shared->returned[t->lane] = seq + 1;
    }
    return NULL;
}

static void trace_burst(const struct plan *plan, trace_event_id_t id)
{
    uint64_t events = (plan->flood ? FLOOD : BURST) / plan->lanes;
    struct tracer tracers[LANES_MAX];
    pthread_t threads[LANES_MAX];

    for (uint32_t i = 0; i < plan->lanes; i++)
        tracers[i] = (struct tracer){ id, i, events };
    for (uint32_t i = 1; i < plan->lanes; i++)
        DEMAND_OK(pthread_create(&threads[i], NULL, trace_some, &tracers[i]));
    trace_some(&tracers[0]);
    for (uint32_t i = 1; i < plan->lanes; i++)
        DEMAND_OK(pthread_join(threads[i], NULL));
}

static void flush(trace_id_t trid)
{
    struct posix_trace_status_info status;

    posix_trace_flush(trid);
    do
        DEMAND_OK(posix_trace_get_status(trid, &status));
    while (status.posix_stream_flush_status == POSIX_TRACE_FLUSHING);
}

/* But for marks, nothing of the system's own: then every event and every loss is a lane's. */
static void trace_and_die(const struct plan *plan, int log_fd, unsigned k)
{
    trace_event_set_t system;
    trace_event_id_t id;
    trace_attr_t attr;
    trace_id_t trid;

    alarm(WATCHDOG_S);
    DEMAND_OK(posix_trace_attr_init(&attr));
    DEMAND_OK(posix_trace_attr_setstreamsize(&attr, STREAM_BYTES));
    DEMAND_OK(posix_trace_attr_setmaxdatasize(&attr, PAYLOAD_MAX));
    DEMAND_OK(posix_trace_attr_setstreamfullpolicy(&attr, plan->stream_policy));
    DEMAND_OK(posix_trace_attr_setlogfullpolicy(&attr, plan->log_policy));
    DEMAND_OK(posix_trace_attr_setlogsize(&attr, plan->log_bytes));
    if (plan->packed)
        DEMAND_OK(posixtrace_attr_setcompression(&attr, POSIXTRACE_COMPRESSION_ZSTD));
    DEMAND_OK(posix_trace_eventid_open("each write", &id));
    shared->first = gettid();
    kill_at = k;
    kill_half = plan->half;
    if (posix_trace_create_withlog(0, &attr, log_fd, &trid) != 0)
        _exit(3);
    disk_end = plan->disk_end;
    DEMAND_OK(posix_trace_eventset_fill(&system, POSIX_TRACE_SYSTEM_EVENTS));
    if (!plan->marks)
        DEMAND_OK(posix_trace_set_filter(trid, &system, POSIX_TRACE_SET_EVENTSET));
    DEMAND_OK(posix_trace_start(trid));
    for (unsigned i = 0; i < BURSTS; i++) {
        trace_burst(plan, id);
        flush(trid);
        shared->flushed = traced(plan);
    }
    if (plan->half)
        disk_end = NO_LIMIT;
    trace_burst(plan, id);
    posix_trace_shutdown(trid);
    _exit(0);
}

/* ---- the process that verifies ---- */

struct books {
    uint64_t read, lost, next; /* next: the sum over the lanes, what follows the newest */
    uint64_t all;              /* read or lost, of whatever type */
    uint64_t by_first;         /* read of the first lane, and lost by it: one thread's */
};

static struct books read_log(const struct plan *plan, int log_fd, const char *when)
{
    struct books b = { .next = 0 };
    struct posixtrace_info info;
    struct audit a;
    trace_id_t trid;

    DEMAND_OK(posix_trace_open(log_fd, &trid));
    audit_init(&a, 0, LANES_MAX);
    a.id = audit_type(trid, "each write");
    audit_read_log(&a, trid);
    DEMAND_OK(posixtrace_get_info(trid, &info, sizeof info));
    b.read = a.events;
    b.lost = audit_lost(trid);
    b.all = info.events + b.lost;
    for (unsigned i = 0; i < plan->lanes; i++)
        b.next += a.next[i];
    b.by_first = a.read[0] + audit_lost_by(trid, shared->first);
    DEMAND(a.backward == 0, "%s, %s: time goes back %llu times", what, when,
           (unsigned long long)a.backward);
    audit_deinit(&a);
    DEMAND_OK(posix_trace_close(trid));
    return b;
}

#define DEMAND_SUM(b, low, high, when)                                                            \
    DEMAND((b).read + (b).lost >= (low) && (b).read + (b).lost <= (high),                         \
           "%s, %s: %llu read, %llu lost, %llu to %llu traced", what, when,                       \
           (unsigned long long)(b).read, (unsigned long long)(b).lost, (unsigned long long)(low), \
           (unsigned long long)(high))

static struct books read_with_memory(const struct plan *plan, int log_fd, const char *when)
{
    struct books b = read_log(plan, log_fd, when);

    if (!plan->marks)
        DEMAND_SUM(b, traced(plan), traced(plan) + plan->lanes, when);
    DEMAND(b.by_first >= shared->returned[0] && b.by_first <= shared->returned[0] + 1,
           "%s, %s: the first lane read or lost %llu, %llu traced", what, when,
           (unsigned long long)b.by_first, (unsigned long long)shared->returned[0]);
    return b;
}

/* The number after the newest event of a packet in the file, whatever its place. */
static uint64_t newest_in_file(int log_fd)
{
    enum { HEAD = 128, MAGIC = 0x50545850, DATA = 1 };
    static uint8_t bytes[1 << 20];
    ssize_t n = pread(log_fd, bytes, sizeof bytes, 0);
    uint64_t newest = 0;

    for (ssize_t at = PAGE; at + HEAD <= n; at += 8) {
        uint32_t magic, events;
        uint64_t first;
        uint16_t type;

        memcpy(&magic, bytes + at, sizeof magic);
        memcpy(&type, bytes + at + 4, sizeof type);
        memcpy(&events, bytes + at + 88, sizeof events);
        memcpy(&first, bytes + at + 96, sizeof first);
        if (magic == MAGIC && type == DATA && first + events > newest)
            newest = first + events;
    }
    return newest;
}

/* The log knows of what it had, and of nothing else; a stream that overflowed has
 * numbers of events that it never had. */
static struct books read_alone(const struct plan *plan, int log_fd, const char *when)
{
    struct books b = read_log(plan, log_fd, when);

    if (plan->marks)
        return b;
    DEMAND_SUM(b, plan->flood ? b.read : b.next, traced(plan) + plan->lanes, when);
    /* In a flood a flush by the stream itself may end first; and if no flush has seen a thread,
     * only the end of the log has its overwritten events. */
    DEMAND_SUM(b, plan->flood ? 0 : shared->flushed, traced(plan) + plan->lanes, when);
    DEMAND(plan->flood || plan->log_policy == POSIX_TRACE_UNTIL_FULL || plan->lanes > 1 ||
               plan->disk_end != NO_LIMIT || b.read + b.lost == b.next,
           "%s, %s: %llu read, %llu lost, %llu is next", what, when, (unsigned long long)b.read,
           (unsigned long long)b.lost, (unsigned long long)b.next);
    DEMAND(plan->half || plan->flood || plan->lanes > 1 || plan->disk_end != NO_LIMIT ||
               b.next == newest_in_file(log_fd),
           "%s, %s: reads up to %llu of %llu", what, when, (unsigned long long)b.next,
           (unsigned long long)newest_in_file(log_fd));
    return b;
}

/* Takes the segments out of the way, or puts them back. */
static void hide_segments(bool hide)
{
    const char *folder = getenv("POSIXTRACE_DIR");
    const char *from = hide ? ".seg" : ".hidden", *to = hide ? ".hidden" : ".seg";
    char old[400], new[400];
    struct dirent *e;
    DIR *dir = opendir(folder);

    DEMAND(dir, "no folder %s", folder);
    while ((e = readdir(dir))) {
        size_t len = strlen(e->d_name), tail = strlen(from);

        if (len <= tail || strcmp(e->d_name + len - tail, from) != 0)
            continue;
        snprintf(old, sizeof old, "%s/%s", folder, e->d_name);
        snprintf(new, sizeof new, "%s/%.*s%s", folder, (int)(len - tail), e->d_name, to);
        DEMAND(rename(old, new) == 0, "rename %s", old);
    }
    closedir(dir);
}

static int copy_of(int fd)
{
    static char bytes[1 << 20];
    int copy = audit_temporary_file();
    off_t at = 0;
    ssize_t n;

    while ((n = pread(fd, bytes, sizeof bytes, at)) > 0) {
        DEMAND(syscall(SYS_pwrite64, copy, bytes, n, at) == n, "copy");
        at += n;
    }
    return copy;
}

/* In a process of its own, killed at its write number k.  False: it came to its end. */
static bool recover_and_die(int log_fd, unsigned k)
{
    struct posixtrace_recover_report report;
    int status;
    pid_t pid;

    fflush(NULL);
    pid = fork();
    DEMAND(pid >= 0, "fork");
    if (pid == 0) {
        writes = 0;
        kill_at = k;
        kill_half = k % 2;
        _exit(posixtrace_log_recover(log_fd, &report, sizeof report));
    }
    DEMAND(waitpid(pid, &status, 0) == pid, "waitpid");
    DEMAND(WIFSIGNALED(status) || WEXITSTATUS(status) == 0, "%s: recovery fails: %d", what,
           WEXITSTATUS(status));
    return WIFSIGNALED(status);
}

static void check_recovered(int log_fd, const char *when)
{
    struct posixtrace_log_report check;

    DEMAND_OK(posixtrace_log_check(log_fd, NULL, NULL, &check, sizeof check));
    DEMAND(check.complete && !check.damaged, "%s, %s: complete %d, damaged %d", what, when,
           check.complete, check.damaged);
}

static void same_sum(const struct books *a, const struct books *b, bool marks, const char *when)
{
    /* A log that gets full has a STOP of its own. */
    DEMAND(b->all == a->all || b->all == a->all + 1, "%s, %s: %llu in all, then %llu", what, when,
           (unsigned long long)a->all, (unsigned long long)b->all);
    DEMAND(marks || a->read + a->lost == b->read + b->lost,
           "%s, %s: %llu read, %llu lost; then %llu, %llu", what, when, (unsigned long long)a->read,
           (unsigned long long)a->lost, (unsigned long long)b->read, (unsigned long long)b->lost);
}

/* Killed at the creation of the log: there may be none, and nothing was traced. */
static bool opens(int log_fd)
{
    trace_id_t trid;

    if (posix_trace_open(log_fd, &trid) == 0) {
        DEMAND_OK(posix_trace_close(trid));
        return true;
    }
    for (unsigned i = 0; i < LANES_MAX; i++)
        DEMAND(shared->returned[i] == 0, "%s: the log does not open", what);
    return false;
}

/* After a recovery that was killed another user's comes, which does not find the memory and may be
 * killed itself; then one that does.  On a copy, whose recovery leaves the memory. */
static void recover_by_another(const struct plan *plan, int log_fd, const struct books *before)
{
    int copy = copy_of(log_fd);
    struct books alone, after;

    hide_segments(true);
    alone = read_log(plan, copy, "recovery killed, alone");
    for (unsigned k = 1; recover_and_die(copy, k); k++) {
        after = read_log(plan, copy, "recovery killed, another's too");
        same_sum(&alone, &after, plan->marks, "recovery killed, another's too");
        hide_segments(false);
        read_with_memory(plan, copy, "recovery killed, another's too, with memory");
        hide_segments(true);
    }
    after = read_log(plan, copy, "recovery killed, another's");
    same_sum(&alone, &after, plan->marks, "recovery killed, another's");
    check_recovered(copy, "recovery killed, another's");
    hide_segments(false);
    after = read_with_memory(plan, copy, "another's, with memory");
    same_sum(before, &after, plan->marks, "another's, with memory");
    DEMAND(!recover_and_die(copy, 0), "killed");
    hide_segments(true);
    after = read_with_memory(plan, copy, "another's, recovered again");
    hide_segments(false);
    same_sum(before, &after, plan->marks, "another's, recovered again");
    check_recovered(copy, "another's, recovered again");
    close(copy);
}

struct job {
    const struct plan *plan;
    int log_fd;
    bool kills_recovery;
};

static void verify(void *context)
{
    const struct job *job = context;
    const struct plan *plan = job->plan;
    struct books before, alone, after;
    int copy;

    alarm(WATCHDOG_S);
    if (traced(plan) == 0 || !opens(job->log_fd))
        return;
    before = read_with_memory(plan, job->log_fd, "as killed");
    copy = copy_of(job->log_fd);
    hide_segments(true);
    alone = read_alone(plan, copy, "alone");
    DEMAND(!recover_and_die(copy, 0), "killed");
    after = read_alone(plan, copy, "alone, recovered");
    same_sum(&alone, &after, plan->marks, "alone, recovered");
    check_recovered(copy, "alone, recovered");
    hide_segments(false);
    for (unsigned k = 1; job->kills_recovery && recover_and_die(job->log_fd, k); k++) {
        read_with_memory(plan, job->log_fd, "recovery killed");
        if (k == 1 || k == 4)
            recover_by_another(plan, job->log_fd, &before);
    }
    DEMAND(!recover_and_die(job->log_fd, 0), "killed");
    hide_segments(true);
    after = read_with_memory(plan, job->log_fd, "recovered");
    hide_segments(false);
    same_sum(&before, &after, plan->marks, "recovered");
    check_recovered(job->log_fd, "recovered");
}

/* ---- the parent ---- */

static void remove_left(void *context)
{
    (void)context;
    DEMAND_OK(posixtrace_stream_reap(1, NULL, NULL));
}

/* False: the process was not killed. */
static bool run_killed_at(const struct plan *plan, unsigned k)
{
    int log_fd = audit_temporary_file(), status;
    struct job job = { plan, log_fd, k % 4 == 1 };
    pid_t pid;

    snprintf(what, sizeof what,
             "stream policy %#x, log policy %#x of %u, %s%s%s%s, %u lanes, "
             "disk %lld, killed at write %u",
             plan->stream_policy, plan->log_policy, plan->log_bytes,
             plan->packed ? "packed" : "plain", plan->half ? ", half" : "",
             plan->flood ? ", flood" : "", plan->marks ? ", marks" : "", plan->lanes,
             (long long)plan->disk_end, k);
    memset(shared, 0, sizeof *shared);
    fflush(NULL);
    pid = fork();
    DEMAND(pid >= 0, "fork");
    if (pid == 0)
        trace_and_die(plan, log_fd, k);
    DEMAND(waitpid(pid, &status, 0) == pid, "waitpid");
    DEMAND(!WIFSIGNALED(status) || WTERMSIG(status) == SIGKILL, "%s: status %#x", what, status);
    DEMAND(WIFSIGNALED(status) || WEXITSTATUS(status) == 0, "%s: status %#x", what, status);
    if (WIFSIGNALED(status))
        failed += audit_in_child(verify, &job) != 0;
    full_disk_kills += plan->disk_end != NO_LIMIT;
    close(log_fd);
    audit_in_child(remove_left, NULL);
    return WIFSIGNALED(status);
}

static unsigned run(const struct plan *plan)
{
    unsigned kills = 0;

    /* A disk that stays full is tried again with each packet. */
    for (unsigned k = 1; run_killed_at(plan, k); k += 1 + k / 10)
        kills++;
    DEMAND(kills > 3, "%s: only %u writes", what, kills);
    return kills;
}

static const int policies[] = { POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL, POSIX_TRACE_FLUSH };
static const int log_policies[] = { POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL, POSIX_TRACE_APPEND };
static const uint32_t sizes[] = { 16 << 10, 160 << 10 }; /* less than a round, and more */

/* One of each kind: what a short run leaves out, "all" has. */
static bool is_chosen(unsigned number)
{
    return number % 13 == 0;
}

static unsigned run_all(bool all)
{
    unsigned number = 0, kills = 0;

    for (unsigned s = 0; s < 3; s++)
        for (unsigned l = 0; l < 3; l++)
            for (unsigned z = 0; z < (log_policies[l] == POSIX_TRACE_APPEND ? 1 : 2); z++)
                for (unsigned bits = 0; bits < 32; bits++, number++)
                    if (all || is_chosen(number))
                        kills += run(&(struct plan){ policies[s], log_policies[l], sizes[z],
                                                     .packed = bits & 1, .half = bits & 2,
                                                     .flood = bits & 4, .marks = (bits & 9) == 1,
                                                     .lanes = bits & 8 ? LANES_MAX : 1,
                                                     .disk_end = bits & 16 ? 48 << 10 : NO_LIMIT });
    return kills;
}

int main(int argc, char **argv)
{
    unsigned kills;

    if (!getenv("POSIXTRACE_DIR")) {
        puts("skipped: needs a folder of its own in POSIXTRACE_DIR");
        return SKIPPED;
    }
    shared = audit_shared(sizeof *shared);
    kills = run_all(argc > 1 && strcmp(argv[1], "all") == 0);
    printf("%u kills, %u with a full disk, %u failures\n", kills, full_disk_kills, failed);
    DEMAND(full_disk_kills >= 200, "only %u with a full disk", full_disk_kills);
    return failed != 0;
}
