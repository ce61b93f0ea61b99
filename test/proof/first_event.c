/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Counts the system calls of the first event of a process that is not traced, with a few ancestors
 * and with more.  Each ancestor is checked once, for its start time and whether it has a page, in a
 * directory that is opened once.
 */
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <trace.h>
#include "support/need.h"

#define MORE          10
#define AN_ANCESTOR   5   /* its stat, the page, its time namespace */
#define WHATEVER_ELSE 110 /* to make names and page, to remove those of a process */
#define SKIPPED       77  /* for meson */

/* Between the two calls of getppid, which the library has no use for. */
static void be_subject(void)
{
    NEED(ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0);
    raise(SIGSTOP);
    getppid();
    posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, NULL, 0);
    getppid();
    _exit(0);
}

/* Runs to the next entry into a system call.  False: the process has ended. */
static bool next_call(pid_t pid, struct __ptrace_syscall_info *call)
{
    int status;

    do {
        NEED(ptrace(PTRACE_SYSCALL, pid, NULL, NULL) == 0);
        NEED(waitpid(pid, &status, 0) == pid);
        if (!WIFSTOPPED(status))
            return false;
        NEED(ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof *call, call) > 0);
    } while (call->op != PTRACE_SYSCALL_INFO_ENTRY);
    return true;
}

static unsigned count_calls(void)
{
    struct __ptrace_syscall_info call;
    unsigned calls = 0, marks = 0;
    pid_t pid = fork();
    int status;

    if (pid == 0) {
        execl("/proc/self/exe", "first_event", "subject", NULL);
        _exit(1);
    }
    NEED(pid > 0 && waitpid(pid, &status, 0) == pid && WIFSTOPPED(status));
    NEED(ptrace(PTRACE_SETOPTIONS, pid, NULL, (void *)PTRACE_O_TRACESYSGOOD) == 0);
    while (next_call(pid, &call)) {
        if (call.entry.nr == SYS_getppid)
            marks++;
        else
            calls += marks == 1;
    }
    NEED(marks == 2);
    return calls;
}

/* With that many ancestors more than this process has. */
static unsigned count_below(unsigned generations)
{
    unsigned calls;
    int ends[2];
    pid_t pid;

    if (generations == 0)
        return count_calls();
    NEED(pipe(ends) == 0 && (pid = fork()) >= 0);
    if (pid == 0) {
        calls = count_below(generations - 1);
        NEED(write(ends[1], &calls, sizeof calls) == (ssize_t)sizeof calls);
        _exit(0);
    }
    NEED(read(ends[0], &calls, sizeof calls) == (ssize_t)sizeof calls);
    NEED(waitpid(pid, NULL, 0) == pid);
    close(ends[0]);
    close(ends[1]);
    return calls;
}

static bool may_trace(void)
{
    pid_t pid = fork();
    int status;

    if (pid == 0)
        _exit(ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0);
    return waitpid(pid, &status, 0) == pid && status == 0;
}

static unsigned count_ancestors(void)
{
    char path[32], text[512], *field;
    unsigned n = 0, pid = (unsigned)getpid();

    while (pid != 0) {
        FILE *f;

        snprintf(path, sizeof path, "/proc/%u/stat", pid);
        f = fopen(path, "r");
        if (!f)
            break;
        field = fgets(text, sizeof text, f) ? strrchr(text, ')') : NULL;
        fclose(f);
        NEED(field && sscanf(field, ") %*c %u", &pid) == 1);
        n++;
    }
    return n;
}

int main(int argc, char **argv)
{
    unsigned few, more, ancestors = count_ancestors();

    if (argc > 1 && strcmp(argv[1], "subject") == 0)
        be_subject();
    if (!may_trace()) {
        printf("skipped: no process may be traced here\n");
        return SKIPPED;
    }
    count_below(0); /* leaves a page, which the next process removes */
    few = count_below(0);
    more = count_below(MORE);
    printf("%u ancestors: %u system calls; %u: %u\n", ancestors, few, ancestors + MORE, more);
    fflush(stdout);
    NEED(few > 20);
    NEED(more <= few + MORE * AN_ANCESTOR);
    NEED(few <= ancestors * AN_ANCESTOR + WHATEVER_ELSE);
    return 0;
}
