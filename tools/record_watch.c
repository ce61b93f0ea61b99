/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Waiting for the end of a recording, without polling but for what has to be
 * looked at from time to time: the live line, and processes where the kernel has
 * no pidfd.
 *
 * Signals, where we have started the program:
 *   SIGINT, SIGQUIT   the terminal has sent them to the program as well: it is
 *                     waited for, and what it does because of them is recorded
 *   SIGTERM, SIGHUP   passed on to the program, which gets some time to end
 *   a second one      gives up waiting; the program goes on, unrecorded
 * For processes that were there before, any of them ends the recording at once.
 */
#include "record.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "amount.h"
#include "log_file.h"
#include "progress.h"
#include "tool.h"

/* Milliseconds.  Who sends a signal to us and to our process group, as timeout(1) does,
 * means it once. */
enum { LOOK = 100, LIVE = 500, PATIENCE = 5000, NOTE_AFTER = 1000, TWICE = 500 };

static const int ending[] = { SIGINT, SIGQUIT, SIGTERM, SIGHUP };

struct watch {
    struct recording *r;
    size_t   count, over;
    bool     own, live;
    int      signals;          /* signalfd */
    int64_t  shown;            /* the live line, ms */
    int64_t  told;             /* the first signal came then; 0: none did */
    bool     noted;
    struct watch_end *end;
};

static int64_t now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Those that were ignored before, as for a job in the background, stay so. */
static void ending_set(sigset_t *set)
{
    sigemptyset(set);
    for (size_t i = 0; i < sizeof ending / sizeof ending[0]; i++) {
        struct sigaction action;

        if (sigaction(ending[i], NULL, &action) == 0 && action.sa_handler != SIG_IGN)
            sigaddset(set, ending[i]);
    }
}

void watch_block(sigset_t *before)
{
    sigset_t set;

    ending_set(&set);
    sigprocmask(SIG_BLOCK, &set, before);
}

int watch_pidfd(pid_t pid)
{
    return (int)syscall(SYS_pidfd_open, pid, 0);
}

/* Field 22 of /proc/PID/stat; 0: no such process, or a zombie. */
static uint64_t start_time(pid_t pid)
{
    char path[40], text[1024], *at;
    FILE *f;
    size_t n;

    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    f = fopen(path, "re");
    if (!f)
        return 0;
    n = fread(text, 1, sizeof text - 1, f);
    fclose(f);
    text[n] = '\0';
    at = strrchr(text, ')');
    if (!at || at[1] != ' ' || at[2] == 'Z' || at[2] == 'X')
        return 0;
    for (int field = 2; at && field < 22; field++)
        at = strchr(at + 1, ' ');
    return at ? strtoull(at, NULL, 10) : 0;
}

static bool has_ended(struct watch *w, struct recording *r, bool readable)
{
    uint64_t start;
    pid_t pid;

    if (w->own) {
        pid = waitpid(r->pid, &w->end->status, WNOHANG);
        return pid == r->pid || (pid < 0 && errno == ECHILD);
    }
    if (r->pidfd >= 0)
        return readable;
    start = start_time(r->pid);
    if (r->start == 0)
        r->start = start;
    return start == 0 || start != r->start;
}

static void look_at_signals(struct watch *w)
{
    struct signalfd_siginfo info;

    while (read(w->signals, &info, sizeof info) == sizeof info) {
        int number = (int)info.ssi_signo;

        if (!w->own || (w->told && now_ms() - w->told > TWICE))
            w->end->left = true;
        if (w->told && !w->end->left)
            continue;
        w->end->signal = number;
        if (w->end->left)
            continue;
        w->told = now_ms();
        if (number == SIGTERM || number == SIGHUP)
            kill(w->r->pid, number);
    }
}

/* The program has been told to end and has not. */
static void be_patient(struct watch *w)
{
    int64_t waited = w->told ? now_ms() - w->told : 0;
    bool passed_on = w->end->signal == SIGTERM || w->end->signal == SIGHUP;

    if (waited >= NOTE_AFTER && !w->noted) {
        w->noted = true;
        tool_note("waiting for process %d to end; once more (Ctrl-C) stops recording and leaves "
                  "it running", (int)w->r->pid);
    }
    if (passed_on && waited >= PATIENCE)
        w->end->left = true;
}

static void show_live(struct watch *w)
{
    int64_t now = now_ms();
    uint64_t events = 0, lost = 0, rate, before = 0;
    double fill = 0;
    char line[80];

    if (!w->live || now - w->shown < LIVE)
        return;
    for (size_t i = 0; i < w->count; i++) {
        struct recording *r = &w->r[i];
        struct posixtrace_info info;

        if (!r->active || posixtrace_get_info(r->trid, &info) != 0)
            continue;
        before += r->shown_events;
        events += r->shown_events = info.events;
        lost += log_file_lost(info.lost);
        if (info.reserved_bytes && fill < (double)info.bytes / (double)info.reserved_bytes)
            fill = (double)info.bytes / (double)info.reserved_bytes;
    }
    rate = events > before ? (events - before) * 1000 / (uint64_t)(now - w->shown) : 0;
    w->shown = now;
    snprintf(line, sizeof line, "%s events/s, %3.0f %% full, %s lost", amount_count(rate),
             100 * fill, amount_count(lost));
    progress_step(line);
}

static int timeout(const struct watch *w)
{
    bool look = w->told != 0;

    for (size_t i = 0; i < w->count; i++)
        look |= !w->r[i].over && w->r[i].pidfd < 0;
    return look ? LOOK : w->live ? LIVE : -1;
}

/* Sleeps until something happens; [count] of p is the signals'. */
static void wait_for_news(struct watch *w, struct pollfd *p)
{
    for (size_t i = 0; i < w->count; i++) {
        p[i].fd = w->r[i].over ? -1 : w->r[i].pidfd;
        p[i].events = POLLIN;
        p[i].revents = 0;
    }
    p[w->count] = (struct pollfd){ .fd = w->signals, .events = POLLIN };
    if (poll(p, w->count + 1, timeout(w)) < 0 && errno != EINTR) {
        tool_error("cannot wait: %s", strerror(errno));
        w->end->left = true;
    }
}

static void look_at_all(struct watch *w, const struct pollfd *p)
{
    for (size_t i = 0; i < w->count; i++) {
        struct recording *r = &w->r[i];

        if (r->over)
            continue;
        r->over = has_ended(w, r, p[i].revents != 0);
        w->over += r->over;
        if (r->over && !w->own)
            recording_end(r);
    }
    look_at_signals(w);
    be_patient(w);
    show_live(w);
}

void watch(struct recording *r, size_t count, const struct record_request *q, bool own,
           struct watch_end *end)
{
    struct pollfd *p = tool_grow(NULL, count + 1, sizeof *p);
    struct watch w = { .r = r, .count = count, .own = own, .end = end, .shown = now_ms(),
                       .live = !q->quiet && isatty(STDERR_FILENO) == 1 };
    sigset_t set;

    *end = (struct watch_end){ .left = false };
    ending_set(&set);
    w.signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    /* Without it a signal ends us as it ends others; the log can be recovered. */
    if (w.signals < 0)
        sigprocmask(SIG_UNBLOCK, &set, NULL);
    if (w.live)
        progress_begin("", 0);
    while (w.over < count && !end->left) {
        wait_for_news(&w, p);
        look_at_all(&w, p);
    }
    progress_end();
    if (w.signals >= 0)
        close(w.signals);
    free(p);
}
