/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Children, one after the other: their cost does not depend on how many there were before.
 *
 *   children [NUMBER]
 *
 * A process with an INHERITED stream of 1 MiB forks NUMBER children (3,000).  Each records one
 * event and ends by exit, _exit or SIGKILL.  The first event of some of the first and of some of
 * the last children is single-stepped: the last ones may take at most 20 % more instructions and
 * system calls.  The stream must not have grown meanwhile, the stream directory may have files of
 * the last few children only, and every event must be there.
 */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <posixtrace/stream.h>
#include "torture/audit.h"

#define CHILDREN   3000u
#define MEASURED   9u /* children at either end: one stepped, of the others the calls */
#define WATCHDOG_S 300u
#define FILES_MOST 12u /* segment, maps, pages of the parent and of the last children */

/* The instructions of a sanitizer are not ours, and there are millions of them. */
#if defined __SANITIZE_THREAD__ || defined __SANITIZE_ADDRESS__
#define STEPS false
#else
#define STEPS true
#endif

static trace_event_id_t event_id;

struct cost {
    unsigned long instructions, calls;
};

static void end(unsigned number)
{
    if (number % 3 == 0)
        exit(0);
    if (number % 3 == 1)
        _exit(0);
    kill(getpid(), SIGKILL);
}

/* Between the two stops there is the event alone. */
static void be_measured(unsigned number)
{
    DEMAND(ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0, "ptrace: %s", strerror(errno));
    raise(SIGSTOP);
    posix_trace_event(event_id, &number, sizeof number);
    raise(SIGSTOP);
    end(number);
}

static int wait_for(pid_t pid)
{
    int status;

    DEMAND(waitpid(pid, &status, 0) == pid, "waitpid: %s", strerror(errno));
    return status;
}

static void start_measured(pid_t *pid, unsigned number)
{
    int status;

    *pid = fork();
    if (*pid == 0)
        be_measured(number);
    status = wait_for(*pid);
    DEMAND(WIFSTOPPED(status) && WSTOPSIG(status) == SIGSTOP, "the child ended early");
}

/* How often it stops until the event is over. */
static unsigned long count_stops(unsigned number, enum __ptrace_request request)
{
    unsigned long stops = 0;
    pid_t pid;
    int status;

    start_measured(&pid, number);
    for (;;) {
        DEMAND(ptrace(request, pid, NULL, NULL) == 0, "ptrace: %s", strerror(errno));
        status = wait_for(pid);
        DEMAND(WIFSTOPPED(status), "the child ended in its event");
        if (WSTOPSIG(status) != SIGTRAP)
            break;
        stops++;
    }
    ptrace(PTRACE_CONT, pid, NULL, NULL);
    wait_for(pid);
    return stops;
}

static unsigned long count_instructions(unsigned number)
{
    return count_stops(number, PTRACE_SINGLESTEP);
}

static unsigned long count_calls(unsigned number)
{
    return count_stops(number, PTRACE_SYSCALL) / 2;
}

/* In the sum: now and then a child makes a quarter more calls, as it finds more to remove of those
 * before it than others do. */
static struct cost measure_some(unsigned *number)
{
    struct cost sum = { 0, 0 };

    for (unsigned i = 0; i < MEASURED; i++) {
        if (STEPS && i == MEASURED / 2)
            sum.instructions += count_instructions((*number)++);
        else
            sum.calls += count_calls((*number)++);
    }
    return sum;
}

static void have_child(unsigned number)
{
    pid_t pid = fork();

    if (pid == 0) {
        posix_trace_event(event_id, &number, sizeof number);
        end(number);
    }
    wait_for(pid);
}

/* Files, and bytes of segments. */
static unsigned look(uint64_t *bytes)
{
    DIR *d = opendir(posixtrace_stream_directory());
    struct dirent *entry;
    unsigned n = 0;
    struct stat st;

    *bytes = 0;
    DEMAND(d, "no stream directory");
    while ((entry = readdir(d))) {
        n += entry->d_name[0] != '.';
        if (entry->d_name[0] == 's' && fstatat(dirfd(d), entry->d_name, &st, 0) == 0)
            *bytes += (uint64_t)st.st_blocks * 512;
    }
    closedir(d);
    return n;
}

static trace_id_t start_stream(void)
{
    trace_attr_t attr;
    trace_id_t trid;

    DEMAND_OK(posix_trace_attr_init(&attr));
    DEMAND_OK(posix_trace_attr_setinherited(&attr, POSIX_TRACE_INHERITED));
    DEMAND_OK(posix_trace_attr_setstreamsize(&attr, 1u << 20));
    DEMAND_OK(posix_trace_create(0, &attr, &trid));
    DEMAND_OK(posix_trace_eventid_open("child", &event_id));
    DEMAND_OK(posix_trace_start(trid));
    return trid;
}

static void check_events(trace_id_t trid, unsigned children)
{
    uint8_t *seen = calloc(children, 1);
    struct posix_trace_event_info e;
    unsigned n = 0, number;
    int unavailable = 0;
    size_t len;

    DEMAND_OK(posix_trace_stop(trid));
    for (;;) {
        DEMAND_OK(
            posix_trace_trygetnext_event(trid, &e, &number, sizeof number, &len, &unavailable));
        if (unavailable)
            break;
        if (e.posix_event_id != event_id)
            continue;
        DEMAND(number < children && !seen[number], "an event of child %u twice", number);
        seen[number] = 1;
        n++;
    }
    DEMAND(n == children, "events of %u children, not of %u", n, children);
    free(seen);
}

static void check_cost(const char *what, unsigned long first, unsigned long last)
{
    printf("%s of first events: %lu, later %lu\n", what, first, last);
    DEMAND(last <= first + first / 5, "%s: %lu for the first, %lu for the last", what, first, last);
}

int main(int argc, char **argv)
{
    unsigned children = argc > 1 ? (unsigned)atoi(argv[1]) : CHILDREN;
    unsigned number = 0, files;
    uint64_t bytes_before, bytes;
    struct cost first, last;
    trace_id_t trid;

    if (getenv("POSIXTRACE_TEST_SHORT") && argc < 2)
        children = CHILDREN / 5;
    alarm(WATCHDOG_S);
    trid = start_stream();
    first = measure_some(&number);
    while (number < children / 10)
        have_child(number++);
    look(&bytes_before);
    while (number < children - MEASURED)
        have_child(number++);
    last = measure_some(&number);
    files = look(&bytes);
    printf("%u children: %u files, stream %llu KiB, after a tenth of them %llu KiB\n", number,
           files, (unsigned long long)bytes / 1024, (unsigned long long)bytes_before / 1024);
    if (STEPS)
        check_cost("instructions", first.instructions, last.instructions);
    check_cost("system calls", first.calls, last.calls);
    DEMAND(bytes == bytes_before, "the stream has grown");
    DEMAND(files <= FILES_MOST, "%u files", files);
    check_events(trid, number);
    DEMAND_OK(posix_trace_shutdown(trid));
    DEMAND(look(&bytes) <= FILES_MOST, "files are left");
    return 0;
}
