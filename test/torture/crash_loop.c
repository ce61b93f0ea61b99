/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * A program that is killed again and again, by SIGKILL in the middle of tracing.
 *
 *   crash_loop [KILLS]
 *
 * KILLS times (400) each: a stream without a log; with a log that is deleted; with a log that the
 * next one overwrites; with a log of its own that stays; and with a log without a name, which
 * cannot be completed.  The limit for left segments is 16 MiB.  No process lists or reaps
 * meanwhile.  The memory of left segments stays below a few segments, or about the limit.  At the
 * end every event whose log exists is read from it, and the log of a removed stream has the number
 * of lost events.
 *
 * And the first create of a process makes as many system calls with 400 left streams in the
 * directory as with 100.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <posixtrace/info.h>
#include <posixtrace/log.h>
#include <posixtrace/stream.h>
#include "torture/audit.h"

#define KILLS      400u
#define EVENTS     100u
#define WATCHDOG_S 380u
#define LIMIT      "16M"
#define LIMIT_KIB  (16u << 10)
#define WATCHED    4u /* logs without a name that stay open */

enum kind { NO_LOG, DELETED, OVERWRITTEN, KEPT, NAMELESS, KINDS };
static const char *const names[] = { "no log", "deleted", "overwritten", "kept", "nameless" };

static char folder[] = "/tmp/posixtrace-crash.XXXXXX";

static void log_name(char path[64], enum kind kind, unsigned number)
{
    snprintf(path, 64, "%s/%u.ptl", folder, kind == OVERWRITTEN ? 0 : number);
}

/* Flushed by itself if the log stays; else it has no event, however long the program lives. */
static void create(int log, bool flushed)
{
    trace_attr_t attr;
    trace_id_t trid;

    DEMAND_OK(posix_trace_attr_init(&attr));
    DEMAND_OK(posix_trace_attr_setstreamsize(&attr, 1u << 18));
    if (log < 0) {
        DEMAND_OK(posix_trace_create(0, &attr, &trid));
    } else {
        DEMAND_OK(posix_trace_attr_setstreamfullpolicy(&attr, flushed ? POSIX_TRACE_FLUSH
                                                                      : POSIX_TRACE_LOOP));
        DEMAND_OK(posix_trace_create_withlog(0, &attr, log, &trid));
    }
    DEMAND_OK(posix_trace_start(trid));
}

static void trace_and_die(int log, bool flushed, const char *doomed)
{
    trace_event_id_t id;

    create(log, flushed);
    DEMAND_OK(posix_trace_eventid_open("crash", &id));
    for (unsigned i = 0; i < EVENTS; i++)
        posix_trace_event(id, &i, sizeof i);
    if (doomed)
        unlink(doomed);
    kill(getpid(), SIGKILL);
}

static int open_log(enum kind kind, unsigned number, const char *path)
{
    int fd = -1;

    if (kind == NO_LOG)
        return -1;
    fd = open(path, O_RDWR | O_CREAT | (kind == OVERWRITTEN ? O_TRUNC : O_EXCL), 0600);
    DEMAND(fd >= 0, "%s %u: %s", path, number, strerror(errno));
    if (kind == NAMELESS)
        unlink(path);
    return fd;
}

/* The log stays open. */
static int crash(enum kind kind, unsigned number)
{
    char path[64];
    pid_t pid;
    int fd, status;

    log_name(path, kind, number);
    fd = open_log(kind, number, path);
    pid = fork();
    if (pid == 0)
        trace_and_die(fd, kind != NAMELESS, kind == DELETED ? path : NULL);
    DEMAND(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL,
           "%s, child %u: wait status %#x", names[kind], number, (unsigned)status);
    return fd;
}

/* KiB of all files in the stream directory; their number. */
static unsigned long look(unsigned *files)
{
    DIR *d = opendir(posixtrace_stream_directory());
    unsigned long kib = 0;
    struct dirent *entry;
    struct stat st;

    *files = 0;
    DEMAND(d, "no stream directory");
    while ((entry = readdir(d))) {
        if (entry->d_name[0] == '.' || fstatat(dirfd(d), entry->d_name, &st, 0) < 0)
            continue;
        ++*files;
        kib += (unsigned long)st.st_blocks / 2;
    }
    closedir(d);
    return kib;
}

/* What a log says: events that can be read, and all that were lost. */
static uint64_t ask(int fd, uint64_t *events)
{
    struct posixtrace_info info;
    trace_id_t trid;
    uint64_t lost = 0;

    DEMAND_OK(posix_trace_open(fd, &trid));
    DEMAND_OK(posixtrace_get_info(trid, &info, sizeof info));
    for (unsigned c = 0; c < POSIXTRACE_LOSS_CAUSES; c++)
        lost += info.lost[c];
    *events = info.events;
    DEMAND_OK(posix_trace_close(trid));
    return lost;
}

static void check_kept(unsigned kills)
{
    for (unsigned i = 0; i < kills; i++) {
        uint64_t lost, events;
        char path[64];
        int fd;

        log_name(path, KEPT, i);
        fd = open(path, O_RDWR);
        lost = ask(fd, &events);
        DEMAND(lost == 0 && events >= EVENTS, "log %u: %llu events, %llu lost", i,
               (unsigned long long)events, (unsigned long long)lost);
        close(fd);
        unlink(path);
    }
}

