/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The signals that end a recording.  While the program runs they are blocked, and watch()
 * reads them.  While record itself waits for something, they end it as they end other
 * programs: for the reader of a FIFO, for the last write of a log, for the reader of the
 * output of --print.
 *
 * A shell starts jobs in the background with SIGINT and SIGQUIT ignored, so that the keys
 * of the terminal do not end them.  That remains so for the keys, and for the program; one
 * that kill(2) sends to record is meant, and counts.
 *
 * SIGPIPE is ignored: when the reader of standard error ends, as in "2>&1 | head", the
 * recording does not.  The reader of the output of --print may end, too: that is an exit status.
 */
#include "record/record.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "common/tool.h"

/* Milliseconds.  A process that signals record and its process group, as timeout(1)
 * does, means one signal. */
enum { TWICE = 500, TEXT_MAX = 4096 };

static struct ending {
    int number;   /* the stronger, the later in the table */
    bool ignored; /* when record was started */
    int64_t came; /* the latest one, ms; 0: none came */
} ending[] = {
    { .number = SIGINT }, { .number = SIGQUIT }, { .number = SIGHUP }, { .number = SIGTERM }
};

enum { ENDING = sizeof ending / sizeof ending[0] };

static sigset_t before, held;
static void (*before_pipe)(int);

/* For the handler: what record leaves undone.  Changed while the signals are blocked. */
static char undone[TEXT_MAX];
static size_t undone_length;

int64_t signals_now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

int signals_rank(int number)
{
    int i = ENDING;

    while (--i > 0 && ending[i].number != number)
        ;
    return i;
}

bool signals_count(int number, int code)
{
    struct ending *e = &ending[signals_rank(number)];
    int64_t now = signals_now_ms();
    bool again = e->came && now - e->came <= TWICE;

    if (e->ignored && code == SI_KERNEL)
        return false;
    e->came = now;
    return !again;
}

/* Async-signal-safe. */
static void end_record(int number, siginfo_t *info, void *context)
{
    sigset_t set;

    (void)context;
    if (!signals_count(number, info->si_code))
        return;
    if (undone_length && write(STDERR_FILENO, undone, undone_length) < 0)
        undone_length = 0;
    signal(number, SIG_DFL);
    sigemptyset(&set);
    sigaddset(&set, number);
    raise(number);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
}

void signals_begin(void)
{
    struct sigaction action = { .sa_sigaction = end_record, .sa_flags = SA_SIGINFO | SA_RESTART };

    sigemptyset(&held);
    sigprocmask(SIG_SETMASK, NULL, &before);
    for (int i = 0; i < ENDING; i++) {
        struct sigaction old;

        if (sigaction(ending[i].number, NULL, &old) != 0)
            continue;
        ending[i].ignored = old.sa_handler == SIG_IGN;
        if (!ending[i].ignored || ending[i].number == SIGINT || ending[i].number == SIGQUIT)
            sigaddset(&held, ending[i].number);
    }
    sigprocmask(SIG_BLOCK, &held, NULL);
    before_pipe = signal(SIGPIPE, SIG_IGN);
    action.sa_mask = held;
    for (int i = 0; i < ENDING; i++)
        if (sigismember(&held, ending[i].number))
            sigaction(ending[i].number, &action, NULL);
}

void signals_restore(void)
{
    for (int i = 0; i < ENDING; i++)
        signal(ending[i].number, ending[i].ignored ? SIG_IGN : SIG_DFL);
    signal(SIGPIPE, before_pipe);
    sigprocmask(SIG_SETMASK, &before, NULL);
}

int signals_open(void)
{
    return signalfd(-1, &held, SFD_CLOEXEC | SFD_NONBLOCK);
}

void signals_let(const char *left_undone)
{
    int n = left_undone ? snprintf(undone, sizeof undone, "posixtrace: %s: interrupted: %s\n",
                                   tool_verb(), left_undone)
                        : 0;

    undone_length = n < 0 ? 0 : (size_t)n < sizeof undone ? (size_t)n : sizeof undone - 1;
    sigprocmask(SIG_UNBLOCK, &held, NULL);
}

void signals_hold(void)
{
    sigprocmask(SIG_BLOCK, &held, NULL);
}

bool signals_ignores(pid_t pid, int number)
{
    char path[40], line[128];
    uint64_t ignored = 0;
    FILE *f;

    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    f = fopen(path, "re");
    while (f && fgets(line, sizeof line, f))
        if (strncmp(line, "SigIgn:", 7) == 0)
            ignored = strtoull(line + 7, NULL, 16);
    if (f)
        fclose(f);
    return ignored >> (number - 1) & 1;
}