/* Its segment was removed: that is what its log says, also after recovery. */
static void check_removed(int fd, unsigned number)
{
    uint64_t lost, events, again, lost_again;
    struct posixtrace_recover_report report;

    lost = ask(fd, &events);
    DEMAND(lost >= EVENTS && lost + events <= EVENTS + 1, "nameless %u: %llu events, %llu lost",
           number, (unsigned long long)events, (unsigned long long)lost);
    DEMAND_OK(posixtrace_log_recover(fd, &report, sizeof report));
    lost_again = ask(fd, &again);
    DEMAND(!report.segment_found && lost_again == lost && again == events,
           "recovered: %llu events, %llu lost", (unsigned long long)again,
           (unsigned long long)lost_again);
}

static void run(enum kind kind, unsigned kills)
{
    unsigned long most = 0, after_some = 0;
    uint64_t streams, events;
    int watched[WATCHED];
    unsigned files = 0;

    setenv("POSIXTRACE_LEFT_LIMIT", LIMIT, 1);
    for (unsigned i = 0; i < kills; i++) {
        int fd = crash(kind, i);
        unsigned long kib = look(&files);

        most = kib > most ? kib : most;
        after_some = i == 1 ? kib : after_some;
        if (kind == NAMELESS && i < WATCHED)
            watched[i] = fd;
        else if (fd >= 0)
            close(fd);
    }
    printf("%s: %u kills, at most %lu KiB, now %u files\n", names[kind], kills, most, files);
    /* Programs that are killed within a millisecond may leave the logs to the limit. */
    if (kind == NAMELESS || kind == KEPT)
        DEMAND(most <= 2 * LIMIT_KIB, "%lu KiB under a limit of %u", most, LIMIT_KIB);
    else
        DEMAND(most <= 8 * after_some, "%lu KiB, after two kills %lu", most, after_some);
    if (kind == KEPT)
        check_kept(kills);
    posixtrace_stream_lost(&streams, &events);
    DEMAND(kind == NAMELESS ? streams > 0 && events == streams * (EVENTS + 1) : streams == 0,
           "%llu streams removed, with %llu events", (unsigned long long)streams,
           (unsigned long long)events);
    for (unsigned i = 0; kind == NAMELESS && i < WATCHED; i++)
        check_removed(watched[i], i);
    unsetenv("POSIXTRACE_LEFT_LIMIT");
}

/* System calls of a first create. */
static unsigned long count_calls(void)
{
    unsigned long stops = 0;
    pid_t pid = fork();
    int status;

    if (pid == 0) {
        DEMAND(ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0, "ptrace: %s", strerror(errno));
        raise(SIGSTOP);
        create(-1, false);
        raise(SIGSTOP);
        exit(0);
    }
    DEMAND(waitpid(pid, &status, 0) == pid && WIFSTOPPED(status), "the child ended early");
    do {
        DEMAND(ptrace(PTRACE_SYSCALL, pid, NULL, NULL) == 0, "ptrace: %s", strerror(errno));
        DEMAND(waitpid(pid, &status, 0) == pid && WIFSTOPPED(status), "the child ended early");
        stops++;
    } while (WSTOPSIG(status) == SIGTRAP);
    ptrace(PTRACE_CONT, pid, NULL, NULL);
    waitpid(pid, &status, 0);
    return stops / 2;
}

/* The second of some: one may find that the directory has become large and look at all. */
static unsigned long many_calls(void)
{
    unsigned long most = 0, second = 0;

    for (int i = 0; i < 6; i++) {
        unsigned long n = count_calls();

        second = n > most ? most : n > second ? n : second;
        most = n > most ? n : most;
    }
    return second;
}

static void check_create(unsigned few, unsigned many)
{
    unsigned long first = 0, last;

    for (unsigned i = 0; i < many; i++) {
        close(crash(NAMELESS, i));
        if (i + 1 == few)
            first = many_calls();
    }
    last = many_calls();
    printf("first create: %lu system calls with %u left streams, %lu with %u\n", first, few, last,
           many);
    DEMAND(last <= first + first / 5, "create depends on what others left");
}

int main(int argc, char **argv)
{
    unsigned kills = argc > 1 ? (unsigned)atoi(argv[1]) : KILLS;

    if (getenv("POSIXTRACE_TEST_SHORT") && argc < 2)
        kills = KILLS / 5;
    setvbuf(stdout, NULL, _IOLBF, 0);
    alarm(WATCHDOG_S);
    DEMAND(mkdtemp(folder), "%s: %s", folder, strerror(errno));
    for (int kind = 0; kind < KINDS; kind++) {
        char path[64];

        run((enum kind)kind, kills);
        DEMAND_OK(posixtrace_stream_reap(1, NULL, NULL));
        log_name(path, OVERWRITTEN, 0);
        unlink(path);
    }
    check_create(kills / 4, kills);
    DEMAND_OK(posixtrace_stream_reap(1, NULL, NULL));
    rmdir(folder);
    return 0;
}
